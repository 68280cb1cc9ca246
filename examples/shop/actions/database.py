"""The shop's database: one file beside ``desk.toml``, made and filled when it is first used."""

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
"""Of the schema. An example keeps nothing: a database of another version is made anew."""
BUSY_SECONDS = 10
"""How long one waits for another who is writing."""


@contextmanager
def reading(now: datetime) -> Iterator[sqlite3.Connection]:
    """The database as it is at one moment."""
    with _opened(now) as shop:
        shop.execute("BEGIN")
        with shop:
            yield shop


@contextmanager
def changing(now: datetime) -> Iterator[sqlite3.Connection]:
    """The database for one who changes it: alone, and wholly or, where an error escapes, not."""
    with _opened(now) as shop:
        shop.execute("BEGIN IMMEDIATE")
        with shop:
            yield shop


@contextmanager
def _opened(now: datetime) -> Iterator[sqlite3.Connection]:
    # every call has a connection of its own: each is made in a thread of its own
    with closing(sqlite3.connect(DATABASE, BUSY_SECONDS, isolation_level=None)) as shop:
        shop.row_factory = sqlite3.Row
        shop.execute("PRAGMA foreign_keys = ON")
        if not _is_filled(shop):
            with suppress(sqlite3.OperationalError):  # another call is changing it right now
                shop.execute("PRAGMA journal_mode = WAL")  # nobody who reads waits for who writes
            shop.execute("PRAGMA foreign_keys = OFF")  # tables of before go in any order
            shop.execute("BEGIN IMMEDIATE")
            with shop:
                if not _is_filled(shop):  # else another call was first
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
    """Take away what a database of another version holds."""
    kept = shop.execute(
        "SELECT type, name FROM sqlite_schema"
        " WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
    )
    for row in kept.fetchall():
        shop.execute(f"DROP {row['type']} {row['name']}")
