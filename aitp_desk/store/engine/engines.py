"""Opens the store of a URL: the one place that knows which engines there are.

An engine is imported when it is opened, not before.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager
from pathlib import Path
from typing import NamedTuple, Protocol

from aitp_desk.config.settings import StoreSettings, sqlite_path
from aitp_desk.store.base import Opened, Store, StoreError
from aitp_desk.store.changes import ChangeFeed
from aitp_desk.store.engine.lock import lock_data_folder, share_data_folder
from aitp_desk.store.engine.metrics import StoreMetrics


class DeskStore(Store, Protocol):
    """A store as an engine opens it."""

    @property
    def opened(self) -> Opened:
        """The result of opening it."""

    @property
    def feed(self) -> ChangeFeed:
        """Carries changes between the processes on the database."""

    def measure(self) -> StoreMetrics:
        """Measure the current state of the store."""


class Engine(NamedTuple):
    """A kind of database.

    Attributes:
        open: opens it, given the settings, the data folder and the environment.
        lock: makes the data folder of a desk that serves, and locks it where one alone may.
        is_file: whether the database is a file.
    """

    open: Callable[[StoreSettings, Path, Mapping[str, str]], AbstractAsyncContextManager[DeskStore]]
    lock: Callable[[Path], AbstractContextManager[None]]
    is_file: bool


def find_engine(url: str) -> Engine:
    """Return the engine of a checked URL."""
    return _ENGINES[url.partition(":")[0]]


def open_store(
    settings: StoreSettings, data: Path, environment: Mapping[str, str] = os.environ
) -> AbstractAsyncContextManager[DeskStore]:
    """Open the store as an async context manager; leaving it commits what waits.

    Parameters:
        data: the data folder.
        environment: may hold the password of a server.

    Raises:
        StoreError: it cannot be opened.
        StoreTooNew, StoreChanged: as ``migration.migrate``.
    """
    return find_engine(settings.url).open(settings, data, environment)


@asynccontextmanager
async def _open_sqlite(
    settings: StoreSettings, data: Path, _: Mapping[str, str]
) -> AsyncIterator[DeskStore]:
    from aitp_desk.store.engine.sqlite import SqliteStore

    path = sqlite_path(settings.url, data)
    async with SqliteStore.open(
        path, synchronous=settings.synchronous, queue=settings.queue
    ) as store:
        yield store


@asynccontextmanager
async def _open_postgres(
    settings: StoreSettings, _: Path, environment: Mapping[str, str]
) -> AsyncIterator[DeskStore]:
    try:
        from aitp_desk.store.engine.postgres.store import PostgresStore
    except ModuleNotFoundError as error:
        if error.name != "asyncpg":
            raise
        raise StoreError(
            "A PostgreSQL database needs the extra postgres: pip install 'aitp-desk[postgres]'."
        ) from error
    async with PostgresStore.open(
        settings.url,
        environment,
        queue=settings.queue,
        pool_size=settings.connections,
        statement_seconds=settings.statement_seconds,
        is_pooled=settings.pooler,
    ) as store:
        yield store


_POSTGRES = Engine(_open_postgres, share_data_folder, is_file=False)
_ENGINES = {
    "sqlite": Engine(_open_sqlite, lock_data_folder, is_file=True),
    "postgresql": _POSTGRES,
    "postgres": _POSTGRES,
}
