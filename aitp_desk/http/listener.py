"""The sockets on which a desk listens.

Several processes share an address by ``SO_REUSEPORT``: each has its own socket, and the system
distributes new connections among them. A supervisor opens the sockets and keeps them, so that
connections which no process has accepted yet outlive the process that was to accept them.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

BACKLOG = 1024


class ListenError(Exception):
    """The address cannot be listened on; the message says why and what to do."""


@contextmanager
def bind_socket(host: str, port: int, *, is_shared: bool = False) -> Iterator[socket.socket]:
    """Bind a socket, so that its port is known before the server accepts requests.

    Parameters:
        is_shared: whether other sockets of this user may listen on the same address.

    Raises:
        ListenError: the address is taken or is not this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        sock = socket.create_server(
            (host, port), family=family, backlog=BACKLOG, reuse_port=is_shared
        )
    except OSError as error:
        raise ListenError(
            f"Cannot listen on {host}, port {port}: {error.strerror}. Choose another with --port."
        ) from None
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # accepted sockets inherit it
    with sock:
        yield sock


def reserve_port(host: str, port: int) -> int:
    """Return a port on which nobody listens yet; ``port`` itself unless that is 0.

    A shared address could also be that of another desk of this user.

    Raises:
        ListenError: the address is taken or is not this machine's.
    """
    with bind_socket(host, port) as sock:
        found: int = sock.getsockname()[1]
    return found
