"""Answers that nobody reads: their bytes are bounded, of one address and in all, and seen."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from unittest.mock import patch
from urllib.parse import urlsplit

import aiohttp
import pytest

from tests.support.clients.threads import THREADS, Talker, talking
from tests.support.http.connection import SECONDS, small_buffers

MANUAL = [("OpenAI-Beta", "assistants=v2")]
LONG = "\x01" * 40_000
"""Each character is six bytes of JSON."""
COUNT = 4
READERS = 8
MEBIBYTE = 1024 * 1024


@asynccontextmanager
async def stalled(talker: Talker, path: str, place: str = "127.0.0.1") -> AsyncIterator[None]:
    """A client that asks, and reads nothing of the answer."""
    address, loop = urlsplit(str(talker.desk.url)), asyncio.get_running_loop()
    with socket.socket() as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.setblocking(False)
        reader.bind((place, 0))
        await loop.sock_connect(reader, (address.hostname, address.port))
        head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        await loop.sock_sendall(reader, head.encode())
        yield


async def unsent(operator: Talker) -> int:
    """What the desk tells of the bytes that wait."""
    async with operator.http.get("/metrics", headers=operator.credentials) as answer:
        text = await answer.text()
        found = re.search(r"^aitp_desk_unsent_bytes ([\d.e+]+)", text, re.MULTILINE)
        assert found is not None, text[:500]
        return int(float(found[1]))


async def until(operator: Talker, least: int, most: int) -> None:
    """Look until so much waits."""
    async with asyncio.timeout(SECONDS):
        while True:
            if least <= await unsent(operator) <= most:
                return
            await asyncio.sleep(0.01)


async def fill(talker: Talker) -> dict[str, str]:
    """Addresses with a megabyte behind each, by what they are."""
    thread = (await talker.open(headers=MANUAL)).id
    for _ in range(COUNT):
        assert (await talker.post(thread, LONG, headers=MANUAL)).status == 200
    return {
        "messages": f"{THREADS}/{thread}/messages?limit=100",
        "thread": f"{THREADS}/{thread}",
        "transcript": f"{THREADS}/{thread}/transcript",
    }


@pytest.mark.slow
@pytest.mark.parametrize("what", ["messages", "thread", "transcript"])
async def test_of_those_who_read_nothing_a_bounded_part_is_held(tmp_path: Path, what: str) -> None:
    settings = (
        "limits.enabled=true",
        "limits.converse_per_minute=1000",
        "limits.static_per_minute=1000",
        f"server.max_unsent_bytes_per_address={2 * MEBIBYTE}",
    )
    with patch("aitp_desk.http.limits.backlog.WAIT_SECONDS", 0.1), small_buffers():
        async with talking(tmp_path, *settings) as talker, AsyncExitStack() as stack:
            path = (await fill(talker))[what]
            operator = await talker.with_key("operator", "threads")
            for _ in range(READERS):
                await stack.enter_async_context(stalled(talker, path))
            await until(operator, 200_000, 2 * MEBIBYTE)
            if what != "transcript":  # that is begun, and goes on when there is room
                await until(operator, MEBIBYTE, 2 * MEBIBYTE)
                async with talker.http.get(path) as answer:
                    assert (answer.status, answer.headers["Retry-After"]) == (503, "5")
                    assert (await answer.json())["error"]["code"] == "unavailable"
            async with talker.http.get("/health") as answer:
                assert answer.status == 200
            other = aiohttp.TCPConnector(local_addr=("127.0.0.2", 0))
            async with (
                aiohttp.ClientSession(talker.desk.url, connector=other) as http,
                http.get(path) as answer,
            ):
                assert answer.status == 200
                assert len(await answer.read()) > COUNT * len(LONG) * 6 * 0.9
            await stack.aclose()
            await until(operator, 0, 0)
            async with talker.http.get(path) as answer:
                assert answer.status == 200
                await answer.read()


@pytest.mark.slow
async def test_in_all_they_have_a_bound_too_and_who_stalls_is_dropped_soon(tmp_path: Path) -> None:
    with (
        patch("aitp_desk.http.server.CROWDED_SECONDS", 0.05),
        patch("aitp_desk.http.server.SWEEP_SECONDS", 0.02),
        patch("aitp_desk.http.limits.backlog.WAIT_SECONDS", SECONDS),
        small_buffers(),
    ):
        settings = f"server.max_unsent_bytes={2 * MEBIBYTE}"
        async with talking(tmp_path, settings) as talker, AsyncExitStack() as stack:
            path = (await fill(talker))["messages"]
            for number in range(READERS):
                place = f"127.0.0.{number + 2}"
                await stack.enter_async_context(stalled(talker, path, place))
            async with asyncio.timeout(SECONDS):
                while True:
                    async with talker.http.get(path) as answer:
                        if answer.status == 200:
                            break
                        assert answer.status == 503
                        await asyncio.sleep(0.01)
