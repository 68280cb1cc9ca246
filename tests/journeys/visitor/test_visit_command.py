"""``aitp-desk visit``, as a person at a terminal and a script see it."""

from __future__ import annotations

import asyncio
import io
import json
import os
import pty
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from click.testing import CliRunner, Result
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from aitp_desk.cli import main
from aitp_desk.cli.commands.agents.session import VisitSession, ask_person
from aitp_desk.visitor import PlannedCall, Signer, SiteAction, load_key, visit
from aitp_desk.visitor.proof.transcript import write_keys
from tests.journeys.visitor.test_purchase import paying
from tests.support.desk.command import COMMAND, run_here
from tests.support.desk.server import SHOP, serving
from tests.support.doubles.website import Website, website
from tests.support.sites.declared import agents_json, capability, put_json, put_pages
from tests.support.sites.shop import STOVE, shopping

VARIABLE = "AITP_DESK_VISIT_CREDENTIAL"


@pytest_asyncio.fixture
async def shop() -> AsyncIterator[Website]:
    """A shop with pages, and one action that counts its calls."""
    async with website() as site:
        put_pages(site)
        text = {"name": "trail", "in": "query", "type": "string", "required": True}
        number = {"name": "copies", "in": "query", "type": "integer"}
        buy = capability(site, "order-map", "/maps", parameters=[text, number])
        put_json(site, "/.well-known/agents.json", agents_json(site, buy))

        async def answer(request: web.Request) -> web.Response:
            return web.json_response(dict(request.query))

        site.handle("/maps?", answer)
        yield site


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the documents that are kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv(VARIABLE, raising=False)
    return tmp_path / "cache" / "aitp-desk" / "visits"


def read_all(folder: Path) -> bytes:
    """Return what is kept."""
    return b"".join(path.read_bytes() for path in folder.iterdir())


async def run(*arguments: object, typed: str = "", **variables: str) -> Result:
    """Run the command in a thread, since the site answers in this one."""
    return await asyncio.to_thread(
        CliRunner().invoke,
        main,
        ["visit", *map(str, arguments)],
        input=typed,
        env=variables,
        catch_exceptions=False,
    )


async def read(*arguments: object, code: int = 0) -> dict[str, Any]:
    """Run it with ``--json`` and return the object."""
    done = await run(*arguments, "--json")
    assert done.exit_code == code, done.output
    (line,) = done.stdout.splitlines()
    found: dict[str, Any] = json.loads(line)
    return found


