"""A follower of a thread: a small reader of server-sent events (HTML, section 9.2)."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Protocol
from urllib.parse import urlsplit

import msgspec
from multidict import CIMultiDict

from tests.support.clients.threads import THREADS, Headers, Talker

SECONDS = 60
"""How long an event may take to come."""
LONGEST_LINE = 1024 * 1024
BEAT = "beat"
"""The name under which a comment is read."""


class Heard(msgspec.Struct, frozen=True):
    """One event."""

    name: str
    data: Any = None
    id: int | None = None


class Lines(Protocol):
    """Where lines come from."""

    async def readline(self) -> bytes:
        """The next line with its end, nothing at the end of all."""


class Listener:
    """Reads the events of a stream.

    Attributes:
        headers: those of its response.
        last: number of the newest event that it has read, as a browser would send it.
    """

    def __init__(self, lines: Lines, headers: Mapping[str, str]) -> None:
        self.headers = headers
        self.last: int | None = None
        self._lines = lines

    async def next(self) -> Heard:
        """The next event, heartbeats among them.

        Raises:
            EOFError: the stream has ended.
        """
        fields: dict[str, list[str]] = {}
        async with asyncio.timeout(SECONDS):
            while (line := await self._lines.readline()).endswith(b"\n"):
                text = line.decode().removesuffix("\n")
                if not text:
                    return self._heard(fields)
                name, _, value = text.partition(":")
                fields.setdefault(name, []).append(value.removeprefix(" "))
        raise EOFError

    async def until(self, stop: Callable[[Heard], bool]) -> list[Heard]:
        """Everything up to an event and that one, without heartbeats."""
        heard: list[Heard] = []
        async with asyncio.timeout(SECONDS):  # heartbeats do not prolong it
            while not heard or not stop(heard[-1]):
                event = await self.next()
                if event.name != BEAT:
                    heard.append(event)
        return heard

    async def until_named(self, *names: str) -> list[Heard]:
        """Everything up to the next event of one of these names and that one."""
        return await self.until(lambda event: event.name in names)

    async def until_number(self, number: int) -> list[Heard]:
        """Everything up to the event of this number and that one."""
        return await self.until(lambda event: event.id == number)

    async def rest(self) -> list[Heard]:
        """Everything up to the end of the stream."""
        heard: list[Heard] = []
        try:
            while True:
                heard.append(await self.next())
        except EOFError:
            return heard

    def _heard(self, fields: dict[str, list[str]]) -> Heard:
        if fields.keys() == {""}:
            return Heard(BEAT)
        id_ = int(fields["id"][-1]) if "id" in fields else None
        self.last = self.last if id_ is None else id_
        return Heard(fields["event"][-1], json.loads("\n".join(fields["data"])), id_)


@asynccontextmanager
async def following(
    talker: Talker, thread_id: str, query: str = "", *, headers: Headers = ()
) -> AsyncIterator[Listener]:
    """Follow a thread; what was sent is checked to be a stream of events."""
    sent = [*headers, *talker.credentials]
    async with talker.http.get(f"{THREADS}/{thread_id}/events{query}", headers=sent) as response:
        assert response.status == 200, await response.text()
        assert response.content_type == "text/event-stream"
        yield Listener(response.content, response.headers)


@asynccontextmanager
async def following_by_hand(
    talker: Talker, thread_id: str, version: bytes = b"1.0", *, last: int = 0
) -> AsyncIterator[Listener]:
    """Follow a thread over a connection that takes little at once, from event `last` on.

    In HTTP/1.0 the body has no frames: what is read are its own bytes.
    """
    address = urlsplit(talker.desk.url)
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.setblocking(False)
    await asyncio.get_running_loop().sock_connect(sock, (address.hostname, address.port))
    reader, writer = await asyncio.open_connection(sock=sock, limit=LONGEST_LINE)
    try:
        writer.write(
            b"GET %b/%b/events HTTP/%b\r\nHost: 127.0.0.1\r\nLast-Event-ID: %d\r\n\r\n"
            % (THREADS.encode(), thread_id.encode(), version, last)
        )
        status, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().splitlines()
        assert status.split()[1] == "200"
        headers = CIMultiDict[str]()
        for line in filter(None, lines):
            name, _, value = line.partition(": ")
            headers.add(name, value)
        yield Listener(reader, headers)
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


def numbers(heard: list[Heard]) -> list[int]:
    """The numbers of events, in order, without the one that says where a stream begins."""
    return [event.id for event in heard if event.id is not None and event.name != "following"]
