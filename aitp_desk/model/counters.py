"""Counts per key within time windows, in bounded memory.

Keys that have reached their limit are stored apart from the others. So newcomers, however many,
evict one another, but not the keys that are being refused.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable

import msgspec

WINDOW_SECONDS = 60
MAX_COUNTED = 100_000
"""How many keys are counted at once, and as many again that have reached their limit; beyond that
the oldest is evicted.
"""

EndOfWindow = Callable[[float], float]
"""Returns when a window ends that begins now, both in Unix seconds. It never ends before an earlier
one.
"""


class Window(msgspec.Struct):
    """The count of one key.

    Parameters:
        began: Unix seconds, as is ``ends``.
        is_full: whether the limit is reached.
    """

    began: float
    ends: float
    counted: int = 0
    is_full: bool = False


class Counters:
    """Counts many keys, each in a window that begins with its first count.

    Windows end roughly in the order in which they began, so expired ones come first, and counting
    costs the same for one key as for many.

    Parameters:
        end_of_window: returns the end of a window.
        clock: Unix seconds. If it is set back, counts from the future are void.
    """

    def __init__(self, end_of_window: EndOfWindow, clock: Callable[[], float]) -> None:
        self._end = end_of_window
        self._clock = clock
        self._open: OrderedDict[Hashable, Window] = OrderedDict()
        self._full: OrderedDict[Hashable, Window] = OrderedDict()

    def read(self, key: Hashable) -> Window | None:
        """Return the key's current window; None if it has none."""
        window = self._open.get(key) or self._full.get(key)
        return window if window is not None and _lasts(window, self._clock()) else None

    def count(self, key: Hashable, limit: int, amount: int = 1) -> Window:
        """Add to a key's count, also past the limit, and return its window."""
        now = self._clock()
        window = self._open.get(key) or self._full.get(key)
        if window is None or not _lasts(window, now):
            window = self._begin(key, now)
        window.counted += amount
        if window.counted >= limit and not window.is_full:
            window.is_full = True
            del self._open[key]
            _make_room(self._full, now)
            self._full[key] = window
        return window

    def _begin(self, key: Hashable, now: float) -> Window:
        self._open.pop(key, None)
        self._full.pop(key, None)
        _make_room(self._open, now)
        window = self._open[key] = Window(now, self._end(now))
        return window


def end_of_minute(now: float) -> float:
    """Return when a one-minute window ends."""
    return now + WINDOW_SECONDS


def _make_room(windows: OrderedDict[Hashable, Window], now: float) -> None:
    while windows and (
        len(windows) >= MAX_COUNTED or not _lasts(next(iter(windows.values())), now)
    ):
        windows.popitem(last=False)


def _lasts(window: Window, now: float) -> bool:
    return window.began <= now < window.ends