@pytest.mark.slow
async def test_a_desk_is_asked_with_sources(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", folder=SHOP) as desk:
        done = await run(desk.url, "Do you ship to Norway?")
        assert (done.exit_code, done.stderr) == (0, "")
        lines = done.stdout.splitlines()
        assert "Norway" in lines[0]
        assert any(f"{desk.url}/policies/shipping" in line for line in lines)
        assert lines[-1].startswith("  by ahp: Its manifest was read because")
        told = await read(desk.url, "Do you ship to Norway?")
        assert told["endpoint"]["kind"] == "ahp"
        assert "Norway" in told["answer"]["text"]
        assert told["answer"]["sources"]
        endpoints = await read(desk.url, "--endpoints")
        assert next(one["kind"] for one in endpoints["endpoints"]) == "ahp"
        assert "document" not in endpoints["endpoints"][0]
        trust = await read(desk.url, "--trust")
        assert [one["name"] for one in trust["trust"]] == [
            "keys",
            "consistency",
            "transcripts",
            "signals",
        ]
        assert all(one["reason"] for one in trust["trust"])


async def test_questions_are_prompted_for_until_an_empty_line(shop: Website) -> None:
    done = await run(shop.url, "--protocol", "llms_txt", typed="Norway?\nZebras?\n\nMore?\n")
    assert done.exit_code == 0
    assert "> Norway?\n> We ship to Norway within five days." in done.stdout
    assert "no page has a passage" in done.stderr
    assert "More?" not in done.stdout


async def test_endpoints_and_actions_are_listed_for_people(shop: Website) -> None:
    endpoints = (await run(shop.url, "--endpoints")).stdout
    assert f"agents_txt  {shop.url}/.well-known/agents.json  (actions)" in endpoints
    assert "It declares 1 capability over HTTP for this visitor." in endpoints
    actions = (await run(shop.url, "--actions")).stdout
    assert "order-map  (says nothing of its safety)" in actions
    assert "takes trail, [copies]" in actions


async def test_a_call_is_made_only_once_it_is_confirmed(shop: Website) -> None:
    call = (shop.url, "--call", "order_map", "trail=Cinder Rim", "copies=2")
    refused = await run(*call)
    assert refused.exit_code == 5
    assert "trail = Cinder Rim" in refused.stderr
    assert "The site does not say whether it can be undone." in refused.stderr
    assert "--yes confirms" in refused.stderr
    assert not any(path.startswith("/maps") for path in shop.paths())
    told = await read(*call, "--yes")
    assert told["outcome"]["result"] == {"trail": "Cinder Rim", "copies": "2"}


async def test_a_call_with_a_key_is_made_by_the_first_command_alone(shop: Website) -> None:
    call = (shop.url, "--call", "order_map", "trail=Cinder Rim", "--once", "a-wish")
    first = await read(*call, "--yes")
    assert await read(*call) == first
    assert len([path for path in shop.paths() if path.startswith("/maps")]) == 1
    assert (await run(shop.url, "What?", "--once", "a-wish")).exit_code == 2


async def test_the_end_of_a_long_call_is_read_by_the_same_command(shop: Website) -> None:
    async def accept(request: web.Request) -> web.Response:
        body = {"status": "accepted"}
        return web.json_response(body, status=202, headers={"Location": f"{request.path}/1"})

    async def tell(_request: web.Request) -> web.Response:
        is_done = shop.paths().count("/maps/1") > 1
        return web.json_response({"map": "ready"} if is_done else {"status": "pending"})

    shop.handle("/maps?", accept)
    shop.handle("/maps/1", tell)
    call = (shop.url, "--call", "order_map", "trail=Cinder Rim", "--once", "a-wish")
    assert (await read(*call, "--yes", code=6))["outcome"]["kind"] == "waiting"
    assert (await read(*call))["outcome"]["result"] == {"map": "ready"}
    assert len([path for path in shop.paths() if path.startswith("/maps?")]) == 1


@pytest.mark.slow
@pytest.mark.parametrize("reply", ["yes", "no"])
async def test_a_price_in_a_conversation_is_agreed_to_by_yes_alone(
    tmp_path: Path, reply: str
) -> None:
    wish = f"Please place an order: 2x {STOVE} in Portland for kai@customer.example"
    async with shopping(tmp_path) as (shopper, _):
        done = await run(
            *(shopper.talker.desk.url, "--protocol", "ahp", "--budget", "200USD", "--yes"),
            typed=f"{wish}\n{reply}\n\n",
            **{VARIABLE: str(shopper.talker.key)},
        )
    assert done.exit_code == 0
    assert "It costs 128.00 USD: yes agrees, anything else declines." in done.stdout
    assert ("is placed" in done.stdout) == (reply == "yes")


@pytest.mark.slow
async def test_a_person_at_a_terminal_is_asked(shop: Website) -> None:
    own, theirs = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        *(COMMAND, "visit", shop.url, "--call", "order-map", "trail=Rim", "--no-cache"),
        stdin=theirs,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    os.close(theirs)
    os.write(own, b"y\n")
    out, err = await process.communicate()
    os.close(own)
    assert process.returncode == 0, err.decode()
    assert b"Do it? [y/N]" in err
    assert json.loads(out) == {"trail": "Rim"}


class Terminal(io.TextIOBase):
    """A terminal whose person presses Ctrl-C, and would type a yes if asked on."""

    goes_on = False

    def isatty(self) -> bool:
        return True

    def readline(self, _size: int = -1, /) -> str:  # type: ignore[override]
        signal.raise_signal(signal.SIGINT)
        self.goes_on = True
        return "y\n"


def test_ctrl_c_at_a_confirmation_is_a_no(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal())
    action = SiteAction("order-map", "Orders a map.", "https://shop.example")
    assert not asyncio.run(ask_person(PlannedCall("https://shop.example", action, {}, ())))


def test_ctrl_c_ends_the_prompt_for_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    async def converse() -> None:
        async with website() as shop:
            put_pages(shop)
            async with visit(shop.url, protocol="llms_txt") as site:
                await VisitSession(site, as_json=False).converse()

    terminal = Terminal()
    monkeypatch.setattr(sys, "stdin", terminal)
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(converse())
    assert not terminal.goes_on


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("--call", "nothing"), 3, "and --no-cache asks the site again"),
        (("--protocol", "mcp"), 3, "speaks no mcp. It speaks: agents_txt, llms_txt."),
        (("--protocol", "smoke"), 2, "'smoke' is not one of 'ahp'"),
        (("--call", "order-map", "trail"), 2, "write it as KEY=VALUE"),
        (("--call", "order-map", "copies=two"), 2, "write it as JSON"),
        (("two", "words"), 2, "in quotes"),
        (("--budget", "much"), 2, "write it like 20EUR"),
        (("--json",), 2, "--json needs a QUESTION"),
        (("--actions", "What?"), 2, "take no QUESTION"),
    ],
)
async def test_what_cannot_be_done_has_its_exit_code(
    shop: Website, arguments: tuple[str, ...], code: int, told: str
) -> None:
    done = await run(shop.url, *arguments)
    assert done.exit_code == code
    assert told in done.stderr
    assert "Traceback" not in done.output


