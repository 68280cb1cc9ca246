"""Forgetting what is held in memory of words that were erased beside a serving desk.

The command line raises an epoch with every erasure. A desk reads that number at least once a
second, and when it has grown drops all that it holds of what was said: answers that it would give
again, and conversations, which are read back from the store when they go on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress

from aitp_desk.store import reads
from aitp_desk.store.base import Store, StoreError
from aitp_desk.store.work.erasing import ERASURES_EPOCH

EPOCH_SECONDS = 0.5


Forget = Callable[[], None]
"""Drops what is held in memory of what was said."""


@asynccontextmanager
async def forgetting(store: Store, all_of: Sequence[Forget]) -> AsyncIterator[None]:
    """Call all of these when words are erased, for as long as the context lasts."""
    known = await reads.epoch(store, ERASURES_EPOCH)
    watching = asyncio.create_task(_watch(store, all_of, known))
    try:
        yield
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


async def _watch(store: Store, all_of: Sequence[Forget], known: int) -> None:
    while True:
        await asyncio.sleep(EPOCH_SECONDS)
        with suppress(StoreError):  # it is told where it matters, and this asks again
            epoch = await reads.epoch(store, ERASURES_EPOCH)
            if epoch != known:
                known = epoch
                for forget in all_of:
                    forget()
