"""How much a caller may do: requests a minute, counted when they arrive.

Anonymous callers are counted by address, callers with a credential by who they are. Every answer
tells how much is left (AHP 0.1, section 11.1).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import msgspec
from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import FixedWindowRateLimiter

from aitp_desk.config import Limits
from aitp_desk.model.errors import LimitScope, RateLimited
from aitp_desk.model.principal import Principal

WINDOW_SECONDS = 60


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
    """Counts requests in windows of a minute."""

    def __init__(self, config: Limits, clock: Callable[[], float]) -> None:
        self._enabled = config.enabled
        self._clock = clock
        self._strategy = FixedWindowRateLimiter(MemoryStorage())
        self._anonymous = {
            "static": RateLimitItemPerMinute(config.static_per_minute),
            "converse": RateLimitItemPerMinute(config.converse_per_minute),
        }
        self._authenticated = RateLimitItemPerMinute(config.authenticated_per_minute)

    async def count(
        self, principal: Principal, kind: Literal["static", "converse"]
    ) -> Allowance | None:
        """Count one request and tell what is left; None while limits are switched off."""
        if not self._enabled:
            return None
        scope: LimitScope
        if principal.is_anonymous:
            item, scope, key = self._anonymous[kind], "ip", principal.address
        else:
            item, scope, key = self._authenticated, "principal", principal.id
        allowed = await self._strategy.hit(item, kind, key)
        stats = await self._strategy.get_window_stats(item, kind, key)
        reset_at = math.ceil(stats.reset_time)
        if allowed:
            return Allowance(item.amount, stats.remaining, reset_at)
        wait = max(1, reset_at - int(self._clock()))
        refused = RateLimited(
            f"More than {item.amount} requests in {WINDOW_SECONDS} seconds."
            f" Try again in {wait} seconds.",
            scope=scope,
            retry_after=wait,
        )
        return Allowance(item.amount, 0, reset_at, refused)
