"""The shop's database: one file next to ``desk.toml``, made on first use."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path

from .seeding import fill

DATABASE = Path(__file__).parent.parent / "shop.db"
SCHEMA = Path(__file__).with_name("schema.sql")
VERSION = 2
"""Version of the schema. A database of another version is made again: the example keeps no data."""
BUSY_SECONDS = 10
"""Maximum time to wait for another writer."""


@contextmanager
def reading(now: datetime) -> Iterator[sqlite3.Connection]:
    """Read a consistent snapshot of the database."""
    with _opened(now) as shop:
        shop.execute("BEGIN")
        with shop:
            yield shop


@contextmanager
def changing(now: datetime) -> Iterator[sqlite3.Connection]:
    """Change the database in one transaction; an exception undoes the change."""
    with _opened(now) as shop:
        shop.execute("BEGIN IMMEDIATE")
        with shop:
            yield shop


@contextmanager
def _opened(now: datetime) -> Iterator[sqlite3.Connection]:
    # each call runs in a new thread, so it needs a new connection
    with closing(sqlite3.connect(DATABASE, BUSY_SECONDS, isolation_level=None)) as shop:
        shop.row_factory = sqlite3.Row
        shop.execute("PRAGMA foreign_keys = ON")
        if not _is_filled(shop):
            with suppress(
                sqlite3.OperationalError
            ):  # another call is changing the database right now
                shop.execute("PRAGMA journal_mode = WAL")  # readers do not wait for the writer
            shop.execute(
                "PRAGMA foreign_keys = OFF"
            )  # drop tables of an earlier version in any order
            shop.execute("BEGIN IMMEDIATE")
            with shop:
                if not _is_filled(shop):  # otherwise another call was faster
                    _clear(shop)
                    for statement in SCHEMA.read_text("utf-8").split(";\n"):
                        shop.execute(statement)
                    fill(shop, now)
                    shop.execute(f"PRAGMA user_version = {VERSION}")
            shop.execute("PRAGMA foreign_keys = ON")
        yield shop


def _is_filled(shop: sqlite3.Connection) -> bool:
    return bool(shop.execute("PRAGMA user_version").fetchone()[0] == VERSION)


def _clear(shop: sqlite3.Connection) -> None:
    """Drop all tables of another version."""
    kept = shop.execute(
        "SELECT type, name FROM sqlite_schema"
        " WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
    )
    for row in kept.fetchall():
        shop.execute(f"DROP {row['type']} {row['name']}")
