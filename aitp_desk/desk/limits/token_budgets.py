"""Token budgets: of one session, and of one caller per day.

A session's budget counts the tokens of its answers, whichever agent gave them; a cached answer uses
none. A day's budget counts the tokens that a model used, which cost money (AHP 0.1, section 11.4).
Work that has begun is completed, even if it exceeds a budget; the next is refused.
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
from aitp_desk.model.text import write_count


class TokenBudgets:
    """Checks token budgets, and refuses when one is used up.

    Parameters:
        used: the tokens used today.
        tiers: callers with specific budgets.
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
                f"This session has used its {budget} tokens. Leave session_id out to start"
                " a new session.",
                scope="session_tokens",
                retry_after=None,
            )

    async def check_day(self, principal: Principal) -> None:
        """Refuse to call a model for a caller without tokens left today.

        Raises:
            RateLimited: try again the next day (UTC).
        """
        budget = self._day_tokens(principal)
        if budget and await self._used.used_by(principal) >= budget:
            wait = max(1, math.ceil(self._used.tomorrow - self._clock()))
            raise RateLimited(
                f"The caller has used its {budget} tokens for today."
                f" Try again in {write_count(wait, 'second')}.",
                scope="day_tokens",
                retry_after=wait,
            )

    async def spend(self, principal: Principal, outcome: Said) -> None:
        """Count the tokens that a model used for an outcome."""
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
