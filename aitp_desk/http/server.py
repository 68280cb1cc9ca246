"""The listening socket and the HTTP server behind it, with a bound on slow headers.

The server that we build on waits for headers as long as the connection lasts. Here a connection
notes when a request's head began to arrive; one sweep a second answers those that take too long
with 408 (RFC 9110, 15.5.9) and closes them, as it closes those that are idle and those that do not
take their answers, or take them too slowly. Slow bodies are the general way's. Where too many are
open already, a new one is told so and closed.

What is no HTTP at all never becomes a request, nor does a head without an end; the front words the
answer all the same, so that both are refused in a form of the desk's own.
"""

from __future__ import annotations

import asyncio
import resource
import socket
import struct
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, cast

from aiohttp import web

from aitp_desk.config import Server
from aitp_desk.http.connection.fallback import AiohttpHandler
from aitp_desk.http.connection.fast_path import FastPathConnection
from aitp_desk.http.connection.framing import MAX_HEAD
from aitp_desk.http.connection.head_cache import HeadCache
from aitp_desk.http.dispatcher import Dispatcher
from aitp_desk.http.limits.connections import ConnectionLimiter
from aitp_desk.model.errors import DeskError, InvalidRequest, RequestTimeout, Unavailable

KEEP_ALIVE_SECONDS = 75.0
"""How long an idle connection stays open, longer than common proxies keep theirs; and how long one
whose answer nobody takes."""
CROWDED_SECONDS = 5.0
"""How long an idle connection stays open while there are many."""
LINGER_SECONDS = 2.0
"""How long the rest of an unwanted body is read and dropped, so that its answer arrives."""
BACKLOG = 1024
SWEEP_SECONDS = 1.0
WRITE_SECONDS = 1.0
"""How long the last answers may take to be written when the desk stops."""

OTHER_FILES = 256
"""How many files may be open beside the connections: the database, the content."""
RETRY_SECONDS = 10
"""When somebody who found no room for a connection may try again."""

MAX_LINE = 8190
"""Longest first line or header that the HTTP server reads, in bytes."""

ACCEPT_BATCH = struct.pack("ii", 1, 0)
"""For SO_LINGER: a closed socket is reset, and its buffers are free."""

NEVER_SECONDS = 10.0**8
"""For the library's own timer of idle connections, which knows nothing of swift answers."""


class ListenError(Exception):
    """The address cannot be listened on; the message says why and what to do."""


