"""Where a request ends, whatever is tried to have two readers disagree: byte by byte, one desk.

What is sent carries a second request in its body or behind it (RFC 9112, section 11.2). A caller
has as many answers as there were requests, and nothing else was done.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from unittest.mock import patch
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from aitp_desk.http.connection.message_head import MAX_HEAD
from tests.support.clients.threads import Talker, talking
from tests.support.http.message_boundaries import (
    CARRIED_AS_BODY,
    CHUNKS,
    ENDS_CONNECTION,
    HOSTS,
    LAST,
    LENGTHS,
    LINES,
    PIPELINED,
    TRANSFER_CODINGS,
    Case,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

SECONDS = 60
_HEAD = re.compile(rb"HTTP/1\.[01] (\d{3}) [^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n")
_LENGTH = re.compile(rb"\r\nContent-Length: (\d+)\r\n")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    """One desk for all of this."""
    with patch("aitp_desk.http.server.LINGER_SECONDS", 0.05):
        async with talking(tmp_path_factory.mktemp("framing")) as talker:
            yield talker


async def answers(url: str, said: bytes) -> list[int]:
    """Send bytes; the statuses of all answers until the desk closes."""
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    heard = b""
    try:
        async with asyncio.timeout(SECONDS):
            writer.write(said)
            try:
                while data := await reader.read(65536):
                    heard += data
            except ConnectionError:
                pass  # it was closed with something unread; what was said before has arrived
    finally:
        writer.close()
    statuses = []
    while heard:
        head = _HEAD.match(heard)
        assert head is not None, heard[:200]
        statuses.append(int(head[1]))
        is_head = said.startswith(b"HEAD ") and len(statuses) == 1
        length = None if is_head else _LENGTH.search(head[0])
        heard = heard[head.end() + (int(length[1]) if length else 0) :]
    return statuses


async def made(desk: Talker) -> int:
    """How many threads there are."""
    await desk.desk.store.settled()
    return desk.counts()["threads"]


@pytest.mark.parametrize(
    "table",
    [TRANSFER_CODINGS, LENGTHS, CHUNKS, CARRIED_AS_BODY, ENDS_CONNECTION, PIPELINED, LINES, HOSTS],
    ids=["codings", "lengths", "chunks", "bodies", "ends", "pipelined", "lines", "hosts"],
)
async def test_every_request_is_answered_once_and_no_other_is_made_of_it(
    desk: Talker, table: dict[str, Case]
) -> None:
    before = await made(desk)
    heard = await asyncio.gather(
        *(answers(desk.desk.url, case.said + LAST) for case in table.values())
    )
    for (name, case), statuses in zip(table.items(), heard, strict=True):
        assert statuses == [*case.answered], name
    assert await made(desk) - before == sum(case.made for case in table.values())


async def test_a_trailer_is_no_header_of_the_next_request(desk: Talker) -> None:
    address = urlsplit(desk.desk.url)
    for trailer in (b"Authorization: Bearer worthless", b"Host: elsewhere.example"):
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        body = b"2\r\n{}\r\n0\r\n" + trailer + b"\r\n\r\n"
        head = b"POST /v1/thread HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        async with asyncio.timeout(SECONDS):
            writer.write(head + body)
            heard = await reader.readuntil(b"\r\n\r\n")
            assert heard.startswith(b"HTTP/1.1 200 ")
            assert b"\r\nConnection: close\r\n" in heard
            writer.write(LAST)  # a proxy's next request, which may be another caller's
            rest = await reader.read()
        assert b"HTTP/1.1" not in rest
        writer.close()


async def test_a_head_without_end_is_read_to_its_bound(desk: Talker) -> None:
    address = urlsplit(desk.desk.url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    async with asyncio.timeout(SECONDS):
        writer.write(b"GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        sent = 0
        while not reader.at_eof() and sent < 100 * MAX_HEAD:
            header = b"X-%d: " % sent + b"a" * 4000 + b"\r\n"
            sent += len(header)
            try:
                writer.write(header)
                await writer.drain()
            except ConnectionError:
                break
        with suppress(ConnectionError):  # what is unread when the desk closes resets it
            assert (await reader.read()).startswith(b"HTTP/1.0 400 ")
    writer.close()
    assert sent < 100 * MAX_HEAD


async def test_a_body_that_arrives_in_pieces_is_no_head(desk: Talker) -> None:
    address = urlsplit(desk.desk.url)
    body = b'{"messages":["' + b"a" * 2 * MAX_HEAD + b'"]}'
    head = b"POST /v1/thread HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n"
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    async with asyncio.timeout(SECONDS):
        for _ in range(2):
            writer.write(head % len(body))
            for at in range(0, len(body), 5000):
                writer.write(body[at : at + 5000])
                await writer.drain()
            heard = await reader.readuntil(b"\r\n\r\n")
            assert heard.startswith(b"HTTP/1.1 200 ")
            length = _LENGTH.search(heard)
            assert length is not None
            await reader.readexactly(int(length[1]))
    writer.close()


async def test_chunks_that_turn_out_malformed_are_refused_at_once(desk: Talker) -> None:
    before = await made(desk)
    address = urlsplit(desk.desk.url)
    head = b"POST /v1/thread HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    async with asyncio.timeout(SECONDS):
        writer.write(head + b'2\r\n{"\r\n')
        await writer.drain()
        assert await answers(desk.desk.url, LAST) == [404]  # by now the beginning was read
        writer.write(b"zz\r\n}\r\n0\r\n\r\n" + LAST)
        heard = await reader.read()
    writer.close()
    assert heard.startswith(b"HTTP/1.1 400 ")
    assert b"\r\nConnection: close\r\n" in heard
    assert heard.count(b"HTTP/1.1 ") == 1
    assert await made(desk) == before
