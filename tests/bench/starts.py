"""How several worker processes start: what they build, and what that costs.

    python -m tests.bench.starts [--rounds 2] [--sections 2500]

`serve`, `serve --workers 1` and `serve --workers 2` on PostgreSQL in turn, each *first*, with
nothing indexed, and *again*, with everything, until every process has answered `/ready`. The site
is so many docstrings of Python. Figures are medians of the shares of what `serve` takes in the same
round. Counted is how often the file of the index was put in place, and by how many processes the
vectors of a small site were made, if a model of meaning is installed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
from pathlib import Path
from statistics import median

import msgspec

from aitp_desk.knowledge.semantics.onnx import is_installed
from tests.bench.harness.corpus import write_body
from tests.bench.harness.fleet import serving_fleet
from tests.support.store.postgres import PostgresServer, postgres_server

WAYS: dict[str, int | None] = {"serve": None, "--workers 1": 1, "--workers 2": 2}
INDEX = "knowledge.sqlite"
EMBEDDED = "content.embedded"
"""What a process that has made vectors writes to its log."""
FEW_SECTIONS = 30
SECONDS = 90
PAUSE_SECONDS = 1.0
IDLE = 0.15
"""The share of a processor that desks use which have nothing to do."""


class Start(msgspec.Struct, frozen=True):
    """One start.

    Parameters:
        seconds: until every process has answered.
        cpu: processor time of all processes until then, in seconds.
        file: which file the index was in then.
    """

    seconds: float
    cpu: float
    file: int


def start(data: Path, url: str, workers: int | None, site: Path) -> Start:
    """Start a desk without a model of meaning, and stop it."""
    log, plain = data.with_suffix(".log"), "content.meaning.enabled=false"
    with serving_fleet(data, url, workers, plain, folder=site, log=log) as fleet:
        return Start(fleet.start_seconds, fleet.cpu_seconds(), (data / INDEX).stat().st_ino)


def compare(server: PostgresServer, folder: Path, site: Path, rounds: int) -> None:
    """Print what starts take, as shares of those of `serve`."""
    found: dict[str, list[Start]] = {}
    rebuilt = 0
    for number in range(rounds + 1):
        for way, workers in WAYS.items():
            data = folder / f"{number}{workers}"
            url = asyncio.run(server.begin(f"starts{workers}"))
            first, again = (start(data, url, workers, site) for _ in range(2))
            rebuilt += first.file != again.file
            if number:  # the first start of all compiled the modules
                found.setdefault(f"{way}, first", []).append(first)
                found.setdefault(f"{way}, again", []).append(again)
    for name, starts in found.items():
        base = found["serve, again"]
        took = [a.seconds / b.seconds for a, b in zip(starts, base, strict=True)]
        used = [a.cpu / b.cpu for a, b in zip(starts, base, strict=True)]
        print(
            f"{name:18} {median(took):5.2f} x the time ({min(took):.2f}-{max(took):.2f}),"
            f" {median(used):5.2f} x the processor time ({min(used):.2f}-{max(used):.2f})"
            f" of a later start of serve, {median(one.cpu for one in base):.2f} s"
        )
    one, two = (
        median(first.cpu - again.cpu for first, again in zip(
            found[f"--workers {count}, first"], found[f"--workers {count}, again"], strict=True
        ))
        for count in (1, 2)
    )  # fmt: skip
    print(
        f"what a first start adds: {one:.2f} s of processor time for 1, {two:.2f} s for 2 workers"
    )
    print(f"indexes that a second start built again: {rebuilt}", flush=True)


def count_vectors(server: PostgresServer, folder: Path) -> None:
    """Print how many of two workers made vectors, and what it cost next to one."""
    site = write_body(folder / "small", FEW_SECTIONS)
    for workers in (1, 2):
        data = folder / f"vectors{workers}"
        log = data.with_suffix(".log")
        url = asyncio.run(server.begin(f"vectors{workers}"))
        with serving_fleet(data, url, workers, folder=site, log=log) as fleet:
            began, before = time.monotonic(), fleet.cpu_seconds()
            used, is_idle = before, False
            while not is_idle and time.monotonic() - began < SECONDS:
                time.sleep(PAUSE_SECONDS)
                last, used = used, fleet.cpu_seconds()
                is_idle = EMBEDDED in log.read_text() and used - last < IDLE * PAUSE_SECONDS
        times = log.read_text().count(EMBEDDED)
        print(
            f"{workers} workers: vectors made {times} time(s), {used - before:.1f} s after /ready"
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.starts")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--sections", type=int, default=2500)
    options = parser.parse_args()
    print(f"{os.cpu_count()} processors, load average {os.getloadavg()[0]:.1f} before", flush=True)
    with tempfile.TemporaryDirectory() as scratch, postgres_server(settings="") as server:
        folder = Path(scratch)
        compare(server, folder, write_body(folder / "body", options.sections), options.rounds)
        if is_installed():
            count_vectors(server, folder)
    print(f"load average {os.getloadavg()[0]:.1f} after")


if __name__ == "__main__":
    main()
