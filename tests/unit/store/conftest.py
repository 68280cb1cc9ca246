"""The stores that the contract suite runs on.

PostgreSQL needs a server: the suite runs there with ``make test-servers``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from aitp_desk.store.base import Store
from aitp_desk.store.engine.sqlite import SqliteStore
from aitp_desk.store.reads.console import load as console_load
from aitp_desk.store.reads.console import thread_lists as console_threads
from aitp_desk.store.reads.console import threads as console_reads
from tests.support.desk.first_start import begin_database
from tests.support.store.console_site import Site
from tests.support.store.integrity import check_whole
from tests.support.store.shuffled_store import ShuffledStore

if TYPE_CHECKING:
    from tests.support.store.postgres import PostgresServer

Open = Callable[..., AbstractAsyncContextManager[Store]]
"""Opens an empty store; ``queue`` is the number of units that may wait."""
Rows = Callable[..., Awaitable[list[tuple[Any, ...]]]]
"""Runs a statement in a store's database, past the store."""

POSTGRES = pytest.param("postgres", marks=pytest.mark.servers)
POOLED = pytest.param("pooled", marks=pytest.mark.servers)
"""PostgreSQL with PgBouncer in between."""
ENGINES = ["sqlite", "shuffled", POSTGRES]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """Name of an engine."""
    return str(request.param)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Where the file of an SQLite store is."""
    return tmp_path / "desk.db"


@pytest.fixture
def open_database(engine: str, database: Path, request: pytest.FixtureRequest) -> Open:
    """Opens an empty store of the engine by a name. What is left in it must be whole."""

    @asynccontextmanager
    async def opened(name: str = "desk", **limits: Any) -> AsyncIterator[Store]:
        path = database.with_stem(name)
        if engine in {"postgres", "pooled"}:
            from aitp_desk.store.engine.postgres.store import PostgresStore
            from tests.support.store.postgres_copy import copy_rows

            server: PostgresServer = request.getfixturevalue("postgres")
            url = used = await server.begin(name)
            if engine == "pooled":
                used = request.getfixturevalue("pgbouncer").url(url)
                limits |= {"is_pooled": True}
            async with PostgresStore.open(used, {}, **limits) as store:
                yield store
            await copy_rows(url, path)
        else:
            begin_database(path)
            open_file = SqliteStore.open if engine == "sqlite" else ShuffledStore.open
            async with open_file(path, **limits) as store:
                yield store
        check_whole(path)

    return opened


@pytest.fixture
async def store(open_database: Open) -> AsyncIterator[Store]:
    """An open store of each engine."""
    async with open_database() as opened:
        yield opened


@pytest.fixture
def rows(engine: str, database: Path, request: pytest.FixtureRequest) -> Rows:
    """Reads and writes a store's database next to the store, as another program does."""
    if engine in {"postgres", "pooled"}:
        server: PostgresServer = request.getfixturevalue("postgres")
        return server.rows

    async def run(sql: str, name: str = "desk") -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(database.with_stem(name))) as connection, connection:
            return connection.execute(sql).fetchall()

    return run


@pytest.fixture
def site(store: Store) -> Site:
    return Site(store)


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slices and pages of a few rows, so that few rows are many."""
    monkeypatch.setattr(console_reads, "SLICE", 3)
    monkeypatch.setattr(console_threads, "SLICE", 3)
    monkeypatch.setattr(console_load, "SLICE", 2)
