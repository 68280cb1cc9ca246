"""Connections on which questions take the swift way: order, ends, and what is held back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch
from urllib.parse import urlsplit

import msgspec

from aitp_desk.agent.base import Answer, Outcome, Turn
from aitp_desk.app import Serving
from tests.doubles import ScriptedAgent
from tests.serving import serving

SECONDS = 10
HEALTH = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def question(query: str) -> bytes:
    body = msgspec.json.encode({"ahp": "0.1", "capability": "content_search", "query": query})
    head = b"POST /agent/converse HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n"
    return head % len(body) + body


class Thinking(ScriptedAgent):
    """An agent that has been asked, and answers when it may."""

    def __init__(self) -> None:
        super().__init__(self._think)
        self.asked = asyncio.Event()
        self.may_answer = asyncio.Event()

    async def _think(self, turn: Turn) -> Outcome:
        self.asked.set()
        await self.may_answer.wait()
        return Answer(f"Answer to {turn.question}")


class Line(NamedTuple):
    """One connection to a desk."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def hear(self) -> tuple[int, dict[str, str], bytes]:
        """The next answer: its status, headers and body."""
        async with asyncio.timeout(SECONDS):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
            first, *lines = head.strip().split("\r\n")
            headers = dict(line.split(": ", 1) for line in lines)
            body = await self.reader.readexactly(int(headers["Content-Length"]))
        return int(first.split()[1]), headers, body

    async def is_at_end(self) -> bool:
        async with asyncio.timeout(SECONDS):
            return await self.reader.read(1) == b""


@asynccontextmanager
async def calling(desk: Serving) -> AsyncIterator[Line]:
    address = urlsplit(desk.url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    try:
        yield Line(reader, writer)
    finally:
        writer.close()


async def test_what_is_asked_meanwhile_is_answered_in_order(tmp_path: Path) -> None:
    agent = Thinking()
    async with serving(tmp_path, agent=agent) as desk, calling(desk) as line:
        line.writer.write(question("One?"))
        async with asyncio.timeout(SECONDS):
            await agent.asked.wait()
        for data in (HEALTH, question("Two?")[:30], question("Two?")[30:] + HEALTH):
            line.writer.write(data)
            await line.writer.drain()
        async with calling(desk) as other:  # nobody else waits for it
            other.writer.write(HEALTH)
            assert (await other.hear())[0] == 200
        assert len(agent.turns) == 1
        agent.may_answer.set()
        bodies = [(await line.hear())[2] for _ in range(4)]
    assert [b"Answer to" in body for body in bodies] == [True, False, True, False]
    assert [b"One?" in bodies[0], b"Two?" in bodies[2]] == [True, True]


async def test_a_desk_that_stops_lets_an_answer_come_and_closes(tmp_path: Path) -> None:
    agent = Thinking()
    async with AsyncExitStack() as stack:
        running = AsyncExitStack()
        desk = await running.enter_async_context(serving(tmp_path, agent=agent))
        line = await stack.enter_async_context(calling(desk))
        line.writer.write(question("One?"))
        async with asyncio.timeout(SECONDS):
            await agent.asked.wait()
        stopping = asyncio.create_task(running.aclose())
        await asyncio.sleep(0)
        agent.may_answer.set()
        status, headers, body = await line.hear()
        assert (status, headers["Connection"]) == (200, "close")
        assert b"Answer to One?" in body
        assert await line.is_at_end()
        async with asyncio.timeout(SECONDS):
            await stopping


async def test_an_answer_that_takes_too_long_ends_with_the_desk(tmp_path: Path) -> None:
    agent = Thinking()
    setting = "server.shutdown_seconds=1"
    running = AsyncExitStack()
    desk = await running.enter_async_context(serving(tmp_path, setting, agent=agent))
    async with calling(desk) as line:
        line.writer.write(question("One?"))
        async with asyncio.timeout(SECONDS):
            await agent.asked.wait()
            await running.aclose()
        assert await line.is_at_end()


async def test_a_caller_who_hangs_up_harms_nobody(tmp_path: Path) -> None:
    agent = Thinking()
    async with serving(tmp_path, agent=agent) as desk:
        async with calling(desk) as line:
            line.writer.write(question("One?") + HEALTH[:10])
            async with asyncio.timeout(SECONDS):
                await agent.asked.wait()
        agent.may_answer.set()
        async with calling(desk) as line:
            line.writer.write(question("Two?"))
            assert (await line.hear())[0] == 200


async def test_a_connection_stays_open_while_it_is_used_and_is_closed_when_idle(
    tmp_path: Path,
) -> None:
    with (
        patch("aitp_desk.listening.KEEP_ALIVE_SECONDS", 0.2),
        patch("aitp_desk.listening.SWEEP_SECONDS", 0.02),
    ):
        async with serving(tmp_path) as desk, calling(desk) as line, calling(desk) as general:
            line.writer.write(question("How do I return a book?"))
            assert (await line.hear())[0] == 200
            general.writer.write(HEALTH)
            assert (await general.hear())[0] == 200
            assert await line.is_at_end()
            assert await general.is_at_end()


async def test_a_head_that_began_behind_an_answer_has_its_time_too(tmp_path: Path) -> None:
    async with (
        serving(tmp_path, "server.header_seconds=1") as desk,
        calling(desk) as line,
    ):
        line.writer.write(question("How do I return a book?"))
        assert (await line.hear())[0] == 200
        line.writer.write(HEALTH[:20])
        status, headers, _ = await line.hear()
        assert (status, headers["Connection"]) == (408, "close")
        assert await line.is_at_end()
