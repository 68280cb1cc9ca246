"""The sockets on which a desk listens.

Several processes share an address by inheriting one socket: new connections wait in one queue, from
which whichever process is free accepts them. ``SO_REUSEPORT`` would make a queue for each
process, and connections would wait in that of a process which is dead, starts or stands still.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

BACKLOG = 1024


class ListenError(Exception):
    """The address cannot be listened on; the message says why and what to do."""


@contextmanager
def bind_socket(host: str, port: int) -> Iterator[socket.socket]:
    """Bind a socket, so that its port is known before the server accepts requests.

    Raises:
        ListenError: the address is taken or is not this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        sock = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise ListenError(
            f"Cannot listen on {host}, port {port}: {error.strerror}. Choose another with --port."
        ) from None
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # accepted sockets inherit it
    with sock:
        yield sock


class SharedSocket:
    """A socket of several users: bound by the first of them, closed by the last.

    Parameters:
        port: 0 for a free one, which stays the same when the address is bound again.
    """

    def __init__(self, host: str, port: int) -> None:
        self._host = host
        self._port = port
        self._users = 0
        self._bound = ExitStack()
        self._socket: socket.socket | None = None

    @contextmanager
    def open(self) -> Iterator[socket.socket]:
        """Use the socket for as long as the context lasts.

        Raises:
            ListenError: the address is taken or is not this machine's.
        """
        if self._socket is None:
            self._socket = self._bound.enter_context(bind_socket(self._host, self._port))
            self._port = self._socket.getsockname()[1]
        self._users += 1
        try:
            yield self._socket
        finally:
            self._users -= 1
            if not self._users:
                self._socket = None
                self._bound.close()
