"""How fast promised work is done: jobs of the queue, by one process and by two.

    python -m tests.bench.jobs [--rounds 3] [--jobs 1500] [CASE…]

Jobs of 50 principals are queued before, 32 of them are done at once, and each end is committed. The
handler of `empty` does nothing; that of `push` posts a signed body to a receiver on this machine.
The floor of a database is what no queue can do without: a job is taken by its id in one commit and
ended in another, by 32 callers at once on PostgreSQL (asyncpg), 32 in a commit on SQLite. Printed
are the medians of the shares within the rounds, and of two processes against one.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import secrets
import sqlite3
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from multiprocessing.synchronize import Event
from pathlib import Path
from statistics import median
from typing import Any

import asyncpg
import msgspec
import uvloop

from aitp_desk.desk.jobs.kinds import Finish, JobKind
from aitp_desk.desk.jobs.queue import JobQueue
from aitp_desk.desk.jobs.webhook_delivery import deliver_webhook
from aitp_desk.egress import Egress
from aitp_desk.model.ids import new_id
from aitp_desk.store.base import Store, Work
from aitp_desk.store.engine.postgres.statements import load_postgres_statements
from aitp_desk.store.engine.postgres.store import PostgresStore
from aitp_desk.store.engine.sqlite import SqliteStore
from aitp_desk.store.engine.statements import load_statements
from aitp_desk.store.records.jobs import ClaimedJob, NewJob
from aitp_desk.store.units.jobs.jobs import enqueue_job
from tests.support.store.postgres import PostgresServer, postgres_server

CASES = ("empty", "push")
CALLERS = 32
PRINCIPALS = 50
OF_ONE = 4
BATCH = 250
BODY = b'{"id": "task", "status": {"state": "completed"}}'
PROOF = {"webhook-id": "msg", "webhook-timestamp": "0", "webhook-signature": "v1,c2lnbmF0dXJl"}
SECONDS = 120

_processes = multiprocessing.get_context("spawn")


class Figures(msgspec.Struct, frozen=True):
    """One measurement.

    Parameters:
        rate: jobs a second.
        cpu_us: processor time of a job in the processes that do them, in microseconds.
        shares: the part of the jobs that each process did.
    """

    rate: float
    cpu_us: float
    shares: tuple[float, ...] = ()


def open_store(place: str) -> AbstractAsyncContextManager[Store]:
    """Open the store of a file or of a PostgreSQL database."""
    if place.startswith("postgresql:"):
        return PostgresStore.open(place, {})
    return SqliteStore.open(Path(place))


def add_jobs(ids: list[str]) -> Work[None]:
    """Queue jobs in one commit."""
    for number, id_ in enumerate(ids):
        principal = f"principal{number % PRINCIPALS}"
        yield from enqueue_job(NewJob(id_, "bench", id_, {}, int(time.time()), principal=principal))


async def fill(place: str, count: int) -> list[str]:
    """Queue jobs; return their ids."""
    ids = [new_id("job", time.time()) for _ in range(count)]
    async with open_store(place) as store:
        for first in range(0, count, BATCH):
            await store.run(add_jobs, ids=ids[first : first + BATCH])
    return ids


class Worker:
    """A process that does jobs, told when to begin and to end."""

    def __init__(self, place: str, port: int, *, is_shared: bool) -> None:
        self.begin, self.end, self.is_open = (_processes.Event() for _ in range(3))
        self.done = _processes.Value("q", 0, lock=False)
        self.cpu = _processes.Value("d", 0.0, lock=False)
        given = (place, port, is_shared, self.is_open, self.begin, self.end, self.done, self.cpu)
        self._process = _processes.Process(target=_work, args=given, daemon=True)
        self._process.start()

    def check(self) -> None:
        """End the script if the process has ended; it has said why."""
        if self._process.exitcode is not None:
            raise SystemExit("A process that does jobs has ended.")

    def stop(self) -> None:
        self.end.set()
        self._process.join(SECONDS)


def _work(place: str, port: int, is_shared: bool, *signals: Any) -> None:
    uvloop.run(_work_until_end(place, port, is_shared, *signals))


async def _work_until_end(
    place: str,
    port: int,
    is_shared: bool,
    is_open: Event,
    begin: Event,
    end: Event,
    done: Any,
    cpu: Any,
) -> None:
    def note() -> None:
        done.value += 1

    async with open_store(place) as store, Egress(allow_loopback=True) as egress:

        async def handle(_: ClaimedJob) -> Finish:
            if port:
                url = f"http://127.0.0.1:{port}/push"
                await deliver_webhook(egress, url, BODY, PROOF, seconds=SECONDS)
            return Finish(committed=note)

        queue = JobQueue(
            store=store, worker=secrets.token_hex(8), clock=time.time, is_shared=is_shared
        )
        queue.register_kinds(JobKind("bench", handle, SECONDS, (5,), CALLERS, OF_ONE))
        is_open.set()
        await asyncio.to_thread(begin.wait)
        began = time.process_time()
        await queue.begin()
        await asyncio.to_thread(end.wait)
        cpu.value = time.process_time() - began
        await queue.stop(0)


def measure(place: str, jobs: int, workers: int, port: int) -> Figures:
    """Have jobs done."""
    asyncio.run(fill(place, jobs))
    is_shared = place.startswith("postgresql:")
    processes = [Worker(place, port, is_shared=is_shared) for _ in range(workers)]
    for one in processes:
        while not one.is_open.wait(1):
            one.check()
    began = time.perf_counter()
    for one in processes:
        one.begin.set()
    while sum(one.done.value for one in processes) < jobs:
        for one in processes:
            one.check()
        time.sleep(0.002)
    took = time.perf_counter() - began
    for one in processes:
        one.stop()
    cpu = sum(one.cpu.value for one in processes)
    return Figures(jobs / took, cpu * 1e6 / jobs, tuple(one.done.value / jobs for one in processes))


def measure_floor(place: str, jobs: int) -> Figures:
    """Take and end jobs by their ids, and nothing else."""
    ids = asyncio.run(fill(place, jobs))
    cpu, clock = time.process_time(), time.perf_counter()
    if place.startswith("postgresql:"):
        uvloop.run(_floor_of_postgres(place, ids))
    else:
        _floor_of_sqlite(place, ids)
    clock, cpu = time.perf_counter() - clock, time.process_time() - cpu
    return Figures(jobs / clock, cpu * 1e6 / jobs)


def _steps(ids: list[str]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    now = int(time.time())
    taken = {"attempt": 1, "failures": 0, "worker": "floor", "lease_until": now + 60}
    for first in range(0, len(ids), CALLERS):
        group = ids[first : first + CALLERS]
        yield "take_job", [{"id": id_, **taken} for id_ in group]
        yield "finish_job", [{"id": id_, "now": now} for id_ in group]


def _floor_of_sqlite(place: str, ids: list[str]) -> None:
    with closing(sqlite3.connect(place, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = FULL")
        statements = load_statements("sqlite")
        for name, rows in _steps(ids):
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(statements[name], rows)
            connection.execute("COMMIT")


async def _floor_of_postgres(place: str, ids: list[str]) -> None:
    statements = load_postgres_statements()
    async with asyncpg.create_pool(place, min_size=10, max_size=10) as pool:

        async def run(name: str, row: dict[str, Any]) -> None:
            await pool.execute(statements[name].sql, *statements[name].arguments(row))

        async def do(rows: Iterator[tuple[dict[str, Any], dict[str, Any]]]) -> None:
            for take, finish in rows:
                await run("take_job", take)
                await run("finish_job", finish)

        steps = list(_steps(ids))
        taken = [row for _, rows in steps[::2] for row in rows]
        ended = [row for _, rows in steps[1::2] for row in rows]
        pairs = iter(zip(taken, ended, strict=True))
        await asyncio.gather(*(do(pairs) for _ in range(CALLERS)))


class _Receiver(asyncio.Protocol):
    """Acknowledges every request that came whole in one piece."""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._received = b""

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (end := self._received.find(BODY)) >= 0:
            self._received = self._received[end + len(BODY) :]
            self._transport.write(b"HTTP/1.1 204 No Content\r\n\r\n")


def _receive(port: Any, is_open: Event, end: Event) -> None:
    async def serve() -> None:
        server = await asyncio.get_running_loop().create_server(_Receiver, "127.0.0.1", 0)
        port.value = server.sockets[0].getsockname()[1]
        is_open.set()
        await asyncio.to_thread(end.wait)

    uvloop.run(serve())


@asynccontextmanager
async def _nothing() -> AsyncIterator[None]:
    yield


def compare(
    server: PostgresServer, folder: Path, case: str, port: int, rounds: int, jobs: int
) -> None:
    """Print the figures of a case."""
    found: dict[str, list[Figures]] = {}

    def note(name: str, figures: Figures) -> None:
        found.setdefault(name, []).append(figures)

    for number in range(rounds):

        def file(name: str, number: int = number) -> str:
            return str(folder / f"{case}-{name}-{number}.db")

        note("sqlite floor", measure_floor(file("floor"), jobs))
        note("sqlite, 1 process", measure(file("desk"), jobs, 1, port))
        note("postgres floor", measure_floor(asyncio.run(server.begin()), jobs))
        note("postgres, 1 process", measure(asyncio.run(server.begin()), jobs, 1, port))
        note("postgres, 2 processes", measure(asyncio.run(server.begin()), jobs, 2, port))
    print(f"{case}:")
    for name, figures in found.items():
        floor = found[f"{name.split(',')[0].split()[0]} floor"]
        shares = [a.rate / b.rate for a, b in zip(figures, floor, strict=True)]
        parts = " + ".join(f"{part:.2f}" for part in figures[-1].shares)
        print(
            f"  {name:22}{median(one.rate for one in figures):8,.0f} jobs/s,"
            f" {median(shares):.2f} of the floor ({min(shares):.2f}-{max(shares):.2f}),"
            f" {median(one.cpu_us for one in figures):5.0f} us of processor time a job"
            + (f", done by {parts}" if len(figures[-1].shares) > 1 else "")
        )
    one, two = found["postgres, 1 process"], found["postgres, 2 processes"]
    ratios = [b.rate / a.rate for a, b in zip(one, two, strict=True)]
    print(
        f"  two processes / one    {median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.jobs")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1500)
    parser.add_argument("case", nargs="*", help=f"of {', '.join(CASES)}; all if none is named")
    options = parser.parse_args()
    if unknown := set(options.case) - set(CASES):
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    print(f"{os.cpu_count()} processors, load average {os.getloadavg()[0]:.1f} before", flush=True)
    port, is_open, end = _processes.Value("i", 0), _processes.Event(), _processes.Event()
    receiver = _processes.Process(target=_receive, args=(port, is_open, end), daemon=True)
    receiver.start()
    is_open.wait(SECONDS)
    with tempfile.TemporaryDirectory() as folder, postgres_server(settings="") as server:
        for case in options.case or CASES:
            used = port.value if case == "push" else 0
            compare(server, Path(folder), case, used, options.rounds, options.jobs)
    end.set()
    receiver.join()
    print(f"load average {os.getloadavg()[0]:.1f} after")


if __name__ == "__main__":
    main()
