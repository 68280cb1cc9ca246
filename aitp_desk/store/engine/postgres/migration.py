"""Applies the PostgreSQL schema; see ``engine/migration.py``.

All missing files are applied in one transaction under the lock that every commit takes
(``writer.py``): two processes that start at once apply them once, and no unit runs between two of
them.

A desk of the version before goes on serving meanwhile and afterwards, so files only *expand* the
schema: tables, indexes and columns that are new and may be left out. What nothing uses any more is
dropped by a file of a later version (*contract*).

Who waits for a table that a backup reads is waited for by all who come to read it. So a migration
waits for a moment only, lets everybody pass, and tries again.

Indexes are built in the transaction too, and writes wait for them: ``CONCURRENTLY`` works outside
of transactions only, would need a lock of a session against others that start, which no pooler
keeps, and leaves a broken index behind when it is cut off. A file that adds one to a table which
grows says ``IF NOT EXISTS``, so that an operator of a large table can build it before.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from asyncpg import Connection
from asyncpg.exceptions import LockNotAvailableError

from aitp_desk.store.base import Opened, StoreError
from aitp_desk.store.engine.migration import (
    POSTGRES_SCHEMA,
    Migration,
    check_applied,
    load_migrations,
)

TAKE_LOCK = "pg_advisory_xact_lock(hashtext('aitp-desk ' || current_schema()))"
"""Takes the lock that everything which writes holds until its transaction ends."""
LOCK = f"SELECT {TAKE_LOCK}"
UNFINISHED = "unfinished_copy"
"""A table that a database has while it is copied to."""
MIGRATION_SECONDS = 3600.0
"""How long a migration may take, and how long others wait for it."""
LOCK_SECONDS = 2
"""How long a migration waits at a time for what other programs read."""
LOCK_TRIES = 30

_TABLE = """
CREATE TABLE IF NOT EXISTS migrations (
    number     BIGINT NOT NULL PRIMARY KEY,
    sha256     TEXT COLLATE "C" NOT NULL,
    applied_at BIGINT NOT NULL
)
"""


async def migrate(connection: Connection, *, now: int, folder: Path = POSTGRES_SCHEMA) -> Opened:
    """Migrate a database to this version of the desk.

    Parameters:
        connection: outside a transaction.
        now: Unix seconds.

    Raises:
        StoreTooNew, StoreChanged: as ``engine.migration.migrate``.
        StoreError: a copy into the database was not finished.
    """
    known = load_migrations(folder)
    await refuse_unfinished_copy(connection)
    if not await list_missing(connection, folder=folder):
        return Opened(version=len(known), migrated=0)
    for _ in range(LOCK_TRIES - 1):
        try:
            return await _apply(connection, known, now)
        except LockNotAvailableError:
            await asyncio.sleep(LOCK_SECONDS)  # those who came meanwhile pass
    return await _apply(connection, known, now)


async def _apply(connection: Connection, known: tuple[Migration, ...], now: int) -> Opened:
    async with connection.transaction():
        await connection.execute("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0")
        await connection.execute(LOCK, timeout=MIGRATION_SECONDS)
        await connection.execute(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'")
        await connection.execute(_TABLE)
        missing = await find_missing(connection, known)
        for migration in missing:
            await connection.execute(migration.sql, timeout=MIGRATION_SECONDS)
            await connection.execute(
                "INSERT INTO migrations (number, sha256, applied_at) VALUES ($1, $2, $3)",
                migration.number,
                migration.sha256,
                now,
            )
    return Opened(version=len(known), migrated=len(missing))


async def has_unfinished_copy(connection: Connection) -> bool:
    """Return whether a copy into the database was begun and not finished."""
    async with connection.transaction(readonly=True):
        return await connection.fetchval("SELECT to_regclass($1::text)", UNFINISHED) is not None


async def refuse_unfinished_copy(connection: Connection) -> None:
    """Fail if a copy into the database was begun and not finished.

    Raises:
        StoreError: it was not finished.
    """
    if await has_unfinished_copy(connection):
        raise StoreError(
            "A copy into the database was not finished. Repeat the 'aitp-desk store copy' or 'store"
            " restore' that began it, or drop the database and create it again."
        )


async def list_missing(
    connection: Connection, *, folder: Path = POSTGRES_SCHEMA
) -> tuple[Migration, ...]:
    """Return the migrations that a database lacks, changing nothing.

    Raises:
        StoreTooNew, StoreChanged: as ``engine.migration.migrate``.
    """
    async with connection.transaction(readonly=True):
        return await find_missing(connection, load_migrations(folder))


async def find_missing(
    connection: Connection, known: tuple[Migration, ...]
) -> tuple[Migration, ...]:
    """Return those of the known migrations that a database lacks, within a transaction."""
    applied = []
    if await connection.fetchval("SELECT to_regclass('migrations')") is not None:
        applied = await connection.fetch("SELECT number, sha256 FROM migrations ORDER BY number")
    return check_applied([(number, sha256) for number, sha256 in applied], known)
