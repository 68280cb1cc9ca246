"""One HTTP/1.1 connection: bytes to requests, and responses to bytes.

Every request takes the same path. The bytes of a head are looked up in the cache of parsed heads
(``head_cache.py``); a head that is not there is parsed (``message_head.py``). A body is read while
it arrives (``request_body.py``). The dispatcher answers; the response is written as a whole, or in
pieces as fast as the client reads.

One request at a time: bytes that follow it are held back unparsed, and reading pauses, until its
response is written. So a client has its responses in order, and no more of its requests wait here
than one read from the socket brings.

Malformed input gets a refusal in the desk's format and ends the connection: what follows it may be
read differently by others.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import TYPE_CHECKING, cast

from aitp_desk.http.connection import refusals
from aitp_desk.http.connection.client_pace import ClientPace
from aitp_desk.http.connection.head_cache import Known
from aitp_desk.http.connection.message_head import (
    END_OF_HEAD,
    MAX_HEAD,
    HeadParser,
    MalformedMessage,
    MessageHead,
    may_be_cached,
    read_message_head,
)
from aitp_desk.http.connection.received_request import ReceivedRequest
from aitp_desk.http.connection.request_body import ChunkedBody, RequestBody
from aitp_desk.http.connection.response_head import write_head
from aitp_desk.http.connection.response_sender import send_long_response, write_response
from aitp_desk.http.dispatcher import report_fault
from aitp_desk.http.limits.backlog import FREE_BYTES
from aitp_desk.http.stream_response import StreamWriter
from aitp_desk.model.errors import DeskError

if TYPE_CHECKING:
    from aitp_desk.http.connection.shared_state import SharedState

RESET_ON_CLOSE = struct.pack("ii", 1, 0)
"""For SO_LINGER: a closed socket is reset, and its buffers are freed."""

_REFUSED = 400
_LINE_ENDS = b"\r\n"


class HttpConnection(asyncio.Protocol):
    """A connection of a client.

    Attributes:
        shared: what all connections of the server share.
        peer: network address of the other end.
        is_closed: whether nothing more is read, and nothing new is sent.
        turn: answers the active request; None while there is none.
        head_began: since when a request's head is awaited; None while none is.
        idle_since: when the connection was last active.
        pace: how fast the client reads.
        sent_in_pieces: bytes of bodies in pieces written since the last sweep.
    """

    __slots__ = (
        "_body",
        "_can_write",
        "_empty",
        "_held",
        "_is_counted",
        "_is_last",
        "_is_lingering",
        "_is_reading",
        "_loop",
        "_outlet",
        "_parser",
        "_partial",
        "_streams_are_over",
        "_transport",
        "head_began",
        "idle_since",
        "is_closed",
        "pace",
        "peer",
        "sent_in_pieces",
        "shared",
        "turn",
    )

    def __init__(self, shared: SharedState) -> None:
        self.shared = shared
        self._loop = shared.loop
        self._body: RequestBody | None = None  # of the active request, until all of it has arrived
        self._can_write: asyncio.Future[None] | None = None  # while the client reads too slowly
        self._empty = 0  # bytes of empty lines before a request
        self._held = b""  # bytes that follow the active request
        self._is_counted = False
        self._is_last = False  # nothing is read after the active request
        self._is_lingering = False
        self._is_reading = True
        self._outlet: StreamWriter | None = None
        self._parser: HeadParser | None = None  # of a head that has arrived in part
        self._partial = bytearray()
        self._streams_are_over = False
        self.head_began: float | None = None
        self.idle_since = 0.0
        self.is_closed = False
        self.peer = ""
        self.sent_in_pieces = 0
        self.turn: asyncio.Task[None] | None = None

    @property
    def is_idle(self) -> bool:
        """Whether no request is active, and no rest of one is read."""
        return self.turn is None and not self._is_lingering

    # The transport's calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the connection, and start the time limit of its first head."""
        self._transport = cast(asyncio.Transport, transport)
        self.head_began = self.idle_since = self._loop.time()
        self.pace = ClientPace(self._transport, self.idle_since)
        peer = transport.get_extra_info("peername")
        self.peer = str(peer[0]) if isinstance(peer, tuple) else str(peer or "")
        self.shared.connections.add(self)
        self._is_counted = self.shared.limiter.open(self.peer)
        if not self._is_counted:
            self._refuse(refusals.too_many_connections())

    def connection_lost(self, _exc: Exception | None) -> None:
        """Free the connection's slot; the response to an active request is discarded."""
        self.is_closed = True
        self._held = b""
        self.shared.remove(self)
        if self._is_counted:
            self.shared.limiter.close(self.peer)
        if self._body is not None:
            self._body.fail(refusals.ended_early())
        if self._outlet is not None:
            self._outlet.close()
        self._release_writers()

    def pause_writing(self) -> None:
        """Have writers wait: the client reads more slowly than they write."""
        if self._can_write is None:
            self._can_write = self._loop.create_future()

    def resume_writing(self) -> None:
        """Let writers go on; a request that waits for this begins."""
        self._release_writers()
        if self.turn is None:
            self._continue()

    def data_received(self, data: bytes) -> None:
        """Read requests, or hold the bytes back behind an active one."""
        if self._body is not None:
            data = self._feed_body(self._body, data)
        if not data or self._is_last or self.is_closed:
            return
        if self.turn is not None or self._held or self._can_write is not None:
            self._held += data
            self._pause_reading()
        else:
            self._read(data)

    # Reading requests

    def _read(self, data: bytes) -> None:
        """Read the next request, or the rest of its head."""
        if self._parser is not None:
            self._read_on(self._parser, data)
            return
        if data.startswith((b"\r", b"\n")):  # empty lines before it (RFC 9112, section 2.2)
            self._empty += len(data)
            data = data.lstrip(_LINE_ENDS)
            self._empty -= len(data)
            if self._empty > MAX_HEAD:
                self._reject_malformed()
            if not data or self.is_closed:
                return
        end = data.find(END_OF_HEAD) + len(END_OF_HEAD)
        start = data[:end]
        heads = self.shared.heads
        head = heads.find(start) or heads.find_signed(start)
        if head is None:
            self._parser = HeadParser()
            self._read_on(self._parser, data)
        # a head that is cached without its credential stays, also if this one is refused
        elif len(data) == end + (head.length or 0):
            self._begin(head, data[end:], start)
        else:
            self._take(head, data[end:], start)

    def _read_on(self, parser: HeadParser, data: bytes) -> None:
        """Parse a head up to its end, and begin its request."""
        parsed = len(self._partial)
        self._partial += data
        found = self._partial.find(END_OF_HEAD, max(0, parsed - len(END_OF_HEAD) + 1))
        is_whole = found >= 0
        end = found + len(END_OF_HEAD) if is_whole else len(self._partial)
        try:
            parser.feed(data[: end - parsed])
        except MalformedMessage:
            self._reject_malformed()
            return
        if end > MAX_HEAD or is_whole != parser.is_complete:
            self._reject_malformed()
            return
        if not is_whole:
            if self.head_began is None:
                self.head_began = self._loop.time()
            return
        start, rest = bytes(self._partial[:end]), data[end - parsed :]
        self._parser = None
        self._partial = bytearray()
        headers = parser.headers
        if headers.get("Transfer-Encoding", "chunked").lower() != "chunked":
            self._refuse(refusals.unknown_coding())
            return
        head = read_message_head(parser, self.shared.front)
        follows = b"" if head.length is None else rest[head.length :].strip(_LINE_ENDS)
        if follows and not parser.keeps_alive:  # it has said that nothing would follow
            self._reject_malformed()
            return
        known = self.shared.heads.store(start, head) if may_be_cached(head) else start
        self._take(head, rest, known, None if head.length is not None else ChunkedBody(parser))

    def _take(
        self, head: MessageHead, rest: bytes, known: Known, arrival: RequestBody | None = None
    ) -> None:
        """Begin a request with as much of its body as has arrived.

        Parameters:
            arrival: its body, where it is in chunks.
        """
        length = head.length or 0
        body: bytes | RequestBody
        if arrival is None and length <= min(FREE_BYTES, len(rest)):
            body, rest = rest[:length], rest[length:]
        else:
            body = arrival or RequestBody(length)
            try:
                rest = body.feed(rest)
            except MalformedMessage:
                self._reject_malformed()
                return
            if not body.is_complete:
                self._body = body
                if body.is_full:
                    self._pause_reading()
        if not head.keeps_open:
            self._is_last = True
        elif rest:
            self._held = rest
            self._pause_reading()
        self._begin(head, body, known)

    def _begin(self, head: MessageHead, body: bytes | RequestBody, known: Known) -> None:
        self.head_began = None
        self._empty = 0
        self.shared.active += 1
        request = ReceivedRequest(
            head, head.heading, head.query, head.length, self.peer, body, self
        )
        self.turn = self._loop.create_task(self._answer(request, known))

    def _feed_body(self, body: RequestBody, data: bytes) -> bytes:
        """Add bytes to the active request's body; return those that follow it."""
        try:
            data = body.feed(data)
        except MalformedMessage:
            self._is_last = True
            self._body = None
            body.fail(refusals.malformed_body())
            if self._is_lingering:
                self.close()
            return b""
        if body.is_complete:
            self._body = None
            if self._is_lingering:
                self.close()
        elif body.is_full:
            self._pause_reading()
        return data

    def resume_body(self) -> None:
        """Go on reading, after some of the active request's body was read."""
        if not self._held and self._can_write is None:
            self._resume_reading()

    def _pause_reading(self) -> None:
        if self._is_reading and not self.is_closed:
            self._is_reading = False
            self._transport.pause_reading()

    def _resume_reading(self) -> None:
        if not self._is_reading and not self.is_closed:
            self._is_reading = True
            self._transport.resume_reading()

    # Answering

    async def _answer(self, request: ReceivedRequest, known: Known) -> None:
        shared, head = self.shared, request.head
        closes = True  # a response that cannot be written closes the connection
        try:
            try:
                outgoing = await shared.front.handle_request(request)
            finally:
                if request.reserved:
                    shared.bodies.release(request.reserved)
            reply = outgoing.reply
            if reply.status >= _REFUSED:
                shared.heads.drop(known)
            ends = (
                not head.keeps_open
                or outgoing.closes_connection
                or shared.is_ending
                or self._body is not None
            )
            if (
                reply.stream is None
                and reply.file is None
                and reply.pieces is None
                and len(reply.body) <= FREE_BYTES
            ):
                if not self.is_closed:
                    self._transport.write(write_response(head, outgoing, closes=ends))
            elif not await send_long_response(self, head, outgoing, closes=ends):
                ends = True
            closes = ends or shared.is_ending
        except Exception:  # noqa: BLE001 -- the boundary: the response cannot be written
            report_fault(head.heading.method, head.heading.protocol, head.heading.request_id)
        finally:
            self.turn = None
            self.idle_since = self._loop.time()
            shared.active -= 1
            if shared.is_ending:
                shared.note_end()
            if closes:
                self._end()
            else:
                self._continue()

    def write(self, data: bytes | memoryview) -> None:
        """Write without waiting; nothing where the connection has ended."""
        if not self.is_closed:
            self._transport.write(data)

    async def drain(self) -> None:
        """Wait until the client has read enough for more to be written.

        Raises:
            ConnectionError: the connection has ended.
        """
        if self.is_closed:
            raise ConnectionResetError
        if self._can_write is not None:
            await asyncio.shield(self._can_write)
            if self.is_closed:
                raise ConnectionResetError

    def _release_writers(self) -> None:
        if self._can_write is not None:
            if not self._can_write.done():
                self._can_write.set_result(None)
            self._can_write = None

    # Streams

    @property
    def transport(self) -> asyncio.Transport:
        """The transport, to which streams write."""
        return self._transport

    @property
    def is_streaming(self) -> bool:
        """Whether the connection carries a stream."""
        return self._outlet is not None

    def set_stream(self, outlet: StreamWriter | None) -> None:
        """Set the current stream; None when it has ended."""
        self._outlet = outlet
        if outlet is not None and (self._streams_are_over or self.is_closed):
            outlet.close()

    def end_streams(self) -> None:
        """End the current stream in good order, and every later one."""
        self._streams_are_over = True
        if self._outlet is not None:
            self._outlet.close()

    # Ending

    def _continue(self) -> None:
        """Read the bytes held back, once there is no active request."""
        if self.is_closed or self._can_write is not None:
            return
        if self._held:
            held, self._held = self._held, b""
            self._read(held)
        if not self._held and (self._body is None or not self._body.is_full):
            self._resume_reading()

    def _end(self) -> None:
        """Read the rest of an unwanted body, so that the response arrives, and close."""
        if self._body is None or self.is_closed:
            self.close()
            return
        self._is_lingering = self._is_last = True
        self._body.drop()
        self._resume_reading()
        self._loop.call_later(self.shared.linger_seconds, self.close)

    def close(self) -> None:
        """Close the connection, once what was written is sent."""
        self.is_closed = True
        self._held = b""
        self._transport.close()

    def abort(self) -> None:
        """Close the connection at once: unsent bytes are lost."""
        self.is_closed = True
        self._transport.abort()

    def drop(self) -> None:
        """Close at once with a reset: unsent bytes are lost, also the system's."""
        sock = self._transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        self.abort()

    def reject_slow_head(self, seconds: float) -> None:
        """Answer a head that exceeded the time limit, and close."""
        self._refuse(refusals.slow_head(seconds))

    def _reject_malformed(self) -> None:
        self._refuse(refusals.malformed(), "1.0")

    def _refuse(self, error: DeskError, version: str = "1.1") -> None:
        """Answer where there is no request to respond to, and close."""
        if self.is_closed:
            return
        refused = self.shared.front.reject_malformed(error)
        length = len(refused.reply.body)
        self.write(write_head(refused, version, closes=True, length=length) + refused.reply.body)
        self.close()
