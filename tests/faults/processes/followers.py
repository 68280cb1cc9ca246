"""Followers of threads of a desk that will be killed: each goes on from the last event it has."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Mapping
from contextlib import suppress

import aiohttp
import msgspec

from tests.support.clients.event_stream import Heard, Listener

FOLLOWING = 6
"""How many threads are followed at a time."""
PATIENCE = 20.0
"""Seconds that a follower waits at last for what it has not heard."""


class StreamFindings(msgspec.Struct, frozen=True):
    """How many of each fault there are; each should be 0.

    Parameters:
        skipped: events that came after one that is missing.
        repeated: events that came again.
        unheard: threads whose last event a follower did not hear at last.
        unfollowed: requests for a stream that were answered, but not with 200.
    """

    skipped: int = 0
    repeated: int = 0
    unheard: int = 0
    unfollowed: int = 0


class Followers:
    """What was heard of threads.

    Attributes:
        count: number of events that were heard.
        last: the number of the last event of each thread.
    """

    def __init__(self, chance: random.Random) -> None:
        self.count = 0
        self.last: dict[str, int] = {}
        self._chance = chance
        self._followed: set[str] = set()
        self._skipped = 0
        self._repeated = 0
        self._unheard = 0
        self._unfollowed = 0

    @property
    def findings(self) -> StreamFindings:
        """The faults so far."""
        return StreamFindings(self._skipped, self._repeated, self._unheard, self._unfollowed)

    async def follow(self, url: str, threads: Iterable[str], over: asyncio.Event) -> None:
        """Follow a thread each with some clients until the server is gone, or it is over."""
        known = [thread for thread in threads if thread not in self._followed]
        chosen = self._chance.sample(known, min(FOLLOWING, len(known)))
        self._followed.update(chosen)
        async with aiohttp.ClientSession(url) as web:
            reading = asyncio.gather(*(self._follow(web, thread) for thread in chosen))
            ending = asyncio.create_task(over.wait())
            await asyncio.wait((reading, ending), return_when=asyncio.FIRST_COMPLETED)
            ending.cancel()
            reading.cancel()
            with suppress(asyncio.CancelledError):
                await reading
        self._followed.difference_update(chosen)

    async def catch_up(self, url: str, ends: Mapping[str, int]) -> None:
        """Hear the rest of what was followed.

        Parameters:
            ends: the number of the last event of each thread.
        """
        async with aiohttp.ClientSession(url) as web:
            for thread, last in self.last.items():
                if last < ends[thread]:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(PATIENCE):
                            await self._follow(web, thread, ends[thread])
                self._unheard += self.last[thread] != ends[thread]

    async def _follow(
        self, web: aiohttp.ClientSession, thread: str, end: int | None = None
    ) -> None:
        path, last = f"/v1/threads/{thread}/events", self.last.setdefault(thread, 0)
        # the desk may be killed, or the stream end, at any moment; a heartbeat may stay away
        with suppress(aiohttp.ClientError, EOFError, TimeoutError):
            async with web.get(path, headers={"Last-Event-ID": str(last)}) as response:
                if response.status != 200:
                    self._unfollowed += 1
                    return
                listener = Listener(response.content, response.headers)
                while self.last[thread] != end:
                    self._hear(thread, await listener.next())

    def _hear(self, thread: str, event: Heard) -> None:
        if event.id is None or event.name == "following":
            return
        self.count += 1
        self._repeated += event.id <= self.last[thread]
        self._skipped += event.id > self.last[thread] + 1
        self.last[thread] = max(event.id, self.last[thread])
