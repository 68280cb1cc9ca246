"""The databases that a desk is killed on: an SQLite file, or one of a PostgreSQL server.

What a database holds is examined in an SQLite file; of PostgreSQL that is a copy of every row.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, Protocol

from aitp_desk.config.settings import StoreSettings
from aitp_desk.store.base import Store
from aitp_desk.store.engine.engines import open_store
from aitp_desk.store.engine.sqlite_backup import remove_database
from tests.support.clients.threads import DATABASE
from tests.support.desk.first_start import begin_database
from tests.support.store.postgres import PostgresServer, postgres_server
from tests.support.store.postgres_copy import copy_rows

OPEN = """
SELECT (SELECT count(*) FROM runs WHERE state IN ('queued', 'in_progress'))
     + (SELECT count(*) FROM calls WHERE state = 'started')
     + (SELECT count(*) FROM tickets WHERE state IN ('open', 'taken'))
     + (SELECT count(*) FROM jobs
        WHERE state = 'at_work' OR (state = 'queued' AND available_at <= {latest}))
"""
"""Counts what is not over, of jobs those that are due."""
TABLES = """
SELECT relname, pg_total_relation_size(relid), n_live_tup, n_dead_tup
FROM pg_stat_user_tables ORDER BY 2 DESC
"""


class FaultDatabase(Protocol):
    """A database and what is asked of it."""

    @property
    def url(self) -> str:
        """The setting ``store.url`` of its desks."""

    async def begin(self) -> None:
        """Make it, empty."""

    async def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a statement that reads, next to whatever the desk does."""

    async def sizes(self) -> list[tuple[str, int, int, int]]:
        """Return the bytes of each table with its indexes, its rows, and dead rows of these.

        The largest is the first. A file has one size, and reuses what is deleted.
        """

    async def snapshot(self) -> Path:
        """Return an SQLite file with everything that it holds; read it before the next wait."""


class SqliteFile:
    """The database file of a data folder."""

    def __init__(self, data: Path) -> None:
        self.path = data / DATABASE

    @property
    def url(self) -> str:
        return f"sqlite:{self.path}"

    async def begin(self) -> None:
        begin_database(self.path)

    async def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with closing(open_database(self.path)) as connection:
            return connection.execute(sql).fetchall()

    async def sizes(self) -> list[tuple[str, int, int, int]]:
        names = await self.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")
        counts = [await self.rows(f"SELECT count(*) FROM {name}") for (name,) in names]
        ((pages,),) = await self.rows("PRAGMA page_count")
        ((page,),) = await self.rows("PRAGMA page_size")
        return [(self.path.name, pages * page, sum(count for ((count,),) in counts), 0)]

    async def snapshot(self) -> Path:
        return self.path


class PostgresDatabase:
    """A database of a PostgreSQL server.

    Parameters:
        folder: where copies are put.
    """

    def __init__(self, server: PostgresServer, folder: Path) -> None:
        self._server = server
        self._copy = folder / "copy.db"
        self._copying = asyncio.Lock()

    @property
    def url(self) -> str:
        return self._server.url()

    async def begin(self) -> None:
        await self._server.begin()

    async def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return await self._server.rows(sql)

    async def sizes(self) -> list[tuple[str, int, int, int]]:
        return await self._server.rows(TABLES)

    async def snapshot(self) -> Path:
        async with self._copying:
            await asyncio.to_thread(remove_database, self._copy)
            await copy_rows(self.url, self._copy)
            return self._copy


def open_fault_store(url: str, data: Path) -> AbstractAsyncContextManager[Store]:
    """Open a desk's database beside it."""
    return open_store(StoreSettings(url=url), data)


def open_database(database: Path) -> sqlite3.Connection:
    """A connection that only reads."""
    return sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True, isolation_level=None)


async def count_open(database: FaultDatabase, *, at_last: bool) -> int:
    """Count what is not over.

    Parameters:
        at_last: whether what waits for another attempt counts, too.
    """
    counted = OPEN.format(latest=2**62 if at_last else int(time.time()))
    ((count,),) = await database.rows(counted)
    return int(count)


@contextmanager
def fault_database(folder: Path, data: Path, *, on_postgres: bool) -> Iterator[FaultDatabase]:
    """Have a database of a PostgreSQL server that keeps its commits, or a file of the data folder.

    Parameters:
        folder: where copies are put.
    """
    with ExitStack() as stack:
        if on_postgres:
            yield PostgresDatabase(stack.enter_context(postgres_server("-c fsync=on")), folder)
        else:
            yield SqliteFile(data)
