"""The fast path: whole small requests to hot routes, without the HTTP server's handling.

Most of the HTTP server's cost per request is not parsing. Here a connection inspects what the
server's own parser has read. Where that is one whole request to a hot route, and nothing else is
active, the request goes straight to the dispatcher and its response straight to the connection.
Everything else goes through ``fallback.py``. A request means the same on both paths: the same
parser reads it, and the same dispatcher answers it. A test compares the responses byte by byte.

While a request is active here, later bytes are held back, and reading is paused.

A parsed head that was followed by its body and nothing else is cached (``head_cache.py``), and
skips the parser the next time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import lru_cache
from http import HTTPStatus
from typing import Any, Protocol

import msgspec
from aiohttp import HttpVersion11
from aiohttp.helpers import rfc822_formatted_time
from aiohttp.http_parser import RawRequestMessage
from aiohttp.streams import StreamReader

from aitp_desk.http.connection.framing import END_OF_HEAD, ObservedParser
from aitp_desk.http.connection.head_cache import CachedHead, HeadCache, Known
from aitp_desk.http.connection.request_head import RequestHead
from aitp_desk.http.cors import Headers
from aitp_desk.http.dispatcher import Dispatcher, Response, stable_headers
from aitp_desk.http.limits.bodies import FREE_BYTES
from aitp_desk.http.stream_response import StreamConnection

_REFUSED = HTTPStatus.BAD_REQUEST.value
_NO_QUERY: Mapping[str, str] = {}


class RequestTracker(Protocol):
    """Tracks active requests, so that they may end before the desk does."""

    @property
    def is_ending(self) -> bool:
        """Whether no connection may carry a further request."""

    def begin_request(self) -> None:
        """Count a request as active."""

    def end_request(self) -> None:
        """Count one active request less."""


class FastPathConnection(StreamConnection):
    """A connection on which hot requests take the fast path.

    Attributes:
        head_began: since when a request's head is awaited; None while none is.
        is_answering: whether a request is active.
        idle_since: when the connection was last active.
    """

    __slots__ = (
        "_front",
        "_heads",
        "_held",
        "_is_between",
        "_is_broken",
        "_peer",
        "_read",
        "_reading",
        "_turn",
        "_watch",
        "head_began",
        "idle_since",
        "is_answering",
    )

    def __init__(
        self, front: Dispatcher, heads: HeadCache, watch: RequestTracker, *given: Any, **more: Any
    ) -> None:
        super().__init__(*given, **more)
        self._reading = ObservedParser(self._parser, self)
        self._parser = self._reading  # type: ignore[assignment]  # as far as it is used
        self._front = front
        self._heads = heads
        self._watch = watch
        self._is_between = True  # the parser has read whole requests and nothing more
        self._is_broken = False  # the last bytes were no HTTP
        self._read = b""  # the bytes that the parser reads now, if a request begins there
        self._held: list[bytes] = []
        self._peer = ""
        self._turn: asyncio.Task[None] | None = None
        self.head_began: float | None = None
        self.idle_since = 0.0
        self.is_answering = False

    @property
    def is_idle(self) -> bool:
        """Whether no request is active, and the last response was handed over."""
        waiter = self._waiter  # the future by which the server waits for a request
        return waiter is not None and not waiter.done() and self._turn is None

    @property
    def has_partial_head(self) -> bool:
        """Whether the connection is idle, but a part of the next head has arrived."""
        return self.is_idle and self._reading.head_size > 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the time limit of the first head: some clients connect and send nothing."""
        super().connection_made(transport)
        self.head_began = self.idle_since = self._loop.time()
        peer = transport.get_extra_info("peername")
        self._peer = str(peer[0]) if isinstance(peer, tuple) else str(peer or "")

    def connection_lost(self, exc: BaseException | None) -> None:
        """Drop the bytes held back; the response to an active request is discarded."""
        self._held.clear()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Pass bytes to the parser, or hold them back behind an active request.

        Bytes after malformed input are dropped. The parser would fail on each piece again, and each
        failure keeps its piece.
        """
        if self._is_broken:
            return
        if not data:  # the server checks whether there is more to be read
            super().data_received(data)
            return
        if self._turn is not None or self._held:
            self._hold_back(data)
        elif self._is_between and self._waiter is None and not self.is_answering:
            # the server has responded and will wait again after one step of the loop
            self._hold_back(data)
            self._loop.call_soon(self._read_held)
        else:
            self._read_on(data)

    def _hold_back(self, data: bytes) -> None:
        if not self._held and self.transport is not None:
            self.transport.pause_reading()
        self._held.append(data)

    def _read_held(self) -> None:
        if self._held and self.transport is not None:
            held = b"".join(self._held)
            self._held.clear()
            self.transport.resume_reading()
            self._read_on(held)

    def _read_on(self, data: bytes) -> None:
        if self._is_between:
            if self._take_known(data):
                return
            self._read = data
        self._is_between = False
        if self.head_began is None and not self.is_answering:
            self.head_began = self._loop.time()
        super().data_received(data)
        self._read = b""

    def on_protocol_error(self) -> None:
        """Stop reading: the last bytes were no HTTP."""
        self._is_broken = True

    async def shutdown(self, timeout: float | None = 15.0) -> None:  # noqa: ASYNC109 - inherited
        """End active requests, and close."""
        if self._turn is not None:
            self._turn.cancel()
        await super().shutdown(timeout)

    def accept_request(self, message: RawRequestMessage, body: StreamReader) -> bool:
        """Take a request just parsed, or leave it to the fallback."""
        if not body.is_eof() or message.upgrade:
            return False
        end = self._read.find(END_OF_HEAD) + len(END_OF_HEAD)
        start = self._read[:end]
        self._is_between = end + body.total_bytes == len(self._read)
        if (
            not self._is_free()
            or message.version != HttpVersion11
            or message.should_close
            or message.chunked
            or body.total_bytes > FREE_BYTES
            or "Expect" in message.headers
            or "Upgrade" in message.headers
        ):
            return False
        path = message.url.raw_path
        if self._front.find_hot(message.method, path) is None:
            return False
        text = body.read_nowait()
        heading = self._front.read_head(message.method, path, message.path, message.headers)
        query = message.url.query if message.url.raw_query_string else _NO_QUERY
        head = CachedHead(heading, query, len(text))
        known = self._heads.store(start, head) if self._is_between else start
        self._begin(head, text, known)
        return True

    def _take_known(self, data: bytes) -> bool:
        """Take a request whose head is cached, whichever connection sent it first."""
        end = data.find(END_OF_HEAD) + len(END_OF_HEAD)
        start = data[:end]
        head = self._heads.find(start) or self._heads.find_signed(start)
        if head is None or head.length != len(data) - end or not self._is_free():
            return False
        # a head that is cached without its credential stays, also if this one is refused
        self._begin(head, data[end:], start)
        return True

    def _is_free(self) -> bool:
        """Return whether a request may start at once: nothing waits, all responses are sent."""
        return self.is_idle and not self._paused

    def _begin(self, head: CachedHead, body: bytes, known: Known) -> None:
        self.head_began, self.is_answering = None, True
        self._watch.begin_request()
        request = _FastPathRequest(head.heading, head.query, self._peer, body, self, head.length)
        self._turn = self._loop.create_task(self._answer(request, known))

    async def _answer(self, request: _FastPathRequest, known: Known) -> None:
        closes = True  # a response that cannot be written closes the connection
        try:
            outgoing = await self._front.handle_request(request)
            ends = outgoing.closes_connection or self._watch.is_ending
            if outgoing.reply.status >= _REFUSED:
                self._heads.drop(known)
            if self.transport is not None:
                self.transport.write(_write(outgoing, ends))
            closes = ends
        finally:
            self._turn, self.is_answering = None, False
            self.idle_since = self._loop.time()
            self._watch.end_request()
            if closes:
                self.force_close()
            else:
                self._read_held()


class _FastPathRequest(msgspec.Struct):
    """A request read whole, as the dispatcher sees it."""

    heading: RequestHead
    query: Mapping[str, str]
    peer: str
    body: bytes
    connection: FastPathConnection
    content_length: int | None

    @property
    def is_gone(self) -> bool:
        return self.connection.transport is None

    async def read(self, _most: int) -> bytes:
        return self.body


def _write(outgoing: Response, closes: bool) -> bytes:
    """Serialize a whole response, byte for byte as the HTTP server does."""
    reply = outgoing.reply
    head = _head(reply.status, reply.content_type, reply.headers, reply.links, outgoing.told)
    for name, value in outgoing.per_request_headers():
        head += f"{name}: {value}\r\n"
    if reply.body or reply.status != HTTPStatus.NOT_MODIFIED:
        head += f"Content-Length: {len(reply.body)}\r\n"
    end = "Connection: close\r\n\r\n" if closes else "\r\n"
    return f"{head}Date: {rfc822_formatted_time()}\r\n{end}".encode() + reply.body


@lru_cache(maxsize=256)
def _head(status: int, content_type: str, headers: Headers, links: str, told: Headers) -> str:
    """Return the part of a head that many responses share."""
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
    for name, value in stable_headers(content_type, headers, links, told).items():
        if "\r" in value or "\n" in value:
            raise ValueError(f"The header {name} has more than one line.")
        lines.append(f"{name}: {value}")
    return "\r\n".join([*lines, ""])
