"""Copies a PostgreSQL database into an SQLite file, row by row, to compare and check it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import asyncpg

from aitp_desk.store.engine.postgres.texts import decode_row
from tests.support.desk.first_start import begin_database
from tests.support.store.postgres import list_filled


async def copy_rows(url: str, path: Path) -> None:
    """Put every row into a database file that is not there yet; triggers count nothing anew."""
    begin_database(path)
    connection = await asyncpg.connect(url)
    with closing(sqlite3.connect(path)) as database, database:
        for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'"):
            database.execute(f"DROP TRIGGER {name}")
        tables = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        filled = await list_filled(connection)
        for (table,) in tables:
            if table == "migrations":
                continue
            database.execute(f"DELETE FROM {table}")
            if table not in filled:
                continue
            names = [name for _, name, *_ in database.execute(f"PRAGMA table_info({table})")]
            columns, marks = ", ".join(names), ", ".join("?" * len(names))
            found = await connection.fetch(f"SELECT {columns} FROM {table}")
            database.executemany(
                f"INSERT INTO {table} ({columns}) VALUES ({marks})", map(decode_row, found)
            )
    await connection.close()
