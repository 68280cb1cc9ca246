"""How much work callers whom nobody knows may cause: each address, and all together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

WINDOW_SECONDS = 60


class PerMinute:
    """Counts in windows of a minute.

    Parameters:
        each: how much one address may cause in a window.
        together: how much all may.
        ticks: seconds that only grow.
    """

    def __init__(self, *, each: int, together: int, ticks: Callable[[], float]) -> None:
        self._each = each
        self._together = together
        self._ticks = ticks
        self._ends = 0.0
        self._counted = 0
        self._of: Counter[str] = Counter()

    def take(self, address: str) -> bool:
        """Count one, unless there is no room; whether there was."""
        self._turn_over()
        if self._counted >= self._together or self._of[address] >= self._each:
            return False
        self._counted += 1
        self._of[address] += 1
        return True

    def is_spent(self, address: str) -> bool:
        """Whether an address has caused all that it may."""
        self._turn_over()
        return self._of[address] >= self._each

    @property
    def seconds_left(self) -> int:
        """Whole seconds until there is room again."""
        return max(1, round(self._ends - self._ticks()))

    def _turn_over(self) -> None:
        now = self._ticks()
        if now >= self._ends:
            self._ends = now + WINDOW_SECONDS
            self._counted = 0
            self._of.clear()
