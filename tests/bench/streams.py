"""How a thread with many followers is served: does each hear every number once, and how soon?

    python -m tests.bench.streams [--streams 2000] [--messages 200] [--workers 2]

A desk in a process of its own; the followers share this one, so that on two cores their work is in
the figures. First one message at a time, then as fast as eight posters can; of the followers one in
ten leaves in the middle and comes back. With `--workers 2` there are two desks on PostgreSQL, one
of one process and one of two, with so many followers each, and every message is posted to one and
then to the other. Exits with 1 when anybody missed a number, heard one twice, or heard them out of
order.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import resource
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from statistics import median
from typing import cast

import aiohttp
import uvloop

from tests.bench.harness.fleet import Fleet, serving_fleet
from tests.support.desk.processes import Server, desk_command, free_port, serving_process
from tests.support.store.postgres import postgres_server

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


class Crowd:
    """The followers of one thread, and who posts to it.

    Parameters:
        server: the desk; with several processes the followers are spread over them.
    """

    def __init__(self, server: Server | Fleet, http: aiohttp.ClientSession, thread: str) -> None:
        self._server = server
        self._http = http
        self._thread = thread
        self._tally = Tally(0)
        self._last = 0
        self.followers: list[Follower] = []

    @classmethod
    @asynccontextmanager
    async def open(cls, server: Server | Fleet, streams: int) -> AsyncIterator[Crowd]:
        """Open a thread and all its streams, and print what they cost."""
        async with aiohttp.ClientSession(server.url, headers={"OpenAI-Beta": "bench"}) as http:
            async with http.post("/v1/threads", json={}) as response:
                crowd = cls(server, http, f"/v1/threads/{(await response.json())['id']}")
            ports = server.ports if isinstance(server, Fleet) else [server.port]
            crowd._tally = Tally(streams)
            crowd.followers = [
                Follower(ports[number % len(ports)], f"{crowd._thread}/events", crowd._tally)
                for number in range(streams)
            ]
            before, began = server.resident_mib(), time.perf_counter()
            await _in_groups(crowd.followers)
            took = time.perf_counter() - began
            held = (server.resident_mib() - before) * 1024 / streams
            print(f"{streams} streams open in {took:.1f} s, {held:.1f} KiB each")
            yield crowd

    async def tell_one(self) -> float:
        """Post a message; return the seconds from its response until all have it."""
        posted = await self._post()
        return max(0.0, await self._tally.everybody(self._last) - posted)

    async def tell_many(self, messages: int) -> float:
        """Post as fast as eight can while some leave and come back; return deliveries a second."""

        async def post_many(count: int) -> None:
            for _ in range(count):
                await self._post()

        began, cpu = time.perf_counter(), self._server.cpu_seconds()
        each = messages // POSTERS
        posting = asyncio.gather(*(post_many(each) for _ in range(POSTERS)))
        leaving = self.followers[::10]
        for follower in leaving:
            follower.leave()
        await _in_groups(leaving)
        await posting
        posted = time.perf_counter()
        done = await self._tally.everybody(self._last)
        delivered = each * POSTERS * len(self.followers)
        print(
            f"{each * POSTERS} messages from {POSTERS} posters: posted in {posted - began:.1f} s,"
            f" heard by all {done - began:.1f} s after the first was sent,"
            f" {delivered / (done - began):,.0f} deliveries/s,"
            f" {(self._server.cpu_seconds() - cpu) * 1e6 / delivered:.1f} us of CPU each;"
            f" {len(leaving)} left and came back meanwhile"
        )
        print(f"the desk holds {self._server.resident_mib():.0f} MiB")
        return delivered / (done - began)

    async def close(self) -> int:
        """End all streams; return how many followers did not hear every number once, in order."""
        # what was told twice was told before the message that ends it all
        await self.tell_one()
        for follower in self.followers:
            follower.leave()
        expected = list(range(1, self._last + 1))
        return sum(follower.numbers != expected for follower in self.followers)

    async def _post(self) -> float:
        body = {"content": "x" * 264}
        async with self._http.post(f"{self._thread}/messages", json=body) as response:
            assert response.status == 200, await response.text()
        self._last += 1
        return time.perf_counter()


async def measure(server: Server, streams: int, messages: int) -> int:
    """Print the figures of a desk; return how many followers missed or repeated something."""
    async with Crowd.open(server, streams) as crowd:
        waits = [await crowd.tell_one() * 1000 for _ in range(messages // 2)]
        print(
            f"one message at a time: all have it {median(waits):.0f} ms after it was acknowledged"
            f" (most {max(waits):.0f} ms)"
        )
        await crowd.tell_many(messages - messages // 2)
        return await crowd.close()


async def compare(one: Fleet, several: Fleet, streams: int, messages: int) -> int:
    """Print what several processes take, as shares of one; return as :func:`measure`."""
    async with Crowd.open(one, streams) as alone, Crowd.open(several, streams) as spread:
        pairs = [(await alone.tell_one(), await spread.tell_one()) for _ in range(messages // 2)]
        ratios = [b / a for a, b in pairs]
        print(
            f"one message at a time: the last has it after {median(ratios):.2f} of the time of one"
            f" process, {median(b for _, b in pairs) * 1000:.0f} ms instead of"
            f" {median(a for a, _ in pairs) * 1000:.0f}"
        )
        rates = [await crowd.tell_many(messages - messages // 2) for crowd in (alone, spread)]
        print(
            f"as fast as eight post: {rates[1] / rates[0]:.2f} times the deliveries of one process"
        )
        return await alone.close() + await spread.close()


async def _in_groups(followers: Sequence[Follower]) -> None:
    for begin in range(0, len(followers), OPENING):
        await asyncio.gather(*(one.follow() for one in followers[begin : begin + OPENING]))


def serve_alone(place: Path, settings: Sequence[str], given: argparse.Namespace) -> int:
    """Measure a desk of one process on SQLite."""
    port = free_port()
    with serving_process(
        desk_command(place / "data", port, *settings),
        port,
        log=place / "desk.log",
        bytecode=place / "bytecode",
    ) as server:
        _raise_limit(given.streams)
        return uvloop.run(measure(server, given.streams, given.messages))


def serve_several(place: Path, settings: Sequence[str], given: argparse.Namespace) -> int:
    """Measure a desk of several processes on PostgreSQL, next to one of one process."""
    with ExitStack() as stack:
        database = stack.enter_context(postgres_server(settings=""))
        fleets = [
            stack.enter_context(
                serving_fleet(
                    place / f"data{workers}",
                    asyncio.run(database.begin(f"streams{workers}")),
                    workers,
                    *settings,
                    log=place / "desk.log",
                )
            )
            for workers in (1, given.workers)
        ]
        _raise_limit(2 * given.streams)
        return uvloop.run(compare(fleets[0], fleets[1], given.streams, given.messages))


def _raise_limit(streams: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(streams + 1024, hard), hard))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.streams")
    parser.add_argument("--streams", type=int, default=2000)
    parser.add_argument("--messages", type=int, default=200)
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # the desk begins with the usual limit, and has to raise it
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))
    print(f"load average {os.getloadavg()[0]:.1f} before")
    bounds = ("max_streams", "max_streams_per_caller", "max_streams_per_address")
    settings = [f"events.{name}={given.streams + 500}" for name in bounds]
    settings.append("content.meaning.enabled=false")
    with tempfile.TemporaryDirectory() as folder:
        serve = serve_alone if given.workers == 1 else serve_several
        wrong = serve(Path(folder), settings, given)
    print(f"load average {os.getloadavg()[0]:.1f} after")
    if wrong:
        sys.exit(f"{wrong} followers did not hear every number once, in order.")
    print("every follower heard every number once, in order")


if __name__ == "__main__":
    main()
