"""Two desks that are sent the same bytes: one caches heads, the other parses each of them."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from itertools import accumulate, pairwise
from urllib.parse import urlsplit

from aitp_desk.app.server import RunningServer
from aitp_desk.http.connection.head_cache import HeadCache, Known
from aitp_desk.http.connection.message_head import MessageHead
from tests.support.access.keys import SigningKey

SECONDS = 60
PATIENCE_SECONDS = 0.1
"""How long an answer is waited for that may never come."""
SETTINGS = (
    "limits.enabled=true",
    "limits.converse_per_minute=100000",
    "limits.static_per_minute=100000",
    "limits.authenticated_per_minute=100000",
    "server.body_idle_seconds=1",
    "site.url=http://desk.example",
)
NOW = 1_800_000_000
SIGNED = b"Authorization: AITP-HMAC-SHA256 " + b"@" * 243
"""The header of a signed request. Each desk is sent its own credential instead of the ``@``,
another one each time, which is good for a question with the first of the bodies."""
CREDENTIAL = SIGNED.rpartition(b" ")[2]
LAST = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
"""Ends a connection in good order, if it is still there."""

TOLD_ONCE = re.compile(
    rb"(?<=Date: )[^\r]+|(?<=session_)[0-9a-v]{36}|(?<=msg_)[0-9a-v]{36}|(?<=the id )[0-9a-f]{16}"
)
"""What two answers to the same request may differ in."""

BODIES = [
    b'{"ahp":"0.1","capability":"content_search","query":"How do I return a book?"}',
    b'{"ahp":"0.1","capability":"content_search","query":"When are you open?"}',
    b'{"ahp":"0.1","capability":"contact","query":"?"}',
    b'{"content":["Hello"]}',
    b'{"query":',
    b"",
    b"\xff" * 40,
    b'{"query":"' + b"x" * 9000 + b'"}',
]

MANIFEST = b"GET /.well-known/agent.json HTTP/1.1\r\nHost: 127.0.0.1\r\n"


class NoHeads(HeadCache):
    """A cache that holds nothing: each head is parsed."""

    def store(self, head: bytes, read: MessageHead) -> Known:
        return head


class CountingHeads(HeadCache):
    """A cache that counts what was parsed for it."""

    stored = 0

    def store(self, head: bytes, read: MessageHead) -> Known:
        CountingHeads.stored += 1
        return super().store(head, read)


class Pair:
    """Two desks that differ in nothing but their caches of heads, each with a key that signs."""

    def __init__(
        self, cached: tuple[RunningServer, SigningKey], parsed: tuple[RunningServer, SigningKey]
    ) -> None:
        self._cached = cached
        self._parsed = parsed

    async def answers(self, pieces: list[bytes], *, patient: bool) -> tuple[bytes, bytes]:
        """What both say to the same bytes, until they close.

        Parameters:
            patient: whether each piece is answered, or has had its time, before the next is sent.
        """
        (one, key), (other, other_key) = self._cached, self._parsed
        cached, is_whole = await _send(one.url, _sign(key, pieces), patient)
        parsed, is_whole_too = await _send(other.url, _sign(other_key, pieces), patient)
        if is_whole and is_whole_too:
            return cached, parsed
        # a connection that was reset may have lost the end of what was said
        least = min(len(cached), len(parsed))
        return cached[:least], parsed[:least]


def _sign(key: SigningKey, pieces: list[bytes]) -> list[bytes]:
    """What is to be sent, in the same pieces, signed."""
    whole = b"".join(pieces)
    while CREDENTIAL in whole:
        _, signed = key.sign("POST", "/agent/converse", BODIES[0], timestamp=NOW)
        credential = signed.partition(" ")[2].encode()
        assert len(credential) == len(CREDENTIAL)
        whole = whole.replace(CREDENTIAL, credential, 1)
    ends = accumulate(map(len, pieces), initial=0)
    return [whole[start:end] for start, end in pairwise(ends)]


async def _send(url: str, pieces: list[bytes], patient: bool) -> tuple[bytes, bool]:
    """What comes back until the end, but for what is told only once; and whether all of it did."""
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    said = b""
    is_whole = True
    try:
        async with asyncio.timeout(SECONDS):
            try:
                for piece in pieces:
                    writer.write(piece)
                    await writer.drain()
                    if patient:
                        with suppress(TimeoutError):
                            async with asyncio.timeout(PATIENCE_SECONDS):
                                said += await reader.read(65536)
                writer.write(LAST)
                while data := await reader.read(65536):
                    said += data
            except ConnectionError:
                is_whole = False
    finally:
        writer.close()
    return TOLD_ONCE.sub(b"", said), is_whole


def question(body: bytes = BODIES[0], *lines: bytes) -> bytes:
    head = [b"POST /agent/converse HTTP/1.1", b"Host: 127.0.0.1", *lines]
    return b"\r\n".join([*head, b"Content-Length: %d" % len(body), b"", b""]) + body
