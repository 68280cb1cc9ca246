"""Stand-ins for what a test wants to decide itself: the time, and what the agent says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

from aitp_desk.agent.base import Answer, Event, Outcome, ProgressEvent, Source, ToolRequest, Turn
from aitp_desk.agent.tools import ToolCallRecord, ToolRound
from aitp_desk.model.conversation.run import ToolCall

NOON = 1_800_000_000.0
"""When a test's clock begins, in Unix seconds."""


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self, now: float = NOON) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        """Let so much time pass."""
        self.now += seconds


Script = Callable[[Turn], Awaitable[Outcome]]


async def repeat(turn: Turn) -> Outcome:
    """Answer with the question and the number of things said before it."""
    return Answer(
        f"{len(turn.transcript)} said before; asked: {turn.question}",
        sources=(Source("About", "/about", "direct"),),
        follow_ups=("What else is there?",),
        tokens_used=7,
    )


async def call_stock_first(turn: Turn) -> Outcome:
    """Call the caller's function ``stock``, then answer with its output."""
    if turn.rounds:
        (result,) = [one.result for one in turn.rounds[0].called]
        assert result is not None
        return Answer(f"Of Emma there are {result.output}.")
    call = ToolCall("call_1", "stock", '{"book": "Emma"}')
    return ToolRequest((ToolRound("", (ToolCallRecord(call),)),))


class ScriptedAgent:
    """An agent that answers as a script says.

    Attributes:
        turns: what it was asked, in order.
    """

    name = "scripted"

    def __init__(self, script: Script = repeat) -> None:
        self.turns: list[Turn] = []
        self._script = script

    async def reply(self, turn: Turn) -> AsyncIterator[Event]:
        """Answer as the script says."""
        self.turns.append(turn)
        yield await self._script(turn)


class PacedAgent:
    """An agent that says what a test hands it, when it does.

    It answers one turn at a time; an exception that is handed to it is raised.
    """

    name = "paced"

    def __init__(self) -> None:
        self._given: asyncio.Queue[Event | Exception] = asyncio.Queue()
        self.asked: asyncio.Queue[Turn] = asyncio.Queue()

    def say(self, *events: Event | Exception) -> None:
        """Go on with these."""
        for event in events:
            self._given.put_nowait(event)

    async def reply(self, turn: Turn) -> AsyncIterator[Event]:
        """Answer with what it is handed."""
        self.asked.put_nowait(turn)
        while True:
            event = await self._given.get()
            if isinstance(event, Exception):
                raise event
            yield event
            if not isinstance(event, ProgressEvent):
                return
