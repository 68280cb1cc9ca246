"""What a connection has under way: held back once, counted, and never for ever."""

from __future__ import annotations

import asyncio
import socket
import tracemalloc
from contextlib import AsyncExitStack
from pathlib import Path
from unittest.mock import patch
from urllib.parse import urlsplit

import msgspec
import pytest
import uvloop

from aitp_desk.http.dispatcher import Dispatcher, Response
from aitp_desk.http.request import Request
from tests.support.desk.server import serving
from tests.support.http.connection import HEALTH, MANIFEST, SECONDS, Thinking, calling, question

LAST = HEALTH.replace(b"Host", b"Connection: close\r\nHost")


async def test_what_was_held_back_is_answered_once_and_then_all_that_follows(
    tmp_path: Path,
) -> None:
    agent = Thinking()
    async with serving(tmp_path, agent=agent) as desk, calling(desk) as line:
        line.writer.write(question("One?"))
        async with asyncio.timeout(SECONDS):
            await agent.asked.wait()
        line.writer.write(HEALTH)
        async with calling(desk) as other:  # by now that was read
            other.writer.write(HEALTH)
            assert (await other.hear())[0] == 200
        agent.may_answer.set()
        assert b"Answer to One?" in (await line.hear())[2]
        assert (await line.hear())[2] == b'{"status":"ok"}'
        for query in ("Two?", "Three?"):
            line.writer.write(question(query))
            assert b"Answer to " + query.encode() in (await line.hear())[2]
        line.writer.write(LAST)
        _, headers, body = await line.hear()
        assert (headers["Connection"], body) == ("close", b'{"status":"ok"}')
        assert await line.is_at_end()


MANY = 100
"""More requests than may wait on one connection."""


async def test_as_many_as_come_are_answered_on_one_connection(tmp_path: Path) -> None:
    async with serving(tmp_path) as desk, calling(desk) as line:
        for number in range(MANY):  # each head is read again
            line.writer.write(MANIFEST[:-2] + b"X-Number: %d\r\n\r\n" % number)
            assert (await line.hear())[0] == 200
        line.writer.write(HEALTH + MANIFEST)
        assert [(await line.hear())[0] for _ in range(2)] == [200, 200]


@pytest.mark.slow
async def test_who_connects_and_says_nothing_has_as_long_as_for_a_head(tmp_path: Path) -> None:
    with patch("aitp_desk.http.server.SWEEP_SECONDS", 0.02):
        async with serving(tmp_path, "server.header_seconds=1") as desk, calling(desk) as line:
            status, headers, _ = await line.hear()
            assert (status, headers["Connection"]) == (408, "close")
            assert await line.is_at_end()


def test_of_what_is_no_http_no_more_is_kept_than_a_piece(tmp_path: Path) -> None:
    """The loop that desks are served with reads piece after piece before anything else goes on."""
    with patch("aitp_desk.app.warmup._read"):  # what is read in the background is none of this
        answers, most = uvloop.run(flood(tmp_path, b"x" * 2**16))
    assert answers.split()[1] == b"400"
    assert most < 2**20


async def flood(folder: Path, piece: bytes) -> tuple[bytes, int]:
    """Send as much as the systems hold while the desk reads nothing.

    Returns:
        What is answered, and how much memory was in use at most until then.
    """
    loop = asyncio.get_running_loop()
    async with serving(folder) as desk:
        address = urlsplit(desk.url)
        with socket.create_connection((address.hostname, address.port)) as caller:
            caller.setblocking(False)
            sent = 0
            try:
                while True:
                    sent += caller.send(piece)
            except BlockingIOError:
                assert sent > 2**21
            tracemalloc.start()
            try:
                async with asyncio.timeout(SECONDS):
                    answers = await loop.sock_recv(caller, 2**16)
                return answers, tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()


class BrokenFront(Dispatcher):
    """A front whose answers have a header that would be two."""

    async def handle_request(self, request: Request) -> Response:
        outgoing = await super().handle_request(request)
        reply = msgspec.structs.replace(outgoing.reply, headers=(("X-One", "1\r\nX-Two: 2"),))
        return msgspec.structs.replace(outgoing, reply=reply)


async def test_no_value_of_a_header_becomes_another_header(tmp_path: Path) -> None:
    with patch("aitp_desk.app.server.Dispatcher", BrokenFront):
        async with serving(tmp_path) as desk, calling(desk) as line:
            line.writer.write(MANIFEST)
            assert await line.is_at_end()


@pytest.mark.slow
async def test_a_head_that_arrives_byte_by_byte_has_its_time_once(tmp_path: Path) -> None:
    with patch("aitp_desk.http.server.SWEEP_SECONDS", 0.02):
        async with serving(tmp_path, "server.header_seconds=1") as desk, calling(desk) as line:
            line.writer.write(MANIFEST)
            assert (await line.hear())[0] == 200
            head = asyncio.create_task(line.hear())
            line.writer.write(HEALTH[:-2])
            async with asyncio.timeout(SECONDS):
                while not head.done():
                    line.writer.write(b"X-Slow: 1\r\n")
                    await asyncio.wait({head}, timeout=0.1)
            status, headers, _ = head.result()
            assert (status, headers["Connection"]) == (408, "close")


@pytest.mark.slow
async def test_a_desk_that_stops_waits_for_a_response_for_the_configured_time(
    tmp_path: Path,
) -> None:
    agent = Thinking()
    async with AsyncExitStack() as stack:
        running = AsyncExitStack()
        with patch("aitp_desk.http.server.WRITE_SECONDS", 0.01):
            desk = await running.enter_async_context(serving(tmp_path, agent=agent))
        line = await stack.enter_async_context(calling(desk))
        line.writer.write(question("One?"))
        async with asyncio.timeout(SECONDS):
            await agent.asked.wait()
        stopping = asyncio.create_task(running.aclose())
        await asyncio.wait({stopping}, timeout=0.5)
        assert not stopping.done()
        assert not agent.was_stopped.is_set()
        agent.may_answer.set()
        assert b"Answer to One?" in (await line.hear())[2]
        async with asyncio.timeout(SECONDS):
            await stopping
