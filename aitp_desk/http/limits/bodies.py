"""Bounds the bytes of request bodies in memory, over all connections."""

from __future__ import annotations

from aitp_desk.model.errors import Unavailable

FREE_BYTES = 64 * 1024
"""How much of each body is free, as much as its connection buffers anyway: what people write gets
through even while others send all that they may."""
RETRY_SECONDS = 5


class BodyBudget:
    """Counts bodies from their arrival until they are answered.

    Parameters:
        most: in bytes, of all together.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = 0

    def reserve(self, held: int, size: int) -> int:
        """Reserve space for a body that has grown; return its reserved bytes.

        Parameters:
            held: how many were reserved before.
            size: how many bytes of it have arrived.

        Raises:
            Unavailable: there is no space; it keeps what was reserved.
        """
        wanted = max(0, size - FREE_BYTES)
        if self._held - held + wanted > self._most:
            raise Unavailable(
                "The desk is receiving too much data. Try again in a moment.",
                retry_after=RETRY_SECONDS,
            )
        self._held += wanted - held
        return wanted

    def release(self, held: int) -> None:
        """Release the space of a body that was answered."""
        self._held -= held
