"""How many connections are open: of one address, and of all together.

A connection costs memory and a file before anybody has said a word. So they are counted when they
are made, by where they come from. A trusted proxy speaks for many and has no bound of its own.
"""

from __future__ import annotations

from aitp_desk.auth.credentials.address import ClientAddresses
from aitp_desk.config import Config
from aitp_desk.http.limits.backlog import SendBacklog
from aitp_desk.observability.figures import Figure, gauge


def max_connections(config: Config) -> int:
    """How many connections may be open at once."""
    return config.events.max_streams + config.server.max_connections


class ConnectionLimiter:
    """The connections of a process.

    Parameters:
        addresses: tells where a connection comes from.

    Attributes:
        backlog: what of their answers waits to be taken.
    """

    def __init__(self, config: Config, addresses: ClientAddresses) -> None:
        self._most = max_connections(config)
        self._most_per_address: int | None = None
        if config.limits.enabled:
            streams = config.events.max_streams_per_caller
            self._most_per_address = streams + config.server.max_connections_per_address
        server = config.server
        of_address = server.max_unsent_bytes_per_address if config.limits.enabled else None
        self.backlog = SendBacklog(server.max_unsent_bytes, of_address, addresses)
        self._addresses = addresses
        self._open = 0
        self._open_by: dict[str, int] = {}

    @property
    def is_crowded(self) -> bool:
        """Whether three in four of the places are taken: then nobody should keep one idly."""
        return 4 * self._open >= 3 * self._most

    def figures(self, under_way: int) -> tuple[Figure, ...]:
        """How many are open.

        Parameters:
            under_way: requests that are not answered yet.
        """
        return (
            gauge("aitp_desk_connections", "Open connections.", self._open),
            gauge("aitp_desk_connections_limit", "How many may be open.", self._most),
            gauge("aitp_desk_requests_under_way", "Requests that are not answered.", under_way),
            *self.backlog.figures(),
        )

    def open(self, peer: str) -> bool:
        """Count a connection. Returns whether there is room for it; else it is not counted."""
        address = self._addresses.resolve_peer(peer)
        if self._open >= self._most:
            return False
        if address is not None:
            of_address = self._open_by.get(address, 0)
            if self._most_per_address is not None and of_address >= self._most_per_address:
                return False
            self._open_by[address] = of_address + 1
        self._open += 1
        return True

    def close(self, peer: str) -> None:
        """Count one less, that was counted before."""
        address = self._addresses.resolve_peer(peer)
        self._open -= 1
        if address is not None:
            self._open_by[address] -= 1
            if not self._open_by[address]:
                del self._open_by[address]
