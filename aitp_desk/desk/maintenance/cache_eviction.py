"""Forgetting what is held in memory of words that were erased beside a serving desk.

The command line raises an epoch with every erasure. When it has grown, a desk drops all that it
holds of what was said: answers that it would give again, and conversations, which are read back
from the store when they go on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager

from aitp_desk.desk.jobs.epoch_watcher import watch_epoch
from aitp_desk.store.base import Store
from aitp_desk.store.units.privacy.erasure import ERASURES_EPOCH

Evict = Callable[[], None]
"""Drops what is held in memory of what was said."""


def evict_on_erasure(store: Store, all_of: Sequence[Evict]) -> AbstractAsyncContextManager[None]:
    """Call all of these when words are erased, for as long as the context lasts."""

    def forget() -> None:
        for one in all_of:
            one()

    return watch_epoch(store, ERASURES_EPOCH, forget)
