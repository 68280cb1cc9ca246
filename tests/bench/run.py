"""How fast a desk is, as a share of the bare floor of the same run.

    python -m tests.bench.run [--rounds 5] [--seconds 2] [CASE…]

Real desks (`aitp-desk serve` over `examples/shop`) and the floor are measured in turn, in rounds:
each measurement of a case has one of the floor right before it, and the figure is the median of the
ratios within the rounds. Absolute values differ from machine to machine, the shares far less. What
was measured while other programs kept the machine busy is left out: a desk has two threads at work,
the floor one, so that a busy machine slows the desk down by more.

The desks find passages by words alone: a model of meaning computes the vectors of all passages in
the background while the first cases are measured. Set ``AITP_DESK_MEANING=on`` to measure with it.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from statistics import median

import msgspec

from tests.bench.harness import floor
from tests.bench.harness.cases import CASES, Case
from tests.bench.harness.corpus import write_body
from tests.bench.harness.load import Plan, Report, request, run_load
from tests.support.desk.processes import (
    START_SECONDS,
    Server,
    desk_command,
    free_port,
    make_token,
    serving_process,
)
from tests.support.desk.server import SHOP

START, MEMORY = "start", "memory"
INSTALLED = Path(__file__).with_name("installed")
"""Hides from the servers what only the project's own checks bring, and users do not have."""
INDEXING_SECONDS = 300
"""How long a desk may take to index a large body, in seconds."""
START_GATE = 2.0
"""Times what a bare aiohttp server takes to its first answer."""
MEMORY_GATE = 90
"""MiB after the start, idle."""
WARM_UP_SECONDS = 0.5
MOST_DISTURBED = 0.05
"""The share of the machine that other programs may use while something is measured."""


class Figures(msgspec.Struct, frozen=True):
    """One measurement: what the load saw, and what a request cost the server.

    Parameters:
        cpu_us: processor time of the server's process, in microseconds.
        disturbed: the share of the machine that other programs used meanwhile.
    """

    report: Report
    cpu_us: float
    disturbed: float


class Subject:
    """A server with the requests that it is sent."""

    def __init__(self, server: Server, requests: list[bytes]) -> None:
        self._server = server
        self._requests = requests
        self._sent = 0

    def measure(self, seconds: float) -> Figures:
        """Send requests for so long.

        Raises:
            SystemExit: a request was not answered with 200.
        """
        plan = Plan(self._server.port, self._requests, seconds, first=self._sent)
        began, busy = time.monotonic(), machine_seconds()
        own, loading = self._server.cpu_seconds(), children_seconds()
        report = run_load(plan)
        own, loading = self._server.cpu_seconds() - own, children_seconds() - loading
        busy, took = machine_seconds() - busy, time.monotonic() - began
        self._sent += report.answered + plan.connections
        if set(report.statuses) != {"200"}:
            raise SystemExit(f"Answers other than 200 came: {report.statuses}")
        disturbed = (busy - own - loading) / took / (os.cpu_count() or 1)
        return Figures(report, own * 1e6 / report.answered, disturbed)


class Place:
    """A folder for everything that servers write, and how they are started there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def floor(self) -> AbstractContextManager[Server]:
        port = free_port()
        return self._serving([sys.executable, "-m", "tests.bench.harness.floor", str(port)], port)

    def desk(
        self,
        name: str,
        case: Case | None = None,
        settings: tuple[str, ...] = (),
        folder: Path = SHOP,
    ) -> AbstractContextManager[Server]:
        port = free_port()
        settings = case.settings if case else settings
        if case is not None:
            folder = write_body(self._folder / "body") if case.large else case.folder
        command = desk_command(self.data(name), port, *settings, folder=folder)
        if case is not None and case.silent:
            command[command.index("aitp_desk")] = "tests.bench.harness.silent_desk"
        within = INDEXING_SECONDS if case is not None and case.large else START_SECONDS
        return self._serving(command, port, "/ready", within)

    def data(self, name: str) -> Path:
        return self._folder / name

    def _serving(
        self, command: list[str], port: int, ready: str = "/health", within: float = START_SECONDS
    ) -> AbstractContextManager[Server]:
        log, bytecode = self._folder / "servers.log", self._folder / "bytecode"
        return serving_process(
            command, port, log=log, ready=ready, bytecode=bytecode, within=within
        )


def machine_seconds() -> float:
    """Processor time that all programs together have used since the machine started."""
    user, nice, system, _idle, _waiting, *interrupts = map(
        int, Path("/proc/stat").read_text().splitlines()[0].split()[1:9]
    )
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")


def children_seconds() -> float:
    """Processor time of this process's children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compare_speed(place: Place, cases: list[Case], rounds: int, seconds: float) -> None:
    """Print each case's share of the floor."""
    pairs: dict[str, list[tuple[Figures, Figures]]] = {case.name: [] for case in cases}
    with ExitStack() as stack:
        echo = request("POST", "/echo", {}, floor.BODY)
        bare = Subject(stack.enter_context(place.floor()), [echo])
        desks: dict[str, Subject] = {}
        for case in cases:
            server = stack.enter_context(place.desk(case.name, case))
            key = make_token(place.data(case.name))
            desks[case.name] = Subject(server, case.prepare(server.url, key))
        for subject in (bare, *desks.values()):
            subject.measure(WARM_UP_SECONDS)
        for number in range(1, rounds + 1):
            print(f"round {number} of {rounds}", file=sys.stderr)
            for name, desk in desks.items():
                pairs[name].append((bare.measure(seconds), desk.measure(seconds)))
    floors = [bare for measured in pairs.values() for bare, _ in _undisturbed(measured)]
    print(
        f"floor: {median(f.report.rate for f in floors):,.0f} requests/s,"
        f" p50 {median(f.report.p50_ms for f in floors):.2f} ms,"
        f" {median(f.cpu_us for f in floors):.0f} us of CPU a request\n"
    )
    print(
        "case               share  (least-most)   gate   p50 ms   p99 ms   CPU us"
        "  of the floor's  rounds"
    )
    for case in cases:
        _print_case(case, pairs[case.name])


