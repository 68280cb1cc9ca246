"""The load: keep-alive connections that each send their next request when the last is answered.

A process of its own, so that what it costs is not the server's. It speaks just enough HTTP for
answers with a Content-Length. A plan comes in on standard input, a report goes out on standard
output; `run_load` does both.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import cast

import msgspec
import uvloop

NUMBER = b"@@NUMBER@@@@"
"""Within a request it is replaced by a number that no other request of the plan has, as long."""

_LENGTH = re.compile(rb"\r\nContent-Length: (\d+)\r\n", re.IGNORECASE)


class Plan(msgspec.Struct):
    """What to send.

    Parameters:
        requests: whole HTTP requests, sent in turn, over and over.
        first: where numbers begin.
        processors: where the process runs; anywhere if empty.
    """

    port: int
    requests: list[bytes]
    seconds: float
    connections: int = 32
    first: int = 0
    processors: list[int] = []


class Report(msgspec.Struct):
    """What came of it.

    Parameters:
        rate: answers a second.
        p50_ms, p99_ms: from a request's first byte out to its answer's last byte in.
        statuses: how many answers had which status.
        cpu_us: processor time of an answer in this process, in microseconds.
    """

    answered: int
    rate: float
    p50_ms: float
    p99_ms: float
    statuses: dict[str, int]
    cpu_us: float


def request(method: str, path: str, headers: dict[str, str], body: bytes = b"") -> bytes:
    """A request as it goes over the wire."""
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if method == "POST":
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode() + body


def run_load(plan: Plan) -> Report:
    """Send a plan's requests from a process of their own."""
    command = [sys.executable, "-m", "tests.bench.harness.load"]
    given = msgspec.msgpack.encode(plan)
    done = subprocess.run(
        command, input=given, stdout=subprocess.PIPE, check=True, timeout=plan.seconds + 30
    )
    return msgspec.msgpack.decode(done.stdout, type=Report)


class Connection(asyncio.Protocol):
    """One connection; it adds to the times and statuses that all share."""

    def __init__(
        self, requests: Iterator[bytes], ends_at: float, times: list[float], statuses: list[bytes]
    ) -> None:
        self._requests = requests
        self._ends_at = ends_at
        self._times = times
        self._statuses = statuses
        self._buffer = b""
        self._sent_at = 0.0
        self._missing = 0
        self._transport: asyncio.Transport | None = None
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._send()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if len(self._buffer) < self._missing:
            return
        head = self._buffer.find(b"\r\n\r\n")
        if head < 0:
            return
        length = _LENGTH.search(self._buffer, 0, head + 2)
        if length is None:
            self.connection_lost(ConnectionError("an answer without a Content-Length"))
            return
        self._missing = head + 4 + int(length[1])
        if len(self._buffer) < self._missing:
            return
        now = time.perf_counter()
        self._times.append(now - self._sent_at)
        self._statuses.append(self._buffer[9:12])
        self._buffer = b""
        if now < self._ends_at:
            self._send()
        elif not self.done.done():
            self.done.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(exc or ConnectionError("the server closed the connection"))

    def _send(self) -> None:
        assert self._transport is not None
        self._missing = 0
        self._sent_at = time.perf_counter()
        self._transport.write(next(self._requests))


def numbered(requests: list[bytes], first: int) -> Iterator[bytes]:
    """The requests in turn, without end, numbered."""
    parts = itertools.cycle([request.split(NUMBER) for request in requests])
    for number, pieces in zip(itertools.count(first), parts, strict=False):
        yield pieces[0] if len(pieces) == 1 else f"{number:012}".encode().join(pieces)


async def send(plan: Plan) -> Report:
    """Send a plan's requests."""
    if plan.processors:
        os.sched_setaffinity(0, plan.processors)
    loop = asyncio.get_running_loop()
    requests = numbered(plan.requests, plan.first)
    times: list[float] = []
    statuses: list[bytes] = []
    began, cpu = time.perf_counter(), time.process_time()
    ends_at = began + plan.seconds
    connections: list[Connection] = []
    for _ in range(plan.connections):
        _, connection = await loop.create_connection(
            lambda: Connection(requests, ends_at, times, statuses), "127.0.0.1", plan.port
        )
        connections.append(connection)
    await asyncio.gather(*(connection.done for connection in connections))
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    times.sort()
    return Report(
        answered=len(times),
        rate=len(times) / seconds,
        p50_ms=times[len(times) // 2] * 1000,
        p99_ms=times[len(times) * 99 // 100] * 1000,
        statuses={status.decode(): statuses.count(status) for status in set(statuses)},
        cpu_us=cpu * 1e6 / len(times),
    )


if __name__ == "__main__":
    report = uvloop.run(send(msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Plan)))
    sys.stdout.buffer.write(msgspec.msgpack.encode(report))
