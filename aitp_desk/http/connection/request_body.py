"""The body of a request while it arrives: its end, and the bytes that nobody has read yet.

Reading from the connection pauses while more than a little is unread. A body in chunks has its own
parser, in strict mode; what follows such a body is never read (``http_connection.py``).

Source: RFC 9112, sections 6 and 7.
"""

from __future__ import annotations

import asyncio

from httptools import HttpParserError, HttpRequestParser

from aitp_desk.http.connection.message_head import (
    MAX_HEAD,
    HeaderLines,
    HeadParser,
    MalformedMessage,
    RepeatedHeader,
)
from aitp_desk.http.limits.bodies import FREE_BYTES

_HEAD_OF_CHUNKS = b"POST / HTTP/1.1\r\n%bTransfer-Encoding: chunked\r\n\r\n"
_CLOSE = b"Connection: close\r\n"


class RequestBody:
    """A body with a declared length, as far as it has arrived.

    Parameters:
        length: in bytes.

    Attributes:
        is_complete: whether all of it has arrived.
        error: why the rest will not arrive; None while it may.
    """

    __slots__ = ("_is_dropped", "_left", "_parts", "_size", "_waiter", "error", "is_complete")

    def __init__(self, length: int) -> None:
        self._left = length
        self._parts: list[bytes] = []
        self._size = 0
        self._waiter: asyncio.Future[None] | None = None
        self._is_dropped = False
        self.is_complete = not length
        self.error: Exception | None = None

    @property
    def is_full(self) -> bool:
        """Whether reading from the connection pauses until some of it was read."""
        return self._size > FREE_BYTES

    def feed(self, data: bytes) -> bytes:
        """Add bytes; return those that follow the body.

        Raises:
            MalformedMessage: they are no part of a body.
        """
        rest = data[self._left :]
        part = data[: self._left] if rest else data
        self._left -= len(part)
        self.is_complete = not self._left
        self._add(part)
        return rest

    def fail(self, error: Exception) -> None:
        """End the body with an error: its reader gets it."""
        if not self.is_complete and self.error is None:
            self.error = error
            self._wake()

    def drop(self) -> None:
        """Drop what has arrived, and what will."""
        self._is_dropped = True
        self._parts.clear()
        self._size = 0

    async def read(self) -> bytes:
        """Return what has arrived since the last call, waiting for some; empty at the end.

        Raises:
            the error that the body has failed with.
        """
        while not self._parts and not self.is_complete:
            if self.error is not None:
                raise self.error
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        found = b"".join(self._parts)
        self._parts.clear()
        self._size = 0
        return found

    def _add(self, part: bytes) -> None:
        if part and not self._is_dropped:
            self._parts.append(part)
            self._size += len(part)
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class ChunkedBody(RequestBody):
    """A body in chunks, with its trailers, which are checked and dropped.

    Parameters:
        head: of its request.
    """

    __slots__ = (
        "_arrived",
        "_has_begun",
        "_has_progressed",
        "_is_ambiguous",
        "_keeps_alive",
        "_lines",
        "_parser",
        "_silent",
    )

    def __init__(self, head: HeadParser) -> None:
        super().__init__(0)
        self.is_complete = False
        self._arrived = bytearray()
        self._has_begun = self._has_progressed = False
        self._is_ambiguous = False  # a trailer could be meant for the request behind the body
        self._silent = 0  # bytes of a size, an extension or a trailer that has not ended
        self._keeps_alive = head.keeps_alive
        self._lines = HeaderLines(head.seen_once)
        self._parser = HttpRequestParser(self)
        self._parser.feed_data(_HEAD_OF_CHUNKS % (b"" if head.keeps_alive else _CLOSE))
        self._has_begun = True

    def feed(self, data: bytes) -> bytes:
        """Add bytes; those that follow the body are dropped.

        Raises:
            MalformedMessage: they are no part of a body, or too many of them say nothing.
        """
        self._has_progressed = False
        try:
            self._parser.feed_data(data)
        except HttpParserError:
            # what follows a body is another matter, unless the client has said that nothing will
            if not self.is_complete or not self._keeps_alive or self._is_ambiguous:
                raise MalformedMessage from None
        self._silent = 0 if self._has_progressed else self._silent + len(data)
        if self._silent > MAX_HEAD:
            raise MalformedMessage
        part = bytes(self._arrived)
        self._arrived.clear()
        self._add(part)
        return b""

    def on_message_begin(self) -> None:
        """Refuse a request behind an ambiguous trailer; called by the parser."""
        if self._is_ambiguous:
            raise MalformedMessage

    def on_header(self, name: bytes, value: bytes) -> None:
        """Check a trailer; called by the parser."""
        if self._has_begun and not self.is_complete:
            self._has_progressed = True
            try:
                self._lines.add(name, value)
            except RepeatedHeader:
                self._is_ambiguous = True

    def on_body(self, data: bytes) -> None:
        """Add a part of a chunk; called by the parser."""
        if not self.is_complete:
            self._has_progressed = True
            self._arrived += data

    def on_message_complete(self) -> None:
        """End the body; called by the parser."""
        self.is_complete = True
