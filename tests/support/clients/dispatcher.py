"""A client of a desk in this process: it calls the dispatcher without a connection."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import aclosing
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from multidict import CIMultiDict, CIMultiDictProxy

from aitp_desk.app.server import RunningServer
from aitp_desk.http.connection.request_head import RequestHead
from aitp_desk.protocols.base.protocol import Reply

Headers = tuple[tuple[str, str], ...]


class Answered(msgspec.Struct, frozen=True):
    """A reply as the wire would have it."""

    status: int
    headers: Headers
    body: bytes

    @property
    def ok(self) -> Any:
        """The body of a success."""
        assert self.status == 200, self.body
        return json.loads(self.body)

    @property
    def outcome(self) -> str:
        """A status by which access is refused, else ``yes``."""
        assert self.status < 500, self.body
        if self.status in {401, 403}:
            return str(self.status)
        refused = {"thread_not_found", "file_not_found", "unknown_session", "call_not_found"}
        refused |= {"TASK_NOT_FOUND", "resource_not_found"}
        is_refused = any(f'"{code}"'.encode() in self.body for code in refused)
        return str(self.status) if is_refused else "yes"


async def answer(
    desk: RunningServer,
    method: str,
    target: str,
    headers: Iterable[tuple[str, str]],
    body: bytes = b"",
    *,
    reads_on: bool = False,
) -> Answered:
    """Send one request.

    Parameters:
        target: path and query.
        reads_on: whether a body that is streamed or sent in pieces is read. Of a stream that goes
            on, only what it sends at once is read.
    """
    path, _, query = target.partition("?")
    head = CIMultiDictProxy(CIMultiDict([("Host", "127.0.0.1"), *headers]))
    heading = desk.dispatcher.read_head(method, path, target, head)
    outgoing = await desk.dispatcher.handle_request(_Request(heading, dict(parse_qsl(query)), body))
    rest = await _read_rest(outgoing.reply, reads_on=reads_on)
    reply = outgoing.reply
    return Answered(reply.status, tuple(outgoing.headers().items()), reply.body + rest)


class _Request:
    """A request that came whole; see :class:`aitp_desk.http.request.Request`."""

    peer = "127.0.0.1"
    is_gone = False

    def __init__(self, heading: RequestHead, query: Mapping[str, str], body: bytes) -> None:
        self.heading = heading
        self.query = query
        self.content_length = len(body)
        self._body = body

    async def read(self, most: int) -> bytes:
        """The body."""
        return self._body


class _Passing:
    """A reader who takes what there is and leaves.

    See :class:`aitp_desk.desk.events.channel.EventSink`.
    """

    def __init__(self, *, reads_on: bool) -> None:
        self.data = b""
        self._reads_on = reads_on

    def write(self, data: bytes) -> bool:
        self.data += data
        return self._reads_on

    async def drain(self) -> bool:
        return self._reads_on

    async def is_authorized(self) -> bool:
        return True

    def set_deadline(self, ends_at: float | None) -> None:
        return

    async def wait_closed(self) -> None:
        return

    def close(self) -> None:
        return


async def _read_rest(reply: Reply, *, reads_on: bool) -> bytes:
    """Return a reply without its body, and close what is open."""
    data = b""
    if reply.stream is not None:
        outlet = _Passing(reads_on=reads_on)
        await reply.stream(outlet)
        data = outlet.data
    if reply.file is not None:
        reply.file.close()
    if reply.pieces is not None:
        async with aclosing(reply.pieces) as pieces:  # type: ignore[type-var]
            if reads_on:
                async for piece in pieces:
                    data += piece
    return data if reads_on else b""
