"""Counts per key within time windows, in bounded memory.

Keys that have reached their limit are stored apart from the others. So newcomers, however many,
evict one another, but not the keys that are being refused.

Several processes can count together (``desk/limits/shared_counts.py``): each adds what it counted
to a common count from time to time, and adopts the sum.
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


class UnsharedCount(msgspec.Struct, frozen=True):
    """A part of a key's count that other processes do not know yet.

    Parameters:
        ends: Unix seconds at which the key's window ends.
    """

    key: Hashable
    ends: float
    amount: int


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
        self._unshared: dict[Hashable, int] | None = None

    def share(self, seconds: int = WINDOW_SECONDS) -> None:
        """Count together with other processes from now on, in windows that the clock begins.

        What is counted is kept for :meth:`take_unshared`.

        Parameters:
            seconds: of a window.
        """
        self._end = make_clock_end(seconds)
        self._unshared = {}

    def take_unshared(self) -> list[UnsharedCount]:
        """Return what was counted since the last time, of windows that have not ended."""
        taken, self._unshared = self._unshared or {}, {}
        counts = ((key, amount, self.read(key)) for key, amount in taken.items())
        return [UnsharedCount(key, window.ends, amount) for key, amount, window in counts if window]

    def return_unshared(self, counts: list[UnsharedCount]) -> None:
        """Take back counts that could not be shared, for the next time."""
        if self._unshared is not None:
            for count in counts:
                self._unshared[count.key] = self._unshared.get(count.key, 0) + count.amount

    def adopt(self, count: UnsharedCount, total: int) -> None:
        """Continue a key's window from the count of all processes together.

        Parameters:
            total: includes ``count``, and nothing that this process has counted since.
        """
        window = self.read(count.key)
        if window is not None and window.ends == count.ends:
            since = (self._unshared or {}).get(count.key, 0)
            window.counted = max(window.counted, total + since)

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
        if self._unshared is not None:
            self._unshared[key] = self._unshared.get(key, 0) + amount
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


def make_end(seconds: int) -> EndOfWindow:
    """Return the ends of windows of so many seconds."""
    return lambda now: now + seconds


def make_clock_end(seconds: int) -> EndOfWindow:
    """Return the ends of windows that the clock begins; the same in all processes."""
    return lambda now: (now // seconds + 1) * seconds


end_of_minute = make_end(WINDOW_SECONDS)
"""Returns when a one-minute window ends."""


def _make_room(windows: OrderedDict[Hashable, Window], now: float) -> None:
    while windows and (
        len(windows) >= MAX_COUNTED or not _lasts(next(iter(windows.values())), now)
    ):
        windows.popitem(last=False)


def _lasts(window: Window, now: float) -> bool:
    return window.began <= now < window.ends
