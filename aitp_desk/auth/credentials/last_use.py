"""When keys were last used, noted without a write for each request."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from aitp_desk.model.errors import StoreBusy

NOTED_SECONDS = 60
"""A key's use is noted once in so many seconds at most."""
MAX_NOTED = 10_000
"""Of how many keys it is remembered that their use was noted a moment ago."""


class LastUse:
    """Notes when keys are used.

    Parameters:
        keep: keeps a key's id and when it was used, in Unix seconds, without being waited for.
        clock: Unix seconds.
    """

    def __init__(self, keep: Callable[[str, int], None], clock: Callable[[], float]) -> None:
        self._keep = keep
        self._clock = clock
        self._noted: dict[str, float] = {}

    def note(self, key_id: str) -> None:
        """Note that a key was used now, unless that was noted a moment ago."""
        now = self._clock()
        noted = self._noted.get(key_id)
        if noted is not None and noted <= now < noted + NOTED_SECONDS:
            return
        if noted is None and len(self._noted) >= MAX_NOTED:
            del self._noted[next(iter(self._noted))]
        self._noted[key_id] = now
        with suppress(StoreBusy):  # an answer is worth more than the note
            self._keep(key_id, int(now))
