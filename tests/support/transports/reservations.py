"""An action that costs, and an agent that calls it for people: the desk asks them first."""

from __future__ import annotations

import json
import re

from aitp_desk.agent.base import Answer, Clarification, Outcome, Turn
from aitp_desk.model.conversation.run import ToolCall
from tests.support.doubles.agent import Script, ScriptedAgent

RESERVE = "please reserve"
"""Questions with these words are wishes for it."""
ACTIONS = '''
"""A query that leaves a line in a book each time that a process carries it out."""

import asyncio
import os
import random
from decimal import Decimal
from pathlib import Path

from aitp_desk.actions import Context, Money, action

BOOK = Path(__file__).with_name("book")


@action(open_to="anyone", cost=lambda item: Money(Decimal("1.50"), "EUR"))
async def reserve(item: str, context: Context) -> str:
    """Keeps an item for a day.

    Args:
        item: what is kept.
    """
    await asyncio.sleep(random.uniform(0, 0.02))
    await asyncio.to_thread(_write, f"{context.call_id} {os.getpid()} {item}\\n")
    await asyncio.sleep(random.uniform(0, 0.02))
    return item


def _write(line: str) -> None:
    book = os.open(BOOK, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(book, line.encode())
        os.fsync(book)
    finally:
        os.close(book)
'''
NOT_ASKED = "It is not possible:"
"""Begins an answer to a wish of which the desk has asked nothing."""
_ITEM = re.compile("item “(.+?)”")


class ReservingAgent(ScriptedAgent):
    """An agent that calls actions."""

    calls_tools = True

    def __init__(self, script: Script) -> None:
        async def answer(turn: Turn) -> Outcome:
            return await reserve(turn) or await script(turn)

        super().__init__(answer)


async def reserve(turn: Turn) -> Outcome | None:
    """Call the action for words that wish it, or say what became of it."""
    if turn.rounds:
        results = [one.result for round in turn.rounds for one in round.called if one.result]
        kept = ", ".join("kept" if not one.failed else "not kept" for one in results)
        return Answer(f"It is {kept}.")
    wishes = [line for line in turn.question.splitlines() if RESERVE in line]
    if not wishes:
        return None
    called = ToolCall("call_1", "reserve", json.dumps({"item": wishes[-1]}))
    result = await turn.invoke(called)
    if result.asks is None:
        return Answer(f"{NOT_ASKED} {result.output}")
    asks = result.asks
    return Clarification(asks.question, asks.options, free_form=False, waits=asks.call_id)


def item_of(text: str) -> str:
    """Return what is kept if a question of the desk is answered with yes; empty for none."""
    found = _ITEM.search(text)
    return "" if found is None else found[1]
