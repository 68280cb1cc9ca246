"""Detects changes that operators watch: tickets, notes, who has which conversation.

They are changed here and by the command line next to a serving desk. So a version number in the
store, which grows with each change, is polled; not at all while no console is open.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

from aitp_desk.auth.credentials.proof_cache import ReadEpoch
from aitp_desk.desk.jobs.background_task import keep_running
from aitp_desk.store.base import StoreError

LOOK_SECONDS = 0.5
"""How long after a change its watchers are woken, at most."""


class ChangeSignal:
    """Wakes the watchers of changes.

    Parameters:
        read: reads the number that grows with each change.
    """

    def __init__(self, read: ReadEpoch) -> None:
        self._read = read
        self._viewers: set[asyncio.Event] = set()
        self._due = asyncio.Event()
        self._known: int | None = None  # the version that the watchers have seen or were woken for

    def wake(self) -> None:
        """Poll now: something was changed here."""
        self._due.set()

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[asyncio.Event]:
        """Yield an event that is set after each change; clear it before reading."""
        if self._known is None:
            await self._begin()
        changed = asyncio.Event()
        self._viewers.add(changed)
        try:
            yield changed
        finally:
            self._viewers.discard(changed)
            if not self._viewers:
                self._known = None

    def run(self) -> AbstractAsyncContextManager[None]:
        """Poll for as long as the context lasts."""
        return keep_running(self._beat)

    async def _begin(self) -> None:
        with suppress(StoreError):  # at worst the watcher is woken once too often
            newest = await self._read()
            self._known = newest if self._known is None else self._known

    async def _beat(self) -> None:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._due.wait(), LOOK_SECONDS)
            self._due.clear()
            if not self._viewers:
                continue
            with suppress(StoreError):  # the store reports it elsewhere, and the next poll retries
                newest = await self._read()
                if newest != self._known:
                    self._known = newest
                    for changed in self._viewers:
                        changed.set()
