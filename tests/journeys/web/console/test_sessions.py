"""Signing in to the operators' pages, what the session opens, and when it is over."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from unittest.mock import patch

import aiohttp
import pytest
import pytest_asyncio

from aitp_desk.app.server import RunningServer
from aitp_desk.auth.console_sessions import MAX_SESSIONS_PER_KEY
from aitp_desk.auth.credentials.api_key import make_api_key
from aitp_desk.auth.credentials.guess_limiter import MOST_A_MINUTE
from aitp_desk.auth.keys.data_keys import open_data_keys
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.units.keys.console_sessions import forget_sessions
from aitp_desk.store.units.keys.tokens import revoke_token, rotate_token
from tests.support.access.keys import make_key, make_signing_key
from tests.support.clients.operator import API, COOKIE, Operator, browsing, new_name, operating
from tests.support.clients.threads import Talker, talking
from tests.support.desk.server import serving
from tests.support.doubles.agent import Clock

pytestmark = pytest.mark.asyncio(loop_scope="module")

HOUR = 60 * 60
WORTHLESS = f"desk_{'0' * 16}_{'0' * 64}"
ELSEWHERE = "https://elsewhere.example"
NOT_SIGNED_IN = (401, "not_authenticated", None)


class Ground:
    """A desk with a clock, where what was changed is known at once."""

    def __init__(self, talker: Talker, data: Path, clock: Clock) -> None:
        self.talker = talker
        self.desk: RunningServer = talker.desk
        self.data = data
        self.clock = clock

    async def key(self, *scopes: str, name: str | None = None) -> str:
        """A new API key; by default an operator's."""
        name = name or new_name()
        return await make_key(self.desk.store, self.data, *(scopes or ("operator",)), name=name)

    async def noted(self) -> tuple[str, str, str, str]:
        """The newest row of the audit log: principal, how proven, action, object."""
        await self.desk.store.settled()
        (row,) = self.talker.rows(
            "SELECT principal, proven_by, action, object FROM audit ORDER BY n DESC LIMIT 1"
        )
        return row  # type: ignore[no-any-return]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ground(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Ground]:
    """One desk for all tests that change none of its settings."""
    folder, clock = tmp_path_factory.mktemp("console"), Clock()
    with patch("aitp_desk.auth.credentials.proof_cache.EPOCH_SECONDS", 0):
        async with talking(folder, clock=clock) as talker:
            yield Ground(talker, folder / "data", clock)


@pytest_asyncio.fixture(loop_scope="module")
async def operator(ground: Ground) -> AsyncIterator[Operator]:
    """An operator who has signed in."""
    async with operating(ground.desk, ground.data, new_name()) as operator:
        yield operator


async def test_an_operators_key_signs_in_and_the_page_gets_what_it_needs(
    ground: Ground,
) -> None:
    key = await ground.key(name="Anna Müller")
    async with browsing(ground.desk) as browser:
        shown = await browser.sign_in(f" {key}\n")
        assert await browser.get("session") == shown.ok
    told = shown.ok
    keys = {"operator", "actor", "csrf", "expires_at", "site", "agents", "capabilities"}
    keys.add("reveals")
    assert told.keys() == keys
    assert told["operator"] == "anna-muller"
    assert told["actor"] == f"{ground.desk.url}/operators/anna-muller"
    assert told["agents"] == [""]
    assert told["site"]["url"] == ground.desk.url
    assert shown.headers["Cache-Control"] == "no-store"
    assert key not in str(told)


async def test_the_cookie_is_for_these_pages_alone_and_no_script_reads_it(
    ground: Ground, tmp_path: Path
) -> None:
    async with browsing(ground.desk) as browser:
        cookie = (await browser.sign_in(await ground.key())).cookie
    assert len(cookie.value) == 43  # 256 bits
    assert (cookie["path"], cookie["samesite"]) == ("/console", "Strict")
    assert cookie["httponly"] is True
    assert cookie["max-age"] == str(12 * HOUR)
    assert not cookie["secure"]
    assert not cookie["domain"]
    data = tmp_path / "data"
    async with serving(data, "site.url=https://desk.example", "console.hours=1") as desk:
        key = await make_key(desk.store, data, "admin")
        async with browsing(desk) as browser:
            cookie = (await browser.sign_in(key)).cookie
    assert cookie["secure"] is True
    assert 0 < int(cookie["max-age"]) <= HOUR


