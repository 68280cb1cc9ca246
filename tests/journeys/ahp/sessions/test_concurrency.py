"""Several requests in one session at once, while a session is let go of, or a turn is not kept."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.agent.base import Answer, Outcome, Turn
from aitp_desk.desk.dialogue.turn import AskReply, AskRequest
from aitp_desk.model.access.principal import make_anonymous
from aitp_desk.model.errors import SessionLimit, StoreBusy
from aitp_desk.store.units.threads.sessions import record_exchange
from tests.support.clients.ahp import Visitor, visiting
from tests.support.doubles.agent import Clock, ScriptedAgent


class Slow:
    """An agent that takes its time over the question ``slow``, and says how much it remembers."""

    def __init__(self) -> None:
        self.arrived = asyncio.Event()
        self.go_on = asyncio.Event()
        self.agent = ScriptedAgent(self._answer)

    async def _answer(self, turn: Turn) -> Outcome:
        if turn.question == "slow":
            self.arrived.set()
            await self.go_on.wait()
        return Answer(f"{len(turn.transcript)} before")


def said(asked: AskReply) -> str:
    assert isinstance(asked.outcome, Answer)
    return asked.outcome.text


def take(visitor: Visitor, question: str, session_id: str) -> asyncio.Task[AskReply]:
    ask = AskRequest("content_search", question, session_id=session_id)
    return asyncio.create_task(
        visitor.desk.desk.conversations.ask(make_anonymous("127.0.0.1"), ask)
    )


async def test_a_session_in_the_middle_of_a_turn_is_not_let_go_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aitp_desk.desk.threads.sessions.MAX_CACHED", 1)
    slow = Slow()
    settings = ("sessions.max_turns=2",)
    async with visiting(tmp_path / "data", *settings, agent=slow.agent) as visitor:
        id_ = (await visitor.ask("Hello?")).session_id
        first = take(visitor, "slow", id_)
        await slow.arrived.wait()
        elsewhere = [await visitor.ask(f"Elsewhere {n}?") for n in (1, 2)]
        second = take(visitor, "second", id_)
        # these are let go of in turn and read back: were it read back too, it would be by then
        for other in elsewhere:
            await visitor.ask("And?", session_id=other.session_id)
        slow.go_on.set()
        assert said(await first) == "2 before"
        with pytest.raises(SessionLimit, match="This session has used its 2 turns"):
            await second


@pytest.mark.sqlite
async def test_who_waits_for_a_turn_that_was_not_kept_goes_on_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow()
    settings = ('store.query_turns="durable"', "sessions.max_turns=3")
    async with visiting(tmp_path / "data", *settings, agent=slow.agent) as visitor:
        id_ = (await visitor.ask("Hello?")).session_id
        lost = take(visitor, "slow", id_)
        await slow.arrived.wait()
        others = [take(visitor, f"turn {n}", id_) for n in (2, 3)]
        await asyncio.sleep(0)

        run = visitor.desk.store.run

        async def refuse(unit: Any, **given: Any) -> Any:
            # the desk's background tasks write as well, at any moment
            if getattr(unit, "func", unit) is not record_exchange:
                return await run(unit, **given)
            monkeypatch.undo()
            raise StoreBusy("Not now.", retry_after=1)

        monkeypatch.setattr(visitor.desk.store, "run", refuse)
        slow.go_on.set()
        with pytest.raises(StoreBusy):
            await lost
        replies = [said(await other) for other in others]
    assert replies == ["2 before", "4 before"]
    assert [turn.question for turn in slow.agent.turns[2:]] == ["turn 2", "turn 3"]


async def test_a_session_in_the_middle_of_a_turn_is_not_idle(tmp_path: Path) -> None:
    slow, clock = Slow(), Clock()
    settings = ("sessions.idle_seconds=10",)
    async with visiting(tmp_path / "data", *settings, clock=clock, agent=slow.agent) as visitor:
        id_ = (await visitor.ask("Hello?")).session_id
        clock.advance(9)
        first = take(visitor, "slow", id_)
        await slow.arrived.wait()
        clock.advance(9)
        second = take(visitor, "second", id_)
        await asyncio.sleep(0)
        slow.go_on.set()
        assert [said(await first), said(await second)] == ["2 before", "4 before"]
