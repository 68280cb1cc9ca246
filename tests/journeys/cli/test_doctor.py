"""`aitp-desk doctor` finds what is wrong between a desk and its visitors."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import aiohttp
import pytest

from aitp_desk.app.server import RunningServer
from aitp_desk.cli.commands.site.examination import behaviour
from aitp_desk.desk.events.broadcaster import Broadcaster
from tests.support.desk.command import run, run_apart
from tests.support.desk.processes import free_port
from tests.support.desk.server import SITE, serving
from tests.support.http.web_servers import web_server
from tests.support.servers.certificates import Authority
from tests.support.transports.mail_server import MailServer

GONE = "<!doctype html><title>Not found</title><p>Our website has no such page.</p>"
PROXY = "proxy_pass http://127.0.0.1:DESK; proxy_http_version 1.1; proxy_set_header Connection ''; "
PROXY += "proxy_set_header Host $host; client_max_body_size 3m;"


QUICK = "events.heartbeat_seconds=1"


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Desks send the keepalive for which the doctor waits a tenth of the time after the last."""
    keep_alive = Broadcaster.run_keepalive
    monkeypatch.setattr(
        Broadcaster, "run_keepalive", lambda self, seconds: keep_alive(self, seconds / 10)
    )


async def examine(
    *arguments: object, apart: bool = False
) -> tuple[int | None, dict[str, list[str]]]:
    """The exit code, and by level and check what was found with the advice.

    Parameters:
        apart: in a separate process, with the environment as it is now.
    """
    code, lines, errors = await (run_apart if apart else run)("doctor", *arguments)
    assert errors == []
    found: dict[str, list[str]] = {}
    for line in lines:
        level, check, what = line.split(maxsplit=2)
        found.setdefault(f"{level} {check}", []).append(what)
    return code, found


def faults(found: dict[str, list[str]]) -> set[str]:
    """The checks that found an error."""
    return {key.partition(" ")[2] for key in found if key.startswith("error ")}


@asynccontextmanager
async def behind_nginx(
    folder: Path,
    proxy: str = PROXY,
    rest: str = "=404",
    *settings: str,
    desk_at: str = "/",
    secure: str = "",
) -> AsyncIterator[str]:
    """A desk behind an nginx with these locations; the address of the nginx.

    Parameters:
        proxy: how requests are passed to the desk.
        rest: what is done with requests for other addresses, where there are any.
        desk_at: the beginning of the desk's addresses.
        secure: the directives of a second server, which passes on everything.
    """
    root, run_in, port = folder / "root", folder / "run", free_port()
    root.mkdir()
    run_in.mkdir()
    (root / "ready.txt").write_text("yes")
    (root / "gone.html").write_text(GONE)
    chosen = settings or (f"site.url=http://127.0.0.1:{port}",)
    trusted = 'server.trusted_proxies=["127.0.0.1/32"]'
    async with serving(folder / "data", QUICK, trusted, *chosen) as desk:
        passed = proxy.replace("DESK", desk.url.rpartition(":")[2])
        block = (
            f"server {{ listen 80; root {root}; error_page 404 /gone.html;"
            " location = /ready.txt { } location = /gone.html { }"
            f" location / {{ try_files $uri {rest}; }} location ~ ^{desk_at} {{ {passed} }} }}\n"
        )
        if secure:
            block += f"server {{ {secure} location / {{ {passed} }} }}\n"
        with web_server("nginx", run_in, block, port) as url:
            yield url


