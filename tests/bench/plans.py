"""Which statements PostgreSQL would answer by walking through a table that grows.

    python -m tests.bench.plans [--messages 10000000]

Fills every table that grows with the number of conversations, in proportion to the messages, and
has the server plan each named statement for parameters that few rows fit. Printed are those that
walk all the same, how large each table and its indexes are, and how long retention takes with and
without parts of tables. What real conversations take is measured by ``tests.bench.sizes``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import time
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import suppress
from typing import Any

import asyncpg
import msgspec

from aitp_desk.store.engine.postgres.statements import Statement, load_postgres_statements
from tests.support.store.postgres import QUICK, postgres_server

SHARES = {
    "messages": 1.0,
    "events": 0.5,
    "runs": 0.3,
    "threads": 0.1,
    "actors": 0.1,
    "idempotency": 0.1,
    "audit": 0.1,
    "sessions": 0.05,
    "folded_turns": 0.05,
    "steps": 0.05,
    "calls": 0.05,
    "jobs": 0.02,
    "files": 0.01,
    "file_parts": 0.01,
    "tickets": 0.01,
    "summaries": 0.01,
    "notes": 0.01,
    "feedback": 0.01,
    "grants": 0.01,
    "tasks": 0.01,
    "task_turns": 0.01,
    "sealed_values": 0.01,
    "capability_records": 0.01,
}
"""Rows of each table that grows, to one message."""
FEWEST = 5_000
VALUES = {
    ("messages", "thread_id"): "'thread_' || i / 10",
    ("messages", "seq"): "i % 10 + 1",
    ("messages", "origin"): "(ARRAY['visitor', 'desk'])[i % 2 + 1]",
    ("messages", "metadata"): "'{}'",
    ("messages", "run_id"): "'run_' || i / 3",
    ("events", "thread_id"): "'thread_' || i / 5",
    ("events", "n"): "i % 5 + 1",
    ("threads", "id"): "'thread_' || i",
    ("threads", "parent_seq"): "NULL",
    ("threads", "deleted_at"): "NULL",
    ("threads", "desk"): "''",
    ("threads", "owner"): "CASE WHEN i % 3 = 0 THEN 'key:' || i % 1000 END",
    ("runs", "id"): "'run_' || i",
    ("runs", "thread_id"): "'thread_' || i / 3",
    ("runs", "state"): "'completed'",
    ("runs", "lease_until"): "NULL",
    ("runs", "attempts_before"): "0",
    ("calls", "state"): "'succeeded'",
    ("calls", "answer"): "NULL",
    ("calls", "desk"): "''",
    ("jobs", "state"): "'done'",
    ("jobs", "lease_until"): "NULL",
    ("tickets", "state"): "'answered'",
    ("audit", "n"): "i",
    ("folded_turns", "thread_id"): "'thread_' || lpad(i::text, 36, '0')",
    ("folded_turns", "turn"): "decode(repeat(md5(i::text), 38), 'hex')",
}
"""Values of columns by which statements choose; others are as different as they can be."""
BY_TYPE = {
    "text": "md5('{column}' || i)",
    "int8": "i",
    "bytea": "decode(md5('{column}' || i), 'hex')",
}


FEW = {"int8": "50", "int4": "50", "text": "'thread_50'", "bytea": "'\\x00'", "bool": "true"}
"""Parameters by type: fifty rows, what was before the fiftieth second, one thread."""


class Walk(msgspec.Struct, frozen=True, order=True):
    """A statement that walks through a table that grows."""

    statement: str
    table: str


async def fill(connection: asyncpg.Connection, messages: int) -> None:
    """Fill the tables that grow, and have the server count what is in them."""
    await connection.execute("SET session_replication_role = replica")
    for table, share in SHARES.items():
        rows = await connection.fetch(
            "SELECT column_name, udt_name FROM information_schema.columns"
            " WHERE table_schema = current_schema() AND table_name = $1",
            table,
        )
        values = [
            VALUES.get((table, column), BY_TYPE[kind].format(column=column))
            for column, kind in rows
        ]
        columns = ", ".join(column for column, _ in rows)
        last = max(FEWEST, int(messages * share))
        await connection.execute(
            f"INSERT INTO {table} ({columns})"
            f" SELECT {', '.join(values)} FROM generate_series(1, {last}) AS i"
        )
    await connection.execute("VACUUM ANALYZE")


async def find_walks(connection: asyncpg.Connection) -> list[Walk]:
    """Plan every statement for a few rows, and return those that walk through what grows."""
    walks: set[Walk] = set()
    async for statement, plan in plan_statements(connection):
        walks |= {Walk(statement.name, table) for table in _walked(plan)}
    return sorted(walks)


async def plan_statements(
    connection: asyncpg.Connection,
) -> AsyncGenerator[tuple[Statement, Mapping[str, Any]], None]:
    """Plan every statement for a few rows."""
    await connection.execute("SET plan_cache_mode = force_custom_plan")
    for statement in load_postgres_statements().values():
        kinds = (await connection.prepare(statement.sql)).get_parameters()
        values = ", ".join(FEW[kind.name] for kind in kinds)
        await connection.execute(f"PREPARE planned AS {statement.sql}")
        plan = await connection.fetchval(
            f"EXPLAIN (FORMAT JSON) EXECUTE planned{f'({values})' if values else ''}"
        )
        await connection.execute("DEALLOCATE planned")
        yield statement, json.loads(plan)[0]["Plan"]


def _walked(node: Mapping[str, Any]) -> Iterator[str]:
    if node["Node Type"] == "Seq Scan":
        table = re.sub(r"_[0-9]+$", "", node["Relation Name"])
        if table in SHARES:
            yield table
    for inner in node.get("Plans", ()):
        yield from _walked(inner)


class Retention(msgspec.Struct):
    """How retention empties a table.

    Parameters:
        drop: a statement that deletes some rows, or drops parts; it returns a number of rows, or
            the number of the last one.
        further: a statement that adds a row two days after all others.
    """

    drop: str
    further: str


RETENTION = {
    "folded_turns": Retention(
        "SELECT drop_old_folded('thread_1', {since}, {most})",
        "INSERT INTO folded_turns VALUES ('thread_0' || repeat('9', 35), NULL, {later}, '')",
    ),
    "audit": Retention(
        "SELECT drop_audit((SELECT last_n FROM cut_audit({since}, {most})))",
        "INSERT INTO audit VALUES ({last} + 1, {later}, '', '', '', '', '', 1, '')",
    ),
}
BATCHES = 20
DAY = 86_400


async def time_retention(connection: asyncpg.Connection, table: str) -> Iterator[str]:
    """Delete rows by themselves, cut the table, drop what was cut; return how long each took."""
    how = RETENTION[table]
    await connection.execute("SET session_replication_role = replica")  # nothing is noted here
    rows, last = await connection.fetchrow(
        f"SELECT count(*), max({'last_at' if table == 'folded_turns' else 'at'}) FROM {table}"
    )
    names = {"last": last, "later": last + 3 * DAY}
    most = 100 if table == "folded_turns" else 1000
    await connection.execute(f"SET aitp_desk.part_bytes = {2**40}")
    lines = []
    seconds = 0.0
    for _ in range(BATCHES):
        seconds += await _seconds(connection, how.drop.format(since=last, most=most))
    each = seconds / BATCHES
    lines.append(f"{table}: {most} rows deleted in {1e3 * each:.1f} ms")
    size = await connection.fetchval(f"SELECT pg_table_size('{table}_1')")
    await connection.execute(f"SET aitp_desk.part_bytes = {size // 20}")
    cut = await _seconds(connection, how.drop.format(since=0, most=most))
    await connection.execute(how.further.format(**names))
    dropped = await _seconds(connection, how.drop.format(since=last + 1, most=most))
    left = await connection.fetchval(f"SELECT count(*) FROM {table}")
    lines.append(
        f"{table}: {rows} rows, {size / 2**20:.0f} MiB, cut in {1e3 * cut:.0f} ms, dropped in"
        f" {1e3 * dropped:.0f} ms, {left} left; deleted it would take {rows / most * each:.0f} s"
    )
    return iter(lines)


async def _seconds(connection: asyncpg.Connection, sql: str) -> float:
    began = time.perf_counter()
    await connection.fetch(sql)
    return time.perf_counter() - began


async def main(messages: int) -> None:
    """Fill a database and print what was found."""
    with postgres_server(QUICK) as server:
        connection = await asyncpg.connect(await server.begin())
        began = time.perf_counter()
        await fill(connection, messages)
        print(f"filled in {time.perf_counter() - began:.0f} s")
        for walk in await find_walks(connection):
            print(f"{walk.statement} walks through {walk.table}")
        for table in SHARES:
            rows, size, indexes = await connection.fetchrow(
                "SELECT sum(greatest(reltuples, 0))::bigint, sum(pg_table_size(oid))::bigint,"
                " sum(pg_indexes_size(oid))::bigint FROM pg_class WHERE relkind = 'r'"
                " AND (relname = $1 OR relname ~ ($1 || '_[0-9]+$'))",
                table,
            )
            print(f"{table}: {rows} rows, {size / 2**20:.0f} MiB, indexes {indexes / 2**20:.0f}")
        for table in RETENTION:
            for line in await time_retention(connection, table):
                print(line)
        with suppress(asyncpg.PostgresError):
            await connection.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bench.plans")
    parser.add_argument("--messages", type=int, default=10_000_000)
    asyncio.run(main(parser.parse_args().messages))
