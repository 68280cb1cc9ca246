"""Evicts erased content from memory, after an erasure by the command line.

The command line raises an epoch with every erasure. When it has grown, a desk drops all content
that it holds: cached answers, and conversations, which are loaded from the store when they
continue.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager

from aitp_desk.desk.jobs.epoch_watcher import watch_epoch
from aitp_desk.store.base import Store
from aitp_desk.store.units.privacy.erasure import ERASURES_EPOCH

Evict = Callable[[], None]
"""Drops content that is held in memory."""


def evict_on_erasure(store: Store, all_of: Sequence[Evict]) -> AbstractAsyncContextManager[None]:
    """Call all of these after an erasure, while the context lasts."""

    def forget() -> None:
        for one in all_of:
            one()

    return watch_epoch(store, ERASURES_EPOCH, forget)
