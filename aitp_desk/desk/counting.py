"""Counting per key within windows of time, in memory that is bounded however many keys there are.

Whoever has used up what they may is kept apart from the others. So newcomers, however many, make
one another forgotten and not those who are being refused.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import NamedTuple

MAX_COUNTED = 100_000
"""How many keys are counted at once, and as many again whose limit is reached; past that whoever
came first is forgotten."""

EndOfWindow = Callable[[float], float]
"""When a window ends that begins now, both in Unix seconds. It never ends before an earlier one."""


class Window(NamedTuple):
    """What was counted of one key.

    Parameters:
        ends: Unix seconds.
    """

    ends: float
    counted: int


class Counters:
    """Counts many keys, each in a window of its own that begins with what is counted first.

    Windows end about in the order in which they began: those that are over are found at the front,
    and counting costs the same with one key as with many.

    Parameters:
        end_of_window: says how long windows are.
        clock: Unix seconds. It may be set back or forward: no window lasts longer for it.
    """

    def __init__(self, end_of_window: EndOfWindow, clock: Callable[[], float]) -> None:
        self._end = end_of_window
        self._clock = clock
        self._open: OrderedDict[Hashable, Window] = OrderedDict()
        self._full: OrderedDict[Hashable, Window] = OrderedDict()

    def read(self, key: Hashable) -> Window:
        """What was counted of a key in its present window; nothing where it has none."""
        return self._read(key, self._clock())

    def take(self, key: Hashable, limit: int) -> Window:
        """Count one, unless the limit was reached before.

        Returns:
            How it stood before: where ``counted`` is less than the limit, one was counted.
        """
        now = self._clock()
        window = self._read(key, now)
        if window.counted < limit:
            self._keep(key, Window(window.ends, window.counted + 1), limit, now)
        return window

    def add(self, key: Hashable, amount: int, limit: int) -> None:
        """Count so much, also where that goes past the limit."""
        now = self._clock()
        window = self._read(key, now)
        self._keep(key, Window(window.ends, window.counted + amount), limit, now)

    def _read(self, key: Hashable, now: float) -> Window:
        for windows in (self._open, self._full):
            window = windows.get(key)
            if window is not None:
                if self._lasts(window, now):
                    return window
                del windows[key]
        return Window(self._end(now), 0)

    def _keep(self, key: Hashable, window: Window, limit: int, now: float) -> None:
        windows = self._open
        if window.counted >= limit:
            windows.pop(key, None)
            windows = self._full
        if key not in windows:
            self._make_room(windows, now)
        windows[key] = window

    def _make_room(self, windows: OrderedDict[Hashable, Window], now: float) -> None:
        while windows and (
            len(windows) >= MAX_COUNTED or not self._lasts(next(iter(windows.values())), now)
        ):
            windows.popitem(last=False)

    def _lasts(self, window: Window, now: float) -> bool:
        """Whether a window is not over.

        One that ends later than a new one would was begun before the clock was set back.
        """
        return now < window.ends <= self._end(now)
