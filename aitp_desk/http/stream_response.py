"""Sends a stream of events, written straight to the connection.

The HTTP server sends the head and the end. The events go to the transport without a coroutine: one
event is framed once, and every connection gets the same bytes.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from functools import lru_cache

from aiohttp import HttpVersion11, web

from aitp_desk.desk.threads.streams import Stream

MOST_WAITING = 256 * 1024
"""A connection with more unsent bytes than this is dropped."""
DRAIN_SECONDS = 30.0
"""How long a connection may take to drain before it gets the events that it missed."""

IsAuthorized = Callable[[], Awaitable[bool]]
Clock = Callable[[], float]


class StreamConnection(web.RequestHandler):
    """A connection that may carry a stream.

    Attributes:
        written: bytes of bodies in pieces written since the last sweep.
    """

    __slots__ = ("_outlet", "_streams_are_over", "written")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start without a stream."""
        self._outlet: StreamWriter | None = None
        self._streams_are_over = False
        self.written = 0
        super().connection_made(transport)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Close the stream, so that its writer stops."""
        if self._outlet is not None:
            self._outlet.close()
        super().connection_lost(exc)

    @property
    def is_streaming(self) -> bool:
        """Whether the connection carries a stream."""
        return self._outlet is not None

    def end_streams(self) -> None:
        """End the current stream in good order, and every later one."""
        self._streams_are_over = True
        if self._outlet is not None:
            self._outlet.close()

    def set_stream(self, outlet: StreamWriter | None) -> None:
        """Set the current stream; None when it has ended."""
        self._outlet = outlet
        if outlet is not None and (self._streams_are_over or self.transport is None):
            outlet.close()


class StreamWriter:
    """Writes events into one response's body.

    See :class:`aitp_desk.desk.events.channel.EventSink`.

    Parameters:
        is_welcome: whether the caller's credential is still valid.
        clock: Unix seconds.
        proof_ends_at: when the caller's credential expires; None for no known expiry.
    """

    def __init__(
        self,
        request: web.BaseRequest,
        is_welcome: IsAuthorized,
        clock: Clock,
        proof_ends_at: float | None,
    ) -> None:
        self._transport = request.transport
        self._drain = request.writer.drain
        self._is_chunked = request.version >= HttpVersion11
        self._closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._is_welcome = is_welcome
        self._clock = clock
        self._proof_ends_at = math.inf if proof_ends_at is None else proof_ends_at
        self._ends_at = self._proof_ends_at

    def write(self, data: bytes) -> bool:
        """Send whole events, without waiting; False when the client is gone."""
        transport = self._transport
        if transport is None or self._closed.done() or transport.is_closing():
            return False
        if self._clock() >= self._ends_at:
            self.close()
            return False
        if transport.get_write_buffer_size() > MOST_WAITING:
            self.drop()
            return False
        if data:
            transport.write(_chunk(data) if self._is_chunked else data)
        return True

    async def drain(self) -> bool:
        """Wait until the buffer is sent; False when the client is gone."""
        try:
            async with asyncio.timeout(DRAIN_SECONDS):
                await self._drain()
        except TimeoutError:
            self.drop()
        except ConnectionError:
            self.close()
        return not self._closed.done()

    async def is_authorized(self) -> bool:
        """Return whether the caller's credential is still valid."""
        return await self._is_welcome()

    def set_deadline(self, ends_at: float | None) -> None:
        """Close the stream at this moment, or earlier when the credential expires."""
        self._ends_at = min(self._proof_ends_at, math.inf if ends_at is None else ends_at)

    async def wait_closed(self) -> None:
        """Return when the stream is closed."""
        await asyncio.shield(self._closed)

    def close(self) -> None:
        """End the stream in good order."""
        if not self._closed.done():
            self._closed.set_result(None)

    def drop(self) -> None:
        """Close the connection at once: unsent bytes are lost."""
        self.close()
        if self._transport is not None:
            self._transport.abort()


async def stream_response(
    request: web.BaseRequest,
    response: web.StreamResponse,
    stream: Stream,
    is_welcome: IsAuthorized,
    *,
    clock: Clock,
    ends_at: float | None,
) -> None:
    """Send a response's head, then its stream, until either side ends it.

    The stream is called exactly once, also when the client is already gone.

    Parameters:
        is_welcome: whether the caller's credential is still valid.
        clock: Unix seconds.
        ends_at: when the caller's credential expires; None for no known expiry.
    """
    connection = request.protocol
    outlet = StreamWriter(request, is_welcome, clock, ends_at)
    ending: asyncio.TimerHandle | None = None
    if ends_at is not None:
        seconds = max(0.0, ends_at - clock())
        ending = asyncio.get_running_loop().call_later(seconds, outlet.close)
    try:
        await response.prepare(request)
    except ConnectionError:
        outlet.close()
    if request.method == "HEAD":
        outlet.close()
    if isinstance(connection, StreamConnection):
        connection.set_stream(outlet)
    try:
        await stream(outlet)
    except Exception:
        outlet.drop()
        raise
    finally:
        if ending is not None:
            ending.cancel()
        if isinstance(connection, StreamConnection):
            connection.set_stream(None)


@lru_cache(maxsize=4)
def _chunk(data: bytes) -> bytes:
    """Frame a chunk (RFC 9112, section 7.1); cached, for many readers get it."""
    return b"%x\r\n%b\r\n" % (len(data), data)
