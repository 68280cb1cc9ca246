"""When something has changed that operators look at: tickets, notes, who has which conversation.

It is changed here and by the command line beside a serving desk. So a number in the store is read
that grows with each change, as seldom as it may be, and not at all while nobody looks.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

from aitp_desk.auth.credentials.proof_cache import ReadEpoch
from aitp_desk.desk.jobs.background_task import run_in_background
from aitp_desk.store.base import StoreError

LOOK_SECONDS = 0.5
"""How long after a change those who look are told of it, at most."""


class ChangeSignal:
    """Wakes those who look.

    Parameters:
        read: reads the number that grows with each change.
    """

    def __init__(self, read: ReadEpoch) -> None:
        self._read = read
        self._looking: set[asyncio.Event] = set()
        self._due = asyncio.Event()
        self._known: int | None = None  # of what those who look have looked at, or were told

    def wake(self) -> None:
        """Look now: something was changed here."""
        self._due.set()

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[asyncio.Event]:
        """An event that is set whenever something has changed since; clear it, then look."""
        if self._known is None:
            await self._begin()
        changed = asyncio.Event()
        self._looking.add(changed)
        try:
            yield changed
        finally:
            self._looking.discard(changed)
            if not self._looking:
                self._known = None

    def run(self) -> AbstractAsyncContextManager[None]:
        """Wake those who look for as long as the context lasts."""
        return run_in_background(self._beat)

    async def _begin(self) -> None:
        with suppress(StoreError):  # then whoever looks is woken once more than need be
            newest = await self._read()
            self._known = newest if self._known is None else self._known

    async def _beat(self) -> None:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._due.wait(), LOOK_SECONDS)
            self._due.clear()
            if not self._looking:
                continue
            with suppress(StoreError):  # it is told where it matters, and this asks again
                newest = await self._read()
                if newest != self._known:
                    self._known = newest
                    for changed in self._looking:
                        changed.set()
