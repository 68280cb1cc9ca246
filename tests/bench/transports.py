"""How fast events of platforms become messages, as a share of messages that are posted.

    python -m tests.bench.transports [--rounds 3] [--seconds 2] [--people 32]

One desk, in a process of its own, whose agent never answers: in turns it is sent messages on
threads by HTTP, with and without a run that would answer, and as many events of people as it
acknowledges. The rate of events is of those that have become messages on threads, from the first
event until the last message; each queues a run. The work of a message is the processor time of the
desk, which other programs of the machine change less than rates. Then the time is measured from an
event to its answer at the platform, one after the other, on a desk whose agent answers at once.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median

import msgspec

from aitp_desk.transports.events import Incoming, TextMessage
from tests.bench.harness.cases import THREADS, create, create_with_run
from tests.bench.harness.load import NUMBER, Plan, Report, request, run_load
from tests.support.clients.threads import DATABASE
from tests.support.desk.processes import (
    Server,
    desk_command,
    free_port,
    make_token,
    serving_process,
)
from tests.support.transports.pigeon import SECRET
from tests.support.transports.pigeon_platform import PigeonPlatform

SILENT, ANSWERING = "tests.bench.harness.silent_carrier", "tests.faults.processes.carrying_desk"
SETTINGS = ("threads.max_auto_replies=1000000", "content.meaning.enabled=false")
SECONDS = 120
ROUND_TRIPS = 50
HANDLED = "SELECT count(*) FROM transport_messages"


def make_events(secret: str, people: int) -> list[bytes]:
    """A message of each of some people, as the platform reports it."""
    headers = {SECRET: secret}
    requests = []
    for number in range(people):
        event = Incoming(
            event_id=NUMBER.decode(),
            conversation=f"chat-{number}",
            sender=f"person-{number}",
            event=TextMessage(text="x" * 264, message_ref=f"m{NUMBER.decode()}"),
        )
        body = msgspec.json.encode((event,))
        requests.append(request("POST", "/transports/pigeon/events", headers, body))
    return requests


@contextmanager
def serving(folder: Path, program: str, platform: PigeonPlatform) -> Iterator[Server]:
    """A desk in a process of its own."""
    site = folder / "site"
    site.mkdir(parents=True, exist_ok=True)
    (site / "about.md").write_text("# About\n\nWe sell books.\n", encoding="utf-8")
    (site / "desk.toml").write_text(platform.settings, encoding="utf-8")
    os.environ.update(platform.environment)
    port = free_port()
    settings = (*SETTINGS, "egress.allow_loopback=true")
    command = desk_command(folder / "data", port, *settings, folder=site)
    command[command.index("aitp_desk")] = program
    with serving_process(command, port, log=folder / "desk.log") as server:
        yield server


class Measured(msgspec.Struct, frozen=True):
    """A round, in messages a second.

    Parameters:
        acknowledged: events.
        handled: events that have become messages.
        plain_us, with_run_us, handled_us: processor time of a message, in microseconds.
    """

    plain: float
    with_run: float
    acknowledged: float
    handled: float
    plain_us: float
    with_run_us: float
    handled_us: float


def measure(
    server: Server, data: Path, requests: dict[str, list[bytes]], seconds: float
) -> Measured:
    """Measure one round."""
    rates: dict[str, float] = {}
    for name in ("plain", "with_run"):
        used = server.cpu_seconds()
        sent = _load(server, requests[name], seconds)
        rates[name] = sent.rate
        rates[f"{name}_us"] = (server.cpu_seconds() - used) * 1e6 / sent.answered
    before, used = _count(data), server.cpu_seconds()
    began = time.perf_counter()
    report = _load(server, requests["events"], seconds)
    overhead = time.perf_counter() - began - seconds  # the start of the load's process
    until = time.monotonic() + SECONDS
    while _count(data) - before < report.answered and time.monotonic() < until:
        time.sleep(0.01)
    took = time.perf_counter() - began - overhead
    count = _count(data) - before
    return Measured(
        **rates,
        acknowledged=report.rate,
        handled=count / took,
        handled_us=(server.cpu_seconds() - used) * 1e6 / count,
    )


def _load(server: Server, requests: list[bytes], seconds: float) -> Report:
    first = time.monotonic_ns() // 1000 % 10**9
    report = run_load(Plan(server.port, requests, seconds, connections=32, first=first))
    if set(report.statuses) != {"200"}:
        raise SystemExit(f"The desk answered {report.statuses}.")
    return report


def _count(data: Path) -> int:
    with closing(sqlite3.connect(f"file:{data / DATABASE}?mode=ro", uri=True)) as connection:
        ((count,),) = connection.execute(HANDLED)
        return int(count)


async def measure_round_trips(platform: PigeonPlatform, url: str) -> list[float]:
    """Measure the seconds from an event to its answer."""
    platform.desk = url
    times = []
    for number in range(ROUND_TRIPS):
        began = time.perf_counter()
        await platform.write("ada", f"Question {number}?")
        while len(platform.sent) <= number:  # noqa: ASYNC110 -- another server's
            await asyncio.sleep(0.001)
        times.append(time.perf_counter() - began)
    return times


async def report(rounds: int, seconds: float, people: int) -> None:
    """Print the figures."""
    platform = PigeonPlatform()
    await platform.server.start_server()
    secret = platform.environment["PIGEON_SECRET"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = []
        with serving(folder / "silent", SILENT, platform) as server:
            key = await asyncio.to_thread(make_token, folder / "silent/data")
            requests = {
                "plain": await asyncio.to_thread(create, server.url, key),
                "with_run": await asyncio.to_thread(create_with_run, server.url, key),
                "events": make_events(secret, people),
            }
            for _ in range(rounds):
                args = (server, folder / "silent/data", requests, seconds)
                found.append(await asyncio.to_thread(measure, *args))
                print(msgspec.structs.asdict(found[-1]), flush=True)
        with serving(folder / "answering", ANSWERING, platform) as server:
            times = await measure_round_trips(platform, server.url)
    await platform.close()
    for name, shares in (
        ("acknowledged / plain", [one.acknowledged / one.plain for one in found]),
        ("handled / plain", [one.handled / one.plain for one in found]),
        ("handled / with a run", [one.handled / one.with_run for one in found]),
        ("work: plain / event", [one.plain_us / one.handled_us for one in found]),
        ("work: run / event", [one.with_run_us / one.handled_us for one in found]),
    ):
        print(f"{name:22}{median(shares):.2f} ({min(shares):.2f}-{max(shares):.2f})")
    times.sort()
    middle, late = times[len(times) // 2], times[len(times) * 95 // 100]
    print(f"event to answer       {middle * 1000:.0f} ms, 95 %: {late * 1000:.0f} ms")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bench.transports")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--people", type=int, default=THREADS)
    given = parser.parse_args()
    asyncio.run(report(given.rounds, given.seconds, given.people))
