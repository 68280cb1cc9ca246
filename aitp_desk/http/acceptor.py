"""Accepts connections from a socket, in turn with other processes that have it.

A new connection wakes every process. The first one that is idle would accept each, also those that
a proxy keeps and uses under load. So a process that has accepted a connection lets every other one
be the first once. It still looks a moment later: the others may be busy, paused or dead.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

import msgspec
import structlog

PATIENCE_SECONDS = 0.001
"""How long a process waits for another one to accept a connection first."""
MOST_AT_ONCE = 8
"""How many connections are accepted after that, so that a burst does not wait for its turns."""
FAILED_SECONDS = 1.0
"""How long nothing is accepted after an error of the system, such as too many open files."""

_log = structlog.get_logger()


class Listener(msgspec.Struct, frozen=True):
    """A socket to listen on.

    Parameters:
        processes: how many accept from it.
    """

    socket: socket.socket
    processes: int = 1


class Acceptor:
    """Accepts the connections of one socket that other processes have as well.

    Parameters:
        connect: makes the protocol of a connection.
    """

    def __init__(self, listener: Listener, connect: Callable[[], asyncio.Protocol]) -> None:
        self._loop = asyncio.get_running_loop()
        self._socket = listener.socket
        self._others = listener.processes - 1
        self._connect = connect
        self._passed = self._others  # how many wakes since its last one
        self._later: asyncio.TimerHandle | None = None
        self._begun: set[asyncio.Task[object]] = set()
        self._socket.setblocking(False)
        self._loop.add_reader(self._socket, self._on_readable)

    async def close(self) -> None:
        """Close the socket; connections that were accepted have their protocols then."""
        self._loop.remove_reader(self._socket)
        self._socket.close()
        if self._later is not None:
            self._later.cancel()
        await asyncio.gather(*self._begun, return_exceptions=True)

    def _on_readable(self) -> None:
        if self._passed >= self._others:
            self._accept(1)
        else:
            self._passed += 1
            self._pause(PATIENCE_SECONDS)

    def _pause(self, seconds: float) -> None:
        self._loop.remove_reader(self._socket)
        self._later = self._loop.call_later(seconds, self._go_on)

    def _go_on(self) -> None:
        self._later = None
        self._loop.add_reader(self._socket, self._on_readable)
        self._accept(MOST_AT_ONCE)

    def _accept(self, most: int) -> None:
        for _ in range(most):
            try:
                accepted, _ = self._socket.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return  # another process was faster, or the client has gone
            except OSError as error:
                _log.error("connection_not_accepted", reason=error.strerror)
                self._pause(FAILED_SECONDS)
                return
            self._passed = 0
            accepted.setblocking(False)
            begun = self._loop.create_task(
                self._loop.connect_accepted_socket(self._connect, accepted)
            )
            self._begun.add(begun)
            begun.add_done_callback(self._begun.discard)
