"""Reads a PostgreSQL store of one moment without changing anything."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress

from asyncpg import Connection

from aitp_desk.store.base import PAGE_BYTES, Params, Row, RowPage, StoreError
from aitp_desk.store.engine.copy.tables import load_references
from aitp_desk.store.engine.migration import POSTGRES_SCHEMA, Migration, load_migrations
from aitp_desk.store.engine.postgres.connections import DATABASE_ERRORS, plan_connections, reason
from aitp_desk.store.engine.postgres.migration import find_missing, refuse_unfinished_copy
from aitp_desk.store.engine.postgres.parts import begin_snapshot
from aitp_desk.store.engine.postgres.statements import load_postgres_statements
from aitp_desk.store.engine.postgres.texts import decode_row
from aitp_desk.store.rows.pages import take_page

MOST_TOLD = 10
"""How many broken references are reported."""
CHECK_SECONDS = 3600.0
"""How long the check of one reference may take."""


class PostgresReader:
    """Reads a database, also while desks write to it. See ``base.Reader``.

    Parameters:
        connection: one within a transaction that sees one state of the database.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._statements = load_postgres_statements()

    async def read(self, statement: str, params: Params, /) -> list[Row]:
        """Run one reading statement by its name and return its rows."""
        asked = self._statements[statement]
        try:
            found = await self._connection.fetch(asked.sql, *asked.arguments(params))
        except DATABASE_ERRORS as error:
            raise StoreError(f"The database failed: {reason(error)}") from error
        return [decode_row(row) for row in found]

    async def read_page(
        self, statement: str, params: Params, /, *, limit: int, most_bytes: int = PAGE_BYTES
    ) -> RowPage:
        """Run one reading statement and return its first rows; see ``base.Reader.read_page``."""
        rows = await self.read(statement, {**params, "limit": limit + 1})
        return take_page(rows, limit, most_bytes)

    async def version(self) -> tuple[int, int]:
        """Return the number of the newest applied migration and of the newest known one.

        Raises:
            StoreTooNew, StoreChanged: as ``migration.migrate``.
            StoreError: it is no database of a desk.
        """
        known = load_migrations(POSTGRES_SCHEMA)
        missing = await self.missing()
        if missing == known:
            raise StoreError("It is not the database of a desk.")
        return len(known) - len(missing), len(known)

    async def missing(self) -> tuple[Migration, ...]:
        """Return the migrations that the database lacks: all of them, if it is empty.

        Raises:
            StoreTooNew, StoreChanged: as ``migration.migrate``.
            StoreError: the database failed.
        """
        try:
            return await find_missing(self._connection, load_migrations(POSTGRES_SCHEMA))
        except DATABASE_ERRORS as error:
            raise StoreError(f"The database failed: {reason(error)}") from error

    async def damage(self) -> tuple[str, ...]:
        """Return which tables have rows that refer to missing ones, at most ``MOST_TOLD``.

        The server checks its pages itself as it reads them. It is not told of references, which
        are those of the schema of SQLite. A database with an older schema is not checked.

        Raises:
            StoreTooNew, StoreChanged: as ``migration.migrate``.
            StoreError: the database failed.
        """
        if await self.missing():
            return ()
        found: list[str] = []
        try:
            for reference in load_references():
                if reference.broken not in found and await self._connection.fetchval(
                    reference.select_broken, timeout=CHECK_SECONDS
                ):
                    found.append(reference.broken)
        except DATABASE_ERRORS as error:
            raise StoreError(f"The database failed: {reason(error)}") from error
        return tuple(found[:MOST_TOLD])

    async def size(self) -> int:
        """Return the size of the database with all its indexes, in bytes."""
        try:
            size: int = await self._connection.fetchval(
                "SELECT pg_database_size(current_database())"
            )
        except DATABASE_ERRORS as error:
            raise StoreError(f"The database failed: {reason(error)}") from error
        return size


@asynccontextmanager
async def open_reader(
    url: str,
    environment: Mapping[str, str],
    *,
    statement_seconds: float = 30.0,
    is_pooled: bool = False,
) -> AsyncIterator[PostgresReader]:
    """Open a database for reading, as an async context manager.

    Raises:
        StoreError: it cannot be opened, or a copy into it was not finished.
    """
    connections = plan_connections(url, environment, seconds=statement_seconds, is_pooled=is_pooled)
    name = connections.address.name
    try:
        connection = await connections.connect()
    except DATABASE_ERRORS as error:
        raise StoreError(f"The database {name} cannot be opened: {reason(error)}.") from error
    try:
        try:
            await refuse_unfinished_copy(connection)
            await begin_snapshot(connection)
        except DATABASE_ERRORS as error:
            raise StoreError(f"The database {name} cannot be opened: {reason(error)}.") from error
        yield PostgresReader(connection)
    finally:
        with suppress(*DATABASE_ERRORS):
            await connection.close(timeout=1)
