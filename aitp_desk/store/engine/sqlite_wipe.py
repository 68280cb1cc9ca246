"""Removes deleted content from the files of an SQLite store.

Deleted rows are overwritten in place (``PRAGMA secure_delete``). Copies may be left in two places:
in the write-ahead log, until it is emptied; and in the gaps of pages that SQLite split or merged
while the row existed, or in free pages from before overwriting was on, until the database is
rewritten (``VACUUM``).
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from aitp_desk.store.base import StoreError

WAITS_SECONDS = 60
"""How long to wait for a running desk's commits and reads."""
TRY_AGAIN_SECONDS = 0.05


def wipe_free_space(path: Path, *, rewrites: bool) -> None:
    """Remove deleted content from the files of a store, also while a desk runs.

    Parameters:
        path: the database file.
        rewrites: whether the whole database is rewritten. That takes time and free disk space of
            twice the size of the database, and a running desk cannot write meanwhile.

    Raises:
        StoreError: it was not possible, for example because readers did not leave the log.
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
    """Rewrite the database. The copy is made in the same folder, not in that of temporary files."""
    quoted = str(folder).replace("'", "''")
    database.execute(f"PRAGMA temp_store_directory = '{quoted}'")
    try:
        database.execute("VACUUM")
    finally:
        database.execute("PRAGMA temp_store_directory = ''")


def _empty_wal(database: sqlite3.Connection) -> None:
    """Move the whole write-ahead log into the database and truncate it.

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
