"""What conversations take of a database, for each message: tables, indexes, write-ahead log.

    python -m tests.bench.sizes [--threads 4000] [--settings "-c …"]

Threads of ten messages of 300 characters each, every other one a reply of a run, with an
idempotency key for each message of a visitor; then as many sessions of one question. What is left
of the threads once they are deleted is measured at the end. PostgreSQL's log counts whole pages
after each checkpoint, as a server writes them; autovacuum looks every second.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import sqlite3
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from pathlib import Path

import asyncpg
import msgspec
import uvloop

from aitp_desk.model.conversation.thread import Draft, Thread
from aitp_desk.model.ids import new_id
from aitp_desk.store.base import Store
from aitp_desk.store.engine.postgres.store import PostgresStore
from aitp_desk.store.engine.sqlite import SqliteStore
from aitp_desk.store.records.runs import ClaimedRun
from aitp_desk.store.records.threads import IdempotencyRecord
from aitp_desk.store.units.privacy.retention import drop_old_events, drop_old_thread
from aitp_desk.store.units.runs.workers import claim_runs, finish_run
from aitp_desk.store.units.threads.threads import append_message, open_thread
from tests.bench.store import CALLERS, DESK, NOW, QUESTION, VISITOR, record, said
from tests.support.store.postgres import postgres_server

TURNS = 5
MESSAGES = 2 * TURNS
SETTINGS = "-c fsync=off -c synchronous_commit=off -c autovacuum_naptime=1s"
"""Nothing that changes what is written."""
FOLDED = "folded_turns"
MILLION = 1_000_000
WORDS = QUESTION[:300]


class Sizes(msgspec.Struct):
    """Bytes by table.

    Attributes:
        tables: with what is stored outside of their pages.
        log: bytes of the write-ahead log so far; 0 where it is written over.
        updates: how many rows were updated, and how many of these in their page alone.
    """

    tables: dict[str, int]
    indexes: dict[str, int]
    log: int = 0
    updates: dict[str, tuple[int, int]] = {}


_seconds = itertools.count(NOW)


async def converse(store: Store, threads: int) -> list[str]:
    """Hold whole conversations, some at a time; return the ids of their threads."""
    made: list[str] = []
    for _ in range(0, threads, CALLERS):
        made += await _hold([new_id("thread", next(_seconds)) for _ in range(CALLERS)], store)
    return made


async def _hold(threads: list[str], store: Store) -> list[str]:
    for id_ in threads:
        await store.run(
            open_thread,
            thread=Thread(id_, None, NOW, {}, (DESK,)),
            speaker="visitor",
            messages=(),
            run=None,
            idempotency=None,
            now=NOW,
        )
    for _ in range(TURNS):
        await asyncio.gather(*(_ask(store, id_, next(_seconds)) for id_ in threads))
        while taken := await _claim(store):
            await asyncio.gather(
                *(
                    store.run(finish_run, claim=held, replies=(said(WORDS, by_desk=True),), now=NOW)
                    for held in taken
                )
            )
    return threads


async def _claim(store: Store) -> tuple[ClaimedRun, ...]:
    claims = await store.run(
        claim_runs, worker="worker", now=NOW, lease_until=NOW + 30, limit=CALLERS
    )
    return claims.taken


async def _ask(store: Store, thread_id: str, now: int) -> None:
    await store.run(
        append_message,
        thread_id=thread_id,
        principal=VISITOR,
        draft=Draft("user", (WORDS,)),
        message_id=new_id("msg", now),
        salt=os.urandom(16),
        now=NOW,
        idle_before=0,
        run_id=new_id("run", now),
        max_auto_replies=10**9,
        capped=lambda: said("Enough.", by_desk=True),
        idempotency=IdempotencyRecord(f"thread {thread_id}", new_id("key", now), os.urandom(32)),
    )


async def drop(store: Store, threads: list[str]) -> None:
    """Delete threads as retention does, and what goes a day later."""
    for id_ in threads:
        await store.run(drop_old_thread, thread_id=id_, before=2 * NOW, now=NOW)
    while await store.run(drop_old_events, before=2 * NOW, now=NOW, limit=100):
        pass


Measure = Callable[[bool], Awaitable[Sizes]]
"""Measures a database, if asked to after freeing what is empty in it."""


async def measure_postgres(connection: asyncpg.Connection, is_freed: bool) -> Sizes:
    """Measure a database on a server; parts of tables count as their table."""
    if is_freed:
        await connection.execute("VACUUM FULL")
    rows = await connection.fetch(
        "SELECT regexp_replace(relname, '_[0-9]+$', ''), sum(pg_table_size(relid))::bigint,"
        " sum(pg_indexes_size(relid))::bigint, sum(n_tup_upd)::bigint, sum(n_tup_hot_upd)::bigint"
        " FROM pg_stat_user_tables GROUP BY 1"
    )
    log = await connection.fetchval("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")
    return Sizes(
        {name: size for name, size, *_ in rows},
        {name: size for name, _, size, *_ in rows},
        int(log),
        {name: (all_, hot) for name, *_, all_, hot in rows},
    )


async def measure_sqlite(path: Path, is_freed: bool) -> Sizes:
    """Measure a file."""
    with closing(sqlite3.connect(path)) as connection:
        if is_freed:
            connection.execute("VACUUM")
        found = connection.execute(
            "SELECT s.tbl_name, s.type, sum(d.pgsize) FROM dbstat AS d"
            " JOIN sqlite_schema AS s ON s.name = d.name GROUP BY 1, 2"
        ).fetchall()
    tables, indexes = (
        {name: size for name, type_, size in found if type_ == kind} for kind in ("table", "index")
    )
    return Sizes(tables, indexes)


async def compare(store: Store, measure: Measure, threads: int) -> Iterator[str]:
    """Fill a database, and return what each step has taken."""
    empty = await measure(True)
    made = await converse(store, threads)
    held = await measure(False)
    lines = [_told("a message of a conversation", empty, held, len(made) * MESSAGES)]
    for name, (all_, hot) in sorted(held.updates.items()):
        if all_ > len(made):
            lines.append(f"  {name}: {all_} updates, {100 * hot / all_:.0f} % in their page alone")
    by_size = sorted(held.tables, key=lambda name: -held.tables[name])
    for name in by_size[:6]:
        table, index = (
            (of.get(name, 0) - before.get(name, 0)) / len(made) / MESSAGES
            for of, before in ((held.tables, empty.tables), (held.indexes, empty.indexes))
        )
        lines.append(f"  {name}: {table:.0f} + {index:.0f} bytes for each message")
    before = await measure(False)
    await record(store, threads)
    lines.append(_told("a session of one question", before, await measure(False), threads))
    await drop(store, made)
    freed = await measure(True)
    for of in (freed.tables, freed.indexes, empty.tables, empty.indexes):
        of.pop(FOLDED, None)
        of.pop("idempotency", None)  # a day's
    lines.append(_told("a message of a deleted thread", empty, freed, len(made) * MESSAGES))
    return iter(lines)


def _told(what: str, before: Sizes, after: Sizes, number: int) -> str:
    table, index = (
        (sum(now.values()) - sum(then.values())) / number
        for now, then in ((after.tables, before.tables), (after.indexes, before.indexes))
    )
    log = (after.log - before.log) / number
    return (
        f"{what}: {table:.0f} bytes of tables, {index:.0f} of indexes, {log:.0f} of log;"
        f" a million: {(table + index) * MILLION / 1e9:.2f} GB and {log * MILLION / 1e9:.2f} GB"
    )


async def main(threads: int, settings: str) -> None:
    with tempfile.TemporaryDirectory() as folder, postgres_server(settings) as server:
        path = Path(folder) / "desk.db"
        async with SqliteStore.open(path, synchronous="normal") as store:
            print("SQLite")
            for line in await compare(store, lambda freed: measure_sqlite(path, freed), threads):
                print(line)
        url = await server.begin()
        connection = await asyncpg.connect(url)
        async with PostgresStore.open(url, {}) as store:
            print("PostgreSQL")
            measure = lambda freed: measure_postgres(connection, freed)  # noqa: E731
            for line in await compare(store, measure, threads):
                print(line)
        await connection.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=4000)
    parser.add_argument("--settings", default=SETTINGS)
    options = parser.parse_args()
    uvloop.run(main(options.threads, options.settings))
