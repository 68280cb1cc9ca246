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
from aitp_desk.desk.limits.tiers import Tiers
from aitp_desk.desk.limits.token_usage import TokenUsage
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.errors import RateLimited


class TokenBudgets:
    """Knows what is left of the tokens, and refuses where nothing is.

    Parameters:
        used: what was used on the day.
        tiers: which callers have budgets of their own.
        clock: Unix seconds.
    """

    def __init__(
        self, limits: Limits, used: TokenUsage, tiers: Tiers, clock: Callable[[], float]
    ) -> None:
        self._limits = limits
        self._used = used
        self._tiers = tiers
        self._clock = clock

    def check_session(self, principal: Principal, used: int) -> None:
        """Refuse a turn of a session that has used up its tokens.

        Parameters:
            used: tokens of its turns so far.

        Raises:
            RateLimited: a new session helps, waiting does not.
        """
        budget = self._session_tokens(principal)
        if self._limits.enabled and budget and used >= budget:
            raise RateLimited(
                f"A session may use {budget} tokens, and this one has used them."
                " Leave session_id out to begin a new one.",
                scope="session_tokens",
                retry_after=None,
            )

    async def check_day(self, principal: Principal) -> None:
        """Refuse to ask a model for a caller who has used up the day's tokens.

        Raises:
            RateLimited: the next day (UTC) helps.
        """
        budget = self._day_tokens(principal)
        if budget and await self._used.used_by(principal) >= budget:
            wait = max(1, math.ceil(self._used.tomorrow - self._clock()))
            raise RateLimited(
                f"One caller may have {budget} tokens used on a day, and these are used up."
                f" Try again in {wait} seconds.",
                scope="day_tokens",
                retry_after=wait,
            )

    async def spend(self, principal: Principal, outcome: Said) -> None:
        """Count what a model has used for an outcome."""
        if outcome.usage is not None and self._day_tokens(principal):
            await self._used.add(principal, outcome.usage.total)

    def _session_tokens(self, principal: Principal) -> int:
        if principal.counts_by_address:
            return self._limits.session_tokens
        tier = self._tiers.find_tier(principal)
        own = 0 if tier is None else tier.session_tokens
        return own or self._limits.authenticated_session_tokens

    def _day_tokens(self, principal: Principal) -> int:
        if not self._limits.enabled:
            return 0
        tier = self._tiers.find_tier(principal)
        return (0 if tier is None else tier.day_tokens) or self._limits.day_tokens
