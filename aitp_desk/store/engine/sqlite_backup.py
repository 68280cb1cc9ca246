"""Copies an SQLite store into one self-contained file while a desk writes to it.

SQLite's online backup copies pages. It restarts whenever another connection writes, unless the
connection that it reads from holds a transaction, which keeps to one state of the database. So the
copy is of one moment, and neither the desk nor the copy waits for the other. Only the write-ahead
log cannot be emptied meanwhile: it grows by what is written.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from aitp_desk.store.base import StoreError

PAGES_AT_ONCE = 1024
"""How many pages, of 4 KiB each, are copied between two progress reports."""
WAITS_SECONDS = 60
JOURNAL_SUFFIXES = ("-wal", "-shm", "-journal")
"""Suffixes of the files that SQLite puts next to a database."""


def copy_database(source: Path, target: Path, *, told: Callable[[int, int], None]) -> None:
    """Copy a database as it is at one moment.

    The copy is on disk when this returns.

    Parameters:
        source: the database file; nothing is written to it.
        target: a file that does not exist yet. It is created for this user only.
        told: called from time to time with the number of pages copied, and the total.

    Raises:
        StoreError: there is no database of a desk, or the copy cannot be written. A partial copy is
            removed.
    """
    try:
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise StoreError(f"{target} cannot be created: {error.strerror}.") from error
    try:
        _copy(source, target, told)
        _sync(target)
    except BaseException as error:
        remove_database(target)
        if isinstance(error, sqlite3.Error | OSError):
            raise StoreError(f"{source} cannot be copied to {target}: {error}.") from error
        raise


def put_in_place(draft: Path, target: Path) -> None:
    """Rename a copy to its final name; durable when this returns.

    Raises:
        StoreError: it cannot be renamed.
    """
    try:
        draft.replace(target)
        _sync(target.parent)
    except OSError as error:
        raise StoreError(f"{target} cannot be created: {error.strerror}.") from error


def remove_database(path: Path) -> None:
    """Remove a database file and the files that SQLite put next to it."""
    for end in ("", *JOURNAL_SUFFIXES):
        path.with_name(f"{path.name}{end}").unlink(missing_ok=True)


def _copy(source: Path, target: Path, told: Callable[[int, int], None]) -> None:
    with (
        closing(
            sqlite3.connect(
                f"{source.resolve().as_uri()}?mode=ro",
                uri=True,
                timeout=WAITS_SECONDS,
                isolation_level=None,
            )
        ) as reading,
        closing(sqlite3.connect(target, isolation_level=None)) as writing,
    ):
        reading.execute("BEGIN")
        desks = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'"
        try:
            (is_desks,) = reading.execute(desks).fetchone()
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_NOTADB:
                raise
            is_desks = 0
        if not is_desks:
            raise StoreError(f"{source} is not the database of a desk.")
        reading.backup(
            writing,
            pages=PAGES_AT_ONCE,
            progress=lambda _, left, total: told(total - left, total),
        )
        writing.execute("PRAGMA journal_mode = DELETE")  # otherwise it is more than one file


def _sync(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
