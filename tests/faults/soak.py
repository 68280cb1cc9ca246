"""Use a desk at a steady rate for an hour, and see whether anything grows that should not.

    python -m tests.faults.soak [--minutes 60] [--every 5] [--pause 4] [--seed 1] [--postgres]

A process serves an SQLite file, or two workers serve a PostgreSQL database. Clients post, ask, call
actions, pay and follow threads, each with a pause after each answer; threads that are no longer
used are deleted. Every few minutes a line shows the memory, open files and threads of the
processes, and the size of the database with its dead rows. At last what is held in the last quarter
is compared with the second one, and nothing may have been refused or skipped.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType

import aiohttp
import msgspec

from tests.faults.checks.ledger import Ledger
from tests.faults.databases import FaultDatabase, fault_database, open_fault_store
from tests.faults.kill_under_load import make_site
from tests.faults.processes.callers import Calls, call, hearing
from tests.faults.processes.clients import talk
from tests.faults.processes.followers import Followers
from tests.money.market.process import fund
from tests.money.market.trade import Trade
from tests.support.access.keys import make_key
from tests.support.desk.processes import Server, desk_command, free_port, serving_process

SETTINGS = ("threads.max_auto_replies=1000000", "egress.allow_loopback=true")
KEPT_THREADS = 40
"""So many of the newest threads are not deleted."""
FOLLOW_SECONDS = 20.0
MOST_GROWTH = 1.10
"""By so much the last quarter may exceed the second one."""


class Sample(msgspec.Struct, frozen=True):
    """What is held at one moment.

    Parameters:
        memory: of all workers, in MiB.
        files: open files of all workers.
        threads: threads of all workers.
        size: of the tables with their indexes, in MiB.
        live, dead: rows of all tables.
    """

    memory: float
    files: int
    threads: int
    size: float
    live: int
    dead: int


MEASURES: Mapping[str, Callable[[Sample], float]] = MappingProxyType(
    {
        "memory": lambda one: one.memory,
        "files": lambda one: one.files,
        "threads": lambda one: one.threads,
        "dead rows of one that lives": lambda one: one.dead / max(one.live, 1),
        "bytes of a row": lambda one: one.size * 2**20 / max(one.live, 1),
    }
)
"""What should not grow."""


async def soak(
    folder: Path, *, minutes: float, every: float, pause: float, seed: int, on_postgres: bool
) -> bool:
    """Use a desk, print what it holds, and return whether nothing grew and nothing failed."""
    chance = random.Random(seed)
    ledger, calls, followers = Ledger(chance), Calls(chance, 0), Followers(chance)
    samples: list[Sample] = []
    with ExitStack() as stack:
        data, port = folder / "data", free_port()
        database = stack.enter_context(fault_database(folder, data, on_postgres=on_postgres))
        await database.begin()
        async with open_fault_store(database.url, data) as store:
            key = await make_key(store, data, "actions")
            payer = await make_key(store, data, "actions", "threads", name="payer")
        settings = (*SETTINGS, f"store.url={database.url}")
        command = desk_command(data, port, *settings, folder=make_site(folder))
        command += ["--workers", "2"] * on_postgres
        server = stack.enter_context(serving_process(command, port, log=folder / "desk.log"))
        trade = Trade(chance, {"Authorization": f"Bearer {payer}"})
        await fund(server.url, trade.credentials, data, database)
        over = asyncio.Event()
        async with hearing(calls) as told_at, asyncio.TaskGroup() as group:
            group.create_task(talk(server.url, ledger, over, pause))
            group.create_task(call(server.url, key, told_at, calls, over, pause))
            group.create_task(trade.buy(server.url, over, pause))
            group.create_task(_follow(server.url, ledger, followers, over))
            group.create_task(_delete(server.url, ledger, over))
            ends_at = time.monotonic() + 60 * minutes
            while time.monotonic() < ends_at:
                await asyncio.sleep(60 * every)
                samples.append(await _sample(server, database))
                print(
                    f"{len(ledger.said)} messages, {len(calls.notes)} calls,"
                    f" {len(trade.payers.bought)} quotes, {followers.count} events:"
                    f" {_told(samples[-1])}",
                    flush=True,
                )
            over.set()
        for name, size, live, dead in (await database.sizes())[:10]:
            print(f"  {name:20} {size / 2**20:8.1f} MiB {live:8} live {dead:8} dead")
    return _judge(
        samples,
        {
            "refused": ledger.refused + calls.refused + len(trade.payers.refusals),
            "cut off": len(ledger.unsettled) + trade.payers.cut_off,
            **msgspec.structs.asdict(followers.findings),
        },
    )


async def _follow(url: str, ledger: Ledger, followers: Followers, over: asyncio.Event) -> None:
    """Follow other threads every few seconds."""
    while not over.is_set():
        turn = asyncio.Event()
        asyncio.get_running_loop().call_later(FOLLOW_SECONDS, turn.set)
        await followers.follow(url, ledger.threads[-KEPT_THREADS // 2 :], turn)


async def _delete(url: str, ledger: Ledger, over: asyncio.Event) -> None:
    """Delete the oldest threads that are no longer used."""
    async with aiohttp.ClientSession(url) as web:
        while not over.is_set():
            await asyncio.sleep(1)
            while len(ledger.threads) > KEPT_THREADS:
                thread = ledger.threads.pop(0)
                async with web.delete(f"/v1/threads/{thread}") as response:
                    ledger.refused += response.status != 200


async def _sample(server: Server, database: FaultDatabase) -> Sample:
    tables = await database.sizes()
    memory, files, threads = _held(server)
    return Sample(
        memory=memory,
        files=files,
        threads=threads,
        size=sum(size for _, size, _, _ in tables) / 2**20,
        live=sum(live for _, _, live, _ in tables),
        dead=sum(dead for _, _, _, dead in tables),
    )


def _held(server: Server) -> tuple[float, int, int]:
    """Return the memory in MiB, open files and threads of all workers."""
    folders = [Path(f"/proc/{pid}") for pid in server.workers()]
    pages = sum(int((one / "statm").read_text().split()[1]) for one in folders)
    files = sum(len(list((one / "fd").iterdir())) for one in folders)
    threads = sum(len(list((one / "task").iterdir())) for one in folders)
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20, files, threads


def _judge(samples: list[Sample], faults: dict[str, int]) -> bool:
    """Print and return whether the last quarter holds no more than the second one."""
    quarter = max(1, len(samples) // 4)
    is_flat = True
    for name, value in MEASURES.items():
        second, last = (
            statistics.mean(value(sample) for sample in part)
            for part in (samples[quarter : 2 * quarter] or samples, samples[-quarter:])
        )
        print(f"{name}: {second:.3g} in the second quarter, {last:.3g} in the last one")
        is_flat &= last <= second * MOST_GROWTH
    print(", ".join(f"{name} {count}" for name, count in faults.items()))
    return is_flat and not any(faults.values())


def _told(sample: Sample) -> str:
    return (
        f"{sample.memory:.0f} MiB, {sample.files} files, {sample.threads} threads; tables"
        f" {sample.size:.1f} MiB, {sample.live} rows, {sample.dead} dead"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.faults.soak")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--every", type=float, default=5, help="minutes between two lines")
    parser.add_argument("--pause", type=float, default=4, help="seconds after each answer")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--postgres", action="store_true", help="on a PostgreSQL server")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="aitp-desk-soak-") as place:
        kept = asyncio.run(
            soak(
                Path(place),
                minutes=given.minutes,
                every=given.every,
                pause=given.pause,
                seed=given.seed,
                on_postgres=given.postgres,
            )
        )
    sys.exit(0 if kept else 1)