@contextmanager
def bind_socket(host: str, port: int) -> Iterator[socket.socket]:
    """Bind a socket, so that its port is known before anything answers there.

    Raises:
        CannotListen: the address is taken or is not this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        sock = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise ListenError(
            f"Cannot listen on {host}, port {port}: {error.strerror}. Choose another with --port."
        ) from None
    with sock:
        yield sock


def raise_file_limit(most: int) -> bool:
    """Raise this process's limit of open files so far that so many connections may be open.

    The hard limit stays as it is: it is the operator's.

    Returns:
        Whether there may be so many.
    """
    wanted = most + OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return True
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, allowed), hard))
    return allowed == wanted


@asynccontextmanager
async def serve_socket(
    front: Dispatcher, sock: socket.socket, settings: Server, connections: ConnectionLimiter
) -> AsyncIterator[Callable[[], int]]:
    """Serve a bound socket; at the end stop accepting, and let requests under way finish.

    Parameters:
        front: answers requests.
        connections: where they are counted.

    Returns:
        What tells how many requests are under way.
    """
    server = _Server(front, settings, connections)
    runner = web.ServerRunner(server, shutdown_timeout=WRITE_SECONDS)
    await runner.setup()
    site = web.SockSite(runner, sock, backlog=BACKLOG)
    sweep = asyncio.create_task(server.close_stale_connections())
    try:
        await site.start()
        yield server.count_active_requests
        await site.stop()
        await server.drain(settings.shutdown_seconds)
    finally:
        sweep.cancel()
        await runner.cleanup()


class _ServerConnection(FastPathConnection):
    """One connection, which knows since when it waits, and for what.

    Attributes:
        unsent: how many bytes of its answers had not been taken at the last look.
        taken_at: when some of them last were, or none were left.
        unsent_since: since when some always were left.
        taken: how many bytes were taken since then, at least.
    """

    __slots__ = (
        "_connections",
        "_general",
        "_is_counted",
        "_line",
        "taken",
        "taken_at",
        "unsent",
        "unsent_since",
    )

    def __init__(
        self,
        server: _Server,
        front: Dispatcher,
        heads: HeadCache,
        general: AiohttpHandler,
        connections: ConnectionLimiter,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        super().__init__(
            front,
            heads,
            server,
            server,
            loop=loop,
            access_log=None,
            auto_decompress=False,
            keepalive_timeout=NEVER_SECONDS,
            lingering_time=LINGER_SECONDS,
        )
        self._general = general
        self._connections = connections
        self._is_counted = False
        self.unsent = self.taken = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep hold of the transport: the server lets go of it before it has sent everything."""
        super().connection_made(transport)
        self._line = cast(asyncio.Transport, transport)
        self.taken_at = self.unsent_since = self.idle_since
        self._is_counted = self._connections.open(self._peer)
        if not self._is_counted:
            self._turn_away()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Make room for another."""
        if self._is_counted:
            self._is_counted = False
            self._connections.close(self._peer)
        super().connection_lost(exc)

    def is_client_reading(self, now: float, slowest_rate: int, patience: float) -> bool:
        """Whether the other end takes what waits for it, in good time.

        What goes on for ever has bounds of its own (``streaming.py``).

        Parameters:
            slowest_rate: in bytes a second, on the whole.
            patience: how many seconds may pass in which nothing is taken.
        """
        unsent = self._line.get_write_buffer_size()
        taken = self.unsent + self.written - unsent
        if not unsent:
            self.taken_at = self.unsent_since = now
            self.taken = 0
        elif taken > 0:
            self.taken_at = now
            self.taken += taken
        self.unsent, self.written = unsent, 0
        if self.taken_at < now - patience:
            return False
        due = self.unsent_since + KEEP_ALIVE_SECONDS + self.taken / slowest_rate
        return self.is_streaming or now <= due

    def drop(self) -> None:
        """Close at once: what was not taken is lost, what the system holds of it too."""
        sock = self._line.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ACCEPT_BATCH)
        self._line.abort()

    def handle_error(self, *_what: Any, **_more: Any) -> web.StreamResponse:
        """Refuse what is no request, without the server's own words: they repeat what was sent."""
        response = self._general.reject_malformed(
            InvalidRequest(
                "This cannot be read as an HTTP/1.1 request: it is malformed, its method is"
                f" unknown, or its first line or a header is longer than {MAX_LINE} bytes, or its"
                f" head than {MAX_HEAD}."
            )
        )
        response.force_close()
        return response

    def reject_slow_head(self, seconds: float) -> None:
        """Answer a head that took longer than so many seconds, and close."""
        self._refuse(RequestTimeout(f"The request's headers took more than {seconds} seconds."))

    def _turn_away(self) -> None:
        """Answer whoever has made one connection too many, and close it."""
        self._refuse(
            Unavailable(
                f"Too many connections are open. Try again in {RETRY_SECONDS} seconds.",
                retry_after=RETRY_SECONDS,
            )
        )

    def _refuse(self, error: DeskError) -> None:
        if self.transport is not None:
            self.transport.write(_raw(self._general.reject_malformed(error)))
        self.force_close()


