"""Databases of earlier versions: their schema, with the rows of a database of this version.

A row keeps the columns that its table had then. What this version dropped since is empty or 0.
"""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import asyncpg

from aitp_desk.store.engine.migration import POSTGRES_SCHEMA, SCHEMA, migrate
from aitp_desk.store.engine.postgres import migration as postgres

EMPTY: dict[str, object] = {"TEXT": "", "INTEGER": 0, "BLOB": b""}
RUNS_AS_JOBS = {"kind": "run"}
"""What the first schemas wrote into each run, which were the only jobs."""


class EarlierRows(NamedTuple):
    """Rows for a table of an earlier schema."""

    table: str
    columns: tuple[str, ...]
    rows: list[tuple[object, ...]]


def first_files(number: int, into: Path, schema: Path = SCHEMA) -> Path:
    """Copy the first files of a schema into a new folder, and return that."""
    into.mkdir()
    for path in sorted(schema.glob("*.sql"))[:number]:
        shutil.copy(path, into)
    return into


def make_earlier(number: int, rows_of: Path, path: Path) -> None:
    """Make an SQLite database of the schema of a number, with another database's rows."""
    folder = first_files(number, path.with_name("schema"))
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        migrate(database, now=int(time.time()), folder=folder)
        database.execute("BEGIN")  # without foreign keys: the order of tables does not matter
        for table, columns, rows in list_rows(rows_of, database):
            database.execute(f"DELETE FROM {table}")
            marks = ", ".join("?" * len(columns))
            database.executemany(
                f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows
            )
        database.execute("COMMIT")


async def make_earlier_postgres(number: int, rows_of: Path, url: str, folder: Path) -> None:
    """Make an empty PostgreSQL database one of the schema of a number, with SQLite's rows."""
    connection = await asyncpg.connect(url)
    files = first_files(number, folder, POSTGRES_SCHEMA)
    await postgres.migrate(connection, now=int(time.time()), folder=files)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        for table, names in await _tables(connection):
            database.execute(f"CREATE TABLE {table} ({', '.join(names)})")
        async with connection.transaction():
            await connection.execute("SET LOCAL session_replication_role = replica")
            for table, columns, rows in list_rows(rows_of, database):
                await connection.execute(f"DELETE FROM {table}")
                marks = ", ".join(f"${n}" for n in range(1, len(columns) + 1))
                await connection.executemany(
                    f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows
                )
    await connection.close()


async def _tables(connection: asyncpg.Connection) -> list[tuple[str, list[str]]]:
    """Return the tables with their columns, as SQLite declares these."""
    found = await connection.fetch(
        "SELECT t.relname, array_agg(a.attname || CASE WHEN a.attnotnull AND NOT a.atthasdef"
        " THEN ' ' || CASE a.atttypid::regtype::text WHEN 'bigint' THEN 'INTEGER'"
        " WHEN 'bytea' THEN 'BLOB' ELSE 'TEXT' END || ' NOT NULL' ELSE '' END ORDER BY a.attnum)"
        " FROM pg_class AS t JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum > 0"
        " WHERE t.relkind IN ('r', 'p') AND NOT t.relispartition AND NOT a.attisdropped"
        " AND t.relnamespace = current_schema()::regnamespace GROUP BY t.relname"
    )
    return [(name, list(columns)) for name, columns in found]


def list_rows(rows_of: Path, earlier: sqlite3.Connection) -> Iterator[EarlierRows]:
    """List the rows of a database for each table of an earlier schema that is still there."""
    tables = [
        name
        for (name,) in earlier.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        if name != "migrations"
    ]
    with closing(sqlite3.connect(rows_of)) as today:
        for table in tables:
            is_runs = table == "jobs" and "runs" not in tables
            source, fixed = ("runs", RUNS_AS_JOBS) if is_runs else (table, {})
            known = {row[1] for row in today.execute(f"PRAGMA table_info({source})")}
            given: dict[str, object] = dict(fixed)
            kept = []
            for _, name, kind, is_needed, default, _ in earlier.execute(
                f"PRAGMA table_info({table})"
            ):
                if name in known and name not in given:
                    kept.append(name)
                elif is_needed and default is None and name not in given:
                    given[name] = EMPTY[kind]
            if known and kept:
                found = today.execute(f"SELECT {', '.join(kept)} FROM {source}").fetchall()
                rows = [(*row, *given.values()) for row in found]
                yield EarlierRows(table, (*kept, *given), rows)
