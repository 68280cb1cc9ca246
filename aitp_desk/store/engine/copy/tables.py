"""Lists the tables of a store, and how a copy reads and writes them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import cache
from typing import Protocol

import msgspec

from aitp_desk.store.base import Reader, Row
from aitp_desk.store.engine.migration import migrate

ROWS_AT_ONCE = 500
LARGE = {"file_parts": 8}
"""How many rows at once of a table whose rows are large."""


class Table(msgspec.Struct, frozen=True):
    """A table that both engines have.

    Parameters:
        key: the positions of the primary key's columns among the columns, in the key's order.
    """

    name: str
    columns: tuple[str, ...]
    key: tuple[int, ...]

    @property
    def rows_at_once(self) -> int:
        """How many rows are read and written together."""
        return LARGE.get(self.name, ROWS_AT_ONCE)

    def key_of(self, row: Row) -> Row:
        """Return the primary key of a row."""
        return tuple(row[position] for position in self.key)

    def select(self, marks: Sequence[str]) -> str:
        """Return the statement for rows in the order of their keys.

        Parameters:
            marks: of the parameters: those of the key after which the rows are, if any, and of
                the number of rows.
        """
        columns, key = ", ".join(self.columns), self.key_columns
        *after, limit = marks
        later = f" WHERE ({key}) > ({', '.join(after)})" if after else ""
        return f"SELECT {columns} FROM {self.name}{later} ORDER BY {key} LIMIT {limit}"  # noqa: S608

    def insert(self, marks: Sequence[str]) -> str:
        """Return the statement that inserts a row; ``marks`` are those of the parameters."""
        columns = ", ".join(self.columns)
        return f"INSERT INTO {self.name} ({columns}) VALUES ({', '.join(marks)})"  # noqa: S608

    @property
    def key_columns(self) -> str:
        """The columns of the primary key."""
        return ", ".join(self.columns[position] for position in self.key)


class Reference(msgspec.Struct, frozen=True):
    """Columns of a table that name rows of another, or of the same.

    Parameters:
        columns: those that refer, with those that they refer to.
    """

    table: str
    parent: str
    columns: tuple[tuple[str, str], ...]

    @property
    def broken(self) -> str:
        """What is said of a row that refers to none."""
        return f"a row of {self.table} refers to a missing row of {self.parent}"

    @property
    def select_broken(self) -> str:
        """The statement that asks whether a row refers to none."""
        refers = " AND ".join(f"child.{own} IS NOT NULL" for own, _ in self.columns)
        equal = " AND ".join(f"parent.{key} = child.{own}" for own, key in self.columns)
        return (
            f"SELECT EXISTS (SELECT 1 FROM {self.table} AS child WHERE {refers} AND NOT EXISTS"  # noqa: S608
            f" (SELECT 1 FROM {self.parent} AS parent WHERE {equal}))"
        )


class CopyReader(Reader, Protocol):
    """Reads a copy before it is finished."""

    async def damage(self) -> tuple[str, ...]:
        """Return what the engine itself reports as damaged."""


class RowSource(Protocol):
    """Reads whole tables of one moment, and lets nobody write meanwhile."""

    async def check_lock(self) -> None:
        """Fail if the lock was lost, and a desk may have written meanwhile.

        Raises:
            StoreError: the lock was lost.
        """

    async def count(self, table: Table) -> int:
        """Return the number of rows."""

    async def rows_after(self, table: Table, key: Row | None) -> list[Row]:
        """Return the next rows after a key, by key; none after the last."""


class RowTarget(RowSource, Protocol):
    """Takes rows into a database that no desk serves before the copy is finished."""

    @property
    def began(self) -> int:
        """When the copy was begun, in Unix seconds; the same after an interruption."""

    async def last_key(self, table: Table) -> Row | None:
        """Return the key of the last row; None if there is none."""

    async def insert(self, table: Table, rows: list[Row]) -> None:
        """Insert rows, all or none."""

    async def clear(self, table: Table) -> None:
        """Delete all rows."""

    async def reader(self) -> CopyReader:
        """Return what reads the copy, whether finished or not."""

    async def finish(self) -> None:
        """Make the database one that a desk may serve."""


@cache
def load_tables() -> tuple[Table, ...]:
    """Return the tables in the order in which they are copied."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        migrate(database, now=0)
        names = database.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'migrations'"
            " ORDER BY name"
        )
        return tuple(_read_table(database, name) for (name,) in names.fetchall())


@cache
def load_references() -> tuple[Reference, ...]:
    """Return the references that the schema of SQLite declares."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        migrate(database, now=0)
        found: dict[tuple[str, str, int], tuple[tuple[str, str], ...]] = {}
        for table in load_tables():
            listed = database.execute(f"PRAGMA foreign_key_list({table.name})").fetchall()
            for number, _, parent, own, key, *_ in listed:
                name = (table.name, parent, number)
                found[name] = (*found.get(name, ()), (own, key))
    return tuple(Reference(*name[:2], columns) for name, columns in found.items())


def _read_table(database: sqlite3.Connection, name: str) -> Table:
    info = database.execute(f"PRAGMA table_info({name})").fetchall()
    key = sorted((place, position) for position, *_, place in info if place)
    return Table(name, tuple(row[1] for row in info), tuple(position for _, position in key))
