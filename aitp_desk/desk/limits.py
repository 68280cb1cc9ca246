"""How much a caller may do: requests a minute, counted when they arrive.

Anonymous callers are counted by address, callers with a credential by who they are. Within that the
agent that a question names (``requesting_agent``) and its session are counted as well: nobody has
proven such a name, so it can only lessen what its caller may do. Every answer tells how much is
left of what is scarcest (AHP 0.1, sections 11.1 and 11.3).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import msgspec

from aitp_desk.config import Limits
from aitp_desk.desk.counting import Counters, Window
from aitp_desk.model.errors import LimitScope, RateLimited
from aitp_desk.model.principal import Principal

WINDOW_SECONDS = 60


class Allowance(msgspec.Struct):
    """What a caller has left. It becomes less as more is known of the request.

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

    def tighten(self, other: Allowance) -> None:
        """Become another one that counts the same request, where that leaves less.

        Raises:
            RateLimited: it leaves nothing.
        """
        if other.refused is not None or other.remaining < self.remaining:
            self.limit = other.limit
            self.remaining = other.remaining
            self.reset_at = other.reset_at
        if other.refused is not None:
            raise other.refused


class Limiter:
    """Counts requests in windows of a minute, each from the first request on.

    Parameters:
        clock: Unix seconds.
    """

    def __init__(self, limits: Limits, clock: Callable[[], float]) -> None:
        self._limits = limits
        self._clock = clock
        self._anonymous = {
            "static": limits.static_per_minute,
            "converse": limits.converse_per_minute,
        }
        self._callers = Counters(_in_a_minute, clock)
        self._agents = Counters(_in_a_minute, clock)
        self._sessions = Counters(_in_a_minute, clock)

    def count(self, principal: Principal, kind: Literal["static", "converse"]) -> Allowance | None:
        """Count one request and tell what is left; None while limits are switched off."""
        if not self._limits.enabled:
            return None
        scope: LimitScope
        if principal.is_anonymous:
            limit, scope = self._anonymous[kind], "ip"
        else:
            limit, scope = self._limits.authenticated_per_minute, "principal"
        window = self._callers.count((kind, principal.limited_as), limit)
        return self._allow(window, limit, scope, "")

    def count_agent(
        self, principal: Principal, name: str | None, allowance: Allowance | None
    ) -> None:
        """Count a question against the agent that asks it; all that name none are one.

        Parameters:
            allowance: what the caller has left; it becomes the agent's where that is less.

        Raises:
            RateLimited: the agent has asked too often.
        """
        limit = self._limits.agent_per_minute
        if allowance is None or not limit:
            return
        window = self._agents.count((principal.limited_as, name or ""), limit)
        allowance.tighten(self._allow(window, limit, "agent", " of one requesting_agent"))

    def count_session(self, session_id: str, allowance: Allowance | None) -> None:
        """Count a question against its session, which is known to be the caller's.

        Parameters:
            allowance: what the caller has left; it becomes the session's where that is less.

        Raises:
            RateLimited: too much was asked in this session.
        """
        limit = self._limits.session_per_minute
        if allowance is None or not limit:
            return
        window = self._sessions.count(session_id, limit)
        allowance.tighten(self._allow(window, limit, "session", " in one session"))

    def _allow(self, window: Window, limit: int, scope: LimitScope, whose: str) -> Allowance:
        """What a window leaves in which this request was counted."""
        reset_at = math.ceil(window.ends)
        if window.counted <= limit:
            return Allowance(limit, limit - window.counted, reset_at)
        wait = max(1, math.ceil(window.ends - self._clock()))
        refused = RateLimited(
            f"More than {limit} requests{whose} in {WINDOW_SECONDS} seconds."
            f" Try again in {wait} seconds.",
            scope=scope,
            retry_after=wait,
        )
        return Allowance(limit, 0, reset_at, refused)


def _in_a_minute(now: float) -> float:
    return now + WINDOW_SECONDS
