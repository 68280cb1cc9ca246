"""A response that goes on: events written straight to the connection as they happen.

The HTTP server sends the head and the end. What lies between goes to the transport without a
coroutine: one event is framed once, and the same bytes are written to every connection.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from functools import lru_cache

from aiohttp import HttpVersion11, web

from aitp_desk.desk.threads.streams import Stream

MOST_WAITING = 256 * 1024
"""A connection that still has more than so many bytes to take is dropped."""
DRAIN_SECONDS = 30.0
"""How long a connection may take to be ready for more of what it missed."""

IsAuthorized = Callable[[], Awaitable[bool]]
Clock = Callable[[], float]


class StreamConnection(web.RequestHandler):
    """A connection that may carry a response that goes on.

    Attributes:
        written: how many bytes it was given since the last look, of bodies in pieces.
    """

    __slots__ = ("_outlet", "_streams_are_over", "written")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin with nothing that goes on."""
        self._outlet: StreamWriter | None = None
        self._streams_are_over = False
        self.written = 0
        super().connection_made(transport)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Tell whoever writes here that nobody reads any more."""
        if self._outlet is not None:
            self._outlet.close()
        super().connection_lost(exc)

    @property
    def is_streaming(self) -> bool:
        """Whether something goes on here."""
        return self._outlet is not None

    def end_streams(self) -> None:
        """End what goes on here in good order, now and from now on."""
        self._streams_are_over = True
        if self._outlet is not None:
            self._outlet.close()

    def set_stream(self, outlet: StreamWriter | None) -> None:
        """Note what goes on here; None when it has ended."""
        self._outlet = outlet
        if outlet is not None and (self._streams_are_over or self.transport is None):
            outlet.close()


class StreamWriter:
    """Where events are written to: one response's body.

    See :class:`aitp_desk.desk.events.channel.EventSink`.

    Parameters:
        is_welcome: whether the caller would still be let in.
        clock: Unix seconds.
        proof_ends_at: when the caller's credential ends; None where no end is known.
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
        """Send whole events, without waiting; False when nobody reads any more."""
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
        """Wait until what was written is on its way; False when nobody reads any more."""
        try:
            async with asyncio.timeout(DRAIN_SECONDS):
                await self._drain()
        except TimeoutError:
            self.drop()
        except ConnectionError:
            self.close()
        return not self._closed.done()

    async def is_authorized(self) -> bool:
        """Whether the caller would still be let in."""
        return await self._is_welcome()

    def set_deadline(self, ends_at: float | None) -> None:
        """Write nothing from this moment on, but close; the credential may end before."""
        self._ends_at = min(self._proof_ends_at, math.inf if ends_at is None else ends_at)

    async def wait_closed(self) -> None:
        """Return when nobody reads any more."""
        await asyncio.shield(self._closed)

    def close(self) -> None:
        """End the stream in good order."""
        if not self._closed.done():
            self._closed.set_result(None)

    def drop(self) -> None:
        """Close the connection at once: what it has not taken yet is lost."""
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
    """Send a response's head, then whatever its stream writes, until one of both sides ends it.

    The stream is called exactly once, also when there is nobody left to write to.

    Parameters:
        is_welcome: whether the caller would still be let in.
        clock: Unix seconds.
        ends_at: when the caller's credential ends; None where no end is known.
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
    """A chunk as HTTP/1.1 frames it (RFC 9112, section 7.1); the same bytes go to many."""
    return b"%x\r\n%b\r\n" % (len(data), data)
