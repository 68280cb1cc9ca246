"""Waiting for what happens on a thread.

Within one process: whoever waits for a run is woken when its end has been committed. The store
stays the truth; a waiter that comes late reads it there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Following:
    """Wakes those who wait for the end of a run."""

    def __init__(self) -> None:
        self._ends: dict[str, asyncio.Event] = {}
        self._waiting: dict[str, int] = {}

    def ended(self, run_id: str) -> None:
        """Tell that a run is over; its end is committed."""
        event = self._ends.get(run_id)
        if event is not None:
            event.set()

    @contextmanager
    def watch(self, run_id: str) -> Iterator[asyncio.Event]:
        """Watch a run: the event is set at its end.

        Begin to watch, then look at the store, then wait: watching before looking leaves no moment
        in which the end could be missed.
        """
        self._waiting[run_id] = self._waiting.get(run_id, 0) + 1
        try:
            yield self._ends.setdefault(run_id, asyncio.Event())
        finally:
            self._waiting[run_id] -= 1
            if not self._waiting[run_id]:
                del self._waiting[run_id], self._ends[run_id]
