"""What a desk holds in memory after many questions, each of which begins a session.

    python -m tests.bench.memory [--requests 200000] [--every 20000]

A real desk in a process of its own is asked over 32 connections: first one question again and
again, which is answered from the cache, then more distinct ones than it remembers. Its resident
memory is printed as it goes on. It rises while sessions and answers fill the room that they may
take, and stays from then on.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import msgspec

from tests.bench.harness.cases import CASES
from tests.bench.harness.load import Plan, Report, run_load
from tests.support.desk.processes import (
    Server,
    desk_command,
    free_port,
    make_token,
    serving_process,
)

NAMES = ("cached", "uncached")
SECONDS = 4.0
"""How long questions are asked between two looks at how many were answered."""


def ask(server: Server, requests: list[bytes], first: int) -> int:
    """Ask for a while; return how many answers came."""
    plan = Plan(server.port, requests, SECONDS, first=first)
    report: Report = run_load(plan)
    if set(report.statuses) != {"200"}:
        raise SystemExit(f"Answers other than 200 came: {msgspec.to_builtins(report.statuses)}")
    return report.answered


def watch(name: str, requests: int, every: int) -> None:
    """Print what the desk holds after so many questions and so many more."""
    (case,) = (case for case in CASES if case.name == name)
    with tempfile.TemporaryDirectory(prefix="aitp-desk-memory-") as folder:
        data, port = Path(folder) / "data", free_port()
        command = desk_command(data, port, *case.settings)
        log, bytecode = Path(folder) / "log", Path(folder) / "bytecode"
        with serving_process(command, port, log=log, ready="/ready", bytecode=bytecode) as server:
            asked = case.prepare(server.url, make_token(data))
            print(f"{name}: {server.resident_mib():.0f} MiB before the first", flush=True)
            answered, told = 0, 0
            while answered < requests:
                answered += ask(server, asked, answered)
                if answered - told >= every:
                    told = answered
                    print(f"{answered:9,} {server.resident_mib():6.0f} MiB", flush=True)
            size = (data / "desk.db").stat().st_size
            print(f"{name}: {size / answered:.0f} bytes of database a question", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.memory")
    parser.add_argument("--requests", type=int, default=200_000)
    parser.add_argument("--every", type=int, default=20_000)
    options = parser.parse_args()
    for name in NAMES:
        watch(name, options.requests, options.every)


if __name__ == "__main__":
    main()
