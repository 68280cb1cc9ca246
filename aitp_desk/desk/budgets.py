"""How many tokens may be used: in one session, and by one caller on a day.

A session's budget counts the tokens that its answers name, whoever gave them; an answer from memory
uses none. A day's counts what a model has used, for that is what costs money (AHP 0.1, section
11.4). What was begun is finished, also where it goes past a budget; what comes after is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from aitp_desk.agent.base import Said
from aitp_desk.config import Limits
from aitp_desk.desk.counting import Counters
from aitp_desk.desk.tiers import Tiers
from aitp_desk.model.errors import RateLimited
from aitp_desk.model.principal import Principal

DAY_SECONDS = 24 * 60 * 60


class Budgets:
    """Knows what is left of the tokens, and refuses where nothing is.

    Parameters:
        clock: Unix seconds.
    """

    def __init__(
        self, limits: Limits, clock: Callable[[], float], tiers: Tiers | None = None
    ) -> None:
        self._limits = limits
        self._tiers = tiers or Tiers()
        self._clock = clock
        self._days = Counters(_midnight_after, clock)

    def check_session(self, principal: Principal, used: int) -> None:
        """Refuse a turn of a session that has used up its tokens.

        Parameters:
            used: tokens of its turns so far.

        Raises:
            RateLimited: a new session helps, waiting does not.
        """
        tier = self._tiers.of(principal)
        budget = (
            self._limits.session_tokens
            if principal.is_anonymous
            else (tier.session_tokens if tier is not None else 0)
            or self._limits.authenticated_session_tokens
        )
        if self._limits.enabled and budget and used >= budget:
            raise RateLimited(
                f"A session may use {budget} tokens, and this one has used them."
                " Leave session_id out to begin a new one.",
                scope="session_tokens",
                retry_after=None,
            )

    def _day_tokens(self, principal: Principal) -> int:
        tier = self._tiers.of(principal)
        return (tier.day_tokens if tier is not None else 0) or self._limits.day_tokens

    def check_day(self, principal: Principal) -> None:
        """Refuse to ask a model for a caller who has used up the day's tokens.

        Raises:
            RateLimited: the next day (UTC) helps.
        """
        budget = self._day_tokens(principal)
        if not self._limits.enabled or not budget:
            return
        day = self._days.read(principal.limited_as)
        if day is not None and day.counted >= budget:
            wait = max(1, math.ceil(day.ends - self._clock()))
            raise RateLimited(
                f"One caller may have {budget} tokens used on a day, and these are used up."
                f" Try again in {wait} seconds.",
                scope="day_tokens",
                retry_after=wait,
            )

    def spend(self, principal: Principal, outcome: Said) -> None:
        """Count what a model has used for an outcome."""
        budget = self._day_tokens(principal)
        if self._limits.enabled and budget and outcome.usage is not None:
            self._days.count(principal.limited_as, budget, outcome.usage.total)


def _midnight_after(now: float) -> float:
    """When the day (UTC) ends."""
    return (now // DAY_SECONDS + 1) * DAY_SECONDS
