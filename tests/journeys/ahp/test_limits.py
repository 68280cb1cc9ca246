"""What one agent, one session and one day may use up, and that the manifest says what is so."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.agent.base import Answer, Clarification, Outcome, Turn, Usage
from tests.support.access.keys import make_key
from tests.support.clients.ahp import MANIFEST, Headers, Said, Visitor, visiting
from tests.support.doubles.agent import NOON, Clock, ScriptedAgent

ON = "limits.enabled=true"
QUERY = "What does gift wrapping cost?"
SPENT = (429, "rate_limited", None)
DAY = 24 * 60 * 60


@pytest.fixture
def clock() -> Clock:
    """The time of the desk: it stands still until it is moved."""
    return Clock()


def told(said: Said) -> tuple[int, int]:
    """Limit and remaining, as the headers say."""
    return int(said.headers["X-RateLimit-Limit"]), int(said.headers["X-RateLimit-Remaining"])


def asked_by(name: str | None) -> dict[str, Any]:
    return {} if name is None else {"requesting_agent": name}


# --- one agent within its address -----------------------------------------------------------


@pytest.mark.requirement("AHP-6.5-4", "AHP-11.3-2", "AHP-11.3-3", "AHP-11.3-4", "AHP-8.1-2")
async def test_an_agent_that_asks_too_often_is_refused_by_its_name(
    tmp_path: Path, clock: Clock
) -> None:
    settings = (ON, "limits.agent_per_minute=2")
    async with visiting(tmp_path / "data", *settings, clock=clock) as visitor:
        for left in (1, 0):
            said = await visitor.ask(QUERY, requesting_agent="bot/1.0")
            assert told(said) == (2, left)
        clock.advance(13)
        refused = await visitor.ask(QUERY, requesting_agent="bot/1.0")
        other = await visitor.ask(QUERY, requesting_agent="other-bot/1.0")
    assert refused.refusal == SPENT
    assert refused.body["scope"] == "agent"
    assert refused.body["retry_after"] == 47
    assert refused.headers["Retry-After"] == "47"
    assert told(refused) == (2, 0)
    assert refused.headers["X-RateLimit-Reset"] == str(int(NOON) + 60)
    assert other.status == 200


@pytest.mark.slow
@pytest.mark.requirement("AHP-11.3-3", "AHP-8.1-2")
async def test_who_invents_a_name_for_every_question_gains_nothing(
    tmp_path: Path, clock: Clock
) -> None:
    settings = (ON, "limits.converse_per_minute=5", "limits.agent_per_minute=2")
    async with visiting(tmp_path / "data", *settings, clock=clock) as visitor:
        invented = [await visitor.ask(QUERY, requesting_agent=f"bot-{n}") for n in range(8)]
    assert [said.status for said in invented] == [200] * 5 + [429] * 3
    assert {said.body["scope"] for said in invented[5:]} == {"ip"}
    # the headers tell what is scarcest: first the agent's allowance, at last the address's
    assert [told(said) for said in invented[:5]] == [(2, 1), (2, 1), (2, 1), (5, 1), (5, 0)]


async def test_all_that_name_no_agent_are_counted_as_one(tmp_path: Path, clock: Clock) -> None:
    settings = (ON, "limits.agent_per_minute=2")
    async with visiting(tmp_path / "data", *settings, clock=clock) as visitor:
        statuses = [(await visitor.ask(QUERY)).status for _ in range(3)]
        assert statuses == [200, 200, 429]
        assert (await visitor.ask(QUERY, requesting_agent="bot")).status == 200


async def test_agents_of_one_name_at_two_addresses_are_two(tmp_path: Path, clock: Clock) -> None:
    settings = (ON, "limits.agent_per_minute=1", 'server.trusted_proxies=["127.0.0.1"]')
    async with visiting(tmp_path / "data", *settings, clock=clock) as visitor:

        async def status_from(address: str) -> int:
            headers = [("X-Forwarded-For", address)]
            return (await visitor.ask(QUERY, headers=headers, requesting_agent="bot")).status

        assert [await status_from("198.51.100.1") for _ in (1, 2)] == [200, 429]
        assert [await status_from("198.51.100.2") for _ in (1, 2)] == [200, 429]
        # the addresses of one IPv6 network are one
        addresses = ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1")
        assert [await status_from(address) for address in addresses] == [200, 429, 200]


async def test_an_agent_is_counted_whatever_happens_to_its_question(
    tmp_path: Path, clock: Clock
) -> None:
    settings = (ON, "limits.agent_per_minute=3")
    async with visiting(tmp_path / "data", *settings, clock=clock) as visitor:
        await visitor.ask(QUERY, "foobar", requesting_agent="bot")
        refused = await visitor.ask(QUERY, session_id="session_none", requesting_agent="bot")
        assert refused.status == 400
        assert told(refused) == (3, 1)
        assert (await visitor.ask(QUERY, requesting_agent="bot")).status == 200
        assert (await visitor.ask(QUERY, requesting_agent="bot")).status == 429


async def test_a_limit_of_agents_above_that_of_the_address_changes_nothing(
    tmp_path: Path, clock: Clock
) -> None:
    settings = (ON, "limits.converse_per_minute=2", "limits.agent_per_minute=100")
    async with visiting(tmp_path / "data", *settings, clock=clock) as visitor:
        said = [await visitor.ask(QUERY, requesting_agent="bot") for _ in range(3)]
    assert [told(one) for one in said] == [(2, 1), (2, 0), (2, 0)]
    assert said[2].body["scope"] == "ip"


# --- one session ----------------------------------------------------------------------------


@pytest.mark.requirement("AHP-11.3-2")
async def test_a_session_in_which_too_much_is_asked_rests_and_another_does_not(
    tmp_path: Path, clock: Clock
) -> None:
    settings = (ON, "limits.session_per_minute=3", "sessions.max_turns=2")
    async with visiting(tmp_path / "data", *settings, clock=clock) as visitor:
        id_ = (await visitor.ask(QUERY)).session_id
        statuses = [(await visitor.ask("And a card?", session_id=id_)).status for _ in range(3)]
        assert statuses == [200, 400, 400]
        refused = await visitor.ask("And a card?", session_id=id_)
        assert refused.refusal == SPENT
        assert refused.body["scope"] == "session"
        assert refused.body["retry_after"] == 60
        assert refused.headers["Retry-After"] == "60"
        assert told(refused) == (3, 0)
        assert (await visitor.ask(QUERY)).status == 200
        clock.advance(60)
        late = await visitor.ask("And a card?", session_id=id_)
        assert late.refusal == (400, "invalid_request", "session_limit")
        assert told(late) == (3, 2)


async def test_nobody_uses_up_a_session_that_is_not_theirs(tmp_path: Path, clock: Clock) -> None:
    data = tmp_path / "data"
    async with visiting(data, ON, "limits.session_per_minute=1", clock=clock) as visitor:
        key = [("X-AHP-Key", await make_key(visitor.desk.store, data))]
        id_ = (await visitor.ask(QUERY, headers=key)).session_id
        for _ in range(3):
            assert (await visitor.ask("And?", session_id=id_)).status == 400
        assert (await visitor.ask("And?", session_id=id_, headers=key)).status == 200
        assert (await visitor.ask("And?", session_id=id_, headers=key)).status == 429


# --- the tokens of a session ----------------------------------------------------------------


def using(*tokens: int) -> ScriptedAgent:
    """An agent whose replies use so many tokens of a model, one after the other."""
    left = list(tokens)

    async def answer(_turn: Turn) -> Outcome:
        used = left.pop(0) if len(left) > 1 else left[0]
        return Answer("So it is.", tokens_used=used, usage=Usage(used - 1, 0, 1))

    return ScriptedAgent(answer)


@pytest.mark.requirement("AHP-11.4-2", "AHP-11.4-5", "AHP-11.4-6", "AHP-11.1-6")
async def test_a_session_whose_tokens_are_used_up_is_over_and_a_new_one_is_not(
    tmp_path: Path, clock: Clock
) -> None:
    settings = (ON, "limits.session_tokens=250")
    async with visiting(tmp_path / "data", *settings, clock=clock, agent=using(100)) as visitor:
        id_ = (await visitor.ask("One?")).session_id
        for question in ("Two?", "Three?"):
            assert (await visitor.ask(question, session_id=id_)).status == 200
        for capability in ("content_search", "site_info"):
            refused = await visitor.ask("Four?", capability, session_id=id_)
            assert refused.refusal == SPENT
            assert refused.body["scope"] == "session_tokens"
            assert refused.body["retry_after"] is None
            # every 429 has the header; a new session may be begun at once
            assert refused.headers["Retry-After"] == "0"
        assert (await visitor.ask("Four?")).status == 200


async def test_the_tokens_of_a_session_are_those_that_its_answers_name(tmp_path: Path) -> None:
    """Without a model too: extraction estimates, and so a visitor can add them up."""
    async with visiting(tmp_path / "data", ON, "limits.session_tokens=60") as visitor:
        said = await visitor.ask(QUERY)
        id_, used = said.session_id, said.body["meta"]["tokens_used"]
        assert 0 < used < 60
        while used < 60:
            said = await visitor.ask("And a gift card?", session_id=id_)
            used += said.body["meta"]["tokens_used"]
        assert (await visitor.ask("And a gift card?", session_id=id_)).refusal == SPENT


async def test_an_answer_from_memory_uses_no_tokens(tmp_path: Path, clock: Clock) -> None:
    settings = (ON, "limits.session_tokens=100", "limits.day_tokens=101")
    async with visiting(tmp_path / "data", *settings, clock=clock, agent=using(100)) as visitor:
        await visitor.ask("One?")
        known = await visitor.ask("One?")
        assert known.is_cached
        assert known.body["meta"]["tokens_used"] == 100
        assert (await visitor.ask("Two?", session_id=known.session_id)).status == 200


async def test_what_was_asked_back_uses_tokens_too(tmp_path: Path, clock: Clock) -> None:
    async def ask_back(_turn: Turn) -> Outcome:
        return Clarification("Which one?", usage=Usage(80, 0, 20))

    settings = (ON, "limits.session_tokens=100")
    agent = ScriptedAgent(ask_back)
    async with visiting(tmp_path / "data", *settings, clock=clock, agent=agent) as visitor:
        asked = await visitor.ask("One?")
        said = await visitor.ask("One?", session_id=asked.session_id, clarification="That one")
    assert said.refusal == SPENT
    assert said.body["scope"] == "session_tokens"


async def test_the_tokens_of_a_session_are_known_after_a_restart(
    tmp_path: Path, clock: Clock
) -> None:
    settings = (ON, "limits.session_tokens=250")
    data = tmp_path / "data"
    async with visiting(data, *settings, clock=clock, agent=using(100, 149)) as visitor:
        id_ = (await visitor.ask("One?")).session_id
        await visitor.ask("Two?", session_id=id_)
    async with visiting(data, *settings, clock=clock, agent=using(1)) as visitor:
        assert (await visitor.ask("Three?", session_id=id_)).status == 200
        assert (await visitor.ask("Four?", session_id=id_)).body["scope"] == "session_tokens"


# --- the tokens of a day --------------------------------------------------------------------


@pytest.mark.requirement("AHP-11.4-3")
async def test_a_caller_whose_tokens_of_the_day_are_used_up_is_answered_the_next_day(
    tmp_path: Path, clock: Clock
) -> None:
    data = tmp_path / "data"
    settings = (ON, "limits.day_tokens=150")
    assert NOON % DAY == 8 * 60 * 60  # the day ends in sixteen hours
    async with visiting(data, *settings, clock=clock, agent=using(100)) as visitor:
        for question in ("One?", "Two?"):
            assert (await visitor.ask(question)).status == 200
        clock.advance(60 * 60)
        refused = await visitor.ask("Three?")
        assert refused.refusal == SPENT
        assert "scope" not in refused.body
        assert refused.body["retry_after"] == 15 * 60 * 60
        assert refused.headers["Retry-After"] == str(15 * 60 * 60)
        # what asks no model goes on
        assert (await visitor.ask("Whom do I write to?", "contact")).status == 200
        key = [("X-AHP-Key", await make_key(visitor.desk.store, data))]
        assert (await visitor.ask("Three?", headers=key)).status == 200
        clock.advance(15 * 60 * 60 - 1)
        assert (await visitor.ask("Four?")).body["retry_after"] == 1
        clock.advance(1)
        assert (await visitor.ask("Four?")).status == 200


async def test_whose_day_is_spent_takes_nobody_else_along_who_asks_the_same(
    tmp_path: Path, clock: Clock
) -> None:
    data = tmp_path / "data"
    settings = (ON, "limits.day_tokens=100", 'server.trusted_proxies=["127.0.0.1"]')
    async with visiting(data, *settings, clock=clock, agent=using(100)) as visitor:

        async def status_from(address: str, query: str) -> int:
            return (await visitor.ask(query, headers=[("X-Forwarded-For", address)])).status

        assert await status_from("198.51.100.1", "One?") == 200
        statuses = await asyncio.gather(
            status_from("198.51.100.1", "Two?"), status_from("198.51.100.2", "Two?")
        )
    assert list(statuses) == [429, 200]


async def test_a_turn_refused_for_the_day_leaves_its_session_as_it_was(
    tmp_path: Path, clock: Clock
) -> None:
    settings = (ON, "limits.day_tokens=100", "sessions.idle_seconds=86400", "sessions.max_turns=2")
    async with visiting(tmp_path / "data", *settings, clock=clock, agent=using(100)) as visitor:
        id_ = (await visitor.ask("One?")).session_id
        for _ in range(3):
            assert (await visitor.ask("Two?", session_id=id_)).refusal == SPENT
        clock.advance(16 * 60 * 60)
        assert (await visitor.ask("Two?", session_id=id_)).status == 200


async def test_answers_without_a_model_cost_nothing_of_the_day(
    tmp_path: Path, clock: Clock
) -> None:
    settings = (ON, "limits.day_tokens=1", "cache.max_answers=0")
    async with visiting(tmp_path / "data", *settings, clock=clock) as visitor:
        assert [(await visitor.ask(QUERY)).status for _ in range(5)] == [200] * 5


@pytest.mark.parametrize("seconds", [-3 * DAY, 3 * DAY])
async def test_a_clock_that_is_set_makes_the_day_a_new_one(
    tmp_path: Path, clock: Clock, seconds: int
) -> None:
    settings = (ON, "limits.day_tokens=100")
    async with visiting(tmp_path / "data", *settings, clock=clock, agent=using(100)) as visitor:
        await visitor.ask("One?")
        assert (await visitor.ask("Two?")).status == 429
        clock.advance(seconds)
        assert (await visitor.ask("Two?")).status == 200


# --- what the manifest declares -------------------------------------------------------------

TOKENS = 7500
"""What each reply uses."""


async def count_until_refused(visitor: Visitor, headers: Headers, most: int) -> int | None:
    """How many questions are answered within a minute; None where none of so many is refused."""
    for asked in range(most):
        if (await visitor.ask(QUERY, headers=headers, requesting_agent="bot")).status == 429:
            return asked
    return None


async def add_until_refused(
    visitor: Visitor, clock: Clock, headers: Headers, most: int
) -> Sequence[int] | None:
    """What the answers in a session have used together, each time, until one more is refused."""
    used: list[int] = []
    id_: str | None = None
    for _ in range(most):
        clock.advance(60)
        said = await visitor.ask(
            QUERY, headers=headers, session_id=id_, requesting_agent=f"bot-{len(used)}"
        )
        if said.status == 429:
            assert said.body["scope"] == "session_tokens"
            return used
        id_ = said.session_id
        used.append(sum(used[-1:]) + said.body["meta"]["tokens_used"])
    return None


@pytest.mark.slow
@pytest.mark.requirement(
    "AHP-4.3-8", "AHP-11-2", "AHP-11.5-1", "AHP-11.2-1", "AHP-11.2-3", "AHP-13-4"
)
@pytest.mark.parametrize(
    ("settings", "declared"),
    [
        ((ON,), (("30/minute", "50000/session"), ("120/minute", "200000/session"))),
        (
            (
                ON,
                "limits.converse_per_minute=7",
                "limits.authenticated_per_minute=9",
                "limits.session_tokens=20000",
                "limits.authenticated_session_tokens=0",
            ),
            (("7/minute", "20000/session"), ("9/minute", None)),
        ),
        (
            (ON, "limits.agent_per_minute=8", "limits.authenticated_per_minute=5"),
            (("8/minute", "50000/session"), ("5/minute", "200000/session")),
        ),
        (("limits.enabled=false", "limits.converse_per_minute=2"), None),
    ],
    ids=["as it comes", "chosen", "by agent", "switched off"],
)
async def test_the_manifest_declares_what_is_enforced_and_nothing_else(
    tmp_path: Path,
    clock: Clock,
    settings: tuple[str, ...],
    declared: tuple[tuple[str, str | None], tuple[str, str | None]] | None,
) -> None:
    data = tmp_path / "data"
    settings = (*settings, "sessions.max_turns=1000", "cache.max_answers=0")
    async with visiting(data, *settings, clock=clock, agent=using(TOKENS)) as visitor:
        async with visitor.http.get(MANIFEST) as response:
            manifest = await response.json()
        key = [("X-AHP-Key", await make_key(visitor.desk.store, data))]
        told_tiers: list[tuple[str | None, str | None]] = []
        for name, headers in (("unauthenticated", []), ("authenticated", key)):
            tier = manifest.get("rate_limits", {}).get(name, {})
            requests, budget = tier.get("requests"), tier.get("token_budget")
            told_tiers.append((requests, budget))
            clock.advance(60)
            asked = await count_until_refused(visitor, headers, most=125)
            assert (requests and int(requests.removesuffix("/minute"))) == asked
            used = await add_until_refused(visitor, clock, headers, most=30)
            if budget is None:
                assert used is None
            else:
                assert used is not None
                # the last answer reached the budget, the one before had not
                assert used[-2] < int(budget.removesuffix("/session")) <= used[-1]
    assert manifest.get("rate_limit") == (declared and declared[0][0])
    assert told_tiers == ([(None, None)] * 2 if declared is None else list(declared))
