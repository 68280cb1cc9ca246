"""Implements the store on PostgreSQL; callers use it on the event loop.

Units go in groups (``engine/queue.py``) to the writer, a task with its own connection
(``writer.py``). Reads go to a small pool of connections, and see every unit whose run has returned.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Self

from asyncpg import Connection, Pool

from aitp_desk.store.base import PAGE_BYTES, Opened, P, Params, Row, RowPage, StoreError, T, Work
from aitp_desk.store.changes import ChangeFeed
from aitp_desk.store.engine.metrics import StoreMetrics
from aitp_desk.store.engine.postgres.bypass import Bypass
from aitp_desk.store.engine.postgres.change_feed import PostgresChangeFeed
from aitp_desk.store.engine.postgres.connections import (
    DATABASE_ERRORS,
    Connections,
    check_direct,
    check_sessions,
    check_version,
    check_writable,
    is_lost,
    plan_connections,
    reason,
)
from aitp_desk.store.engine.postgres.migration import migrate
from aitp_desk.store.engine.postgres.read_group import ReadGroups
from aitp_desk.store.engine.postgres.statements import load_postgres_statements
from aitp_desk.store.engine.postgres.texts import decode_row
from aitp_desk.store.engine.postgres.writer import GroupWriter
from aitp_desk.store.engine.queue import UnitQueue
from aitp_desk.store.rows.pages import size_of, take_page

POOL_SIZE = 8
STATEMENT_SECONDS = 30.0
NOW = "SELECT extract(epoch FROM clock_timestamp())::float8"
ROWS_AT_ONCE = 20
"""How many rows of a page are read in one round trip."""
POOL_SECONDS = 5.0
"""How long a read waits for a connection that another read uses."""


class PostgresStore(UnitQueue):
    """A store in a PostgreSQL database, used on one event loop.

    ``base.py`` states its guarantees.

    Attributes:
        opened: the result of opening it.
        connections: how to open further connections to the database.
        feed: carries changes to other processes.
    """

    _writer: GroupWriter

    def __init__(
        self,
        connections: Connections,
        opened: Opened,
        connection: Connection,
        pool: Pool,
        most_waiting: int,
        direct: Connections,
    ) -> None:
        super().__init__(most_waiting)
        self.opened = opened
        self.connections = connections
        self.feed: ChangeFeed = PostgresChangeFeed(direct)
        self._pool = pool
        self._free = asyncio.Semaphore(pool.get_max_size())
        self._statements = load_postgres_statements()
        self._groups = ReadGroups(self._read)
        self._bypass = Bypass(direct, self._statements)
        self._writer = GroupWriter(
            connections, connection, statements=self._statements, on_settled=self._settle
        )

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        url: str,
        environment: Mapping[str, str],
        *,
        queue: int = 10_000,
        pool_size: int = POOL_SIZE,
        statement_seconds: float = STATEMENT_SECONDS,
        is_pooled: bool = False,
        direct_url: str = "",
    ) -> AsyncIterator[Self]:
        """Open the store as an async context manager; leaving it commits what waits.

        Parameters:
            url: ``postgresql://…``, as ``address.py`` reads it.
            environment: may hold the password, and what libpq reads there.
            queue: how many units may wait before callers are turned away.
            pool_size: maximum number of connections for reads.
            statement_seconds: how long a statement may take.
            is_pooled: whether a pooler gives each transaction another session.
            direct_url: the database past the pooler, for what needs a session; empty for none.

        Raises:
            StoreError: the database cannot be opened, or ``direct_url`` is another one.
            StoreTooNew, StoreChanged: as ``migration.migrate``.
        """
        connections = plan_connections(
            url, environment, seconds=statement_seconds, is_pooled=is_pooled
        )
        direct = connections
        if direct_url:
            direct = plan_connections(
                direct_url, environment, seconds=statement_seconds, is_pooled=False
            )
        async with AsyncExitStack() as stack:
            try:
                connection = await connections.connect()
                stack.push_async_callback(_close_quietly, connection)
                check_version(connection)
                await check_writable(connection)
                await check_sessions(connections, connection)
                if direct_url:
                    await check_direct(direct, connection)
                opened = await migrate(connection, now=int(time.time()))
                pool = await stack.enter_async_context(await connections.open_pool(pool_size))
            except DATABASE_ERRORS as error:
                name = connections.address.name
                told = f"The database {name} cannot be opened: {reason(error)}."
                raise StoreError(told) from error
            stack.pop_all()
            store = cls(connections, opened, connection, pool, queue, direct)
            try:
                yield store
            finally:
                await store._close()

    @property
    def name(self) -> str:
        """The engine, server and database, for people."""
        return self.connections.address.name

    async def run_apart(
        self, work: Callable[P, Work[T]], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run one unit over a separate connection; see ``base.Store.run_apart``."""
        return await self._bypass.run(work, *args, **kwargs)

    async def read(self, statement: str, params: Params, /) -> list[Row]:
        """Run one reading statement by its name and return its rows."""
        asked = self._statements[statement]
        return await self._groups.read(asked, asked.arguments(params))

    async def read_page(
        self, statement: str, params: Params, /, *, limit: int, most_bytes: int = PAGE_BYTES
    ) -> RowPage:
        """Run one reading statement and return its first rows; see ``base.Reader.read_page``."""
        asked = self._statements[statement]
        arguments = asked.arguments({**params, "limit": limit + 1})

        async def fetch(connection: Connection) -> list[Row]:
            if self.connections.is_pooled:  # a cursor is a prepared statement with a name
                return [decode_row(row) for row in await connection.fetch(asked.sql, *arguments)]
            rows: list[Row] = []
            room = most_bytes
            async with connection.transaction(readonly=True):
                cursor = await connection.cursor(asked.sql, *arguments)
                while room >= 0 and (found := await cursor.fetch(ROWS_AT_ONCE)):
                    rows += map(decode_row, found)
                    room -= sum(map(size_of, rows[-len(found) :]))
                    if len(found) < ROWS_AT_ONCE:
                        break
            return rows

        return take_page(await self._read(fetch), limit, most_bytes)

    async def read_time(self) -> float:
        """Return the database's time, in Unix seconds."""

        async def fetch(connection: Connection) -> list[Row]:
            return [tuple(row) for row in await connection.fetch(NOW)]

        return float((await self._read(fetch))[0][0])

    def measure(self) -> StoreMetrics:
        """Measure the current state of the store."""
        return StoreMetrics(
            waiting=self._waiting,
            most_waiting=self._most_waiting,
            waiting_seconds=self._line.seconds(self._loop.time()),
            commits=self._writer.commits,
        )

    async def _read(self, fetch: Callable[[Connection], Awaitable[T]]) -> T:
        """Read over a connection of the pool; once more if that one was lost.

        Raises:
            StoreError: the database failed.
        """
        try:
            try:
                return await self._read_once(fetch)
            except DATABASE_ERRORS as error:
                if not is_lost(error) or isinstance(error, TimeoutError):
                    raise
                return await self._read_once(fetch)
        except DATABASE_ERRORS as error:
            if is_lost(error):
                raise StoreError("The database cannot be reached now.") from error
            raise StoreError(f"The database failed: {reason(error)}") from error

    async def _read_once(self, fetch: Callable[[Connection], Awaitable[T]]) -> T:
        await self._wait_for_connection()
        try:
            async with self._pool.acquire(timeout=self.connections.seconds) as connection:
                if not self.connections.is_pooled:
                    return await fetch(connection)
                async with connection.transaction(readonly=True):  # which keeps the session
                    return await fetch(connection)
        finally:
            self._free.release()

    async def _wait_for_connection(self) -> None:
        """Wait until fewer reads are in progress than there may be connections.

        Raises:
            StoreError: it takes too long. The pool would count the time to open one as well.
        """
        if not self._free.locked():
            await self._free.acquire()
            return
        try:
            async with asyncio.timeout(POOL_SECONDS):
                await self._free.acquire()
        except TimeoutError:
            raise StoreError(
                "All connections for reads are in use; store.connections sets how many there are."
            ) from None

    async def _close(self) -> None:
        self._refuse_more()
        try:
            await self._writer.stop()
        finally:
            self._failed.close()
            self._bypass.close()
            await self._pool.close()


async def _close_quietly(connection: Connection) -> None:
    with suppress(*DATABASE_ERRORS):
        await connection.close(timeout=1)
