"""The stores that the contract suite runs on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

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

Open = Callable[[Path], AbstractAsyncContextManager[Store]]

ENGINES: dict[str, Open] = {
    "sqlite": partial(SqliteStore.open, synchronous="normal"),
    "shuffled": ShuffledStore.open,
}


@pytest.fixture(params=list(ENGINES))
def engine(request: pytest.FixtureRequest) -> str:
    """Name of an engine."""
    return str(request.param)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Where the store's file is."""
    return tmp_path / "desk.db"


@pytest.fixture
async def store(engine: str, database: Path) -> AsyncIterator[Store]:
    """An open store of each engine. What a test leaves in it must be whole."""
    begin_database(database)
    async with ENGINES[engine](database) as opened:
        yield opened
    check_whole(database)


@pytest.fixture
def site(store: Store) -> Site:
    return Site(store)


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slices and pages of a few rows, so that few rows are many."""
    monkeypatch.setattr(console_reads, "SLICE", 3)
    monkeypatch.setattr(console_threads, "SLICE", 3)
    monkeypatch.setattr(console_load, "SLICE", 2)
