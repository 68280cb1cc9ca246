"""How much work callers whom nobody knows may cause in a minute: each address, and all together."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from aitp_desk.model.counters import Counters, end_of_minute

_TOGETHER: Final = None
"""What all addresses are counted as."""


class MinuteRate:
    """Counts what addresses cause.

    Parameters:
        each: how much one address may cause in a minute.
        together: how much all may.
        ticks: seconds that only grow.
    """

    def __init__(self, *, each: int, together: int, ticks: Callable[[], float]) -> None:
        self._each = each
        self._together = together
        self._ticks = ticks
        self._counters = Counters(end_of_minute, ticks)

    def take(self, address: str) -> bool:
        """Count one, unless there is no room; whether there was."""
        if self.is_spent(address) or self._left(_TOGETHER, self._together):
            return False
        self._counters.count(address, self._each)
        self._counters.count(_TOGETHER, self._together)
        return True

    def is_spent(self, address: str) -> bool:
        """Whether an address has caused all that it may."""
        return self._left(address, self._each) > 0

    def seconds_left(self, address: str) -> int:
        """Whole seconds until there may be room again for an address."""
        left = max(self._left(address, self._each), self._left(_TOGETHER, self._together))
        return max(1, math.ceil(left))

    def _left(self, key: str | None, most: int) -> float:
        """Seconds until something may be counted again that has reached its most; else 0."""
        window = self._counters.read(key)
        return 0.0 if window is None or window.counted < most else window.ends - self._ticks()
