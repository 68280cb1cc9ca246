"""What Claude still says when its reader goes away is closed, and not left to the collector."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.agent.base import Turn
from tests.support.doubles.claude_agent import QUESTION, SITE, WRAPPED, asking
from tests.support.doubles.messages_api import Reply, Say, Text, say

ALL = 1000


@contextmanager
def collected() -> Iterator[list[str]]:
    """The generators that are begun meanwhile, and are not at their end when they are dropped."""
    found: list[str] = []
    first, finalize = sys.get_asyncgen_hooks()

    def note(generator: AsyncGenerator[Any]) -> None:
        found.append(repr(generator))
        assert finalize is not None
        finalize(generator)

    sys.set_asyncgen_hooks(first, note)
    try:
        yield found
    finally:
        sys.set_asyncgen_hooks(first, finalize)


@pytest.mark.parametrize(
    ("replies", "count"),
    [
        ((say(WRAPPED, 0),), 1),
        ((say(WRAPPED, 0),), ALL),
        ((Say((Text(WRAPPED),), cut_off=True), say(WRAPPED, 0)), ALL),
    ],
    ids=["its first piece", "all of it", "a part that is cut off"],
)
async def test_nothing_is_left_of_what_was_read(
    tmp_path: Path, replies: tuple[Reply, ...], count: int
) -> None:
    async with asking(tmp_path, *replies) as asked:
        with collected() as found:
            events: Any = asked.agent.reply(Turn(QUESTION, SITE))
            async with aclosing(events):
                read = 0
                async for _ in events:
                    read += 1
                    if read == count:
                        break
    assert read
    assert found == []


async def test_a_reader_that_is_cancelled_leaves_nothing(tmp_path: Path) -> None:
    begun, held = asyncio.Event(), asyncio.Event()
    async with asking(tmp_path, Say((Text(WRAPPED),), holds=held)) as asked:

        async def read() -> None:
            async for _ in asked.agent.reply(Turn(QUESTION, SITE)):
                begun.set()

        with collected() as found:
            reader = asyncio.create_task(read())
            await begun.wait()
            reader.cancel()
            await asyncio.wait([reader])
        held.set()
    assert found == []