async def test_other_keys_do_not_sign_in_and_the_page_says_what_is_needed(ground: Ground) -> None:
    keys = {
        WORTHLESS: 401,
        "": 401,
        "Bearer x": 401,
        await ground.key("threads"): 403,
        await ground.key("actions"): 403,
        (await make_signing_key(ground.desk.store, ground.data, "operator")).secret: 401,
    }
    async with browsing(ground.desk) as browser:
        for key, status in keys.items():
            shown = await browser.sign_in(key)
            assert shown.status == status
            assert "Set-Cookie" not in shown.headers
            if status == 403:
                assert "scope 'operator'" in shown.body["error"]["message"]
            else:
                assert (await ground.noted())[2] == "credential.refused"
        for body in (b"", b"{}", b'{"token": 1}', b"[1", b'{"token": "a", "more": 1}', b"\xff"):
            assert (await browser.send("POST", "session", body)).status == 400
        assert (await browser.send("POST", "session", b" " * 5000)).status == 413


async def test_a_new_session_begins_each_time_and_no_cookie_is_taken_over(ground: Ground) -> None:
    key, planted = await ground.key(), "A" * 43
    async with browsing(ground.desk) as browser:
        browser.secret = planted
        assert (await browser.sign_in(key)).status == 200
        first = browser.secret
        assert (await browser.sign_in(key)).status == 200
        assert len({planted, first, browser.secret}) == 3
        browser.secret = planted
        assert (await browser.send("GET", "session")).refusal == NOT_SIGNED_IN


async def test_who_guesses_keys_is_held_up(tmp_path: Path) -> None:
    data = tmp_path / "data"
    settings = ("limits.enabled=true", "limits.converse_per_minute=1000")
    async with serving(data, *settings) as desk, browsing(desk) as browser:
        for _ in range(MOST_A_MINUTE):
            assert (await browser.sign_in(WORTHLESS)).status == 401
        shown = await browser.sign_in(await make_key(desk.store, data, "operator"))
        assert shown.refusal == (429, "rate_limited", None)
        assert int(shown.headers["Retry-After"]) > 0


async def test_signing_in_and_out_stand_in_the_audit_log(ground: Ground) -> None:
    key = await ground.key()
    principal = f"key:{key.split('_')[1]}"
    async with browsing(ground.desk) as browser:
        await browser.sign_in(key)
        assert await ground.noted() == (principal, "api_key", "console.signed_in", principal)
        shown = await browser.send("DELETE", "session")
        assert shown.status == 204
        assert shown.cookie["max-age"] == "0"
        assert await ground.noted() == (principal, "console", "console.signed_out", principal)
        assert (await browser.send("GET", "session")).refusal == NOT_SIGNED_IN


async def test_only_a_keyed_hash_of_the_session_is_kept(ground: Ground, operator: Operator) -> None:
    assert operator.secret is not None
    kept = b"".join(file.read_bytes() for file in ground.data.glob("desk.db*"))
    assert operator.secret.encode() not in kept
    assert str(operator.csrf).encode() not in kept


