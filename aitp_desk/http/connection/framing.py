"""Where requests begin and end on a connection: what the HTTP server's parser reads, watched.

The parser takes a head for as long as it comes, and versions that nobody speaks here. What it has
read of a head that has not ended it does not tell, so that is reckoned here: the beginning of a
head that nobody finishes is bounded in size, and in time by whoever sweeps (``listening.py``).

Source: RFC 9112, sections 2.2 and 2.3.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Protocol

from aiohttp import HttpVersion10, HttpVersion11
from aiohttp.http_exceptions import BadHttpMessage, HttpProcessingError
from aiohttp.http_parser import RawRequestMessage
from aiohttp.streams import StreamReader

MAX_HEAD = 64 * 1024
"""How much is read of a head without end, in bytes: each line of it has a bound of its own."""
END_OF_HEAD = b"\r\n\r\n"

_Messages = Sequence[tuple[RawRequestMessage, StreamReader]]
_Parsed = tuple[_Messages, bool, bytes]
_TAKEN: _Parsed = ((), False, b"")
_VERSIONS = (HttpVersion11, HttpVersion10)
_EMPTY_LINES = re.compile(rb"[\r\n]++")


class ParserObserver(Protocol):
    """Who looks at what is read before the server does."""

    def accept_request(self, message: RawRequestMessage, body: StreamReader) -> bool:
        """Take a request that has just been read by itself, or leave it to the server."""

    def on_protocol_error(self) -> None:
        """Read nothing more: what came last is no HTTP."""


class ObservedParser:
    """The HTTP server's parser, with bounds of the desk's own and somebody who watches it.

    Attributes:
        head_size: how much was read of a head that has not ended yet, at least, in bytes.
    """

    __slots__ = (
        "_body",
        "_note_broken",
        "_parser",
        "_take",
        "head_size",
        "message_consumed",
        "pause_reading",
        "set_upgraded",
    )

    def __init__(self, parser: Any, watcher: ParserObserver) -> None:
        self._parser = parser
        self._take = watcher.accept_request
        self._note_broken = watcher.on_protocol_error
        self._body: StreamReader | None = None  # of the last request
        self.head_size = 0
        self.message_consumed = parser.message_consumed
        self.pause_reading = parser.pause_reading
        self.set_upgraded = parser.set_upgraded

    def feed_data(self, data: bytes) -> _Parsed:
        """Read on, as the server does it."""
        try:
            return self._read(data)
        except HttpProcessingError:
            self._note_broken()
            raise

    def feed_eof(self) -> Any:
        """Read to the end, as the server does it."""
        return self._parser.feed_eof()

    def _read(self, data: bytes) -> _Parsed:
        body = self._body
        before = body.total_bytes if body is not None and not body.is_eof() else None
        parsed: _Parsed = self._parser.feed_data(data)
        messages, _, _ = parsed
        if not all(message.version in _VERSIONS for message, _ in messages):
            raise BadHttpMessage("the version is another than 1.0 and 1.1")
        if messages:
            self._body = messages[-1][1]
        if messages or before is not None:
            read = 0 if body is None or before is None else body.total_bytes - before
            self.head_size = _rest(data, read, messages)
        else:
            self.head_size += len(data)
            if self.head_size > MAX_HEAD:
                raise BadHttpMessage("the head is too long")
        if len(messages) == 1 and self._take(*messages[0]):
            self.message_consumed()
            return _TAKEN
        return parsed


def _rest(data: bytes, read: int, messages: _Messages) -> int:
    """How much of what was read is behind all requests in it: the beginning of the next.

    Of a body in chunks it is not known; nothing follows that (``listening.py``).

    Parameters:
        read: how much of it is the rest of the body before.
        messages: requests that begin in it, or ended their heads in it.
    """
    for _, body in messages:
        read = (
            data.find(END_OF_HEAD, _past_empty_lines(data, read))
            + len(END_OF_HEAD)
            + body.total_bytes
        )
    return len(data) - _past_empty_lines(data, min(read, len(data)))


def _past_empty_lines(data: bytes, at: int) -> int:
    """Where a request begins: empty lines before it count for nothing (RFC 9112, section 2.2)."""
    found = _EMPTY_LINES.match(data, at)
    return at if found is None else found.end()