async def test_a_desk_alone_is_sound(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", QUICK) as desk:
        code, found = await examine(desk.url)
    assert (code, faults(found)) == (0, set())
    assert found["ok stream"] == ["a stream arrives while it goes on"]
    assert found["ok body"] == ["a body of 1 MiB reaches the desk"]
    assert found["ok exposure"] == [
        "/metrics is refused without a key",
        "on, for those with a key: the console, access tokens",
    ]
    assert found["ok discovery"][0].startswith("a visiting agent finds ahp, aitp, mcp, a2a")
    (answered,) = found["ok addresses"]
    assert int(answered.split()[0]) > 25
    assert not [key for key in found if key.startswith("warning")]


async def test_the_findings_are_one_object_for_programs(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", QUICK, "site.url=http://localhost:1") as desk:
        code, lines, _ = await run("doctor", desk.url, "--json")
    found = json.loads("\n".join(lines))["findings"]
    assert code == 1
    wrong = [one for one in found if (one["level"], one["check"]) == ("error", "origin")]
    assert "names http://localhost:1 instead of" in wrong[0]["what"]
    assert wrong[0]["advice"].startswith(f'set site.url = "{desk.url}"')


async def test_the_local_address_of_a_public_desk_is_no_error(tmp_path: Path) -> None:
    data, public = tmp_path / "data", "https://books.example"
    inside = ("--folder", SITE, "--data", data)
    local = "this is the desk's local address — "
    async with serving(data, QUICK, f"site.url={public}") as desk:
        code, found = await examine(desk.url, *inside, "--set", f"site.url={public}")
        assert (code, faults(found)) == (0, set()), found
        assert found["warning origin"] == [f"{local}examine {public} to see what visitors see"]
        assert f"site.url is {public}" in found["ok settings"]
        assert f"the chat on {public} may call the desk" in found["ok cors"]
        assert desk.url not in str(found)

        _, found = await examine(desk.url, *inside, "--set", "site.url=https://other.example")
        told = f"site.url is https://other.example, and the desk names {public} — start the desk"
        assert [one.startswith(told) for one in found["error settings"]] == [True]
    async with serving(data, QUICK) as desk:
        code, found = await examine(desk.url, *inside, "--set", f"site.url={public}")
    assert (code, faults(found)) == (0, set()), found
    assert found["warning settings"][0].startswith(f"{local}start the desk with its settings")


async def test_another_port_than_the_one_of_the_settings_is_no_error(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", QUICK) as desk:
        code, found = await examine(desk.url, "--folder", SITE, "--data", tmp_path / "data")
    assert (code, faults(found)) == (0, set()), found
    port = desk.url.rpartition(":")[2]
    told = f"set server.port = {port}, or examine http://127.0.0.1:8080"
    assert found["warning settings"][0] == f"site.url is http://127.0.0.1:8080 — {told}"


async def test_where_nothing_answers_the_code_is_another(tmp_path: Path) -> None:
    code, found = await examine(f"http://127.0.0.1:{free_port()}")
    assert (code, list(found)) == (2, ["error reach"])
    code, found = await examine("https://desk.invalid")
    assert (code, list(found)) == (2, ["error dns"])
    code, found = await examine("https://10.0.0.1")
    assert (code, list(found)) == (2, ["error dns"])
    assert "does not lead to a public address" in found["error dns"][0]


async def test_options_that_need_a_folder_say_so(tmp_path: Path) -> None:
    code, lines, errors = await run("doctor", "http://127.0.0.1:1", "--backups", tmp_path)
    assert (code, lines) == (2, [])
    assert errors[-1] == "Error: --backups, --data and --set need --folder."
    assert (await run("doctor", "ftp://books.example"))[0] == 2


async def test_origins_of_the_chat_are_tried(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", QUICK, 'widget.origins=["https://a.example"]') as desk:
        tried = ["https://a.example", "https://b.example"]
        own = ["--set", f"site.url={desk.url}", "--set", f"widget.origins={json.dumps(tried)}"]
        code, found = await examine(desk.url, "--folder", SITE, "--data", tmp_path / "data", *own)
    assert (code, faults(found)) == (1, {"cors", "settings"})
    (refused,) = found["error cors"]
    assert refused.startswith("the chat on https://b.example may not call the desk")
    assert "the chat on https://a.example may call the desk" in found["ok cors"]


async def test_a_desk_s_folder_is_examined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAIL_PASSWORD", "secret")
    site, data, backups = tmp_path / "site", tmp_path / "data", tmp_path / "backups"
    site.mkdir()
    backups.mkdir()
    (site / "page.md").write_text("# Hours\n\nWe open at nine.\n")
    authority = Authority(tmp_path, "authority")
    certificate, key = map(str, authority.sign("localhost"))
    mails = MailServer((certificate, key))
    async with mails.running(), serving(data, QUICK, folder=site) as desk:
        (site / "desk.toml").write_text(
            f"[site]\nurl = '{desk.url}'\n[limits]\nenabled = true\n[egress]\n"
            f"allow_loopback = true\n[notify]\nwebhook = '{desk.url}/health'\n"
            "[retention]\nthreads_days = 90\n[transports.email]\naddress = 'desk@a.example'\n"
            f"smtp.host = 'localhost'\nsmtp.port = {mails.port}\nauthserv_id = 'mx.a.example'\n"
            f"smtp.ca_file = '{authority.file}'\nimap.host = 'localhost'\n"
            "imap.user = 'desk'\nimap.password_env = 'MAIL_PASSWORD'\n"
        )
        given = (desk.url, "--folder", site, "--data", data, "--backups", backups)
        _, found = await examine(*given)
        assert faults(found) == {"backups"}
        assert found["error backups"][0].startswith(f"{backups} has none")
        for check in ("mail", "webhook", "disk", "secrets"):
            assert f"ok {check}" in found, found
        assert "STARTTLS: the connection is encrypted" in found["ok mail"][0]
        assert mails.received == []

        kept = backups / "shop.db"
        kept.touch(mode=0o600)
        code, found = await examine(*given)
        assert (code, faults(found)) == (0, set())
        old = time.time() - 3 * 86400
        os.utime(kept, (old, old))
        kept.chmod(0o644)
        (data / "master.key").chmod(0o640)
        (site / ".env").write_text("SECRET=1")
        (site / ".env").chmod(0o604)
        mails.refusals.append(("NOOP", "421 4.3.0 busy"))
        toml = (site / "desk.toml").read_text()
        (site / "desk.toml").write_text(
            toml.replace("enabled = true", "enabled = false").replace("/health", "/nothing")
        )
        code, found = await examine(*given)
        assert (code, faults(found)) == (
            1,
            {"backups", "secrets", "webhook", "settings"} | ({"mail"} & faults(found)),
        )
        assert len(found["error backups"]) == 2
        assert len(found["error secrets"]) == 2
        assert f"chmod 600 {data / 'master.key'}" in found["error secrets"][0]
    _, found = await examine(*given)
    assert "the connection failed" in found["error webhook"][0]


@pytest.mark.parametrize(
    ("fallback", "has_sdk"), [("", True), ("OTHER_KEY", True), ("OTHER_KEY", False)]
)
async def test_a_model_without_a_limit_is_named_also_as_a_fallback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fallback: str, *, has_sdk: bool
) -> None:
    if not has_sdk:
        monkeypatch.setitem(sys.modules, "anthropic", None)
    site, data = tmp_path / "site", tmp_path / "data"
    site.mkdir()
    (site / "page.md").write_text("# Hours\n\nWe open at nine.\n")
    local = '[model]\nprovider = "openai"\nname = "own"\nurl = "http://127.0.0.1:9/v1"\n'
    async with serving(data, QUICK, folder=site) as desk:
        monkeypatch.setenv("OTHER_KEY", "secret")
        other = f'[[model.fallbacks]]\nname = "other"\nkey_env = "{fallback}"\n'
        settings = f'[site]\nurl = "{desk.url}"\n{local}{other if fallback else ""}'
        (site / "desk.toml").write_text(settings)
        _, found = await examine(desk.url, "--folder", site, "--data", data)
    told = "\n".join(found["warning settings"])
    assert ("model.day_tokens sets no limit" in told) == bool(fallback and has_sdk)


async def test_what_is_open_to_strangers_is_named(tmp_path: Path) -> None:
    on = ("files.anonymous=true", "oauth.registration.enabled=true", "console.enabled=false")
    async with serving(tmp_path / "data", QUICK, *on) as desk:
        code, found = await examine(desk.url)
    assert (code, faults(found)) == (0, set())
    uploads, registration = found["warning exposure"]
    assert uploads.startswith("everybody may upload files — ")
    assert "oauth.registration.enabled = false" in registration
    assert found["ok exposure"][1] == "on, for those with a key: access tokens"


@pytest.mark.sqlite
async def test_keys_and_the_audit_log_are_examined(tmp_path: Path) -> None:
    data = tmp_path / "data"

    async def look(desk: RunningServer) -> dict[str, list[str]]:
        own = ("--folder", SITE, "--data", data, "--set", f"site.url={desk.url}")
        return (await examine(desk.url, *own))[1]

    async with serving(data, QUICK) as desk:
        for made in (
            ("token", "create", "--name", "staff", "--scope", "operator"),
            ("token", "create", "--name", "agent", "--scope", "threads", "--expires", "30d"),
            ("client", "create", "--name", "partner", "--scope", "actions", "--expires", "30d"),
        ):
            assert (await run(*made, "--data", data))[0] == 0
        found = await look(desk)
        assert found["ok keys"] == ["valid: 2 keys, 1 client; all threads are open to staff"]
        (endless,) = found["warning keys"]
        assert endless.startswith("without an end: staff — make others with --expires")
        (whole,) = found["ok audit"]
        assert whole.startswith("4 rows, unchanged; head 4:"), "one of the thread"

        with closing(sqlite3.connect(data / "desk.db", isolation_level=None)) as database:
            old = int(time.time()) - 91 * 86400
            database.execute("UPDATE tokens SET created_at = ? WHERE name = 'agent'", [old])
        (_, idle) = (await look(desk))["warning keys"]
        assert idle.startswith("not used for 90 days: agent — revoke what nobody needs")

        async with aiohttp.ClientSession(desk.url) as web:
            for _ in range(101):
                async with web.get("/v1/models", headers={"Authorization": "Bearer no"}) as reply:
                    assert reply.status == 401
    async with serving(data, QUICK) as desk:
        (refused,) = (await look(desk))["warning audit"]
        assert refused.startswith("credentials were refused 101 times within a day — ")

        with closing(sqlite3.connect(data / "desk.db", isolation_level=None)) as database:
            database.execute("DROP TRIGGER audit_rows_stay")
            database.execute("UPDATE audit SET object = 'key:x' WHERE n = 2")
        found = await look(desk)
        assert "audit" in faults(found)
        assert found["error audit"][0].startswith(
            "the log is broken at row 2: it or the row before"
        )


@pytest.mark.servers
async def test_a_desk_behind_a_web_server_is_sound(tmp_path: Path) -> None:
    async with behind_nginx(tmp_path) as url:
        code, found = await examine(url)
    assert (code, faults(found)) == (0, set())


@pytest.mark.servers
async def test_a_page_that_the_website_lacks_is_no_error(tmp_path: Path) -> None:
    desk_at = "/(?!docs$)"
    async with behind_nginx(tmp_path, desk_at=desk_at) as url:
        code, found = await examine(url)
    assert (code, faults(found)) == (0, set())
    (told,) = found["warning addresses"]
    assert told.startswith("/docs is answered by the website with status 404 — publish it")


@pytest.mark.servers
@pytest.mark.parametrize("rest", ["=404", "/gone.html"])
async def test_a_data_folder_that_the_website_publishes_is_named(tmp_path: Path, rest: str) -> None:
    async with behind_nginx(tmp_path, rest=rest, desk_at="/(?!.desk|state)") as url:
        code, found = await examine(url)
        assert (code, faults(found)) == (0, set())
        assert found["ok data"] == ["the website does not publish the data folder"]

        root, secret = tmp_path / "root", "5e" * 32
        (root / ".desk").mkdir()
        (root / ".desk" / "master.key").write_text(secret)
        (root / ".desk" / "desk.db").write_bytes(b"SQLite format 3\0")
        code, found = await examine(url)
        assert (code, faults(found)) == (1, {"data"})
        (told,) = found["error data"]
        assert told.startswith("everybody can read /.desk/master.key, /.desk/desk.db — let the web")
        assert secret not in str(found)

        (root / ".desk").rename(root / "state")
        (root / "state" / "desk.db").rename(root / "state" / "other.db")
        (root / "index.html").write_text("<title>Home</title>")
        own = ("--set", f"site.url={url}", "--set", "store.data=state")
        assert faults((await examine(url))[1]) == set()
        code, found = await examine(url, "--folder", root, *own)
    (told,) = found["error data"]
    assert "/state/master.key, /state/other.db — let the web" in told
    (told,) = found["warning data"]
    assert told.startswith(f"{root / 'state'} lies in {root}, a folder of pages — stop the desk")


@pytest.mark.servers
async def test_a_data_folder_that_is_redirected_is_not_approved(tmp_path: Path) -> None:
    rest = "$uri/ @other; } location @other { return 301 http://www.example.com$request_uri"
    async with behind_nginx(tmp_path, rest=rest, desk_at="/(?!.desk)") as url:
        code, found = await examine(url)
    assert (code, faults(found)) == (0, set())
    assert found["warning data"][0].startswith("/.desk/ was not tried: it is redirected — examine")
    assert "ok data" not in found


@pytest.mark.servers
async def test_a_list_of_the_data_folder_is_named(tmp_path: Path) -> None:
    listed = "$uri/ =404; autoindex on"
    async with behind_nginx(tmp_path, rest=listed, desk_at="/(?!.desk)") as url:
        (tmp_path / "root" / ".desk").mkdir()
        code, found = await examine(url)
    assert (code, faults(found)) == (1, {"data"})
    assert found["error data"][0].startswith("everybody can read /.desk/ — let the web server")


MISTAKES = {
    "addresses that are not passed on": (
        {"desk_at": "/(agent|v1|health|ready|widget|llms|ask|who|oauth|docs|.well-known/a)"},
        {"addresses"},
        "/mcp is answered by the website with status 404 — pass it on to the desk",
    ),
    "a page in place of what is missing": (
        {"desk_at": "/(agent|v1|health|ready|widget|.well-known)", "rest": "/gone.html"},
        {"addresses"},
        "/llms.txt is answered by a page of the website",
    ),
    "streams that are buffered": (
        {"proxy": f"{PROXY} proxy_ignore_headers X-Accel-Buffering; gzip_types text/event-stream;"},
        {"stream"},
        "a stream is silent for 2 seconds: it is buffered",
    ),
    "another Host": (
        {"proxy": PROXY.replace("Host $host", "Host backend.example")},
        {"addresses", "discovery", "cors"},
        "/.well-known/agent.json is refused for its host (421) — let the web server pass Host on",
    ),
    "a small largest body": (
        {"proxy": PROXY.replace("3m", "100k")},
        {"body"},
        "a body of 1 MiB is refused (413) — raise the limit of the web server",
    ),
    "CORS of the web server as well": (
        {"proxy": f"{PROXY} add_header Access-Control-Allow-Origin * always;"},
        {"cors"},
        "the manifest is sent with Access-Control-Allow-Origin: *, *",
    ),
    "methods that are not passed on": (
        {"proxy": f"if ($request_method = OPTIONS) {{ return 405; }} {PROXY}"},
        {"cors"},
        "may not call the desk — pass OPTIONS and Origin on",
    ),
    "a desk that does not run": (
        {"proxy": "return 502;"},
        {"addresses", "health", "discovery", "cors", "body"},
        "/health answers with status 502",
    ),
}


@pytest.mark.servers
@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize("mistake", MISTAKES)
async def test_a_mistake_of_the_web_server_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mistake: str
) -> None:
    monkeypatch.setattr(behaviour, "STREAM_SECONDS", 2.0)
    options, checks, told = MISTAKES[mistake]
    async with behind_nginx(tmp_path, **options) as url:
        code, found = await examine(url)
    assert (code, faults(found)) == (1, checks), found
    assert told in "\n".join(line for lines in found.values() for line in lines)


@pytest.mark.servers
async def test_a_desk_that_does_not_know_that_it_is_public_is_named(tmp_path: Path) -> None:
    async with behind_nginx(tmp_path, PROXY, "=404", "console.hours=12") as url:
        code, found = await examine(url)
    assert (code, faults(found)) == (1, {"origin", "cors"})
    assert f'set site.url = "{url}"' in found["error origin"][0]


@pytest.mark.servers
@pytest.mark.parametrize(
    ("days", "scheme", "levels", "told"),
    [
        (90, "https", {}, "the certificate is valid for 89 more days"),
        (3, "https", {}, "valid for 2 more days — renew it now"),
        (90, "http", {"origin", "cors"}, "names http://localhost:{port} instead of https://"),
        (-1, "https", {"tls"}, "its certificate is not trusted (it has expired)"),
    ],
)
async def test_what_is_wrong_with_the_certificate_or_the_scheme_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    days: int,
    scheme: str,
    levels: set[str],
    told: str,
) -> None:
    authority = Authority(tmp_path, "authority")
    certificate, key = authority.sign("localhost", days=days)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    secure = free_port()
    proxy = PROXY.replace("Host $host", "Host $http_host")
    tls = f"listen 127.0.0.1:{secure} ssl; ssl_certificate {certificate};"
    tls += f" ssl_certificate_key {key};"
    own = f"site.url={scheme}://localhost:{secure}"
    async with behind_nginx(tmp_path, proxy, "=404", own, secure=tls):
        code, found = await examine(f"https://localhost:{secure}", apart=True)
    assert (code, faults(found)) == (({"tls"} == levels and 2) or (1 if levels else 0), set(levels))
    text = "\n".join(line for lines in found.values() for line in lines)
    assert told.format(port=secure) in text
