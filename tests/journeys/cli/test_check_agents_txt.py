"""`aitp-desk check` on an agents.txt or agents.json: a file, or what a site serves."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from aitp_desk.protocols.agents_txt.examination import JSON_TYPE, TEXT_TYPE, examine_served
from tests.support.desk.command import Done, run_here
from tests.support.desk.server import serving

GOOD = (
    "# agents.txt\nSpec-Version: 1.0\nSite-Name: A\nSite-URL: https://a.example\n"
    "Capability: a\n  Endpoint: https://a.example/a\n  Protocol: REST\n"
)
URL = "https://a.example/agents.txt"
SERVED = {"Content-Type": TEXT_TYPE, "Access-Control-Allow-Origin": "*"}


def check(*args: object) -> tuple[int | None, list[str], list[str]]:
    done = run_here("check", *args)
    return done.code, done.out.splitlines(), done.err.splitlines()


def test_a_valid_file_is_reported_as_valid(tmp_path: Path) -> None:
    file = tmp_path / "agents.txt"
    file.write_text(GOOD, encoding="utf-8")
    assert check(file) == (0, [f"{file} conforms to agents.txt 1.0: 1 capability."], [])
    file.write_text(f"{GOOD}  Auth: api-key\n", encoding="utf-8")
    code, out, (warning,) = check(file)
    assert (code, len(out)) == (0, 1)
    assert warning.startswith(f"{file}: line 5, Auth-Docs: warning: is missing")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (GOOD.replace("REST", "SOAP").encode(), "line 7, Protocol: is 'SOAP'; it must be one of"),
        (b"Spec-Version: 1.0\nSite-Name: \xff\n", "line 2: is not UTF-8 here"),
        (b"", "Spec-Version: is missing"),
        (b'\xef\xbb\xbf \n{"site": }', "line 2: "),
        (b'{"site": {"url": "/"}}', "site.url: is not a full URL"),
        (b"#" * (1024 * 1024 + 1), "has more than 1048576 bytes"),
    ],
)
def test_errors_of_a_file_are_reported_a_line_each(tmp_path: Path, body: bytes, told: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(body)
    code, out, err = check(file)
    assert (code, out) == (1, [])
    assert any(line.startswith(f"{file}: {told}") for line in err), err


@pytest.mark.slow
def test_of_many_faults_the_first_50_are_printed(tmp_path: Path) -> None:
    file = tmp_path / "agents.txt"
    warnings = "".join(f"Note-{number}: a\nNote-{number}: b\n" for number in range(60))
    file.write_text(GOOD.replace("REST", "SOAP") + warnings, encoding="utf-8")
    code, _, err = check(file)
    assert (code, len(err), err[-1]) == (1, 51, "and 11 more.")
    assert "line 7, Protocol: is 'SOAP'" in err[0], "errors go first"
    (tmp_path / "desk.toml").write_text("".join(f"a{number} = 1\n" for number in range(70)))
    code, _, err = check(tmp_path)
    assert (code, len(err)) == (1, 51)
    assert err[-1].startswith("and ")


def test_lint_validates_a_file_and_tells_by_its_exit_code(tmp_path: Path) -> None:
    file = tmp_path / "agents.txt"
    file.write_text(GOOD, encoding="utf-8")
    sound = run_here("lint", file)
    assert (sound.code, sound.out) == (0, f"{file} conforms to agents.txt 1.0: 1 capability.\n")
    file.write_text(GOOD.replace("REST", "SOAP"), encoding="utf-8")
    wrong = run_here("lint", file)
    assert (wrong.code, wrong.out) == (1, "")
    assert "line 7, Protocol: is 'SOAP'" in wrong.err
    for missing in (tmp_path, tmp_path / "nothing.txt"):
        unknown = run_here("lint", missing)
        assert unknown.code == 2
        assert "There is no file" in unknown.err


@pytest.mark.parametrize(
    ("url", "headers", "body", "told"),
    [
        (URL, SERVED, GOOD, []),
        (URL, {**SERVED, "Content-Type": "Text/Plain;charset=UTF-8"}, GOOD, []),
        (URL, {**SERVED, "Content-Type": "text/plain"}, GOOD, ["Content-Type: is 'text/plain'"]),
        (URL, {"Content-Type": TEXT_TYPE}, GOOD, ["Access-Control-Allow-Origin: warning: is not"]),
        (f"{URL}s", SERVED, GOOD, ["warning: is at an address that agents do not request"]),
        (
            URL.replace("a.", "www.a."),
            SERVED,
            GOOD,
            ["Site-URL: names a.example, but the file is served by www.a."],
        ),
        (
            URL.replace("txt", "json"),
            {**SERVED, "Content-Type": JSON_TYPE},
            "{}",
            ["specVersion: is missing"],
        ),
    ],
)
def test_how_a_site_serves_a_file_is_reported_too(
    url: str, headers: Mapping[str, str], body: str, told: list[str]
) -> None:
    found = [str(fault) for fault in examine_served(url, headers, body.encode()).faults]
    assert len(found) >= len(told)
    assert bool(found) is bool(told)
    for line, expected in zip(found, told, strict=False):
        assert line.startswith(expected)


@pytest.mark.asyncio
async def test_what_the_desk_serves_holds_to_the_specification(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", "limits.enabled=true") as desk:
        for path in ("/agents.txt", "/.well-known/agents.json"):
            code, out, err = await asyncio.to_thread(check, desk.url + path)
            assert (code, err) == (0, [])
            (line,) = out
            assert line.startswith(f"{desk.url}{path} conforms to agents.txt 1.0: ")
        code, out, err = await asyncio.to_thread(check, f"{desk.url}/")
        assert (code, err) == (0, [])
        assert sum("agents.txt 1.0" in line for line in out) == 4
        assert f"{desk.url}/.well-known/agent.json conforms to AHP 0.1: 4 capabilities." in out
        linted = await asyncio.to_thread(run_here, "lint", f"{desk.url}/agents.txt")
        assert (linted.code, linted.err) == (0, "")
        code, _, err = await asyncio.to_thread(check, f"{desk.url}/no.txt")
        assert (code, err) == (1, [f"{desk.url}/no.txt: the response has status 404."])


@pytest.mark.asyncio
async def test_no_address_leads_into_a_private_network() -> None:
    async def lead_away(_request: web.Request) -> web.Response:
        raise web.HTTPFound("https://10.0.0.1/agents.txt")

    app = web.Application()
    app.router.add_get("/agents.txt", lead_away)
    async with TestServer(app) as server:
        code, out, err = await asyncio.to_thread(check, server.make_url("/agents.txt"))
        nothing = await asyncio.to_thread(check, server.make_url("/other"))
    async with TestServer(web.Application()) as server:
        home = await asyncio.to_thread(check, server.make_url("/"))
    assert (home[0], len(home[2])) == (1, 1)
    assert "has no file for agents" in home[2][0]
    assert "the response has status 404" in nothing[2][0]
    assert (code, out) == (1, [])
    assert "10.0.0.1" in err[0]
    code, out, err = await asyncio.to_thread(check, "http://a.example/agents.txt")
    assert (code, out, len(err)) == (1, [], 1)


def test_what_is_neither_folder_nor_file_nor_url_is_wrong_usage(tmp_path: Path) -> None:
    def told(done: Done) -> str:
        assert done.code == 2
        return done.err

    assert "There is no folder or file" in told(run_here("check", tmp_path / "nowhere"))
    (tmp_path / "agents.txt").write_text(GOOD, encoding="utf-8")
    assert "need a site's folder" in told(
        run_here("check", tmp_path / "agents.txt", "--set", "a.b=1")
    )


def test_a_site_whose_endpoint_has_a_name_of_the_desk_s_own_does_not_pass(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nB.\n", encoding="utf-8")
    table = '[[agents_txt.capability]]\nid = "contact"\nendpoint = "/x"\n'
    (tmp_path / "desk.toml").write_text(table, encoding="utf-8")
    code, _, (line,) = check(tmp_path)
    assert code == 1
    assert line.startswith("agents_txt.capability.id: the desk uses the id 'contact' itself")
