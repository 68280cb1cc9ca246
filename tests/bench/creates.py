"""The speed of creating messages over HTTP on PostgreSQL, against a floor.

    python -m tests.bench.creates [--rounds 5] [--seconds 3]

The floor is a bare aiohttp and uvloop server that inserts one message row for each request, in a
commit of its own, through a pool of asyncpg (``harness/insert_floor.py``). The desk is one process,
as ``aitp-desk serve`` starts it, and judges, numbers, chains and indexes each message. Both get the
same load over 32 kept connections, each on a database of its own of one server, which writes each
commit to its disk before it answers. Rounds measure both in turn; the figures are medians.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from tests.bench.harness import floor
from tests.bench.harness.cases import create
from tests.bench.harness.fleet import serving_fleet
from tests.bench.harness.load import Plan, request, run_load
from tests.bench.workers import SETTINGS, make_thread_key
from tests.support.desk.processes import free_port, serving_process
from tests.support.store.postgres import postgres_server

WARM_UP_SECONDS = 1.0


def measure(port: int, requests: list[bytes], seconds: float) -> float:
    """Return answers a second.

    Raises:
        SystemExit: a request was not answered with 200.
    """
    report = run_load(Plan(port, requests, seconds))
    if report.statuses.keys() != {"200"}:
        raise SystemExit(f"Answers other than 200 came: {report.statuses}")
    return report.rate


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.creates")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0, help="length of each measurement")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="aitp-desk-bench-")))
        server = stack.enter_context(postgres_server(settings=""))
        bare, port = asyncio.run(server.begin("floor")), free_port()
        command = [sys.executable, "-m", "tests.bench.harness.insert_floor", str(port), bare]
        stack.enter_context(
            serving_process(command, port, log=folder / "floor.log", ready="/health")
        )
        url, data = asyncio.run(server.begin("creates")), folder / "data"
        fleet = stack.enter_context(
            serving_fleet(data, url, None, *SETTINGS, log=folder / "desk.log")
        )
        key = asyncio.run(make_thread_key(url, data))
        subjects = {
            "floor": (port, [request("POST", "/insert", {}, floor.BODY)]),
            "desk": (fleet.port, create(fleet.url, key)),
        }
        for one in subjects.values():
            measure(*one, WARM_UP_SECONDS)
        found: dict[str, list[float]] = {name: [] for name in subjects}
        for _ in range(options.rounds):
            for name, one in subjects.items():
                found[name].append(measure(*one, options.seconds))
    shares = [desk / bare for bare, desk in zip(found["floor"], found["desk"], strict=True)]
    for name, rates in found.items():
        print(f"{name:6}{median(rates):8,.0f} answers/s")
    print(f"share {median(shares):.2f} ({min(shares):.2f}-{max(shares):.2f})")
    print(f"load average {os.getloadavg()[0]:.1f} after", file=sys.stderr)


if __name__ == "__main__":
    main()
