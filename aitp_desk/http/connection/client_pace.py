"""Measures how fast a client reads what was written for it."""

from __future__ import annotations

import asyncio


class ClientPace:
    """How a client reads what was written for it; looked at by each sweep.

    Attributes:
        unsent: bytes of responses still unsent at the last sweep.
    """

    __slots__ = ("_taken", "_taken_at", "_transport", "_unsent_since", "unsent")

    def __init__(self, transport: asyncio.Transport, now: float) -> None:
        self._transport = transport
        self._taken = 0  # bytes read by the client since then, at least
        self._taken_at = now  # when the client last read some, or none were left
        self._unsent_since = now
        self.unsent = 0

    def is_fast_enough(
        self, now: float, sent: int, slowest_rate: int, *, patience: float, grace: float | None
    ) -> bool:
        """Return whether the client reads its responses fast enough.

        Parameters:
            sent: bytes of bodies in pieces written since the last sweep.
            slowest_rate: bytes per second, on average.
            patience: how many seconds may pass without progress.
            grace: how many seconds more the average may take; None for a stream, which has its own
                bounds (``stream_response.py``).
        """
        unsent = self._transport.get_write_buffer_size()
        taken = self.unsent + sent - unsent
        if not unsent:
            self._taken_at = self._unsent_since = now
            self._taken = 0
        elif taken > 0:
            self._taken_at = now
            self._taken += taken
        self.unsent = unsent
        if self._taken_at < now - patience:
            return False
        return grace is None or now <= self._unsent_since + grace + self._taken / slowest_rate
