"""Somebody who follows a thread: a small reader of server-sent events (HTML, section 9.2)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import msgspec

from tests.talking import THREADS, Headers, Talker

SECONDS = 20
"""How long an event may take to come."""
BEAT = "beat"
"""The name under which a comment is read."""


class Heard(msgspec.Struct, frozen=True):
    """One event."""

    name: str
    data: Any = None
    id: int | None = None


class Listener:
    """Reads the events of one response.

    Attributes:
        last: number of the newest event that it has read, as a browser would send it.
    """

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self.response = response
        self.last: int | None = None

    async def next(self) -> Heard:
        """The next event, heartbeats among them.

        Raises:
            EOFError: the stream has ended.
        """
        fields: dict[str, list[str]] = {}
        async with asyncio.timeout(SECONDS):
            while line := await self.response.content.readline():
                text = line.decode().removesuffix("\n")
                if not text:
                    return self._heard(fields)
                name, _, value = text.partition(":")
                fields.setdefault(name, []).append(value.removeprefix(" "))
        raise EOFError

    async def until(self, stop: Callable[[Heard], bool]) -> list[Heard]:
        """Everything up to an event and that one, without heartbeats."""
        heard: list[Heard] = []
        while not heard or not stop(heard[-1]):
            event = await self.next()
            if event.name != BEAT:
                heard.append(event)
        return heard

    async def until_named(self, name: str) -> list[Heard]:
        """Everything up to the next event of this name and that one."""
        return await self.until(lambda event: event.name == name)

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
    sent = list(headers)
    if talker.key is not None:
        sent.append(("Authorization", f"Bearer {talker.key}"))
    async with talker.http.get(f"{THREADS}/{thread_id}/events{query}", headers=sent) as response:
        assert response.status == 200, await response.text()
        assert response.content_type == "text/event-stream"
        yield Listener(response)


def numbers(heard: list[Heard]) -> list[int]:
    """The numbers of events, in order, without the one that says where a stream begins."""
    return [event.id for event in heard if event.id is not None and event.name != "following"]
