"""Reads and writes whole tables of an SQLite database, for a copy."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path

from aitp_desk.store.base import Row, StoreError
from aitp_desk.store.engine.copy.tables import Table
from aitp_desk.store.engine.migration import check_applied, load_migrations, migrate
from aitp_desk.store.engine.sqlite_backup import put_in_place, remove_database
from aitp_desk.store.engine.sqlite_reader import SqliteReader

DRAFT = ".copying"
"""Suffix of a copy that is not finished."""
WAITS_SECONDS = 5


class SqliteRows:
    """The rows of one file; see ``tables.RowSource`` and ``tables.RowTarget``.

    Parameters:
        draft: the file, if rows are written to it.
        place: the name that it gets in the end.
        began: when the copy into it was begun, in Unix seconds.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        draft: Path | None = None,
        place: Path | None = None,
        began: int = 0,
    ) -> None:
        self._connection = connection
        self._draft = draft
        self._place = place
        self.began = began

    async def count(self, table: Table) -> int:
        """Return the number of rows."""
        ((number,),) = self._fetch(f"SELECT count(*) FROM {table.name}")  # noqa: S608
        return int(number)

    async def rows_after(self, table: Table, key: Row | None) -> list[Row]:
        """Return the next rows after a key, by key; none after the last."""
        marks = ["?"] * (0 if key is None else len(key)) + ["?"]
        return self._fetch(table.select(marks), (*(key or ()), table.rows_at_once))

    async def last_key(self, table: Table) -> Row | None:
        """Return the key of the last row; None if there is none."""
        columns = table.key_columns
        order = columns.replace(",", " DESC,")
        sql = f"SELECT {columns} FROM {table.name} ORDER BY {order} DESC LIMIT 1"  # noqa: S608
        found = self._fetch(sql)
        return found[0] if found else None

    async def insert(self, table: Table, rows: list[Row]) -> None:
        """Insert rows, all or none."""
        with _errors_told(), self._connection:
            self._connection.execute("BEGIN")
            self._connection.executemany(table.insert("?" * len(table.columns)), rows)

    async def clear(self, table: Table) -> None:
        """Delete all rows."""
        self._fetch(f"DELETE FROM {table.name}")  # noqa: S608

    async def check_lock(self) -> None:
        """Do nothing: the file is locked as long as its connection is open."""

    async def reader(self) -> SqliteReader:
        """Return what reads the copy, whether finished or not."""
        return SqliteReader(self._connection)

    async def finish(self) -> None:
        """Make the database one that a desk may serve."""
        if self._draft is None or self._place is None:
            raise ValueError("A source is not finished.")
        self._fetch("PRAGMA journal_mode = DELETE")
        self._connection.close()
        put_in_place(self._draft, self._place)

    def _fetch(self, sql: str, params: Row = ()) -> list[Row]:
        with _errors_told():
            return self._connection.execute(sql, params).fetchall()


@asynccontextmanager
async def open_sqlite_source(path: Path, *, is_exclusive: bool) -> AsyncIterator[SqliteRows]:
    """Open a file to copy from, as it is at one moment.

    Parameters:
        is_exclusive: whether nobody may write to it meanwhile.

    Raises:
        StoreError: it is missing, is in use, or has another schema than this version.
    """
    with closing(_connect(path)) as connection:
        rows = SqliteRows(connection)
        with _errors_told():
            connection.execute("BEGIN IMMEDIATE" if is_exclusive else "BEGIN")
            applied = connection.execute("SELECT number, sha256 FROM migrations ORDER BY number")
            missing = check_applied(applied.fetchall(), load_migrations())
        if missing:
            raise StoreError(f"{path} has an older schema. Start the desk once, then copy again.")
        try:
            yield rows
        finally:
            connection.execute("ROLLBACK")


@asynccontextmanager
async def open_sqlite_target(path: Path) -> AsyncIterator[SqliteRows]:
    """Open a file to copy to, under another name until the copy is finished.

    Raises:
        StoreError: it exists, or cannot be created.
    """
    draft = _begin_draft(path)
    with closing(sqlite3.connect(draft, timeout=WAITS_SECONDS, isolation_level=None)) as connection:
        with _errors_told():
            migrate(connection, now=int(time.time()))
            began = connection.execute("SELECT min(applied_at) FROM migrations").fetchone()[0]
        yield SqliteRows(connection, draft, path, began)


def _connect(path: Path) -> sqlite3.Connection:
    with _errors_told():
        return sqlite3.connect(
            f"{path.resolve().as_uri()}?mode=rw",
            uri=True,
            timeout=WAITS_SECONDS,
            isolation_level=None,
        )


def _begin_draft(path: Path) -> Path:
    """Return the file to write until the copy is finished."""
    if path.exists():
        raise StoreError(f"{path} exists already. Name a new file.")
    draft = path.with_name(f"{path.name}{DRAFT}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft.touch(mode=0o600)
    except OSError as error:
        raise StoreError(f"{draft} cannot be created: {error.strerror}.") from error
    return draft


def remove_draft(path: Path) -> None:
    """Remove what an unfinished copy to a file has left."""
    remove_database(path.with_name(f"{path.name}{DRAFT}"))


@contextmanager
def _errors_told() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(f"The database failed: {error}") from error
