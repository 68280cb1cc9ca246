"""Watches for changes that the command line makes next to a serving desk.

Every change raises an epoch, a number in the store. A desk reads that number at least once a
second, and calls back when it has grown.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from aitp_desk.desk.jobs.background_task import keep_running
from aitp_desk.store.base import Store, StoreError
from aitp_desk.store.reads import threads as reads

EPOCH_SECONDS = 0.5


@asynccontextmanager
async def watch_epoch(
    store: Store, epoch: str, changed: Callable[[], object]
) -> AsyncIterator[None]:
    """Call ``changed`` whenever an epoch has grown, while the context lasts."""
    known = await reads.epoch(store, epoch)

    async def watch() -> None:
        nonlocal known
        while True:
            await asyncio.sleep(EPOCH_SECONDS)
            with suppress(StoreError):  # reported where it matters; retried here
                newest = await reads.epoch(store, epoch)
                if newest != known:
                    known = newest
                    changed()

    async with keep_running(watch):
        yield
