"""Request boundaries on a connection: wraps the HTTP server's parser.

The parser accepts heads of any length, and versions that the desk does not serve. It does not
report how much it has read of an unfinished head, so this module counts that: an unfinished head is
bounded in size here, and in time by the sweep (``server.py``).

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
"""Most bytes read of an unfinished head; each line of it has its own bound."""
END_OF_HEAD = b"\r\n\r\n"

_Messages = Sequence[tuple[RawRequestMessage, StreamReader]]
_Parsed = tuple[_Messages, bool, bytes]
_TAKEN: _Parsed = ((), False, b"")
_VERSIONS = (HttpVersion11, HttpVersion10)
_EMPTY_LINES = re.compile(rb"[\r\n]++")


class ParserObserver(Protocol):
    """Observes parsed requests before the server handles them."""

    def accept_request(self, message: RawRequestMessage, body: StreamReader) -> bool:
        """Take a request that was read by itself, or leave it to the server."""

    def on_protocol_error(self) -> None:
        """Stop reading: the last bytes were no HTTP."""


class ObservedParser:
    """The HTTP server's parser, with the desk's bounds and an observer.

    Attributes:
        head_size: bytes read of an unfinished head, at least.
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
        """Parse bytes, with the parser's interface."""
        try:
            return self._read(data)
        except HttpProcessingError:
            self._note_broken()
            raise

    def feed_eof(self) -> Any:
        """Parse the end of the input, with the parser's interface."""
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
    """Return how many bytes follow the last request: the beginning of the next.

    After a chunked body this is not known; the connection ends after one (``server.py``).

    Parameters:
        read: how many bytes of it are the rest of the previous body.
        messages: requests whose heads begin or end in it.
    """
    for _, body in messages:
        read = (
            data.find(END_OF_HEAD, _past_empty_lines(data, read))
            + len(END_OF_HEAD)
            + body.total_bytes
        )
    return len(data) - _past_empty_lines(data, min(read, len(data)))


def _past_empty_lines(data: bytes, at: int) -> int:
    """Return where a request begins, past empty lines (RFC 9112, section 2.2)."""
    found = _EMPTY_LINES.match(data, at)
    return at if found is None else found.end()
