"""How many API keys that prove nothing are looked up for one address."""

from __future__ import annotations

import math
from collections.abc import Callable

from aitp_desk.model.counting import Counters, in_a_minute
from aitp_desk.model.errors import RateLimited

MOST_A_MINUTE = 60
"""A key cannot be guessed; what is bounded is the work of looking up."""


class Guesses:
    """Counts keys that prove nothing, by the address that sends them.

    Parameters:
        clock: Unix seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._counters = Counters(in_a_minute, clock)

    def check(self, address: str) -> None:
        """Refuse an address from which too many of them came.

        Raises:
            RateLimited: so it is; nothing was looked up.
        """
        window = self._counters.read(address)
        if window is not None and window.counted >= MOST_A_MINUTE:
            left = max(1, math.ceil(window.ends - self._clock()))
            raise RateLimited(
                f"More than {MOST_A_MINUTE} API keys that prove nothing came from this address in"
                " a minute.",
                scope="ip",
                retry_after=left,
            )

    def note(self, address: str) -> None:
        """Count one that was looked up and proved nothing."""
        self._counters.count(address, MOST_A_MINUTE)
