"""Limits the work that unknown callers cause per minute, by address and in total."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from aitp_desk.model.counters import Counters, end_of_minute

_TOGETHER: Final = None
"""The key under which all addresses are counted."""


class MinuteRate:
    """Counts work by address.

    Parameters:
        each: limit per minute for one address.
        together: limit per minute for all addresses.
        ticks: monotonic seconds.
    """

    def __init__(self, *, each: int, together: int, ticks: Callable[[], float]) -> None:
        self._each = each
        self._together = together
        self._ticks = ticks
        self._counters = Counters(end_of_minute, ticks)

    def take(self, address: str) -> bool:
        """Count one unit unless a limit is reached; return whether it was counted."""
        if self.is_spent(address) or self._left(_TOGETHER, self._together):
            return False
        self._counters.count(address, self._each)
        self._counters.count(_TOGETHER, self._together)
        return True

    def is_spent(self, address: str) -> bool:
        """Return whether an address has reached its limit."""
        return self._left(address, self._each) > 0

    def seconds_left(self, address: str) -> int:
        """Return the whole seconds until an address may have capacity again."""
        left = max(self._left(address, self._each), self._left(_TOGETHER, self._together))
        return max(1, math.ceil(left))

    def _left(self, key: str | None, most: int) -> float:
        """Return the seconds until a full counter is reset; else 0."""
        window = self._counters.read(key)
        return 0.0 if window is None or window.counted < most else window.ends - self._ticks()
