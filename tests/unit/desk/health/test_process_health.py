"""What the processes on one database report of each other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aitp_desk.desk.maintenance.process_health import (
    FORGOTTEN_SECONDS,
    SILENT_SECONDS,
    ProcessHealth,
)
from aitp_desk.store.base import Store
from aitp_desk.store.engine.sqlite import SqliteStore
from tests.support.desk.first_start import begin_database
from tests.support.doubles.agent import Clock


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    """An open store."""
    begin_database(tmp_path / "desk.db")
    async with SqliteStore.open(tmp_path / "desk.db", synchronous="normal") as opened:
        yield opened


async def states(one: ProcessHealth) -> dict[str, str]:
    return {found.name: found.state for found in await one.probe()}


async def test_each_process_knows_the_state_of_all(store: Store) -> None:
    clock = Clock()
    first, second = (ProcessHealth(store, name, clock) for name in ("web/1", "web/2"))
    assert await states(first) == {"process:web/1": "up"}
    await first.report("up")
    await second.report("degraded")
    assert await states(first) == {"process:web/1": "up", "process:web/2": "degraded"}
    assert await states(second) == {"process:web/1": "up", "process:web/2": "up"}


async def test_one_that_no_longer_reports_is_down_until_it_is_forgotten(store: Store) -> None:
    clock = Clock()
    first, second = (ProcessHealth(store, name, clock) for name in ("web/1", "web/2"))
    await second.report("up")
    clock.now += SILENT_SECONDS + 1
    (_, found) = await first.probe()
    assert (found.name, found.state) == ("process:web/2", "down")
    assert str(SILENT_SECONDS + 1) in found.reason
    await second.report("up")
    assert (await states(first))["process:web/2"] == "up"
    clock.now += FORGOTTEN_SECONDS + 1
    assert await states(first) == {"process:web/1": "up"}


async def test_one_that_ends_in_good_order_is_not_missed(store: Store) -> None:
    clock = Clock()
    first, second = (ProcessHealth(store, name, clock) for name in ("web/1", "web/2"))
    await second.report("up")
    await second.end()
    assert await states(first) == {"process:web/1": "up"}
