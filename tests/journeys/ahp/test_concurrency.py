"""Many visitors ask the same at the same time: one answer is made, and each has it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.agent.base import Answer, Clarification, Outcome, Turn
from aitp_desk.model.calls.action import Action
from aitp_desk.model.errors import Unavailable
from tests.support.clients.ahp import Said, Visitor, visiting
from tests.support.doubles.agent import ScriptedAgent
from tests.support.doubles.claude_desk import meeting
from tests.support.doubles.messages_api import Reply, Say, Text, said_in, say, use
from tests.support.sites.actions import offering

QUERY = "What does gift wrapping cost?"
MANY = 32
SECONDS = 60


class Held:
    """A script whose replies wait until the test lets them go on.

    Parameters:
        outcome: what is said; an exception is raised.
    """

    def __init__(self, outcome: Outcome | Exception) -> None:
        self._outcome = outcome
        self.go_on = asyncio.Event()

    async def __call__(self, _turn: Turn) -> Outcome:
        await self.go_on.wait()
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome


async def ask_at_once(visitor: Visitor, go_on: asyncio.Event) -> list[Said]:
    """Have many ask, and let the reply go on when all have been heard."""
    asking = [asyncio.create_task(visitor.ask(QUERY)) for _ in range(MANY)]
    async with asyncio.timeout(SECONDS):
        while True:
            await asyncio.sleep(0)
            if visitor.desk.desk.conversations.cache_counts.waiting == MANY - 1:
                break
    go_on.set()
    return await asyncio.gather(*asking)


async def test_one_call_of_the_model_answers_all_who_ask_at_once(tmp_path: Path) -> None:
    go_on = asyncio.Event()
    go_on_with = Say((Text("Gift wrapping costs 2 EUR a book.", (0,)),), holds=go_on)
    async with meeting(tmp_path, lambda _body: go_on_with) as met:
        answers = await ask_at_once(met.visitor, go_on)
        assert len(met.api.requests) == 1
        assert {said.answer for said in answers} == {"Gift wrapping costs 2 EUR a book."}
        assert len({said.session_id for said in answers}) == MANY
        assert sum(said.is_cached for said in answers) == MANY - 1
        follow_up = await met.visitor.ask("And a card?", session_id=answers[-1].session_id)
        assert not follow_up.is_cached
        assert ("user", {"visitor": QUERY}) in said_in(met.api.requests[1])


@pytest.mark.parametrize(
    "outcome",
    [
        Clarification("Paper or ribbon?", ("Paper", "Ribbon")),
        Answer("Later.", fallback="budget_spent"),
    ],
)
async def test_what_is_not_kept_is_sent_to_all_who_wait_for_it(
    tmp_path: Path, outcome: Outcome
) -> None:
    held = Held(outcome)
    agent = ScriptedAgent(held)
    async with visiting(tmp_path / "data", agent=agent) as visitor:
        answers = await ask_at_once(visitor, held.go_on)
        counts = visitor.desk.desk.conversations.cache_counts
        assert (counts.misses, counts.shared, counts.stored) == (1, MANY - 1, 0)
        assert len(agent.turns) == 1
        assert not any(said.is_cached for said in answers)
        assert len({said.session_id for said in answers}) == MANY
        await visitor.ask(QUERY)
        assert len(agent.turns) == 2


async def test_a_failure_is_sent_to_all_who_wait_for_the_answer(tmp_path: Path) -> None:
    held = Held(Unavailable("Not now."))
    agent = ScriptedAgent(held)
    async with visiting(tmp_path / "data", agent=agent) as visitor:
        answers = await ask_at_once(visitor, held.go_on)
    assert {said.refusal for said in answers} == {(503, "unavailable", None)}
    assert len(agent.turns) == 1


@pytest.mark.slow
async def test_what_was_done_for_one_is_done_for_each(tmp_path: Path) -> None:
    """An answer that a tool had a part in is nobody else's."""
    go_on = asyncio.Event()

    async def perform(_who: str, _arguments: Mapping[str, Any]) -> str:
        await go_on.wait()
        return "Sent."

    def script(body: dict[str, Any]) -> Reply:
        is_done = any(block["type"] == "tool_result" for block in body["messages"][-1]["content"])
        return say("A voucher was sent.") if is_done else use("site_send")

    actions = (offering(Action("send", "Sends a voucher."), perform),)
    async with meeting(tmp_path, script, actions=actions) as met:
        answers = await ask_at_once(met.visitor, go_on)
        assert len(met.api.requests) == 2 * MANY
    assert [said.body["meta"]["tools_used"] for said in answers] == [["send"]] * MANY
    assert not any(said.is_cached for said in answers)
