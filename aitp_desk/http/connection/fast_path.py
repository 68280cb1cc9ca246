"""The swift way to the front and back: whole small requests to hot routes, without the HTTP server.

Of what the HTTP server does for a request, reading it is the smaller part. Here a connection looks
at what the server's own parser has read. Where that is one whole request to a hot route, and
nothing else is under way, the request goes straight to the front and its answer straight to the
connection. Everything else goes on its general way. So a request means the same on both ways: the
same parser has read it, and the same front answers it. A test compares the answers byte by byte.

While a request is answered here, what arrives behind it is held back, and nothing more is read.

What the parser has made of a head that was followed by its body and nothing else is remembered
(``heads.py``), and the parser need not see it again.
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
    """Who is told of requests under way, so that they may end before the desk does."""

    @property
    def is_ending(self) -> bool:
        """Whether no further request shall follow on any connection."""

    def begin_request(self) -> None:
        """Count a request as under way."""

    def end_request(self) -> None:
        """Count one less."""


class FastPathConnection(StreamConnection):
    """A connection on which hot requests take the swift way.

    Attributes:
        head_began: since when a request's head is waited for; None while none is.
        is_answering: whether a request is under way.
        idle_since: when there last was something to do.
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
        self._is_broken = False  # what it was given last is no HTTP
        self._read = b""  # what it reads now, if it began there
        self._held: list[bytes] = []
        self._peer = ""
        self._turn: asyncio.Task[None] | None = None
        self.head_began: float | None = None
        self.idle_since = 0.0
        self.is_answering = False

    @property
    def is_idle(self) -> bool:
        """Whether no request is under way, and the last answer was handed over."""
        waiter = self._waiter  # what the server waits with for a request
        return waiter is not None and not waiter.done() and self._turn is None

    @property
    def has_partial_head(self) -> bool:
        """Whether nothing is under way, but a part of the next request's head has come already."""
        return self.is_idle and self._reading.head_size > 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the wait from the beginning: some connect and never say a word."""
        super().connection_made(transport)
        self.head_began = self.idle_since = self._loop.time()
        peer = transport.get_extra_info("peername")
        self._peer = str(peer[0]) if isinstance(peer, tuple) else str(peer or "")

    def connection_lost(self, exc: BaseException | None) -> None:
        """Drop what was held back; a request under way is answered to nobody."""
        self._held.clear()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, or hold back what arrives behind a request that is answered here.

        What arrives behind what is no HTTP is dropped. The parser would fail at each piece of it
        anew, and each failure keeps its piece.
        """
        if self._is_broken:
            return
        if not data:  # the server asks itself whether there is more to be read
            super().data_received(data)
            return
        if self._turn is not None or self._held:
            self._hold_back(data)
        elif self._is_between and self._waiter is None and not self.is_answering:
            # the server has answered and is on its way back to waiting: one step of the loop
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
        """Read nothing more: what came last is no HTTP."""
        self._is_broken = True

    async def shutdown(self, timeout: float | None = 15.0) -> None:  # noqa: ASYNC109 - inherited
        """End whatever is still under way, and close."""
        if self._turn is not None:
            self._turn.cancel()
        await super().shutdown(timeout)

    def accept_request(self, message: RawRequestMessage, body: StreamReader) -> bool:
        """Take a request that has just been read, or leave it to its general way."""
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
        """Take a request whose head was read before, by whomever it was sent."""
        end = data.find(END_OF_HEAD) + len(END_OF_HEAD)
        start = data[:end]
        head = self._heads.find(start) or self._heads.find_signed(start)
        if head is None or head.length != len(data) - end or not self._is_free():
            return False
        # what is known but for a credential stays known, whatever becomes of this one
        self._begin(head, data[end:], start)
        return True

    def _is_free(self) -> bool:
        """Whether a request may be answered at once: nothing waits, and the last answer is out."""
        return self.is_idle and not self._paused

    def _begin(self, head: CachedHead, body: bytes, known: Known) -> None:
        self.head_began, self.is_answering = None, True
        self._watch.begin_request()
        request = _FastPathRequest(head.heading, head.query, self._peer, body, self, head.length)
        self._turn = self._loop.create_task(self._answer(request, known))

    async def _answer(self, request: _FastPathRequest, known: Known) -> None:
        closes = True  # what cannot be written is not answered
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
    """A request read whole, as the front sees it."""

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
    """A whole response as it goes over the wire, as the HTTP server writes it."""
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
    """The part of a head that many responses share."""
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
    for name, value in stable_headers(content_type, headers, links, told).items():
        if "\r" in value or "\n" in value:
            raise ValueError(f"The header {name} has more than one line.")
        lines.append(f"{name}: {value}")
    return "\r\n".join([*lines, ""])
