"""How fast the store writes, as a share of the bare floor of the same run.

    python -m tests.bench.store [--rounds 5] [--units 10000]

The floor is ``executemany`` of message rows in commits of 32, with the same pragmas, table and
indexes. Units are written by 32 callers at once, each waiting for its commit, so that 32 commit
together; records are handed over without being waited for.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import uvloop

from aitp_desk.model.access.principal import make_anonymous
from aitp_desk.model.conversation.thread import Actor, Draft, Origin, Thread
from aitp_desk.model.ids import new_id
from aitp_desk.store.base import Store
from aitp_desk.store.engine.migration import migrate
from aitp_desk.store.engine.sqlite import SqliteStore
from aitp_desk.store.engine.statements import load_statements
from aitp_desk.store.records.threads import FoldedTurn, IdempotencyRecord, NewMessage
from aitp_desk.store.units.threads.folded_threads import fold_turn, write_turn
from aitp_desk.store.units.threads.threads import append_message, open_thread

CALLERS = 32
NOW = 1_800_000_000
DESK = Actor("https://desk.example/agent")
VISITOR = make_anonymous("192.0.2.1")
QUESTION = "What is your return policy for tents that were pitched once? " * 5
WITHOUT_END = 10**9
TURN = FoldedTurn(
    owner=None,
    opened_at=NOW,
    last_at=NOW,
    recorded_at=NOW,
    seed=bytes(32),
    visitor="visitor",
    desk=DESK.id,
    capabilities=(),
    question=QUESTION,
    reply=(QUESTION,),
    notes={},
    pending=None,
)


def said(text: str, *, by_desk: bool = False) -> NewMessage:
    return NewMessage(
        new_id("msg", NOW),
        os.urandom(16),
        "assistant" if by_desk else "user",
        DESK.id if by_desk else "visitor",
        Origin.DESK if by_desk else Origin.VISITOR,
        (text,),
    )


def a_thread() -> Thread:
    return Thread(new_id("thread", NOW), None, NOW, {}, (DESK,))


async def append(store: Store, units: int, *, run: bool = False, once: bool = False) -> None:
    """Add messages to as many threads as there are callers."""
    threads = [a_thread() for _ in range(CALLERS)]
    for thread in threads:
        await store.run(
            open_thread,
            thread=thread,
            speaker="visitor",
            messages=(),
            run=None,
            idempotency=None,
            now=NOW,
        )
    capped = said("Enough.", by_desk=True)

    async def call(thread: Thread, numbers: Iterator[int]) -> None:
        for _ in numbers:
            await store.run(
                append_message,
                thread_id=thread.id,
                principal=VISITOR,
                draft=Draft("user", (QUESTION,)),
                message_id=new_id("msg", NOW),
                salt=os.urandom(16),
                now=NOW,
                idle_before=0,
                run_id=new_id("run", NOW) if run else None,
                max_auto_replies=WITHOUT_END,
                capped=lambda: capped,
                idempotency=IdempotencyRecord("visitor", new_id("key", NOW), bytes(32))
                if once
                else None,
            )

    numbers = iter(range(units))
    await asyncio.gather(*(call(thread, numbers) for thread in threads))


async def append_once_with_run(store: Store, units: int) -> None:
    """Add messages with an idempotency key that are to be answered."""
    await append(store, units, run=True, once=True)


async def record(store: Store, units: int) -> None:
    """Record first turns of query sessions: a thread, its session, two messages."""
    for number in range(units):
        store.record(
            fold_turn,
            thread_id=new_id("thread", NOW),
            session_id=new_id("session", NOW),
            last_at=NOW,
            turn=write_turn(TURN),
        )
        if number % CALLERS == 0:
            await asyncio.sleep(0)
        if number % 5000 == 0:
            await store.settled()
    await store.settled()


def floor(database: Path, units: int) -> None:
    """Write message rows and nothing else."""
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        migrate(connection, now=NOW)
        statement = load_statements("sqlite")["add_message"]
        for first in range(0, units, CALLERS):
            rows = [message_row(caller, first + 1) for caller in range(CALLERS)]
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(statement, rows)
            connection.execute("COMMIT")


def message_row(caller: int, number: int) -> dict[str, Any]:
    """Return the parameters of a message row of a caller's thread."""
    return {
        "id": new_id("msg", NOW),
        "thread_id": f"thread_{caller:036}",
        "seq": number,
        "event": number,
        "role": "user",
        "actor": "visitor",
        "origin": "visitor",
        "created_at": NOW,
        "content": f'["{QUESTION}"]',
        "attachments": "[]",
        "salt": os.urandom(16),
        "digest": os.urandom(32),
        "link": os.urandom(32),
        "metadata": "{}",
        "run_id": None,
        "principal": None,
    }


def measure(write: Callable[[], object], units: int) -> tuple[float, float]:
    """Return units a second and microseconds of CPU a unit."""
    cpu, clock = time.process_time(), time.perf_counter()
    write()
    clock, cpu = time.perf_counter() - clock, time.process_time() - cpu
    return units / clock, cpu / units * 1e6


def through_engine(
    database: Path, case: Callable[[Store, int], Awaitable[None]], units: int
) -> None:
    async def write() -> None:
        async with SqliteStore.open(database) as store:
            await case(store, units)

    uvloop.run(write())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--units", type=int, default=10_000)
    options = parser.parse_args()
    cases = (append, append_once_with_run, record)
    figures: dict[str, list[tuple[float, float, float]]] = {}
    for number in range(options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            at_floor, cpu = measure(
                partial(floor, Path(folder) / "floor.db", options.units), options.units
            )
            figures.setdefault("floor", []).append((at_floor, 1.0, cpu))
            for case in cases:
                database = Path(folder) / f"{case.__name__}.db"
                rate, cpu = measure(
                    partial(through_engine, database, case, options.units), options.units
                )
                figures.setdefault(case.__name__, []).append((rate, rate / at_floor, cpu))
        print(f"round {number + 1} of {options.rounds}", flush=True)
    for name, rounds in figures.items():
        rate, share, cpu = (statistics.median(values) for values in zip(*rounds, strict=True))
        print(f"{name:22} {rate:8,.0f} units/s  {share:5.2f} of the floor  {cpu:6.1f} us of CPU")


if __name__ == "__main__":
    main()
