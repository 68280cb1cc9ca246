"""How much one caller may ask in a minute, and how each answer tells what is left."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest

from aitp_desk.agent.base import Outcome, Turn
from aitp_desk.store.base import Params, Row
from aitp_desk.store.units.keys.tokens import TOKENS_EPOCH
from tests.support.access.keys import make_key
from tests.support.clients.ahp import CONTENT, CONVERSE, MANIFEST, Said, Visitor, read, visiting
from tests.support.doubles.agent import NOON, Clock, ScriptedAgent
from tests.support.http.raw_client import send

ON = "limits.enabled=true"
HEADERS = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-RateLimit-Window")
QUERY = "What does gift wrapping cost?"
BEHIND_A_PROXY = 'server.trusted_proxies=["127.0.0.1"]'


@pytest.fixture
def clock() -> Clock:
    """The time of the desk: it stands still until it is moved."""
    return Clock()


def told(said: Said) -> tuple[int, int, int, int]:
    """Limit, remaining, reset and window, as the headers say."""
    limit, remaining, reset, window = (int(said.headers[name]) for name in HEADERS)
    return limit, remaining, reset, window


async def get(visitor: Visitor, path: str, **headers: str) -> Said:
    async with visitor.http.get(path, headers=headers) as response:
        is_json = response.content_type == "application/json"
        return Said(response.status, response.headers, await response.json() if is_json else {})


# --- the defaults ---------------------------------------------------------------------------


@pytest.mark.requirement(
    "AHP-6.5-4", "AHP-10-9", "AHP-11.1-6", "AHP-11.1-7", "AHP-11.2-3", "AHP-11.3-1", "AHP-11.3-4",
    "AHP-13-4", "AHPW-3.1-6", "AHPW-4.1-16",
)  # fmt: skip
async def test_thirty_questions_a_minute_then_429_with_the_time_to_wait(
    tmp_path: Path, clock: Clock
) -> None:
    async with visiting(tmp_path / "data", ON, clock=clock) as visitor:
        for asked in range(1, 31):
            said = await visitor.ask(QUERY)
            assert said.status == 200, asked
            assert told(said) == (30, 30 - asked, int(NOON) + 60, 60)
        clock.advance(13)
        refused = await visitor.ask(QUERY)
    assert refused.refusal == (429, "rate_limited", None)
    assert refused.body["scope"] == "ip"
    assert refused.body["retry_after"] == 47
    assert refused.headers["Retry-After"] == "47"
    assert told(refused) == (30, 0, int(NOON) + 60, 60)


@pytest.mark.requirement("AHP-11.2-2")
async def test_a_hundred_and_twenty_readings_a_minute_then_429(
    tmp_path: Path, clock: Clock
) -> None:
    async with visiting(tmp_path / "data", ON, clock=clock) as visitor:
        for number in range(1, 121):
            path = (MANIFEST, CONTENT)[number % 2]
            said = await get(visitor, path)
            assert said.status == 200
            assert told(said) == (120, 120 - number, int(NOON) + 60, 60)
        refused = await get(visitor, MANIFEST)
        assert refused.refusal == (429, "rate_limited", None)
        assert (await get(visitor, "/")).status == 429
        assert (await visitor.ask(QUERY)).status == 200


@pytest.mark.requirement("AHP-11.2-3", "AHP-13-4")
async def test_a_hundred_and_twenty_questions_a_minute_with_a_key(
    tmp_path: Path, clock: Clock
) -> None:
    data = tmp_path / "data"
    async with visiting(data, ON, clock=clock) as visitor:
        key = [("X-AHP-Key", await make_key(visitor.desk.store, data))]
        for asked in range(1, 121):
            said = await visitor.ask(QUERY, headers=key)
            assert said.status == 200
            assert told(said) == (120, 120 - asked, int(NOON) + 60, 60)
        refused = await visitor.ask(QUERY, headers=key)
        assert (await visitor.ask(QUERY)).status == 200
    assert refused.refusal == (429, "rate_limited", None)
    # the published list of scopes has no word for a credential's limit
    assert "scope" not in refused.body
    assert refused.headers["Retry-After"] == str(refused.body["retry_after"]) == "60"


# --- the headers ----------------------------------------------------------------------------


@pytest.mark.requirement(
    "AHP-11-1", "AHP-11.1-1", "AHP-11.1-2", "AHP-11.1-3", "AHP-11.1-4", "AHP-11.1-5", "AHP-13-3",
    "AHPW-4.1-20",
)  # fmt: skip
async def test_every_response_tells_what_is_left_whatever_became_of_the_request(
    tmp_path: Path, clock: Clock
) -> None:
    question = b'{"capability":"contact","query":"How?"}'
    json = {"Content-Type": "application/json"}
    requests = [
        (200, "GET", MANIFEST, {}, None),
        (200, "HEAD", MANIFEST, {}, None),
        (200, "GET", CONTENT, {}, None),
        (200, "POST", CONVERSE, json, question),
        (400, "POST", CONVERSE, json, b"{"),
        (400, "POST", CONVERSE, json, b'{"capability":"foobar","query":"How?"}'),
        (401, "POST", CONVERSE, json | {"X-AHP-Key": "nothing"}, question),
        (404, "GET", "/agent/other", {}, None),
        (404, "POST", "/agent/other", {}, None),
        (405, "GET", CONVERSE, {}, None),
        (405, "DELETE", MANIFEST, {}, None),
        (413, "POST", CONVERSE, json, b" " * 8193),
        (415, "POST", CONVERSE, {"Content-Type": "text/plain"}, question),
        (421, "POST", CONVERSE, json | {"Host": "elsewhere.example"}, question),
    ]
    limits = ("limits.converse_per_minute=100", "limits.static_per_minute=1000")
    left = {100: 100, 1000: 1000}
    async with visiting(tmp_path / "data", ON, *limits, clock=clock) as visitor:
        for status, method, path, headers, body in requests:
            async with visitor.http.request(method, path, headers=headers, data=body) as response:
                assert response.status == status, (method, path)
                found = [int(response.headers[name]) for name in HEADERS]
                assert len([n for n in response.headers if n.startswith("X-RateLimit")]) == 4
            limit = 100 if path == CONVERSE and method == "POST" else 1000
            left[limit] -= 1
            assert found == [limit, left[limit], int(NOON) + 60, 60], (method, path)


@pytest.mark.slow
@pytest.mark.requirement("AHP-11.1-1", "AHP-13-3")
@pytest.mark.parametrize("path", [MANIFEST, CONTENT, "/", "/about"])
async def test_what_is_read_tells_it_too_in_whatever_form_it_comes(
    tmp_path: Path, clock: Clock, path: str
) -> None:
    async with visiting(tmp_path / "data", ON, clock=clock) as visitor:
        async with visitor.http.get(path) as response:
            known = {"If-None-Match": response.headers["ETag"]}
        sent: list[tuple[int, str, dict[str, str]]] = [
            (200, "HEAD", {}),
            (304, "GET", known),
            (304, "HEAD", known),
            (200, "GET", {"Accept": "text/markdown"}),
            (200 if path == MANIFEST else 302, "GET", {"Accept": "application/agent+json"}),
            (401, "GET", {"X-AHP-Key": "nothing"}),
        ]
        for number, (status, method, headers) in enumerate(sent, 2):
            async with visitor.http.request(
                method, path, headers=headers, allow_redirects=False
            ) as response:
                found = tuple(int(response.headers[name]) for name in HEADERS)
            assert response.status == status, (method, headers)
            assert found == (120, 120 - number, int(NOON) + 60, 60)


@pytest.mark.slow
@pytest.mark.requirement("AHP-11.1-1")
async def test_a_fault_and_a_body_that_never_ends_tell_it_too(tmp_path: Path) -> None:
    async def break_down(_turn: Turn) -> Outcome:
        raise ZeroDivisionError

    settings = (ON, "server.body_idle_seconds=1")
    async with visiting(tmp_path / "data", *settings, agent=ScriptedAgent(break_down)) as visitor:
        broken = await visitor.ask(QUERY)
        assert broken.status == 500
        assert told(broken)[:2] == (30, 29)
        json = [(b"Content-Type", b"application/json"), (b"Content-Length", b"40")]
        slow = await send(visitor.desk.url, b"POST", CONVERSE.encode(), [*json])
        assert slow.status == 408
        assert [slow.headers[name] for name in HEADERS[:2]] == ["30", "28"]


async def test_a_credential_that_cannot_be_looked_at_now_counts_as_its_address(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(statement: str, params: Params) -> list[Row]:
        """What is looked up of a credential cannot be read."""
        if params.get("name") == TOKENS_EPOCH:
            raise OSError("The disk is gone.")
        return await read_store(statement, params)

    data = tmp_path / "data"
    async with visiting(data, ON, clock=clock) as visitor:
        key = [("X-AHP-Key", await make_key(visitor.desk.store, data))]
        read_store = visitor.desk.store.read
        monkeypatch.setattr(visitor.desk.store, "read", fail)
        said = await visitor.ask(QUERY, headers=key)
        assert said.status == 500
        assert told(said)[:2] == (30, 29)


async def test_who_watches_the_desk_is_not_counted(tmp_path: Path) -> None:
    async with visiting(tmp_path / "data", ON, "limits.static_per_minute=1") as visitor:
        for path in ("/health", "/ready"):
            for _ in range(3):
                async with visitor.http.get(path) as response:
                    assert response.status == 200
                    assert not any(name.startswith("X-RateLimit") for name in response.headers)


async def test_limits_that_are_switched_off_are_not_told(tmp_path: Path) -> None:
    settings = ("limits.enabled=false", "limits.converse_per_minute=1")
    async with visiting(tmp_path / "data", *settings) as visitor:
        for _ in range(3):
            said = await visitor.ask(QUERY)
            assert said.status == 200
            assert not any(name.startswith("X-RateLimit") for name in said.headers)


# --- the window -----------------------------------------------------------------------------


@pytest.mark.requirement("AHP-11.1-4", "AHP-11.1-7")
async def test_when_the_window_resets_the_visitor_may_ask_again(
    tmp_path: Path, clock: Clock
) -> None:
    async with visiting(tmp_path / "data", ON, "limits.converse_per_minute=2", clock=clock) as v:
        await v.ask(QUERY)
        clock.advance(20)
        reset = told(await v.ask(QUERY))[2]
        assert reset == int(NOON) + 60
        refused = await v.ask(QUERY)
        assert refused.body["retry_after"] == reset - clock.now == 40
        clock.advance(39)
        assert (await v.ask(QUERY)).body["retry_after"] == 1
        clock.advance(1)
        assert told(await v.ask(QUERY)) == (2, 1, reset + 60, 60)


@pytest.mark.requirement("AHP-11.2-1")
async def test_the_owner_chooses_the_limits(tmp_path: Path, clock: Clock) -> None:
    data = tmp_path / "data"
    settings = (
        "limits.converse_per_minute=2",
        "limits.static_per_minute=3",
        "limits.authenticated_per_minute=1",
    )
    async with visiting(data, ON, *settings, clock=clock) as visitor:
        key = [("X-AHP-Key", await make_key(visitor.desk.store, data))]
        assert [(await visitor.ask(QUERY)).status for _ in range(3)] == [200, 200, 429]
        assert [(await get(visitor, CONTENT)).status for _ in range(4)] == [200, 200, 200, 429]
        assert [(await visitor.ask(QUERY, headers=key)).status for _ in range(2)] == [200, 429]


# --- what counts ----------------------------------------------------------------------------


async def test_what_is_refused_and_what_is_known_count_too(tmp_path: Path, clock: Clock) -> None:
    async with visiting(tmp_path / "data", ON, "limits.converse_per_minute=4", clock=clock) as v:
        await v.ask(QUERY)
        assert (await v.ask(QUERY)).is_cached
        assert (await v.post({})).status == 400
        assert (await v.ask(QUERY, "foobar")).status == 400
        assert (await v.ask(QUERY)).status == 429


async def test_threads_share_the_allowance_of_questions_and_of_reading(
    tmp_path: Path, clock: Clock
) -> None:
    settings = ("limits.converse_per_minute=2", "limits.static_per_minute=1")
    async with visiting(tmp_path / "data", ON, *settings, clock=clock) as visitor:
        async with visitor.http.post("/v1/threads", json={}) as response:
            thread_id = (await response.json())["id"]
            assert response.headers["X-RateLimit-Remaining"] == "1"
        assert (await visitor.ask(QUERY)).status == 200
        assert (await visitor.ask(QUERY)).status == 429
        async with visitor.http.post("/v1/threads", json={}) as response:
            assert response.status == 429
            assert response.headers["Retry-After"] == "60"
            assert (await response.json())["error"]["code"] == "rate_limited"
        for status in (200, 429):
            async with visitor.http.get(f"/v1/threads/{thread_id}") as response:
                assert response.status == status


async def test_guessing_credentials_uses_up_the_allowance_of_the_address(
    tmp_path: Path, clock: Clock
) -> None:
    data = tmp_path / "data"
    async with visiting(data, ON, "limits.converse_per_minute=3", clock=clock) as visitor:
        key = await make_key(visitor.desk.store, data)
        endings = [n for n in range(10, 14) if not key.endswith(str(n))]
        guesses = [("X-AHP-Key", f"{key[:-2]}{n}") for n in endings[:3]]
        guesses += [("Authorization", f"Basic {key}")]
        statuses = [(await visitor.ask(QUERY, headers=[guess])).status for guess in guesses]
        assert statuses == [401, 401, 401, 429]
        assert (await visitor.ask(QUERY)).status == 429
        assert (await visitor.ask(QUERY, headers=[("X-AHP-Key", key)])).status == 200


@pytest.mark.requirement("AHP-11.3-2")
async def test_each_key_has_a_separate_allowance(tmp_path: Path, clock: Clock) -> None:
    data = tmp_path / "data"
    async with visiting(data, ON, "limits.authenticated_per_minute=1", clock=clock) as visitor:
        for name in ("one", "other"):
            key = [("X-AHP-Key", await make_key(visitor.desk.store, data, name=name))]
            assert [(await visitor.ask(QUERY, headers=key)).status for _ in (1, 2)] == [200, 429]


@pytest.mark.requirement("AHP-6.5-4", "AHP-11.3-1")
async def test_behind_a_trusted_proxy_each_address_has_a_separate_allowance(
    tmp_path: Path, clock: Clock
) -> None:
    settings = (ON, "limits.converse_per_minute=1", BEHIND_A_PROXY)
    async with visiting(tmp_path / "data", *settings, clock=clock) as visitor:

        async def status_from(forwarded: str) -> int:
            headers = [("X-Forwarded-For", forwarded)]
            return (await visitor.ask(QUERY, headers=headers)).status

        assert await status_from("198.51.100.1") == 200
        assert await status_from("198.51.100.1") == 429
        assert await status_from("198.51.100.2") == 200
        # what stands left of the proxy's own entry is only what the client claims
        assert await status_from("203.0.113.9, 198.51.100.2") == 429
        assert await status_from("2001:db8::7") == 200


@pytest.mark.requirement("AHP-11.3-1")
async def test_without_a_trusted_proxy_nobody_is_somewhere_else_by_saying_so(
    tmp_path: Path, clock: Clock
) -> None:
    settings = (ON, "limits.converse_per_minute=1", 'server.trusted_proxies=["10.0.0.0/8"]')
    async with visiting(tmp_path / "data", *settings, clock=clock) as visitor:
        statuses = [
            (await visitor.ask(QUERY, headers=[("X-Forwarded-For", f"198.51.100.{n}")])).status
            for n in range(1, 3)
        ]
    assert statuses == [200, 429]


async def test_a_refusal_for_the_limit_comes_before_everything_else(
    tmp_path: Path, clock: Clock
) -> None:
    async with visiting(tmp_path / "data", ON, "limits.converse_per_minute=1", clock=clock) as v:
        await v.ask(QUERY)
        for body, headers in [
            (b"{", {}),
            (b" " * 9000, {}),
            (b"{}", {"X-AHP-Key": "nothing"}),
            (b"{}", {"Host": "elsewhere.example"}),
        ]:
            async with v.http.post(CONVERSE, data=body, headers=headers) as response:
                assert (await read(response)).refusal == (429, "rate_limited", None)


async def test_keys_that_prove_nothing_are_looked_up_sixty_times_a_minute_for_an_address(
    tmp_path: Path, clock: Clock
) -> None:
    data = tmp_path / "data"
    async with visiting(data, ON, BEHIND_A_PROXY, clock=clock) as visitor:
        known = await make_key(visitor.desk.store, data, name="known")
        assert (await get(visitor, MANIFEST, **{"X-AHP-Key": known})).status == 200
        worthless = ""
        for number in range(60):
            worthless = f"desk_{number:016x}_{'0' * 64}"
            assert (await get(visitor, MANIFEST, **{"X-AHP-Key": worthless})).status == 401
        refused = await get(visitor, MANIFEST, **{"X-AHP-Key": worthless})
        assert refused.refusal == (429, "rate_limited", None)
        assert refused.headers["Retry-After"] == "60"
        assert (await get(visitor, MANIFEST, **{"X-AHP-Key": known})).status == 200
        new = await make_key(visitor.desk.store, data, name="new")  # all have to be looked up again
        with patch("aitp_desk.auth.credentials.proof_cache.EPOCH_SECONDS", 0):
            assert (await get(visitor, MANIFEST, **{"X-AHP-Key": known})).status == 200
        assert (await get(visitor, MANIFEST, **{"X-AHP-Key": new})).status == 429
        elsewhere = {"X-AHP-Key": worthless, "X-Forwarded-For": "203.0.113.9"}
        assert (await get(visitor, MANIFEST, **elsewhere)).status == 401
        assert (await get(visitor, MANIFEST)).status == 200
