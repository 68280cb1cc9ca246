"""Who sends or reads too slowly is cut off, and nobody has all the connections."""

from __future__ import annotations

import asyncio
import socket
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from unittest.mock import patch
from urllib.parse import urlsplit

import pytest

from tests.support.clients.threads import THREADS, Talker, talking
from tests.support.desk.server import serving
from tests.support.http.connection import HEALTH, SECONDS, calling, small_buffers

HEAD = b"POST /v1/threads HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n"
JSON = {"Content-Type": "application/json"}
LONG = 200_000
UNDER_WAY = "server.max_body_bytes_under_way"


@pytest.mark.slow
async def test_a_body_that_never_pauses_and_never_comes_is_cut_off_and_a_steady_one_is_not(
    tmp_path: Path,
) -> None:
    settings = ("server.body_idle_seconds=1", "server.slowest_rate=100")
    async with serving(tmp_path, *settings) as desk, AsyncExitStack() as stack:
        drip = await stack.enter_async_context(calling(desk))
        steady = await stack.enter_async_context(calling(desk))
        body = b" " * 2800 + b"{}"
        for line in (drip, steady):
            line.writer.write(HEAD % len(body))
        hearing = asyncio.create_task(drip.hear())
        for at in range(0, len(body), 200):
            steady.writer.write(body[at : at + 200])
            if not hearing.done():
                drip.writer.write(b" ")
            await asyncio.sleep(0.08)
        status, headers, told = await hearing
        assert (status, headers["Connection"]) == (408, "close")
        assert b"at less than 100 bytes a second" in told
        assert (await steady.hear())[0] == 200


@pytest.mark.slow
async def test_who_takes_an_answer_a_little_at_a_time_is_dropped_for_being_slow(
    tmp_path: Path,
) -> None:
    """It takes some of it all the time, but less than it should; another takes it all."""
    with small_buffers():
        async with talking(tmp_path, "server.slowest_rate=1000000") as talker:
            path = await long_transcript(talker)
            with (
                patch("aitp_desk.http.server.KEEP_ALIVE_SECONDS", 0.4),
                patch("aitp_desk.http.server.SWEEP_SECONDS", 0.02),
            ):
                slowly = await read_slowly(talker.desk.url, path)
            assert slowly < 20 * LONG
            assert len((await talker.send("GET", path)).ok["messages"]) == 20


async def long_transcript(talker: Talker) -> str:
    """Where a thread is read as a whole, some megabytes of it."""
    manual = [("OpenAI-Beta", "assistants=v2")]
    thread_id = (await talker.open(headers=manual)).id
    for _ in range(20):
        assert (await talker.post(thread_id, "x" * LONG, headers=manual)).status == 200
    return f"{THREADS}/{thread_id}/transcript"


async def read_slowly(url: str, path: str) -> int:
    """Take a little every now and then, until the other end gives up; how much it was."""
    loop, address, taken = asyncio.get_running_loop(), urlsplit(url), 0
    with socket.socket() as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        reader.connect((address.hostname, address.port))
        reader.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        reader.setblocking(False)
        with suppress(ConnectionError):
            async with asyncio.timeout(SECONDS):
                while data := await loop.sock_recv(reader, 4000):
                    taken += len(data)
                    await asyncio.sleep(0.02)
    return taken


async def test_one_address_has_so_many_connections_and_others_are_let_in(tmp_path: Path) -> None:
    settings = (
        "limits.enabled=true",
        "server.max_connections_per_address=2",
        "events.max_streams_per_caller=1",
        "events.max_streams_per_address=1",
        'server.trusted_proxies=["127.0.0.3"]',
    )
    async with serving(tmp_path, *settings) as desk, AsyncExitStack() as stack:
        lines = [await stack.enter_async_context(calling(desk)) for _ in range(3)]
        for line in lines:
            line.writer.write(HEALTH)
            assert (await line.hear())[0] == 200
        fourth = await stack.enter_async_context(calling(desk))
        status, headers, _ = await fourth.hear()
        assert (status, headers["Connection"], headers["Retry-After"]) == (503, "close", "10")
        assert await fourth.is_at_end()
        for place in ("127.0.0.2", *["127.0.0.3"] * 5):
            other = await stack.enter_async_context(calling(desk, place))
            other.writer.write(HEALTH)
            assert (await other.hear())[0] == 200
        lines[0].writer.close()
        await lines[0].writer.wait_closed()
        async with asyncio.timeout(SECONDS):
            while True:  # until the desk has heard of it
                async with calling(desk) as again:
                    again.writer.write(HEALTH)
                    with suppress(ConnectionError, asyncio.IncompleteReadError):
                        if (await again.hear())[0] == 200:
                            break


async def test_where_many_are_open_idle_connections_are_closed_soon(tmp_path: Path) -> None:
    settings = ("server.max_connections=3", "events.max_streams=1")
    with patch("aitp_desk.http.server.SWEEP_SECONDS", 0.02):
        async with serving(tmp_path, *settings) as desk, AsyncExitStack() as stack:
            lines = [await stack.enter_async_context(calling(desk)) for _ in range(4)]
            async with calling(desk) as fifth:
                assert (await fifth.hear())[0] == 503
            for line in lines:
                line.writer.write(HEALTH)
                assert (await line.hear())[0] == 200
            # of four two have to go until there is room; before, none was idle for as long as that
            stack.enter_context(patch("aitp_desk.http.server.CROWDED_SECONDS", 0.05))
            ends = [asyncio.create_task(line.is_at_end()) for line in lines]
            async with asyncio.timeout(SECONDS):
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            async with calling(desk) as sixth:
                sixth.writer.write(HEALTH)
                assert (await sixth.hear())[0] == 200
            for end in ends:
                end.cancel()


async def test_so_much_of_all_bodies_is_under_way_and_small_ones_always_come_through(
    tmp_path: Path,
) -> None:
    bounds = [f"{name}=200000" for name in ("threads.max_body", "files.max_bytes", UNDER_WAY)]
    async with talking(tmp_path, *bounds) as talker, calling(talker.desk) as line:
        large = b"{}" + b" " * 190_000
        line.writer.write(HEAD % len(large) + large[:-1])

        async def until(status: int) -> dict[str, str]:
            """Send as much again, until it is answered so; the headers of that answer."""
            async with asyncio.timeout(SECONDS):
                while True:
                    async with talker.http.post(THREADS, data=large, headers=JSON) as answer:
                        await answer.read()
                        if answer.status == status:
                            return dict(answer.headers)

        assert (await until(503))["Retry-After"] == "5"
        assert (await talker.open("A question.")).status == 200
        line.writer.write(large[-1:])
        assert (await line.hear())[0] == 200
        await until(200)
