"""Reads the head of a request from a connection: bytes to a request line and headers.

llhttp parses, in strict mode: no leniency is ever enabled. On top of it come the bounds of a head,
and the rules that llhttp leaves to a server: one Host, no repeated header that may occur once, a
target that is a path or a whole URL.

Source: RFC 9112, sections 2 to 6; RFC 9110, sections 5.3 and 7.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from aitp_desk.http.connection.request_head import RequestHead
from aitp_desk.http.dispatcher import Dispatcher
from aitp_desk.http.limits.bodies import FREE_BYTES

MAX_HEAD = 64 * 1024
"""Longest head, in bytes; each line of it has its own bound."""
MAX_LINE = 8190
"""Longest target, and longest name or value of a header, in bytes."""
MAX_HEADERS = 128
END_OF_HEAD = b"\r\n\r\n"

NO_QUERY: Mapping[str, str] = {}
_ONCE = frozenset(
    {
        b"content-length",
        b"content-location",
        b"content-range",
        b"content-type",
        b"etag",
        b"host",
        b"max-forwards",
        b"server",
        b"transfer-encoding",
        b"user-agent",
    }
)
"""Headers that occur at most once: of two, a proxy may read the other one."""
_OLD_HANDSHAKE = b"sec-websocket-key1"
"""A header of requests whose body has no declared length (the drafts before RFC 6455)."""
_VERSIONS = frozenset({"1.1", "1.0"})


class MalformedMessage(Exception):
    """The bytes are no request that is read here."""

    def __init__(self) -> None:
        super().__init__("The bytes are no request that is read here.")


class RepeatedHeader(MalformedMessage):
    """A header that occurs at most once is there again."""


class MessageHead(NamedTuple):
    """The head of a request, and how its message ends.

    Parameters:
        query: the query string's parameters; of a repeated one the first.
        length: of the body, in bytes; None for a body in chunks.
        version: ``1.1`` or ``1.0``.
        keeps_open: whether a further request may follow on the connection.
        awaits_continue: whether the client sends the body only once it is asked to.
    """

    heading: RequestHead
    query: Mapping[str, str]
    length: int | None
    version: str = "1.1"
    keeps_open: bool = True
    awaits_continue: bool = False


class HeaderLines:
    """Collects header lines, with their bounds; also those behind a body in chunks.

    Parameters:
        before: the names that have occurred, of those that occur at most once.
    """

    __slots__ = ("_once", "lines")

    def __init__(self, before: frozenset[bytes] = frozenset()) -> None:
        self._once = set(before)
        self.lines: list[tuple[str, str]] = []

    @property
    def seen_once(self) -> frozenset[bytes]:
        """The names that have occurred, of those that occur at most once."""
        return frozenset(self._once)

    def add(self, name: bytes, value: bytes) -> None:
        """Add a line.

        Raises:
            MalformedMessage: it is too long, or one too many.
            RepeatedHeader: it occurs at most once.
        """
        if max(len(name), len(value)) > MAX_LINE or len(self.lines) >= MAX_HEADERS:
            raise MalformedMessage
        known = name.lower()
        if known in _ONCE:
            if known in self._once:
                raise RepeatedHeader
            self._once.add(known)
        elif known == _OLD_HANDSHAKE:
            raise MalformedMessage
        text = value.rstrip(b" \t").decode("utf-8", "surrogateescape")
        self.lines.append((name.decode("utf-8", "surrogateescape"), text))


class HeadParser:
    """Parses one head, in as many pieces as it arrives in.

    Attributes:
        is_complete: whether the head has ended.
        method: of the request.
        target: as it was sent.
        path: percent-encoded, without the query.
        query: the query string's parameters.
        headers: all lines.
        version: ``1.1`` or ``1.0``.
        keeps_alive: whether the client keeps the connection open.
        seen_once: the names that may not occur behind the body.
    """

    __slots__ = (
        "_lines",
        "_parser",
        "_target",
        "headers",
        "is_complete",
        "keeps_alive",
        "method",
        "on_header",
        "path",
        "query",
        "seen_once",
        "target",
        "version",
    )

    def __init__(self) -> None:
        self._target = b""
        self._lines = HeaderLines()
        self.on_header = self._lines.add  # called by the parser, as the other methods are
        self._parser = HttpRequestParser(self)
        self.is_complete = False

    def feed(self, data: bytes) -> None:
        """Parse bytes, at most up to the end of the head.

        Raises:
            MalformedMessage: they are no part of a head.
        """
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade:
            pass  # another protocol is offered, and not taken up
        except HttpParserError:
            raise MalformedMessage from None

    def on_url(self, data: bytes) -> None:
        """Add to the target; called by the parser."""
        self._target += data
        if len(self._target) > MAX_LINE:
            raise MalformedMessage

    def on_headers_complete(self) -> None:
        """Check the whole head; called by the parser."""
        parser = self._parser
        self.version = parser.get_http_version()
        self.keeps_alive = parser.should_keep_alive()
        self.headers = CIMultiDictProxy(CIMultiDict(self._lines.lines))
        self.seen_once = self._lines.seen_once
        if self.version not in _VERSIONS:
            raise MalformedMessage
        if self.version == "1.1" and "Host" not in self.headers:
            raise MalformedMessage
        self.method = parser.get_method().decode("ascii")
        self.target = self._target.decode("utf-8", "surrogateescape")
        self.path, self.query = _read_target(self.method, self.target)
        self.is_complete = True


def _read_target(method: str, target: str) -> tuple[str, Mapping[str, str]]:
    """Return the path of a target, and its query's parameters (RFC 9112, section 3.2)."""
    if target.startswith("/") and method != "CONNECT":
        path, has_query, query = target.partition("?")
        query = query.partition("#")[0]
        if not query:
            return path if has_query else path.partition("#")[0], NO_QUERY
        return path, URL.build(path=path, query_string=query, encoded=True).query
    if target == "*" and method == "OPTIONS":
        return target, NO_QUERY
    if method != "CONNECT" and not _has_authority(target):
        raise MalformedMessage
    try:
        if method == "CONNECT":
            url = URL.build(authority=target, encoded=True)
        else:
            url = URL(target, encoded=True)
        host = url.raw_host
    except ValueError:
        raise MalformedMessage from None
    if host is None:
        raise MalformedMessage
    url = url.relative()
    return url.raw_path, url.query if url.raw_query_string else NO_QUERY


