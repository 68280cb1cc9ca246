"""Limits failed lookups of secrets per caller: API keys, codes worth money."""

from __future__ import annotations

import math
from collections.abc import Callable

from aitp_desk.model.counters import Counters, end_of_minute
from aitp_desk.model.errors import LimitScope, RateLimited

MOST_A_MINUTE = 60
"""A key cannot be guessed; this bounds the work of lookups."""
MOST_CODES_A_MINUTE = 10
"""People type codes: nobody mistypes one this often."""


class GuessLimiter:
    """Counts wrong secrets by caller.

    Parameters:
        clock: Unix seconds.
        what: the name of these secrets in messages.
        most: the limit per minute.
        scope: the scope that the error names.

    Attributes:
        counters: wrong secrets by caller; shared with other processes.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        *,
        what: str = "invalid API keys",
        most: int = MOST_A_MINUTE,
        scope: LimitScope = "ip",
    ) -> None:
        self._clock = clock
        self._what = what
        self._most = most
        self._scope: LimitScope = scope
        self.counters = Counters(end_of_minute, clock)

    def check(self, caller: str) -> None:
        """Refuse a caller that has sent too many wrong secrets.

        Parameters:
            caller: the client's address, or the caller's id.

        Raises:
            RateLimited: the limit is reached; nothing was looked up.
        """
        if (refusal := self.refusal(caller)) is not None:
            raise refusal

    def refusal(self, caller: str) -> RateLimited | None:
        """Return the refusal that :meth:`check` raises; None if it raises none."""
        window = self.counters.read(caller)
        if window is None or window.counted < self._most:
            return None
        left = max(1, math.ceil(window.ends - self._clock()))
        whence = "this address" if self._scope == "ip" else "this caller"
        return RateLimited(
            f"More than {self._most} {self._what} came from {whence} within a minute.",
            scope=self._scope,
            retry_after=left,
        )

    def count_guess(self, caller: str) -> None:
        """Count a secret that was looked up and is wrong."""
        self.counters.count(caller, self._most)


def make_code_limiter(clock: Callable[[], float]) -> GuessLimiter:
    """Make the limiter for codes of capabilities, by caller, or by address if anonymous."""
    return GuessLimiter(clock, what="invalid codes", most=MOST_CODES_A_MINUTE, scope="principal")
