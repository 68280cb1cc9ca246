"""How much of answers may wait in memory for their readers: of one address, and in all.

A reader who takes nothing keeps an answer in memory. So longer answers are counted from before they
are sent until they were taken, and whoever asks for one more waits for room.
"""

from __future__ import annotations

import asyncio

from aitp_desk.auth.credentials.address import ClientAddresses
from aitp_desk.model.errors import Unavailable
from aitp_desk.observability.figures import Figure, gauge

FREE_BYTES = 64 * 1024
"""Answers up to this length are not counted: the connection takes them as a whole."""
WAIT_SECONDS = 5.0
"""How long an answer waits for room."""
RETRY_SECONDS = 5


class SendBacklog:
    """The bytes of answers that were not taken yet.

    Parameters:
        most: of all together.
        most_per_address: of one address; None where that has no bound of its own.
        addresses: tells where a connection comes from; trusted proxies speak for many.
    """

    def __init__(self, most: int, most_per_address: int | None, addresses: ClientAddresses) -> None:
        self._most = most
        self._most_per_address = most_per_address
        self._addresses = addresses
        self._held: dict[str | None, int] = {None: 0}  # by address; None for all together
        self._waiting: dict[str | None, int] = {None: 0}
        self._freed = asyncio.Event()

    @property
    def is_crowded(self) -> bool:
        """Whether three quarters of the room are taken: then nobody should keep it idly."""
        return 4 * self._held[None] >= 3 * self._most

    def figures(self) -> tuple[Figure, ...]:
        """How much waits."""
        return (
            gauge("aitp_desk_unsent_bytes", "Bytes of answers not taken yet.", self._held[None]),
            gauge("aitp_desk_unsent_bytes_limit", "How many may wait.", self._most),
        )

    async def reserve(self, peer: str, size: int) -> None:
        """Make room for an answer, or a piece of one; wait a little where there is none.

        Of those who wait as much is in memory at most as of those who are answered.

        Raises:
            Unavailable: there is none.
        """
        if size <= FREE_BYTES:
            return
        address = self._addresses.resolve_peer(peer)
        if not self._fits(self._held, address, size):
            await self._wait(address, size)
        self._add(self._held, address, size)

    def release(self, peer: str, size: int) -> None:
        """Free the room of what was taken, or will not be."""
        if size > FREE_BYTES:
            self._add(self._held, self._addresses.resolve_peer(peer), -size)
            self._freed.set()
            self._freed = asyncio.Event()

    async def _wait(self, address: str | None, size: int) -> None:
        refused = Unavailable(
            "Too many answers wait to be read by you, or by everybody. Read them, and try again in"
            f" {RETRY_SECONDS} seconds.",
            retry_after=RETRY_SECONDS,
        )
        if not self._fits(self._waiting, address, size):
            raise refused
        self._add(self._waiting, address, size)
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                while not self._fits(self._held, address, size):
                    await self._freed.wait()
        except TimeoutError:
            raise refused from None
        finally:
            self._add(self._waiting, address, -size)

    def _fits(self, counted: dict[str | None, int], address: str | None, size: int) -> bool:
        """Whether there is room; one answer always has some, however long it is."""
        bounds: list[tuple[str | None, int]] = [(None, self._most)]
        if address is not None and self._most_per_address is not None:
            bounds.append((address, self._most_per_address))
        held = [(counted.get(whose, 0), most) for whose, most in bounds]
        return all(not has or has + size <= most for has, most in held)

    def _add(self, counted: dict[str | None, int], address: str | None, size: int) -> None:
        counted[None] += size
        if address is not None:
            counted[address] = counted.get(address, 0) + size
            if not counted[address]:
                del counted[address]
