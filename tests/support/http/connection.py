"""Single connections to a desk, byte by byte, and an agent that takes its time."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch
from urllib.parse import urlsplit

import msgspec

from aitp_desk.agent.base import Answer, Outcome, Turn
from aitp_desk.app.server import RunningServer
from tests.support.doubles.agent import ScriptedAgent

SECONDS = 60
"""How long anything is waited for that has to come."""
HEALTH = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
MANIFEST = b"GET /.well-known/agent.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def question(query: str, *lines: str) -> bytes:
    body = msgspec.json.encode({"ahp": "0.1", "capability": "content_search", "query": query})
    head = ["POST /agent/converse HTTP/1.1", "Host: 127.0.0.1", *lines]
    return "\r\n".join([*head, f"Content-Length: {len(body)}", "", ""]).encode() + body


class Thinking(ScriptedAgent):
    """An agent that has been asked, and answers when it may."""

    def __init__(self) -> None:
        super().__init__(self._think)
        self.asked = asyncio.Event()
        self.may_answer = asyncio.Event()
        self.was_stopped = asyncio.Event()

    async def _think(self, turn: Turn) -> Outcome:
        self.asked.set()
        try:
            await self.may_answer.wait()
        except asyncio.CancelledError:
            self.was_stopped.set()
            raise
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
async def calling(desk: RunningServer, place: str = "127.0.0.1") -> AsyncIterator[Line]:
    """A connection from a place of the loopback's network."""
    address = urlsplit(desk.url)
    reader, writer = await asyncio.open_connection(
        address.hostname, address.port, local_addr=(place, 0)
    )
    try:
        yield Line(reader, writer)
    finally:
        writer.close()


@contextmanager
def small_buffers() -> Iterator[None]:
    """Have the system hold little of what a desk sends."""
    create = socket.create_server

    def create_small(*given: Any, **more: Any) -> socket.socket:
        sock = create(*given, **more)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16 * 1024)
        return sock

    with patch("socket.create_server", create_small):
        yield
