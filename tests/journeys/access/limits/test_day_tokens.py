"""The tokens of a day: what all together may use, and one caller; a restart forgets neither."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from aitp_desk.agent.base import Answer, Outcome, Summariser, Turn, Usage, Utterance
from aitp_desk.desk.maintenance.readiness import TOKENS_SPENT
from tests.support.clients.ahp import visiting
from tests.support.doubles.agent import Clock, ScriptedAgent
from tests.support.doubles.claude_desk import Met, meeting
from tests.support.doubles.messages_api import in_turn, say, use

QUESTION = "What does gift wrapping cost?"
WRAPPED = "Gift wrapping costs 2 EUR a book."
SPENT = "budget_spent"
ONE_REPLY = "model.day_tokens=1500"
"""So much that one question has room, and no second one."""
SECONDS = 30


async def ready(met: Met) -> tuple[int, str, list[str]]:
    async with met.visitor.http.get("/ready") as response:
        said: dict[str, Any] = await response.json()
    return response.status, said["agent"], said["notes"]


@pytest.mark.requirement("AHP-11.4-1", "AHP-11.4-5")
async def test_once_the_day_is_spent_every_protocol_is_answered_by_extraction_and_says_so(
    tmp_path: Path,
) -> None:
    clock = Clock()
    replies = in_turn(say(WRAPPED, 0), say(WRAPPED, 0))
    async with meeting(tmp_path, replies, ONE_REPLY, clock=clock) as met:
        assert (await met.visitor.ask(QUESTION)).body["meta"]["model"] == "claude-haiku-5-5"
        assert await ready(met) == (200, "claude-haiku-5-5, else extractive", [])
        with capture_logs() as logs:
            for _ in range(2):  # what was not the model's own is not remembered
                said = await met.visitor.ask("How much is gift wrapping?")
                assert "2 EUR" in said.answer
                assert not said.is_cached
                assert said.body["meta"]["fallback"] == SPENT
                assert "model" not in said.body["meta"]
            [reply] = (await met.talker.open(QUESTION, wait=SECONDS)).ok["replies"]
            assert reply["metadata"]["fallback"] == SPENT
            assert "2 EUR" in reply["content"][0]
        warnings = [line["event"] for line in logs if line["log_level"] == "warning"]
        assert warnings == ["day_tokens_spent"]
        assert await ready(met) == (200, "extractive", [TOKENS_SPENT])
        assert len(met.api.requests) == 1
        # what the model has said before is still told, and the next day it says more
        assert (await met.visitor.ask(QUESTION)).is_cached
        clock.advance(24 * 3600)
        assert await ready(met) == (200, "claude-haiku-5-5, else extractive", [])
        assert (await met.visitor.ask("Gift wrapping?")).body["meta"]["model"]


async def test_a_reply_that_has_begun_goes_on_past_the_day(tmp_path: Path) -> None:
    replies = in_turn(use("search_site", query="gift wrapping"), say(WRAPPED, 0))
    settings = ("model.day_tokens=800", "model.max_tokens=100")
    async with meeting(tmp_path, replies, *settings) as met:
        said = await met.visitor.ask(QUESTION)
        assert said.answer == WRAPPED
        assert said.body["meta"]["tokens_used"] > 800
        assert (await met.visitor.ask("Wrapping?")).body["meta"]["fallback"] == SPENT


async def test_a_summary_in_the_background_keeps_to_the_day_too(tmp_path: Path) -> None:
    async with meeting(tmp_path, in_turn(say(WRAPPED, 0)), ONE_REPLY) as met:
        await met.visitor.ask(QUESTION)
        agent = met.visitor.desk.desk.readiness._agent  # noqa: SLF001 -- who makes them stands behind no door
        assert isinstance(agent, Summariser)
        long = [Utterance("visitor", f"My parcel has the number {n}. " * 20) for n in range(30)]
        with capture_logs() as logs:
            text = await agent.summarise("", long, 100)
        assert text
        assert len(met.api.requests) == 1
        assert {line["event"] for line in logs} == {"day_tokens_spent"}


async def test_a_restart_does_not_reset_the_day(tmp_path: Path) -> None:
    clock = Clock()
    async with meeting(tmp_path, in_turn(say(WRAPPED, 0)), ONE_REPLY, clock=clock) as met:
        said = await met.visitor.ask(QUESTION)
        used = said.body["meta"]["tokens_used"]
        await met.visitor.desk.store.settled()
        assert met.talker.rows("SELECT used_by, tokens FROM tokens_used") == [(b"", used)]
    async with meeting(tmp_path, in_turn(say(WRAPPED, 0)), ONE_REPLY, clock=clock) as met:
        said = await met.visitor.ask("How much is gift wrapping?")
        assert said.body["meta"]["fallback"] == SPENT
        assert not met.api.requests
    no_more = f"model.day_tokens={used}"
    async with meeting(tmp_path, in_turn(say(WRAPPED, 0)), no_more, clock=clock) as met:
        assert await ready(met) == (200, "extractive", [TOKENS_SPENT])  # before anyone asks
    clock.advance(24 * 3600)
    async with meeting(tmp_path, in_turn(say(WRAPPED, 0)), ONE_REPLY, clock=clock) as met:
        assert (await met.visitor.ask("How much is gift wrapping?")).answer == WRAPPED


@pytest.mark.requirement("AHP-11.4-3")
async def test_what_a_caller_has_used_is_known_after_a_restart_and_the_caller_is_not(
    tmp_path: Path,
) -> None:
    async def answer(_turn: Turn) -> Outcome:
        return Answer("So it is.", usage=Usage(100, 0, 0), tokens_used=100)

    clock, data = Clock(), tmp_path / "data"
    settings = (
        "limits.enabled=true",
        "limits.day_tokens=100",
        'server.trusted_proxies=["127.0.0.1"]',
    )
    here = [("X-Forwarded-For", "198.51.100.77")]
    for statuses in ([200, 429], [429, 429]):
        agent = ScriptedAgent(answer)
        async with visiting(data, *settings, clock=clock, agent=agent) as visitor:
            asked = [(await visitor.ask(f"{n}?", headers=here)).status for n in range(2)]
        assert asked == statuses
    assert not any(b"198.51.100" in path.read_bytes() for path in data.glob("desk.db*"))
