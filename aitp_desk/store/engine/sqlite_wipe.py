"""Removing from the files of an SQLite store what was deleted from its tables.

Deleted rows are overwritten where they stood (``PRAGMA secure_delete``). Copies of them may be left
in two places: in the write-ahead log, until it is emptied; and in the gaps of pages that SQLite has
split or merged while the row was there, or in free pages from before it overwrote anything, until
the database is rewritten (``VACUUM``).
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from aitp_desk.store.base import StoreError

WAITS_SECONDS = 60
"""How long a serving desk's commits and reads are waited for."""
TRY_AGAIN_SECONDS = 0.05


def wipe_free_space(path: Path, *, rewrites: bool) -> None:
    """Leave in the files of a store only what its tables say, also while a desk serves from it.

    Parameters:
        path: the database file.
        rewrites: whether the whole database is written anew. That takes time and free disk space
            as large as the database, twice, and a serving desk writes nothing meanwhile.

    Raises:
        StoreError: it could not be done, for example because readers did not leave the log.
    """
    try:
        with closing(
            sqlite3.connect(path, timeout=WAITS_SECONDS, isolation_level=None)
        ) as database:
            database.execute("PRAGMA secure_delete = ON")
            if rewrites:
                _rewrite(database, path.resolve().parent)
            _empty_wal(database)
    except sqlite3.Error as error:
        raise StoreError(f"The free space of {path} was not overwritten: {error}.") from error


def _rewrite(database: sqlite3.Connection, folder: Path) -> None:
    """Rewrite the database. The copy is made beside it, and not where temporary files lie."""
    quoted = str(folder).replace("'", "''")
    database.execute(f"PRAGMA temp_store_directory = '{quoted}'")
    try:
        database.execute("VACUUM")
    finally:
        database.execute("PRAGMA temp_store_directory = ''")


def _empty_wal(database: sqlite3.Connection) -> None:
    """Move the whole write-ahead log into the database, and cut it to nothing.

    Raises:
        StoreError: a reader or writer did not leave it in time.
    """
    until = time.monotonic() + WAITS_SECONDS
    while True:
        blocked, _, _ = database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if not blocked:
            return
        if time.monotonic() >= until:
            raise StoreError(
                "The write-ahead log could not be emptied: another program keeps reading from it."
            )
        time.sleep(TRY_AGAIN_SECONDS)