async def test_a_site_that_is_not_there_is_said_so() -> None:
    done = await run("http://127.0.0.1:1/", "Hello?")
    assert done.exit_code == 1
    assert "the connection failed. Check the address http://127.0.0.1:1" in done.stderr
    private = await run("http://192.168.0.1/", "Hello?")
    assert (private.exit_code, "Traceback" in private.output) == (1, False)
    told = await read("http://127.0.0.1:1/", "Hello?", code=1)
    assert told["error"] == "SiteFailed"


@pytest.mark.parametrize("url", ["ftp://shop.example", "", "http://", "http://shop.example:99999"])
async def test_what_is_no_address_is_wrong_usage(url: str) -> None:
    wrong = await run(url, "Hello?")
    assert wrong.exit_code == 2
    assert "write it like https://shop.example." in wrong.stderr


async def test_an_address_without_a_scheme_is_http_on_this_machine(shop: Website) -> None:
    done = await run(shop.url.removeprefix("http://"), "Norway?", "--protocol", "llms_txt")
    assert (done.exit_code, done.stderr) == (0, "")


async def test_a_name_in_another_script_is_an_address() -> None:
    # no name below .invalid has an address (RFC 6761)
    done = await run("https://bücher.invalid", "Hello?")
    assert done.exit_code == 1
    assert "xn--bcher-kva.invalid" in done.stderr


async def test_a_missing_action_is_explained_by_what_could_not_be_read(shop: Website) -> None:
    shop.put("/.well-known/agents.json", "{}", type="application/json", status=503)
    done = await run(shop.url, "--call", "order_map", "trail=Rim")
    assert done.exit_code == 3
    assert "offers no action order_map" in done.stderr
    assert "not used    agents_txt:" in done.stderr


async def test_the_credential_is_read_from_a_file_or_the_environment(
    shop: Website, tmp_path: Path, folder: Path
) -> None:
    file = tmp_path / "key"
    file.write_text("from-a-file\n", "utf-8")
    await run(shop.url, "--endpoints", "--credential-file", file)
    assert {one.headers.get("Authorization") for one in shop.asked} == {"Bearer from-a-file"}
    shop.asked.clear()
    await run(shop.url, "--endpoints", **{VARIABLE: "from-the-environment"})
    assert {one.headers.get("Authorization") for one in shop.asked} == {
        "Bearer from-the-environment"
    }
    assert b"from-a-file" not in read_all(folder)
    file.write_text("two words", "utf-8")
    assert (await run(shop.url, "--endpoints", "--credential-file", file)).exit_code == 2
    shop.put("/maps?", '{"message": "No."}', type="application/json", status=401)
    done = await run(shop.url, "--call", "order-map", "trail=Rim", "--yes")
    assert (done.exit_code, "refused: No." in done.stderr) == (4, True)


async def test_documents_are_kept_unless_that_is_switched_off(shop: Website, folder: Path) -> None:
    place = "/.well-known/agents.json"
    for options in ((), (), ("--no-cache",), ("--no-cache",)):
        await run(shop.url, "--endpoints", *options)
    assert shop.paths().count(place) == 3
    assert b"/.well-known/agents.json" in read_all(folder)


async def test_a_sites_text_cannot_control_the_terminal(shop: Website) -> None:
    page = "# Shipping\n\nNorway\x1b[2J\x1b]0;owned\x07 is near.\u202e\r\n"
    shop.put("/shipping.md", page, type="text/markdown")
    done = await run(shop.url, "Norway?", "--protocol", "llms_txt")
    assert done.exit_code == 0
    assert "Norway[2J]0;owned is near." in done.stdout
    assert not {"\x1b", "\x07", "\u202e", "\r"} & set(done.stdout)


