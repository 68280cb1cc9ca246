"""The listening socket and the HTTP server, with bounds on slow clients.

The underlying HTTP server waits for headers as long as the connection lasts. Here a connection
records when a request's head began to arrive; a sweep each second answers heads that take too long
with 408 (RFC 9110, 15.5.9) and closes their connections, as it closes idle ones and those whose
client reads too slowly or not at all. ``connection/fallback.py`` bounds slow bodies. A connection
beyond the limit gets a refusal and is closed.

Malformed input and a head without end never become a request; the dispatcher still renders the
refusal, so that it has the desk's format.
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
"""How long an idle connection stays open, longer than common proxies keep theirs; also how long a
client may read nothing of its response."""
CROWDED_SECONDS = 5.0
"""How long an idle connection stays open while there are many."""
LINGER_SECONDS = 2.0
"""How long the rest of an unwanted body is read and dropped, so that its response arrives."""
BACKLOG = 1024
SWEEP_SECONDS = 1.0
WRITE_SECONDS = 1.0
"""How long the last responses may take to be written at shutdown."""

OTHER_FILES = 256
"""How many files may be open in addition to the connections: the database, the content."""
RETRY_SECONDS = 10
"""Seconds after which a client without a connection may try again."""

MAX_LINE = 8190
"""Longest first line or header that the HTTP server reads, in bytes."""

RESET_ON_CLOSE = struct.pack("ii", 1, 0)
"""For SO_LINGER: a closed socket is reset, and its buffers are freed."""

NEVER_SECONDS = 10.0**8
"""Disables the library's idle timer, which ignores responses of the fast path."""


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
    with sock:
        yield sock


def raise_file_limit(most: int) -> bool:
    """Raise this process's soft limit of open files to allow ``most`` connections.

    The hard limit stays unchanged: it is the operator's.

    Returns:
        Whether the limit suffices.
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
    """Serve a bound socket; at the end stop accepting, and let active requests finish.

    Parameters:
        front: answers requests.
        connections: counts connections.

    Yields:
        A function that returns the number of active requests.
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
    """A connection with the timestamps and byte counts that the sweep checks.

    Attributes:
        unsent: bytes of responses still unsent at the last sweep.
        taken_at: when the client last read some, or none were left.
        unsent_since: since when there have been unsent bytes.
        taken: bytes read by the client since then, at least.
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
        """Keep the transport: the server drops its reference before everything is sent."""
        super().connection_made(transport)
        self._line = cast(asyncio.Transport, transport)
        self.taken_at = self.unsent_since = self.idle_since
        self._is_counted = self._connections.open(self._peer)
        if not self._is_counted:
            self._turn_away()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Free the connection's slot."""
        if self._is_counted:
            self._is_counted = False
            self._connections.close(self._peer)
        super().connection_lost(exc)

    def is_client_reading(self, now: float, slowest_rate: int, patience: float) -> bool:
        """Return whether the client reads its responses fast enough.

        Streams have their own bounds (``stream_response.py``).

        Parameters:
            slowest_rate: bytes per second, on average.
            patience: how many seconds may pass without progress.
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
        """Close at once with a reset: unsent bytes are lost, also the system's."""
        sock = self._line.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        self._line.abort()

    def handle_error(self, *_what: Any, **_more: Any) -> web.StreamResponse:
        """Refuse a malformed request, without the server's own text, which repeats the input."""
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
        """Answer a head that exceeded the time limit, and close."""
        self._refuse(RequestTimeout(f"The request's headers took more than {seconds} seconds."))

    def _turn_away(self) -> None:
        """Refuse a connection above the limit, and close it."""
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
        """Whether no connection may carry a further request."""
        return self._ending is not None

    def begin_request(self) -> None:
        """Count a request as active."""
        self._under_way += 1

    def end_request(self) -> None:
        """Count one active request less."""
        self._under_way -= 1
        if self._ending is not None and not self._under_way:
            self._ending.set()

    def count_active_requests(self) -> int:
        """Return the number of active requests."""
        return self._under_way

    async def close_stale_connections(self) -> None:
        """Refuse slow heads and close idle connections, once a second."""
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
        """Close idle connections, and let active requests end, for at most ``seconds``.

        Streams end at once. The library by itself stops reading at once: a request whose body is
        still arriving would never be complete.
        """
        await asyncio.sleep(0)  # lets requests that have arrived begin
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
            # an unread rest of a body is not the head of a request: the connection ends here
            is_read = request.content.is_eof()
            connection.is_answering = not is_read
            connection.idle_since = self._loop.time()
            self.end_request()
        if self.is_ending or not is_read or _ends_in_doubt(request):
            response.force_close()
        return response


def _ends_in_doubt(request: web.BaseRequest) -> bool:
    """Return whether bytes after a request may belong to it or be lost.

    The HTTP server reads the last trailer of a chunked body (RFC 9112, section 7.1.2) as a header
    of the next request, and the body of CONNECT as a request, which a proxy may send for another
    client. It also drops the bytes that follow an Upgrade request.
    """
    headers = request.headers
    return "Transfer-Encoding" in headers or "Upgrade" in headers or request.method == "CONNECT"


def _raw(response: web.Response) -> bytes:
    """Serialize a whole response, where there is no request to respond to."""
    body = response.body
    body = body if isinstance(body, bytes) else b""
    head = [f"HTTP/1.1 {response.status} {response.reason}"]
    head += [f"{name}: {value}" for name, value in response.headers.items()]
    head += [f"Content-Length: {len(body)}", "Connection: close", "", ""]
    return "\r\n".join(head).encode() + body
