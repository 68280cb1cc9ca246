"""Reads an SQLite store without creating, migrating or changing anything."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from aitp_desk.store.base import PAGE_BYTES, Params, Row, RowPage, StoreError
from aitp_desk.store.engine.migration import Migration, check_applied, load_migrations
from aitp_desk.store.engine.statements import load_statements
from aitp_desk.store.rows.pages import take_page

WAITS_SECONDS = 60
MOST_TOLD = 10
"""How many of the database's complaints are reported."""


class SqliteReader:
    """Reads a database, also while a desk writes to it. See ``base.Reader``.

    Parameters:
        connection: one that cannot write.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._statements = load_statements("sqlite")

    async def read(self, statement: str, params: Params, /) -> list[Row]:
        """Run one reading statement by its name and return its rows."""
        return self._fetch(self._statements[statement], params)

    async def read_page(
        self, statement: str, params: Params, /, *, limit: int, most_bytes: int = PAGE_BYTES
    ) -> RowPage:
        """Run one reading statement and return its first rows; see ``base.Reader.read_page``."""
        return read_page(self._connection, self._statements[statement], params, limit, most_bytes)

    async def version(self) -> tuple[int, int]:
        """Return the number of the newest applied migration and of the newest known one.

        Raises:
            StoreTooNew, StoreChanged: as ``migration.migrate``.
            StoreError: it is no database of a desk.
        """
        known = len(load_migrations())
        return known - len(await self.missing()), known

    async def missing(self) -> tuple[Migration, ...]:
        """Return the migrations that the database lacks.

        Raises:
            StoreTooNew, StoreChanged: as ``migration.migrate``.
            StoreError: it is no database of a desk.
        """
        applied = self._fetch("SELECT number, sha256 FROM migrations ORDER BY number", {})
        return check_applied([(number, sha256) for number, sha256 in applied], load_migrations())

    async def damage(self) -> tuple[str, ...]:
        """Return what SQLite reports as damaged in the file, its indexes and references.

        At most ``MOST_TOLD`` lines; empty if the database is intact.
        """
        try:
            found = [row[0] for row in self._fetch(f"PRAGMA integrity_check({MOST_TOLD})", {})]
            if found == ["ok"]:
                found = [
                    f"a row of {table} refers to a missing row of {parent}"
                    for table, _, parent, _ in self._fetch("PRAGMA foreign_key_check", {})
                ]
        except StoreError as error:
            found = [str(error)]
        return tuple(found[:MOST_TOLD])

    async def size(self) -> int:
        """Return the size of the file, in bytes."""
        return _measure(self._connection)

    def _fetch(self, sql: str, params: Params) -> list[Row]:
        try:
            return self._connection.execute(sql, params).fetchall()
        except sqlite3.Error as error:
            raise StoreError(f"The database failed: {error}") from error


def _measure(connection: sqlite3.Connection) -> int:
    ((_, _, file),) = connection.execute("PRAGMA database_list")
    return Path(file).stat().st_size


def read_page(
    connection: sqlite3.Connection, sql: str, params: Params, limit: int, most_bytes: int
) -> RowPage:
    """Read the first rows of a statement, one at a time.

    Raises:
        StoreError: the database failed.
    """
    try:
        with closing(connection.execute(sql, {**params, "limit": limit + 1})) as cursor:
            return take_page(cursor, limit, most_bytes)
    except sqlite3.Error as error:
        raise StoreError(f"The database failed: {error}") from error


@contextmanager
def open_reader(path: Path) -> Iterator[SqliteReader]:
    """Open a database file for reading, as a context manager.

    All reads see one state of the database, that of the first of them.

    Raises:
        StoreError: it cannot be opened.
    """
    try:
        connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?mode=ro",
            uri=True,
            timeout=WAITS_SECONDS,
            isolation_level=None,
        )
    except sqlite3.Error as error:
        raise StoreError(f"The database {path} cannot be opened: {error}.") from error
    with closing(connection):
        connection.execute("BEGIN")
        yield SqliteReader(connection)
