"""Records when keys were last used, without a write for each request."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from aitp_desk.model.errors import StoreBusy

NOTED_SECONDS = 60
"""Minimum seconds between two records of one key's use."""
MAX_NOTED = 10_000
"""How many keys are remembered as recently recorded."""


class LastUse:
    """Records when keys are used.

    Parameters:
        keep: stores a key's id and the time of its use in Unix seconds, without blocking.
        clock: Unix seconds.
    """

    def __init__(self, keep: Callable[[str, int], None], clock: Callable[[], float]) -> None:
        self._keep = keep
        self._clock = clock
        self._noted: dict[str, float] = {}

    def note(self, key_id: str) -> None:
        """Record that a key is used now, unless that was recorded a moment ago."""
        now = self._clock()
        noted = self._noted.get(key_id)
        if noted is not None and noted <= now < noted + NOTED_SECONDS:
            return
        if noted is None and len(self._noted) >= MAX_NOTED:
            del self._noted[next(iter(self._noted))]
        self._noted[key_id] = now
        with suppress(StoreBusy):  # a response matters more than the record
            self._keep(key_id, int(now))