def _print_case(case: Case, pairs: list[tuple[Figures, Figures]]) -> None:
    measured = _undisturbed(pairs)
    shares = [desk.report.rate / bare.report.rate for bare, desk in measured]
    desks = [desk for _, desk in measured]
    gate = "" if case.gate is None else f"{case.gate:.2f}"
    print(
        f"{case.name:16}{median(shares):8.2f}"
        f"{f'({min(shares):.2f}-{max(shares):.2f})':>14}{gate:>7}"
        f"{median(desk.report.p50_ms for desk in desks):9.2f}"
        f"{median(desk.report.p99_ms for desk in desks):9.2f}"
        f"{median(desk.cpu_us for desk in desks):9.0f}"
        f"{median(desk.cpu_us / bare.cpu_us for bare, desk in measured):14.2f}x"
        f"{len(measured):8} of {len(pairs)}"
    )


def _undisturbed(pairs: list[tuple[Figures, Figures]]) -> list[tuple[Figures, Figures]]:
    """The pairs that were measured on a quiet machine, or the quietest one if there is none."""
    by_disturbance = sorted(pairs, key=lambda pair: max(one.disturbed for one in pair))
    quiet = [pair for pair in pairs if max(one.disturbed for one in pair) < MOST_DISTURBED]
    return quiet or by_disturbance[:1]


def compare_start(place: Place, rounds: int) -> None:
    """Print how long a desk takes to its first 200, beside the floor, and what it then holds."""
    ratios, floors, desks, held = [], [], [], []
    for number in range(rounds + 1):
        with place.floor() as bare:
            pass
        with place.desk(START) as desk:
            resident = desk.resident_mib()
        if number:  # the first start of each compiled the modules
            ratios.append(desk.start_seconds / bare.start_seconds)
            floors.append(bare.start_seconds)
            desks.append(desk.start_seconds)
            held.append(resident)
    print(
        f"\nstart to the first 200 of /ready: {median(ratios):.2f} x the floor's start"
        f" ({min(ratios):.2f}-{max(ratios):.2f}), gate {START_GATE:.1f} x:"
        f" {median(desks) * 1000:.0f} ms, floor {median(floors) * 1000:.0f} ms"
    )
    print(f"memory after it, idle: {median(held):.0f} MiB, gate {MEMORY_GATE} MiB")


def main() -> None:
    names = [*(case.name for case in CASES), START, MEMORY]
    parser = argparse.ArgumentParser(prog="python -m tests.bench.run")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="length of each measurement")
    parser.add_argument("case", nargs="*", help=f"of {', '.join(names)}; all if none is named")
    options = parser.parse_args()
    if unknown := set(options.case) - set(names):
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    chosen = options.case or names
    os.environ["PYTHONPATH"] = str(INSTALLED)
    os.environ.setdefault("AITP_DESK_MEANING", "off")
    with tempfile.TemporaryDirectory(prefix="aitp-desk-bench-") as folder:
        place = Place(Path(folder))
        cases = [case for case in CASES if case.name in chosen]
        if cases:
            compare_speed(place, cases, options.rounds, options.seconds)
        if {START, MEMORY} & set(chosen):
            compare_start(place, 2 * options.rounds + 1)


if __name__ == "__main__":
    main()
