"""What further worker processes add, on one PostgreSQL server.

    python -m tests.bench.workers [--rounds 4] [--seconds 2] [CASE…]

A case is measured in turn, in rounds, on four subjects: one worker; two workers on one database;
*apart*, two desks of one worker each on a database each; and *small*, one worker that shares one
processor with its database and its clients. Figures are medians of the ratios within the rounds:

- two / one: answers a second. The clients, the database and the workers share the machine: with
  two processors one worker uses most of them already, and the ratio says little about the desk.
- doubled: two workers on two processors against *small*, so with twice of everything.
- of apart: two workers against two desks which share nothing but the machine and the server.
- capacity: answers for a second of the workers' processor time, of two against one, times two. This
  is the ratio where each worker has a processor, and so have the database and the clients.

The load is two processes which send prebuilt requests over kept connections, each next one once the
last is answered, the same number to every subject. Every answer is on the database's disk before it
is sent, also a cached one: it is a turn of a session.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

import msgspec

from aitp_desk.store.engine.postgres.store import PostgresStore
from tests.bench.harness.cases import converse_cached, create
from tests.bench.harness.fleet import (
    Fleet,
    find_database_server,
    list_children,
    serving_fleet,
    tree_seconds,
)
from tests.bench.harness.load import Plan, run_load
from tests.bench.run import machine_seconds
from tests.support.access.keys import make_key
from tests.support.store.postgres import PostgresServer, postgres_server

LOADS = 2
CASES = {"cached": converse_cached, "create": create}
SETTINGS = ("content.meaning.enabled=false",)
WARM_UP_SECONDS = 1.0


class Figures(msgspec.Struct, frozen=True):
    """One measurement.

    Parameters:
        rate: answers a second.
        workers, database, clients: processor time of an answer, in microseconds.
        others: how many processors other programs used meanwhile.
    """

    rate: float
    workers: float
    database: float
    clients: float
    others: float

    @property
    def used(self) -> float:
        """How many processors it kept busy."""
        return self.rate * (self.workers + self.database + self.clients) / 1e6


class Subject:
    """Desks with the requests that each load sends, by case.

    Parameters:
        fleets: one for all loads, or one for each.
        database: process id of the database server, if it is on this machine.
        processors: where everything that takes part may run.
    """

    def __init__(
        self,
        fleets: Sequence[Fleet],
        requests: dict[str, list[list[bytes]]],
        database: int | None,
        processors: Collection[int],
    ) -> None:
        self._fleets = fleets
        self._requests = requests
        self._database = database
        self._processors = processors

    def measure(self, case: str, seconds: float, connections: int) -> Figures:
        """Send a case's requests for so long.

        Raises:
            SystemExit: a request was not answered with 200.
        """
        ports = [self._fleets[number % len(self._fleets)].port for number in range(LOADS)]
        plans = [
            Plan(port, requests, seconds, connections // LOADS, processors=[*self._processors])
            for port, requests in zip(ports, self._requests[case], strict=True)
        ]
        with self._pinned(), ThreadPoolExecutor(LOADS) as pool:
            began, busy = time.monotonic(), machine_seconds()
            own, stored = self._own_seconds(), self._database_seconds()
            reports = list(pool.map(run_load, plans))
            own, stored = self._own_seconds() - own, self._database_seconds() - stored
            busy, took = machine_seconds() - busy, time.monotonic() - began
        if wrong := {name for one in reports for name in one.statuses} - {"200"}:
            raise SystemExit(f"Answers other than 200 came: {wrong}")
        answered = sum(report.answered for report in reports)
        sent = sum(report.cpu_us * report.answered for report in reports) / 1e6
        return Figures(
            rate=sum(report.rate for report in reports),
            workers=own * 1e6 / answered,
            database=stored * 1e6 / answered,
            clients=sent * 1e6 / answered,
            others=max(0.0, busy - own - stored - sent) / took,
        )

    def _own_seconds(self) -> float:
        return sum(fleet.cpu_seconds() for fleet in self._fleets)

    def _database_seconds(self) -> float:
        return 0.0 if self._database is None else tree_seconds(self._database)

    @contextmanager
    def _pinned(self) -> Iterator[None]:
        """Keep the workers and the database on the processors."""
        pids = [pid for fleet in self._fleets for pid in fleet.pids]
        if self._database is not None:
            pids += [self._database, *list_children(self._database)]
        before = os.sched_getaffinity(0)
        _pin(pids, self._processors)
        try:
            yield
        finally:
            _pin(pids, before)


class Place:
    """The database server, and a folder for everything that the desks write."""

    def __init__(self, server: PostgresServer, folder: Path, stack: ExitStack) -> None:
        self._server = server
        self._folder = folder
        self._stack = stack
        self._made = 0

    def serve(self, workers: int) -> tuple[Fleet, str]:
        """Serve a desk on a database of its own; return an API key with it."""
        self._made += 1
        name = f"workers{self._made}"
        url, data = asyncio.run(self._server.begin(name)), self._folder / name
        log = self._folder / f"{name}.log"
        fleet = self._stack.enter_context(serving_fleet(data, url, workers, *SETTINGS, log=log))
        return fleet, asyncio.run(make_thread_key(url, data))

    def find_server(self) -> int | None:
        return asyncio.run(find_database_server(self._server.url(f"workers{self._made}")))


def open_subjects(place: Place, cases: Sequence[str]) -> dict[str, Subject]:
    """Start the desks, and prepare the requests of each load."""
    everywhere = sorted(os.sched_getaffinity(0))
    desks = [place.serve(1), place.serve(2), place.serve(1)]
    database = place.find_server()

    def subject(chosen: Sequence[tuple[Fleet, str]], processors: Collection[int]) -> Subject:
        made: dict[str, list[list[bytes]]] = {}
        for name in cases:
            pairs = [chosen[number % len(chosen)] for number in range(LOADS)]
            made[name] = [_prepare(CASES[name], fleet, key) for fleet, key in pairs]
        return Subject([fleet for fleet, _ in chosen], made, database, processors)

    one, two, other = desks
    return {
        "one": subject([one], everywhere),
        "two": subject([two], everywhere),
        "apart": subject([one, other], everywhere),
        "small": subject([one], everywhere[:1]),
        "doubled": subject([two], everywhere[:2]),
    }


def compare(
    subjects: dict[str, Subject], case: str, rounds: int, seconds: float, connections: int
) -> None:
    """Print the figures of a case."""
    found: dict[str, list[Figures]] = {name: [] for name in subjects}
    for subject in subjects.values():
        subject.measure(case, WARM_UP_SECONDS, connections)
    for _ in range(rounds):
        for name, subject in subjects.items():
            found[name].append(subject.measure(case, seconds, connections))
    one, two, apart = found["one"], found["two"], found["apart"]
    ratios = {
        "two / one": [b.rate / a.rate for a, b in zip(one, two, strict=True)],
        "doubled": _shares(found["doubled"], found["small"]),
        "of apart": _shares(two, apart),
        "capacity": [2 * a.workers / b.workers for a, b in zip(one, two, strict=True)],
    }
    cells = (f"{name} {_spread(values)}" for name, values in ratios.items())
    print(f"{case}: {', '.join(cells)}")
    for name, figures in found.items():
        print(
            f"  {name:8}{median(one.rate for one in figures):8,.0f} answers/s, us of an answer:"
            f" workers {median(one.workers for one in figures):4.0f},"
            f" database {median(one.database for one in figures):4.0f},"
            f" clients {median(one.clients for one in figures):3.0f};"
            f" processors busy {median(one.used for one in figures):.2f},"
            f" with others {median(one.others for one in figures):.2f}",
            flush=True,
        )


def _shares(ours: Sequence[Figures], theirs: Sequence[Figures]) -> list[float]:
    return [a.rate / b.rate for a, b in zip(ours, theirs, strict=True)]


def _spread(values: Sequence[float]) -> str:
    return f"{median(values):.2f} ({min(values):.2f}-{max(values):.2f})"


def _prepare(case: Callable[[str, str], list[bytes]], fleet: Fleet, key: str) -> list[bytes]:
    """Prepare a case at each worker, so that each has what it caches."""
    return [case(f"http://127.0.0.1:{port}", key) for port in fleet.ports][-1]


def _pin(pids: Sequence[int], processors: Collection[int]) -> None:
    for pid in pids:
        for task in Path(f"/proc/{pid}/task").glob("*"):
            try:
                os.sched_setaffinity(int(task.name), processors)
            except ProcessLookupError:  # a connection of the database that has closed
                continue


async def make_thread_key(url: str, data: Path) -> str:
    """Make an API key that may write threads, in a desk's database."""
    async with PostgresStore.open(url, {}) as store:
        return await make_key(store, data, "threads", name="load")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.workers")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=2.0, help="length of each measurement")
    parser.add_argument("--connections", type=int, default=64, help="of both loads together")
    parser.add_argument("case", nargs="*", help=f"of {', '.join(CASES)}; all if none is named")
    options = parser.parse_args()
    if unknown := set(options.case) - CASES.keys():
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    os.environ["AITP_DESK_MEANING"] = "off"
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="aitp-desk-bench-"))
        server = stack.enter_context(postgres_server(settings=""))
        cases = options.case or list(CASES)
        subjects = open_subjects(Place(server, Path(folder), stack), cases)
        print(
            f"{os.cpu_count()} processors, load average {os.getloadavg()[0]:.1f} before,"
            f" {options.connections} connections",
            flush=True,
        )
        for case in cases:
            compare(subjects, case, options.rounds, options.seconds, options.connections)
    print(f"load average {os.getloadavg()[0]:.1f} after", file=sys.stderr)


if __name__ == "__main__":
    main()
