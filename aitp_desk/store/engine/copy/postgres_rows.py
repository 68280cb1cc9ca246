"""Reads and writes whole tables of a PostgreSQL database, for a copy.

A database that is copied to has a table ``unfinished_copy``, which says when the copy was begun
and which the end of the copy drops. A desk does not open a database that has it.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress

from asyncpg import Connection

from aitp_desk.store.base import Row, StoreError
from aitp_desk.store.engine.copy.tables import Table, load_tables
from aitp_desk.store.engine.postgres.connections import (
    DATABASE_ERRORS,
    NEEDS_SERVER,
    check_sessions,
    check_version,
    plan_connections,
    reason,
)
from aitp_desk.store.engine.postgres.migration import (
    LOCK,
    UNFINISHED,
    has_unfinished_copy,
    list_missing,
    migrate,
    refuse_unfinished_copy,
)
from aitp_desk.store.engine.postgres.parts import begin_snapshot
from aitp_desk.store.engine.postgres.reader import PostgresReader
from aitp_desk.store.engine.postgres.texts import decode_row, encode_values

WAITS_SECONDS = 3600.0
"""How long one statement may take."""

_HAS_LOCK = """
SELECT EXISTS (
    SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND granted
)
"""


class PostgresRows:
    """The rows of one database; see ``tables.RowSource`` and ``tables.RowTarget``.

    Parameters:
        guard: a connection whose transaction holds the lock of all that write, if any does.
        began: when the copy into it was begun, in Unix seconds.
    """

    def __init__(
        self, connection: Connection, *, guard: Connection | None = None, began: int = 0
    ) -> None:
        self._connection = connection
        self._guard = guard
        self.began = began

    async def count(self, table: Table) -> int:
        """Return the number of rows."""
        with _errors_told():
            sql = f"SELECT count(*) FROM {table.name}"  # noqa: S608
            number: int = await self._connection.fetchval(sql)
        return number

    async def rows_after(self, table: Table, key: Row | None) -> list[Row]:
        """Return the next rows after a key, by key; none after the last."""
        given = (*encode_values(key or ()), table.rows_at_once)
        marks = [f"${number}" for number in range(1, len(given) + 1)]
        with _errors_told():
            found = await self._connection.fetch(table.select(marks), *given)
        return [decode_row(row) for row in found]

    async def last_key(self, table: Table) -> Row | None:
        """Return the key of the last row; None if there is none."""
        columns = table.key_columns
        order = columns.replace(",", " DESC,")
        sql = f"SELECT {columns} FROM {table.name} ORDER BY {order} DESC LIMIT 1"  # noqa: S608
        with _errors_told():
            found = await self._connection.fetchrow(sql)
        return None if found is None else decode_row(found)

    async def insert(self, table: Table, rows: list[Row]) -> None:
        """Insert rows, all or none."""
        marks = [f"${number}" for number in range(1, len(table.columns) + 1)]
        given = [encode_values(row) for row in rows]
        with _errors_told():
            async with self._connection.transaction():
                await self._connection.executemany(table.insert(marks), given)

    async def clear(self, table: Table) -> None:
        """Delete all rows."""
        with _errors_told():
            await self._connection.execute(f"DELETE FROM {table.name}")  # noqa: S608

    async def check_lock(self) -> None:
        """Fail if the lock was lost, and a desk may have written meanwhile.

        Raises:
            StoreError: it was lost.
        """
        if self._guard is None:
            return
        try:
            is_held = await self._guard.fetchval(_HAS_LOCK)
        except DATABASE_ERRORS:
            is_held = False
        if not is_held:
            raise StoreError(
                "The connection that locked the database to copy from was lost, so a desk may have"
                " written to it meanwhile. The copy is not finished. Stop the desk, remove the"
                " copy, and copy again."
            )

    async def reader(self) -> PostgresReader:
        """Return what reads the copy, whether finished or not."""
        with _errors_told():
            await self._connection.execute("ANALYZE")
        return PostgresReader(self._connection)

    async def finish(self) -> None:
        """Make the database one that a desk may serve."""
        with _errors_told():
            await self._connection.execute("ANALYZE")
            await self._connection.execute(f"DROP TABLE {UNFINISHED}")


@asynccontextmanager
async def open_postgres_source(
    url: str, environment: Mapping[str, str], *, is_exclusive: bool
) -> AsyncIterator[PostgresRows]:
    """Open a database to copy from, as it is at one moment.

    Parameters:
        is_exclusive: whether no desk may write to it meanwhile.

    Raises:
        StoreError: it cannot be opened, is in use, is itself an unfinished copy, or has another
            schema than this version.
    """
    async with AsyncExitStack() as stack:
        # without the guard there is one transaction, which a pooler keeps together
        connection = await _connect(stack, url, environment, is_pooled=not is_exclusive)
        with _errors_told():
            await refuse_unfinished_copy(connection)
            if await list_missing(connection):
                raise StoreError(
                    "The database has no schema, or an older one. Start the desk once, then copy"
                    " again."
                )
            guard = None
            if is_exclusive:
                guard = await _connect(stack, url, environment)
                await guard.execute(
                    "BEGIN; SET LOCAL lock_timeout = '5s';"
                    " SET LOCAL idle_in_transaction_session_timeout = 0"
                )
                await guard.execute(LOCK)
            # after the lock: what was committed before is part of what is read
            await begin_snapshot(connection)
        yield PostgresRows(connection, guard=guard)


@asynccontextmanager
async def open_postgres_target(
    url: str, environment: Mapping[str, str]
) -> AsyncIterator[PostgresRows]:
    """Open a database to copy to. It is empty, or has what an unfinished copy has left.

    Raises:
        StoreError: it cannot be opened, or has other data.
    """
    async with AsyncExitStack() as stack:
        connection = await _connect(stack, url, environment)
        with _errors_told():
            if not await has_unfinished_copy(connection):
                now = int(time.time())
                await migrate(connection, now=now)
                for table in load_tables():
                    if table.name != "audit_anchor" and await connection.fetchval(
                        f"SELECT EXISTS (SELECT 1 FROM {table.name})"  # noqa: S608
                    ):
                        raise StoreError(
                            "The database to copy to is not empty, and no unfinished copy:"
                            f" {table.name} has rows."
                        )
                await connection.execute(f"CREATE TABLE {UNFINISHED} AS SELECT {now} AS began")
            began = await connection.fetchval(f"SELECT began FROM {UNFINISHED}")  # noqa: S608
        yield PostgresRows(connection, began=began)


async def _connect(
    stack: AsyncExitStack, url: str, environment: Mapping[str, str], *, is_pooled: bool = False
) -> Connection:
    connections = plan_connections(url, environment, seconds=WAITS_SECONDS, is_pooled=is_pooled)
    try:
        connection = await connections.connect()
        stack.push_async_callback(_close, connection)
        check_version(connection)
        await check_sessions(connections, connection, pooled=NEEDS_SERVER)
    except DATABASE_ERRORS as error:
        name = connections.address.name
        told = reason(error, pooled=NEEDS_SERVER)
        raise StoreError(f"The database {name} cannot be opened: {told}.") from error
    return connection


async def _close(connection: Connection) -> None:
    with suppress(*DATABASE_ERRORS):
        await connection.close(timeout=1)


@contextmanager
def _errors_told() -> Iterator[None]:
    try:
        yield
    except DATABASE_ERRORS as error:
        raise StoreError(f"The database failed: {reason(error, pooled=NEEDS_SERVER)}") from error
