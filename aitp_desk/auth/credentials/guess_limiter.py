"""How many secrets that are none are looked up for one caller: API keys, codes worth money."""

from __future__ import annotations

import math
from collections.abc import Callable

from aitp_desk.model.counters import Counters, end_of_minute
from aitp_desk.model.errors import LimitScope, RateLimited

MOST_A_MINUTE = 60
"""A key cannot be guessed; what is bounded is the work of looking up."""
MOST_CODES_A_MINUTE = 10
"""Codes are typed by people: so often nobody mistypes one."""


class GuessLimiter:
    """Counts secrets that are none, by whoever sends them.

    Parameters:
        clock: Unix seconds.
        what: they are called.
        most: in a minute.
        scope: whose allowance is told to be spent.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        *,
        what: str = "API keys that prove nothing",
        most: int = MOST_A_MINUTE,
        scope: LimitScope = "ip",
    ) -> None:
        self._clock = clock
        self._what = what
        self._most = most
        self._scope: LimitScope = scope
        self._counters = Counters(end_of_minute, clock)

    def check(self, caller: str) -> None:
        """Refuse whoever has sent too many of them.

        Parameters:
            caller: the address that they came from, or the id of who has sent them.

        Raises:
            RateLimited: so it is; nothing was looked up.
        """
        if (refusal := self.refusal(caller)) is not None:
            raise refusal

    def refusal(self, caller: str) -> RateLimited | None:
        """The refusal that :meth:`check` raises; None where it raises none."""
        window = self._counters.read(caller)
        if window is None or window.counted < self._most:
            return None
        left = max(1, math.ceil(window.ends - self._clock()))
        whence = "this address" if self._scope == "ip" else "this caller"
        return RateLimited(
            f"More than {self._most} {self._what} came from {whence} in a minute.",
            scope=self._scope,
            retry_after=left,
        )

    def count_guess(self, caller: str) -> None:
        """Count one that was looked up and is none."""
        self._counters.count(caller, self._most)


def make_code_limiter(clock: Callable[[], float]) -> GuessLimiter:
    """What counts codes of capabilities: by the caller, or where nobody knows them the address."""
    return GuessLimiter(
        clock, what="codes that are none", most=MOST_CODES_A_MINUTE, scope="principal"
    )
