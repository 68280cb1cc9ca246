"""How much of requests' bodies may be in memory at once, of all connections together."""

from __future__ import annotations

from aitp_desk.model.errors import Unavailable

FREE_BYTES = 64 * 1024
"""So much of each body is not counted, as much as its connection buffers anyway: what people write
comes through also where others send all that they may."""
RETRY_SECONDS = 5


class BodyBudget:
    """Counts the bodies that are under way, from their arrival until they are answered.

    Parameters:
        most: how many bytes of them there may be.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = 0

    def reserve(self, held: int, size: int) -> int:
        """Make room for a body that has grown; how many bytes of room it has now.

        Parameters:
            held: how many it had.
            size: how many bytes of it have come.

        Raises:
            Unavailable: there is no room; it keeps what it had.
        """
        wanted = max(0, size - FREE_BYTES)
        if self._held - held + wanted > self._most:
            raise Unavailable(
                "Too much is being sent to this desk at once. Try again in a moment.",
                retry_after=RETRY_SECONDS,
            )
        self._held += wanted - held
        return wanted

    def release(self, held: int) -> None:
        """Free the room of a body that was answered."""
        self._held -= held
