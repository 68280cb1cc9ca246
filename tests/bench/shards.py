"""Which statements would go to one shard, if tables were distributed by the id of their thread.

    python -m tests.bench.shards [--messages 100000]

One PostgreSQL server stands in for several: every table whose rows name a thread is partitioned by
the hash of it, under the rule that sharded databases have too: a unique key has the distribution
key among its columns. Conversations are held there, a deletion is carried out, and then each named
statement is planned: it goes to one shard, or asks all of them. Nothing is said of speed.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from collections.abc import Iterator, Mapping
from typing import Any

import asyncpg

from aitp_desk.store.engine.postgres.store import PostgresStore
from tests.bench.plans import fill, plan_statements
from tests.bench.sizes import converse, drop
from tests.support.store.postgres import QUICK, postgres_server

SHARDS = 8
DISTRIBUTED = {
    "threads": "id",
    **dict.fromkeys(
        (
            "actors",
            "messages",
            "events",
            "runs",
            "sessions",
            "summaries",
            "grants",
            "notes",
            "thread_operators",
            "tasks",
            "countersignatures",
            "feedback",
        ),
        "thread_id",
    ),
}
"""The tables of which each row names a thread, and the column."""


async def distribute(connection: asyncpg.Connection, table: str, key: str) -> list[str]:
    """Partition a table that has no rows; return the unique keys that do not hold any more."""
    indexes = await connection.fetch(
        "SELECT i.relname AS name, x.indisprimary AS is_primary, x.indisunique AS is_unique,"
        " pg_get_indexdef(i.oid) AS made, (SELECT array_agg(a.attname::text ORDER BY a.attnum)"
        " FROM pg_attribute AS a WHERE a.attrelid = i.oid) AS columns"
        " FROM pg_index AS x JOIN pg_class AS i ON i.oid = x.indexrelid"
        " WHERE x.indrelid = $1::text::regclass",
        table,
    )
    await connection.execute(
        f"ALTER TABLE {table} RENAME TO {table}_whole;"
        f"CREATE TABLE {table} (LIKE {table}_whole INCLUDING DEFAULTS) PARTITION BY HASH ({key});"
        f"DROP TABLE {table}_whole"
    )
    for number in range(SHARDS):
        await connection.execute(
            f"CREATE TABLE {table}_s{number} PARTITION OF {table}"
            f" FOR VALUES WITH (MODULUS {SHARDS}, REMAINDER {number})"
        )
    lost = []
    for index in indexes:
        columns = index["columns"]
        holds = key in columns
        if index["is_primary"]:
            names = ", ".join([*([] if holds else [key]), *columns])
            await connection.execute(f"ALTER TABLE {table} ADD PRIMARY KEY ({names})")
            made = "" if holds else f"CREATE INDEX ON {table} ({', '.join(columns)})"
        else:
            made = re.sub(rf"ON (\w+\.)?{table}\b", f"ON {table}", index["made"])
            made = made if holds else made.replace("UNIQUE ", "")
        if made:
            await connection.execute(made)
        if not holds and index["is_unique"]:
            lost.append(f"{table} ({', '.join(columns)})")
    return lost


async def plan(connection: asyncpg.Connection) -> tuple[list[str], list[str]]:
    """Return the statements that ask one shard, and those that ask all."""
    one: list[str] = []
    all_: list[str] = []
    async for statement, plan in plan_statements(connection):
        asked: dict[str, set[str]] = {}
        for relation in _relations(plan):
            table, _, shard = relation.rpartition("_s")
            if table in DISTRIBUTED:
                asked.setdefault(table, set()).add(shard)
        if re.search(r"INSERT INTO (\w+)", statement.sql) and not asked:
            table = re.search(r"INSERT INTO (\w+)", statement.sql)[1]  # type: ignore[index]
            asked = {table: {"0"}} if table in DISTRIBUTED else {}
        if asked:
            (all_ if max(map(len, asked.values())) > 1 else one).append(statement.name)
    return one, all_


def _relations(node: Mapping[str, Any]) -> Iterator[str]:
    if "Relation Name" in node:
        yield node["Relation Name"]
    for inner in node.get("Plans", ()):
        yield from _relations(inner)


async def main(messages: int) -> None:
    """Distribute the tables of a database, use it, and print what was found."""
    with postgres_server(QUICK) as server:
        url = await server.begin()
        connection = await asyncpg.connect(url)
        lost = []
        for table, key in DISTRIBUTED.items():
            lost += await distribute(connection, table, key)
        print(f"unique no more: {'; '.join(lost)}")
        async with PostgresStore.open(url, {}) as store:
            threads = await converse(store, 64)
            await drop(store, threads[:32])
        left = await connection.fetchval("SELECT count(*) FROM messages WHERE content IS NOT NULL")
        print(f"64 threads held, 32 deleted: {left} messages left")
        for table in DISTRIBUTED:
            await connection.execute(f"TRUNCATE {table}")
        await connection.execute("TRUNCATE idempotency")
        await fill(connection, messages)
        one, all_ = await plan(connection)
        print(f"{len(one)} statements ask one shard, {len(all_)} ask all: {', '.join(all_)}")
        await connection.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
    asyncio.run(main(parser.parse_args().messages))
