"""Applies the schema: numbered files in ``schema/``, each applied once and never changed.

Each engine has its own folder of files. ``migrations`` keeps the number and the SHA-256 of every
file that was applied. Missing files are applied in one transaction that holds the only write lock,
so two processes that start at once apply them once.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec

from aitp_desk.store.base import Opened, StoreChanged, StoreError, StoreTooNew

SCHEMA = Path(__file__).parents[1] / "schema" / "sqlite"
"""The files of SQLite."""
POSTGRES_SCHEMA = SCHEMA.with_name("postgres")

_TABLE = """
CREATE TABLE IF NOT EXISTS migrations (
    number     INTEGER NOT NULL PRIMARY KEY,
    sha256     TEXT    NOT NULL,
    applied_at INTEGER NOT NULL
)
"""


class Migration(msgspec.Struct, frozen=True):
    """A file of ``schema/``."""

    number: int
    name: str
    sql: str
    sha256: str


def load_migrations(folder: Path = SCHEMA) -> tuple[Migration, ...]:
    """Read the files ``0001_name.sql`` in order; those of this version once.

    Raises:
        StoreError: a number is missing or used twice.
    """
    own = folder in {SCHEMA, POSTGRES_SCHEMA}
    return _load_own_migrations(folder) if own else _read_migrations(folder)


@cache
def _load_own_migrations(folder: Path) -> tuple[Migration, ...]:
    return _read_migrations(folder)


def _read_migrations(folder: Path) -> tuple[Migration, ...]:
    found: list[Migration] = []
    for expected, path in enumerate(sorted(folder.glob("*.sql")), start=1):
        number, _, _ = path.name.partition("_")
        if number != f"{expected:04}":
            raise StoreError(f"{path.name}: the preceding migration must be {expected:04}.")
        content = path.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        found.append(Migration(expected, path.name, content.decode(), digest))
    return tuple(found)


def migrate(connection: sqlite3.Connection, *, now: int, folder: Path = SCHEMA) -> Opened:
    """Migrate a database to this version of the desk.

    Parameters:
        connection: in autocommit, that is with ``isolation_level=None``.
        now: Unix seconds.

    Raises:
        StoreTooNew: the database was written by a newer version.
        StoreChanged: a migration that was applied is missing or is not the one in ``folder``.
    """
    known = load_migrations(folder)
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(_TABLE)
        applied = connection.execute("SELECT number, sha256 FROM migrations ORDER BY number")
        missing = check_applied(applied.fetchall(), known)
        for migration in missing:
            for statement in _split(migration.sql):
                connection.execute(statement)
            connection.execute(
                "INSERT INTO migrations (number, sha256, applied_at) VALUES (?, ?, ?)",
                (migration.number, migration.sha256, now),
            )
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return Opened(version=len(known), migrated=len(missing))


def check_applied(
    applied: list[tuple[int, str]], known: tuple[Migration, ...]
) -> tuple[Migration, ...]:
    """Return the migrations that are not applied yet.

    Parameters:
        applied: number and SHA-256 of the applied ones, in order.
        known: those of this version.

    Raises:
        StoreTooNew, StoreChanged: as :func:`migrate`.
    """
    newest = applied[-1][0] if applied else 0
    if newest > len(known):
        raise StoreTooNew(
            f"The database was written by a newer version of aitp-desk (schema {newest}; this"
            f" version knows {len(known)}). Install that version again, or restore an older backup."
        )
    for expected, (number, sha256) in enumerate(applied, start=1):
        if number != expected:
            raise StoreChanged(
                f"The database lacks migration {expected:04} but has {number:04}. It was changed by"
                " hand; restore a backup."
            )
        if sha256 != known[number - 1].sha256:
            raise StoreChanged(
                f"The database was made with another {known[number - 1].name} than this version"
                " carries. Install the version that made it, or restore a backup."
            )
    return known[newest:]


def _split(sql: str) -> Iterator[str]:
    """Split a file into statements. ``executescript`` would commit before its first one."""
    statement = ""
    for line in sql.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
