"""Bounds the bytes of unsent responses: per address, and in total.

A client that reads nothing keeps a response in memory. So long responses are counted from before
they are sent until the client has read them, and one beyond the bound waits for space.
"""

from __future__ import annotations

import asyncio

from aitp_desk.auth.credentials.address import ClientAddresses
from aitp_desk.model.errors import Unavailable
from aitp_desk.observability.figures import Figure, gauge

FREE_BYTES = 64 * 1024
"""Responses up to this length are not counted: the connection takes them as a whole."""
WAIT_SECONDS = 5.0
"""How long a response waits for space."""
RETRY_SECONDS = 5


class SendBacklog:
    """Counts the bytes of unsent responses.

    Parameters:
        most: of all together.
        most_per_address: None for no bound per address.
        addresses: resolves the address of a connection; trusted proxies have many clients.
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
        """Whether three quarters of the space are taken: idle readers are then closed sooner."""
        return 4 * self._held[None] >= 3 * self._most

    def figures(self) -> tuple[Figure, ...]:
        """Return the figures of unsent bytes."""
        return (
            gauge(
                "aitp_desk_unsent_bytes",
                "Response bytes not yet read by clients.",
                self._held[None],
            ),
            gauge(
                "aitp_desk_unsent_bytes_limit", "The limit of unread response bytes.", self._most
            ),
        )

    async def reserve(self, peer: str, size: int) -> None:
        """Reserve space for a response or a piece; wait briefly if none.

        Waiting responses occupy at most as much memory as those being sent.

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
        """Release the space of a response that was read or dropped."""
        if size > FREE_BYTES:
            self._add(self._held, self._addresses.resolve_peer(peer), -size)
            self._freed.set()
            self._freed = asyncio.Event()

    async def _wait(self, address: str | None, size: int) -> None:
        refused = Unavailable(
            f"Too many responses are unread. Read yours, and try again in {RETRY_SECONDS} seconds.",
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
        """Return whether there is space; a single response always fits, however long it is."""
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