async def test_a_session_goes_on_after_a_restart(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with serving(data) as desk, operating(desk, data) as operator:
        secret, csrf = operator.secret, operator.csrf
    async with serving(data) as desk, browsing(desk) as browser:
        browser.secret, browser.csrf = secret, csrf
        assert (await browser.get("session"))["operator"] == "anna"
        assert (await browser.send("DELETE", "session")).status == 204


async def test_a_session_ends_with_its_time_and_its_row_goes(ground: Ground) -> None:
    async with operating(ground.desk, ground.data, new_name()) as operator:
        ground.clock.advance(12 * HOUR - 1)
        assert (await operator.send("GET", "session")).status == 200
        ground.clock.advance(1)
        assert (await operator.send("GET", "session")).refusal == NOT_SIGNED_IN
    now = int(ground.clock())
    assert await ground.desk.store.run(forget_sessions, now=now, limit=1000)
    assert ground.talker.rows("SELECT count(*) FROM console_sessions") == [(0,)]


async def test_a_session_ends_with_its_key(ground: Ground) -> None:
    revoked = await ground.key()
    async with browsing(ground.desk) as browser:
        await browser.sign_in(revoked)
        assert (await browser.send("GET", "session")).status == 200
        id_ = revoked.split("_")[1]
        assert await ground.desk.store.run(revoke_token, id_or_name=id_, now=0)
        assert (await browser.send("GET", "session")).refusal == NOT_SIGNED_IN


async def rotate(ground: Ground, key: str, seconds: int) -> str:
    """Give a key another secret; the one before goes on for some seconds. Returns the new key."""
    id_ = key.split("_")[1]
    kept = await reads.token_by_id(ground.desk.store, id_)
    keys = await open_data_keys(ground.desk.store, ground.data, {})
    assert kept is not None
    _, rotated = make_api_key(id_)
    now = int(ground.clock())
    await ground.desk.store.run(
        rotate_token,
        id=id_,
        version=kept.version,
        hash=keys.hash_token(rotated, keys.newest),
        data_key=keys.newest,
        previous_until=now + seconds,
        now=now,
    )
    return rotated


async def test_a_session_ends_with_the_secret_that_opened_it(ground: Ground) -> None:
    former = await ground.key()
    async with browsing(ground.desk) as before, browsing(ground.desk) as after:
        await before.sign_in(former)
        rotated = await rotate(ground, former, 60)
        await after.sign_in(rotated)
        assert (await before.send("GET", "session")).status == 200
        async with browsing(ground.desk) as late:
            assert int((await late.sign_in(former)).cookie["max-age"]) == 60
        ground.clock.advance(60)
        assert (await before.send("GET", "session")).refusal == NOT_SIGNED_IN
        assert (await after.send("GET", "session")).status == 200
        await rotate(ground, rotated, 0)
        assert (await after.send("GET", "session")).refusal == NOT_SIGNED_IN


async def test_one_key_has_so_many_sessions_and_the_oldest_make_room(ground: Ground) -> None:
    key = await ground.key()
    async with browsing(ground.desk) as first, browsing(ground.desk) as browser:
        await first.sign_in(key)
        ground.clock.advance(1)
        for _ in range(MAX_SESSIONS_PER_KEY):
            await browser.sign_in(key)
        assert (await first.send("GET", "session")).refusal == NOT_SIGNED_IN
        assert (await browser.send("GET", "session")).status == 200


def api_addresses(desk: RunningServer) -> list[tuple[str, str]]:
    """Method and path of all that who has signed in may ask, below the API's own path."""
    return [
        (route.method, route.path.removeprefix(f"{API}/").replace("{", "").replace("}", ""))
        for _, route in desk.dispatcher.routes
        if route.path.startswith(f"{API}/") and route.cookie
    ]


async def test_nothing_but_the_cookie_opens_the_api(ground: Ground, operator: Operator) -> None:
    key = await ground.key()
    others = {
        "nothing": ([], None),
        "a bearer": ([("Authorization", f"Bearer {key}")], None),
        "a key": ([("X-AHP-Key", key)], None),
        "a bearer beside the cookie": ([("Authorization", f"Bearer {key}")], operator.secret),
        "a link beside the cookie": ([("Desk-Grant", "link_x")], operator.secret),
        "another cookie": ([("Cookie", f"other={operator.secret}")], None),
        "a second cookie": ([("Cookie", f"{COOKIE}={'B' * 43}")], operator.secret),
        "a cookie of another form": ([], f"{operator.secret}\\0"),
        "a guessed cookie": ([], "C" * 43),
    }
    async with browsing(ground.desk) as browser:
        browser.csrf = operator.csrf
        for name, (headers, browser.secret) in others.items():
            for method, path in api_addresses(ground.desk):
                shown = await browser.send(method, path, headers=headers)
                assert shown.refusal == NOT_SIGNED_IN, (name, path)
                assert shown.headers["WWW-Authenticate"].startswith("Cookie ")
        browser.secret = operator.secret
        assert (await browser.send("GET", "session")).status == 200


async def test_the_cookie_opens_nothing_else(ground: Ground, operator: Operator) -> None:
    for path in ("/v1/files", "/metrics"):
        told = await ground.talker.send("GET", path, headers=operator.headers)
        assert told.status == 401
    owned = (await (await ground.talker.with_key("threads")).open("Mine.")).id
    told = await ground.talker.send("GET", f"/v1/threads/{owned}", headers=operator.headers)
    assert told.status == 404


async def test_what_changes_something_carries_the_sessions_own_word(
    ground: Ground, operator: Operator
) -> None:
    async with operating(ground.desk, ground.data, new_name()) as other:
        words = [None, "", "x", other.csrf, f"{operator.csrf}0", "é"]
    for operator.csrf in words:
        for method, path in api_addresses(ground.desk):
            if method != "GET":
                shown = await operator.send(method, path, {} if method == "POST" else None)
                assert shown.refusal == (403, "forbidden", "X-CSRF-Token"), path
    assert (await operator.send("GET", "session")).status == 200


async def test_pages_of_other_sites_may_not_ask(ground: Ground, operator: Operator) -> None:
    foreign = (
        [("Origin", ELSEWHERE)],
        [("Origin", "null")],
        [("Sec-Fetch-Site", "cross-site")],
        [("Sec-Fetch-Site", "same-site"), ("Sec-Fetch-Mode", "cors")],
        [("Sec-Fetch-Site", "same-site"), ("Sec-Fetch-Mode", "navigate"), ("Origin", "null")],
    )
    key = await ground.key()
    for headers in foreign:
        for method, path in [*api_addresses(ground.desk), ("POST", "session")]:
            body = {"token": key} if (method, path) == ("POST", "session") else None
            shown = await operator.send(method, path, body, headers=headers)
            assert shown.refusal == (403, "forbidden", "Origin"), (headers, path)
            assert "Access-Control-Allow-Origin" not in shown.headers
            assert "Set-Cookie" not in shown.headers
    own = ([("Origin", ground.desk.url)], [("Sec-Fetch-Site", "same-origin"), ("Origin", "null")])
    for headers in own:
        assert (await operator.send("GET", "session", headers=headers)).status == 200


async def test_not_even_pages_of_the_origins_that_may_use_the_api(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with serving(data, f'cors.origins=["{ELSEWHERE}"]') as desk:
        async with operating(desk, data) as operator:
            shown = await operator.send("GET", "session", headers=[("Origin", ELSEWHERE)])
            assert shown.refusal == (403, "forbidden", "Origin")
            assert "Access-Control-Allow-Origin" not in shown.headers
        ahead = {"Origin": ELSEWHERE, "Access-Control-Request-Method": "DELETE"}
        async with (
            aiohttp.ClientSession(desk.url, headers=ahead) as http,
            http.options(f"{API}/session") as answer,
        ):
            assert answer.status == 403
            assert "Access-Control-Allow-Origin" not in answer.headers


async def test_the_page_is_for_everybody_and_runs_nothing_but_its_own_scripts(
    ground: Ground,
) -> None:
    async with aiohttp.ClientSession(ground.desk.url) as http:
        for path in ("/console", "/console/"):
            visit = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
            async with http.get(path, headers=visit) as page:
                assert (page.status, page.content_type) == (200, "text/html")
                policy = page.headers["Content-Security-Policy"]
                tag = page.headers["ETag"]
                assert page.headers["X-Content-Type-Options"] == "nosniff"
                assert page.headers["Cache-Control"] == "no-cache"
            assert "script-src 'self';" in policy
            assert "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy
            async with http.get(path, headers={"If-None-Match": tag}) as again:
                assert (again.status, await again.read()) == (304, b"")
        async with http.get("/console") as page:
            (script,) = re.findall(r'src="(/console/assets/[^"]+/main\.js)"', await page.text())
        async with http.get(script) as main:
            assert (main.status, main.content_type) == (200, "text/javascript")
            assert "immutable" in main.headers["Cache-Control"]
        assets = script.removesuffix("/main.js")
        wrong = ("nothing.js", "index.html", "..%2froutes.py", "../routes.py")
        for path in (*(f"{assets}/{name}" for name in wrong), "/console/assets/0/main.js"):
            async with http.get(path) as none:
                assert none.status == 404
        async with http.get(f"{API}/nothing") as none:
            assert (await none.json())["error"]["code"] == "route_not_found"


async def test_a_desk_without_a_console_has_nothing_there(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", "console.enabled=false") as desk:
        assert not any(line.endswith("/console") for line in desk.report)
        async with aiohttp.ClientSession(desk.url) as http:
            async with http.get("/console") as page:
                assert page.status == 404
            async with http.get(f"{API}/session") as session:
                assert session.status == 404
            async with http.post(f"{API}/session", json={"token": WORTHLESS}) as session:
                assert session.status == 404


async def test_the_start_names_the_pages(ground: Ground) -> None:
    assert f"  console    {ground.desk.url}/console" in ground.desk.report