class _Server(web.Server):
    """The HTTP server with a bound on how long a request's head may take."""

    def __init__(self, front: Dispatcher, settings: Server, connections: ConnectionLimiter) -> None:
        super().__init__(self._answer)
        self._connections_open = connections
        self._front = front
        self._heads = HeadCache()
        self._general = AiohttpHandler(front, settings, connections.backlog)
        self._slowest_rate = settings.slowest_rate
        self._most = settings.max_unsent_bytes
        self._header_seconds = settings.header_seconds
        self._under_way = 0
        self._ending: asyncio.Event | None = None

    def __call__(self) -> _ServerConnection:
        return _ServerConnection(
            self, self._front, self._heads, self._general, self._connections_open, self._loop
        )

    @property
    def is_ending(self) -> bool:
        """Whether no further request shall follow on any connection."""
        return self._ending is not None

    def begin_request(self) -> None:
        """Count a request as under way."""
        self._under_way += 1

    def end_request(self) -> None:
        """Count one less."""
        self._under_way -= 1
        if self._ending is not None and not self._under_way:
            self._ending.set()

    def count_active_requests(self) -> int:
        """How many requests are under way."""
        return self._under_way

    async def close_stale_connections(self) -> None:
        """Once a second, give up on heads that take too long; close what has long stood still."""
        unsent = 0
        while True:
            await asyncio.sleep(min(SWEEP_SECONDS, self._header_seconds))
            now = self._loop.time()
            are_many = self._connections_open.is_crowded
            patience = CROWDED_SECONDS if are_many else KEEP_ALIVE_SECONDS
            is_crowded = self._connections_open.backlog.is_crowded or 4 * unsent >= 3 * self._most
            stalled = CROWDED_SECONDS if is_crowded else KEEP_ALIVE_SECONDS
            unsent = 0
            for connection in self.connections:
                if isinstance(connection, _ServerConnection):
                    self._look_after(connection, now, patience, stalled)
                    unsent += connection.unsent

    def _look_after(
        self, connection: _ServerConnection, now: float, patience: float, stalled: float
    ) -> None:
        began = connection.head_began
        if began is None and connection.has_partial_head:
            began = connection.idle_since
        if not connection.is_client_reading(now, self._slowest_rate, stalled):
            connection.drop()
        elif began is not None:
            if began < now - self._header_seconds:
                connection.reject_slow_head(self._header_seconds)
        elif not connection.is_idle:
            connection.idle_since = now
        elif connection.idle_since < now - patience:
            connection.force_close()

    async def drain(self, seconds: float) -> None:
        """Close idle connections, and let the requests under way end, at most for so long.

        What would go on for ever ends at once. Left to itself the library stops reading at once: a
        request whose body is still arriving would never be read to its end.
        """
        await asyncio.sleep(0)  # what has arrived by now is taken up
        self._ending = asyncio.Event()
        for connection in self.connections:
            if isinstance(connection, _ServerConnection):
                connection.end_streams()
                if not connection.is_answering:
                    connection.force_close()
        if self._under_way:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._ending.wait()

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        connection = request.protocol
        if not isinstance(connection, _ServerConnection):
            return await self._general.handle(request)
        connection.head_began, connection.is_answering = None, True
        self.begin_request()
        try:
            response = await self._general.handle(request)
        finally:
            # the rest of a body that nobody read is not the head of a request: nothing more is
            # answered here, and the connection ends
            is_read = request.content.is_eof()
            connection.is_answering = not is_read
            connection.idle_since = self._loop.time()
            self.end_request()
        if self.is_ending or not is_read or _ends_in_doubt(request):
            response.force_close()
        return response


def _ends_in_doubt(request: web.BaseRequest) -> bool:
    """Whether what is read behind a request may be a part of it, or be lost with it.

    The HTTP server takes the last trailer of a body in chunks (RFC 9112, section 7.1.2) for a
    header of the next request, and the body of CONNECT for a request, which a proxy may send for
    somebody else. And it drops what comes with a request for another protocol.
    """
    headers = request.headers
    return "Transfer-Encoding" in headers or "Upgrade" in headers or request.method == "CONNECT"


def _raw(response: web.Response) -> bytes:
    """A whole response as it goes over the wire, where there is no request to answer it with."""
    body = response.body
    body = body if isinstance(body, bytes) else b""
    head = [f"HTTP/1.1 {response.status} {response.reason}"]
    head += [f"{name}: {value}" for name, value in response.headers.items()]
    head += [f"Content-Length: {len(body)}", "Connection: close", "", ""]
    return "\r\n".join(head).encode() + body
