"""How much a caller may do: requests a minute, counted when they arrive.

Anonymous callers are counted by address, callers with a credential by who they are. Every answer
tells how much is left (AHP 0.1, section 11.1).
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from typing import Literal

import msgspec

from aitp_desk.config import Limits
from aitp_desk.model.errors import LimitScope, RateLimited
from aitp_desk.model.principal import Principal

WINDOW_SECONDS = 60
MAX_CALLERS = 100_000
"""How many callers are counted at once; past that whoever came first is forgotten."""


class Allowance(msgspec.Struct, frozen=True):
    """What a caller has left.

    Parameters:
        limit: requests in a window.
        remaining: requests left in this one.
        reset_at: Unix seconds when the next window begins.
        refused: the refusal to answer with when nothing was left, else None.
    """

    limit: int
    remaining: int
    reset_at: int
    refused: RateLimited | None = None


class Limiter:
    """Counts requests in windows of a minute, each from a caller's first request on.

    All windows are equally long, so they end in the order in which they began: whoever's has ended
    is found at the front, and a request costs the same with one caller as with many.

    Parameters:
        clock: Unix seconds.
    """

    def __init__(self, config: Limits, clock: Callable[[], float]) -> None:
        self._enabled = config.enabled
        self._clock = clock
        self._anonymous = {
            "static": config.static_per_minute,
            "converse": config.converse_per_minute,
        }
        self._authenticated = config.authenticated_per_minute
        self._windows: OrderedDict[tuple[str, str], tuple[float, int]] = OrderedDict()

    def count(self, principal: Principal, kind: Literal["static", "converse"]) -> Allowance | None:
        """Count one request and tell what is left; None while limits are switched off."""
        if not self._enabled:
            return None
        scope: LimitScope
        if principal.is_anonymous:
            limit, scope, caller = self._anonymous[kind], "ip", principal.address
        else:
            limit, scope, caller = self._authenticated, "principal", principal.id
        now = self._clock()
        ends, counted = self._window((kind, caller), now)
        if counted < limit:
            self._windows[kind, caller] = (ends, counted + 1)
            return Allowance(limit, limit - counted - 1, math.ceil(ends))
        wait = max(1, math.ceil(ends) - int(now))
        refused = RateLimited(
            f"More than {limit} requests in {WINDOW_SECONDS} seconds. Try again in {wait} seconds.",
            scope=scope,
            retry_after=wait,
        )
        return Allowance(limit, 0, math.ceil(ends), refused)

    def _window(self, key: tuple[str, str], now: float) -> tuple[float, int]:
        """A caller's window: when it ends and what was counted in it; a new one where none is."""
        windows = self._windows
        window = windows.get(key)
        # a window that ends later than a new one would was begun before the clock was set back
        if window is not None and now < window[0] <= now + WINDOW_SECONDS:
            return window
        windows.pop(key, None)
        while windows and (len(windows) >= MAX_CALLERS or next(iter(windows.values()))[0] <= now):
            windows.popitem(last=False)
        return now + WINDOW_SECONDS, 0