async def test_an_endpoint_that_failed_is_named_with_the_answer(shop: Website) -> None:
    ask = {"name": "query", "in": "query", "type": "string", "required": True}
    file = agents_json(shop, capability(shop, "ask", "/ask-me", parameters=[ask]))
    put_json(shop, "/.well-known/agents.json", file)
    shop.put("/ask-me?", "{}", status=401)
    done = await run(shop.url, "Norway?", "--no-cache")
    assert done.exit_code == 0
    assert "> We ship to Norway within five days." in done.stdout
    assert "  instead of agents_txt: 127.0.0.1 refused: HTTP status 401" in done.stdout


async def test_a_fact_of_elsewhere_is_shown_before_it_is_sent(shop: Website) -> None:
    ask = {"name": "query", "in": "query", "type": "string", "required": True}
    file = agents_json(shop, capability(shop, "ask", "/ask-me", parameters=[ask]))
    put_json(shop, "/.well-known/agents.json", file)
    put_json(shop, "/ask-me?", {"answer": "Yes."})
    options = (shop.url, "Do you ship?", "--context", "I live in Norway", "--no-cache")
    done = await run(*options)
    assert (done.exit_code, done.stdout.splitlines()[0]) == (0, "Yes.")
    assert "would be sent:" in done.stderr
    assert "- I live in Norway" in done.stderr
    assert not any("Norway" in path for path in shop.paths())
    await run(*options, "--yes")
    assert any("Norway" in path for path in shop.paths())


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """An agent's private key, as ``openssl genpkey`` writes it."""
    plain = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file = tmp_path / "agent.pem"
    file.write_bytes(Ed25519PrivateKey.generate().private_bytes(*plain))
    return file


async def test_requests_are_signed_and_the_visit_is_recorded(
    shop: Website, tmp_path: Path, key: Path
) -> None:
    record = tmp_path / "visit.json"
    own = ("--key", key, "--agent", "https://agent.example/", "--record", record)
    done = await run(shop.url, "Norway?", "--protocol", "llms_txt", *own)
    assert done.exit_code == 0, done.output
    asked = [one for one in shop.asked if one.path == "/llms.txt"]
    assert asked
    assert asked[-1].headers["Signature-Agent"] == 'visitor="https://agent.example"'
    assert asked[-1].headers["Signature"].startswith("visitor=:")
    assert record.stat().st_mode & 0o777 == 0o600
    keys = tmp_path / "keys.json"
    keys.write_bytes(write_keys(Signer("https://agent.example", load_key(key)), 0))
    verified = run_here("transcript", "verify", record, "--keys", keys)
    assert verified.code == 0, verified.err
    told = [json.loads(one["content"][0]) for one in json.loads(record.read_bytes())["messages"]]
    assert [next(iter(one)) for one in told] == ["asked", "answered"]
    assert "Norway" in told[1]["answered"]["text"]


async def test_a_prepaid_call_is_paid_from_an_account_and_recorded_also_if_it_fails(
    tmp_path: Path,
) -> None:
    key, record = tmp_path / "agent.pem", tmp_path / "visit.json"
    async with paying(tmp_path) as (shopper, payer):
        plain = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        key.write_bytes(payer.key.private_bytes(*plain))
        own = ("--key", key, "--agent", "https://visitor.example", "--record", record)
        call = (shopper.talker.desk.url, "--protocol", "ahp", "--call", "buy_trail_map")
        given = (*call, "trail=Cinder Rim", "--yes", *own)
        secret = {VARIABLE: str(shopper.talker.key)}
        without = await run(*given, "--budget", "5USD", **secret)
        assert without.exit_code == 5
        assert "--account" in without.stderr
        assert "called" in record.read_text()
        paid = await run(*given, "--account", "acct_visitor", "--budget", "5USD", **secret)
        assert paid.exit_code == 0, paid.output
    told = [json.loads(one["content"][0]) for one in json.loads(record.read_bytes())["messages"]]
    assert [next(iter(one)) for one in told] == ["called", "outcome", "agreed", "outcome"]


@pytest.mark.parametrize(
    "given",
    [
        ("--agent", "https://agent.example"),
        ("--account", "acct_1"),
        ("--channel", "c"),
        ("--record", "visit.json"),
    ],
)
async def test_what_needs_a_key_is_wrong_usage_without_one(given: tuple[str, ...]) -> None:
    done = await run("shop.example", "Norway?", *given)
    assert done.exit_code == 2
    assert "--key" in done.stderr


async def test_a_key_that_is_none_is_named_and_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "key.pem"
    file.write_text("SECRET")
    done = await run("shop.example", "Hi", "--key", file, "--agent", "https://agent.example")
    assert (done.exit_code, "SECRET" in done.stderr) == (2, False)
    assert "is not a private key" in done.stderr
