"""Limits open connections: per address, and in total.

A connection costs memory and a file before it sends a byte. So it is counted when it is opened, by
its address. A trusted proxy carries many clients and has no limit per address.
"""

from __future__ import annotations

from aitp_desk.auth.credentials.address import ClientAddresses
from aitp_desk.config import Config
from aitp_desk.http.limits.backlog import SendBacklog
from aitp_desk.observability.figures import Figure, gauge


def max_connections(config: Config) -> int:
    """Return how many connections may be open at once."""
    return config.events.max_streams + config.server.max_connections


class ConnectionLimiter:
    """Counts the connections of a process.

    Parameters:
        addresses: resolves the address of a connection.

    Attributes:
        backlog: bounds their unsent responses.
    """

    def __init__(self, config: Config, addresses: ClientAddresses) -> None:
        self._most = max_connections(config)
        self._most_per_address: int | None = None
        if config.limits.enabled:
            events = config.events
            streams = max(events.max_streams_per_caller, events.max_streams_per_address)
            self._most_per_address = streams + config.server.max_connections_per_address
        server = config.server
        of_address = server.max_unsent_bytes_per_address if config.limits.enabled else None
        self.backlog = SendBacklog(server.max_unsent_bytes, of_address, addresses)
        self._addresses = addresses
        self._open = 0
        self._open_by: dict[str, int] = {}

    @property
    def is_crowded(self) -> bool:
        """Whether three quarters of the connections are open: idle ones are then closed sooner."""
        return 4 * self._open >= 3 * self._most

    def figures(self, under_way: int) -> tuple[Figure, ...]:
        """Return the figures of connections and unsent bytes.

        Parameters:
            under_way: the number of active requests.
        """
        return (
            gauge("aitp_desk_connections", "Open connections.", self._open),
            gauge("aitp_desk_connections_limit", "The limit of open connections.", self._most),
            gauge("aitp_desk_requests_under_way", "Requests in progress.", under_way),
            *self.backlog.figures(),
        )

    def open(self, peer: str) -> bool:
        """Count a connection; return False, uncounted, where the limit is reached."""
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
        """Count one connection less."""
        address = self._addresses.resolve_peer(peer)
        self._open -= 1
        if address is not None:
            self._open_by[address] -= 1
            if not self._open_by[address]:
                del self._open_by[address]
