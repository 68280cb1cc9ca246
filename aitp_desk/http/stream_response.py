"""Sends a stream of events, written straight to the connection.

Events go to the transport without a coroutine: one event is framed once, and every connection gets
the same bytes.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from aitp_desk.desk.threads.streams import Stream
from aitp_desk.http.connection.message_head import MessageHead
from aitp_desk.http.connection.response_head import write_head
from aitp_desk.http.dispatcher import Response

if TYPE_CHECKING:
    from aitp_desk.http.connection.http_connection import HttpConnection

MOST_WAITING = 256 * 1024
"""A connection with more unsent bytes than this is dropped."""
DRAIN_SECONDS = 30.0
"""How long a connection may take to drain before it gets the events that it missed."""

IsAuthorized = Callable[[], Awaitable[bool]]
Clock = Callable[[], float]


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
        connection: HttpConnection,
        is_welcome: IsAuthorized,
        clock: Clock,
        proof_ends_at: float | None,
        *,
        in_chunks: bool,
    ) -> None:
        self._connection = connection
        self._transport = connection.transport
        self._in_chunks = in_chunks
        self._closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._is_welcome = is_welcome
        self._clock = clock
        self._proof_ends_at = math.inf if proof_ends_at is None else proof_ends_at
        self._ends_at = self._proof_ends_at

    def write(self, data: bytes) -> bool:
        """Send whole events, without waiting; False when the client is gone."""
        transport = self._transport
        if self._closed.done() or transport.is_closing():
            return False
        if self._clock() >= self._ends_at:
            self.close()
            return False
        if transport.get_write_buffer_size() > MOST_WAITING:
            self.drop()
            return False
        if data:
            transport.write(_chunk(data) if self._in_chunks else data)
        return True

    async def drain(self) -> bool:
        """Wait until the buffer is sent; False when the client is gone."""
        try:
            async with asyncio.timeout(DRAIN_SECONDS):
                await self._connection.drain()
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
        self._connection.abort()


async def stream_response(
    connection: HttpConnection,
    head: MessageHead,
    outgoing: Response,
    stream: Stream,
    *,
    closes: bool,
) -> bool:
    """Send a response's head, then its stream, until either side ends it.

    The stream is called exactly once, also when the client is already gone. It ends when its
    caller's credential expires.

    Returns:
        Whether the client knows where it ends, so that another may follow.
    """
    front = connection.shared.front
    in_chunks = head.version == "1.1"
    is_head = head.heading.method == "HEAD"
    ends_at = None if outgoing.proof is None else outgoing.proof.until
    outlet = StreamWriter(
        connection,
        partial(front.is_still_authorized, outgoing),
        front.clock,
        ends_at,
        in_chunks=in_chunks,
    )
    ending: asyncio.TimerHandle | None = None
    if ends_at is not None:
        seconds = max(0.0, ends_at - front.clock())
        ending = asyncio.get_running_loop().call_later(seconds, outlet.close)
    ends_by_close = not in_chunks and not is_head
    connection.write(
        write_head(
            outgoing,
            head.version,
            closes=closes or ends_by_close,
            in_chunks=in_chunks and not is_head,
        )
    )
    if is_head:
        outlet.close()
    connection.set_stream(outlet)
    try:
        await stream(outlet)
    finally:
        if ending is not None:
            ending.cancel()
        connection.set_stream(None)
    if in_chunks and not is_head:
        connection.write(b"0\r\n\r\n")
    return not ends_by_close


@lru_cache(maxsize=4)
def _chunk(data: bytes) -> bytes:
    """Frame a chunk (RFC 9112, section 7.1); cached, for many readers get it."""
    return b"%x\r\n%b\r\n" % (len(data), data)