def _has_authority(target: str) -> bool:
    """Return whether a whole URL names a host: readers differ over ``http:a/b``, ``http:///a``."""
    rest = target.partition(":")[2]
    return rest.startswith("//") and rest[2:3] not in {"", "/", "?", "#"}


def read_message_head(parser: HeadParser, front: Dispatcher) -> MessageHead:
    """Return a parsed head with what the desk reads in it.

    No request follows one in chunks, one that offers another protocol, or one for a tunnel: a proxy
    may read the end of such a message elsewhere, and send another client's request there.
    """
    method, headers = parser.method, parser.headers
    in_chunks = "Transfer-Encoding" in headers
    is_in_doubt = in_chunks or "Upgrade" in headers or method == "CONNECT"
    length = 0 if method == "CONNECT" else int(headers.get("Content-Length", "0"))
    return MessageHead(
        front.read_head(method, parser.path, parser.target, headers),
        parser.query,
        None if in_chunks else length,
        parser.version,
        parser.keeps_alive and not is_in_doubt,
        parser.version == "1.1" and headers.get("Expect", "").lower() == "100-continue",
    )


def may_be_cached(head: MessageHead) -> bool:
    """Return whether this is a usual, short request to a frequent route."""
    heading, length = head.heading, head.length
    route = heading.route
    return (
        route is not None
        and route.is_hot
        and route.method == heading.method
        and head.keeps_open
        and head.version == "1.1"
        and "Expect" not in heading.headers
        and length is not None
        and length <= FREE_BYTES
    )
