"""How a thread with many followers is served: does each hear every number once, and how soon?

    python -m tests.bench.streams [--streams 2000] [--messages 200]

A desk in a process of its own; the followers share this one, so that on two cores their work is in
the figures. First one message at a time, then as fast as eight posters can; of the followers one in
ten leaves in the middle and comes back. Exits with 1 when anybody missed a number, heard one twice,
or heard them out of order.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import cast

import aiohttp
import uvloop

from tests.support.desk.processes import Server, desk_command, free_port, serving_process

POSTERS = 8
OPENING = 100
"""How many connections are opened at once."""
SECONDS = 120
"""How long all together may wait for what they are owed."""
_ID = re.compile(rb"^id: (\d+)\nevent: (.+)$", re.MULTILINE)


class Tally:
    """When everybody has heard a number."""

    def __init__(self, followers: int) -> None:
        self._followers = followers
        self._heard: dict[int, int] = {}
        self._waiting: dict[int, asyncio.Event] = {}
        self.at: dict[int, float] = {}

    def add(self, number: int) -> None:
        """One more has heard this number."""
        heard = self._heard[number] = self._heard.get(number, 0) + 1
        if heard == self._followers:
            self.at[number] = time.perf_counter()
            self._waiting.setdefault(number, asyncio.Event()).set()

    async def everybody(self, number: int) -> float:
        """When the last of all heard a number, once that has come about."""
        async with asyncio.timeout(SECONDS):
            await self._waiting.setdefault(number, asyncio.Event()).wait()
        return self.at[number]


class Follower(asyncio.Protocol):
    """One follower, over one connection after another."""

    def __init__(self, port: int, path: str, tally: Tally) -> None:
        self._port = port
        self._path = path
        self._tally = tally
        self._rest = b""
        self._transport: asyncio.Transport | None = None
        self._began = asyncio.Event()
        self.numbers: list[int] = []

    async def follow(self) -> None:
        """Connect, and see the stream begin after the last number heard."""
        self._began.clear()
        self._rest = b""
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_connection(lambda: self, "127.0.0.1", self._port)
        self._transport = transport
        last = self.numbers[-1] if self.numbers else 0
        head = f"GET {self._path} HTTP/1.0\r\nHost: 127.0.0.1\r\nLast-Event-ID: {last}\r\n\r\n"
        transport.write(head.encode())
        async with asyncio.timeout(SECONDS):
            await self._began.wait()

    def leave(self) -> None:
        """Go away without a word."""
        cast("asyncio.Transport", self._transport).abort()

    def data_received(self, data: bytes) -> None:
        whole, end, rest = (self._rest + data).rpartition(b"\n\n")
        self._rest = rest
        for number, name in _ID.findall(whole + end):
            if name == b"following":
                self._began.set()
            else:
                self.numbers.append(int(number))
                self._tally.add(int(number))


async def measure(server: Server, streams: int, messages: int) -> tuple[int, list[list[int]]]:
    """Print the figures; return how many messages were posted, and what each follower heard."""
    async with aiohttp.ClientSession(server.url, headers={"OpenAI-Beta": "bench"}) as http:
        async with http.post("/v1/threads", json={}) as response:
            thread = f"/v1/threads/{(await response.json())['id']}"

        async def post() -> float:
            async with http.post(f"{thread}/messages", json={"content": "x" * 264}) as response:
                assert response.status == 200, await response.text()
            return time.perf_counter()

        tally = Tally(streams)
        followers = [Follower(server.port, f"{thread}/events", tally) for _ in range(streams)]
        before, began = server.resident_mib(), time.perf_counter()
        await _in_groups(followers)
        took = time.perf_counter() - began
        held = (server.resident_mib() - before) * 1024 / streams
        print(f"{streams} streams open in {took:.1f} s, {held:.1f} KiB each")

        one_by_one = messages // 2
        waits: list[float] = []
        for number in range(1, one_by_one + 1):
            posted = await post()
            waits.append(max(0.0, await tally.everybody(number) - posted) * 1000)
        print(
            f"one message at a time: all have it {median(waits):.0f} ms after it was acknowledged"
            f" (most {max(waits):.0f} ms)"
        )

        async def post_many(count: int) -> None:
            for _ in range(count):
                await post()

        began, cpu = time.perf_counter(), server.cpu_seconds()
        each = (messages - one_by_one) // POSTERS
        posting = asyncio.gather(*(post_many(each) for _ in range(POSTERS)))
        leaving = followers[::10]
        for follower in leaving:
            follower.leave()
        await _in_groups(leaving)
        await posting
        posted = time.perf_counter()
        last = one_by_one + each * POSTERS
        done = await tally.everybody(last)
        delivered = each * POSTERS * streams
        print(
            f"{each * POSTERS} messages from {POSTERS} posters: posted in {posted - began:.1f} s,"
            f" heard by all {done - began:.1f} s after the first was sent,"
            f" {delivered / (done - began):,.0f} deliveries/s,"
            f" {(server.cpu_seconds() - cpu) * 1e6 / delivered:.1f} us of CPU each;"
            f" {len(leaving)} left and came back meanwhile"
        )
        print(f"the desk holds {server.resident_mib():.0f} MiB")
        # what was told twice was told before the message that ends it all
        await post()
        await tally.everybody(last + 1)
        for follower in followers:
            follower.leave()
        return last + 1, [follower.numbers for follower in followers]


async def _in_groups(followers: Sequence[Follower]) -> None:
    for begin in range(0, len(followers), OPENING):
        await asyncio.gather(*(one.follow() for one in followers[begin : begin + OPENING]))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.streams")
    parser.add_argument("--streams", type=int, default=2000)
    parser.add_argument("--messages", type=int, default=200)
    given = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # the desk begins with the usual limit, and has to raise it
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))
    with tempfile.TemporaryDirectory() as folder:
        place, port = Path(folder), free_port()
        settings = (
            f"events.max_streams={given.streams + 500}",
            f"events.max_streams_per_caller={given.streams + 500}",
        )
        with serving_process(
            desk_command(place / "data", port, *settings),
            port,
            log=place / "desk.log",
            bytecode=place / "bytecode",
        ) as server:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(given.streams + 1024, hard), hard))
            posted, heard = uvloop.run(measure(server, given.streams, given.messages))
    expected = list(range(1, posted + 1))
    wrong = sum(numbers != expected for numbers in heard)
    if wrong:
        sys.exit(f"{wrong} of {len(heard)} followers did not hear every number once, in order.")
    print(f"each of {len(heard)} followers heard every number from 1 to {posted} once")


if __name__ == "__main__":
    main()
