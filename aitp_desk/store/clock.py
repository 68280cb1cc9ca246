"""The time as the database counts it, for processes on several machines.

Leases, expiries and the order of what happens are compared between processes, so the clock of one
machine must not decide. Between two looks at the database's clock the time goes on by a clock of
the process that nobody can set.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from aitp_desk.store.base import StoreError

LOOK_SECONDS = 30.0
LONGEST_LOOK_SECONDS = 1.0
"""The time is unknown by up to half of how long a look takes; longer ones are not used."""

ReadTime = Callable[[], Awaitable[float]]
"""Reads the database's clock, in Unix seconds."""


class DatabaseClock:
    """Returns Unix seconds as the database counts them.

    Parameters:
        read: reads the database's clock.
        ticks: seconds that only grow.
    """

    def __init__(self, read: ReadTime, ticks: Callable[[], float] = time.monotonic) -> None:
        self._read = read
        self._ticks = ticks
        self._offset = time.time() - ticks()

    def __call__(self) -> float:
        """Return the time now."""
        return self._ticks() + self._offset

    async def look(self) -> None:
        """Read the database's clock.

        Raises:
            StoreError: the database does not answer.
        """
        before = self._ticks()
        found = await self._read()
        after = self._ticks()
        if after - before <= LONGEST_LOOK_SECONDS:
            self._offset = found - (before + after) / 2


@asynccontextmanager
async def database_clock(read: ReadTime) -> AsyncIterator[DatabaseClock]:
    """Follow the database's clock for as long as the context lasts.

    Raises:
        StoreError: the database does not answer.
    """
    clock = DatabaseClock(read)
    await clock.look()

    async def follow() -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            with suppress(StoreError):  # reported where it matters; retried here
                await clock.look()

    task = asyncio.create_task(follow())
    try:
        yield clock
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
