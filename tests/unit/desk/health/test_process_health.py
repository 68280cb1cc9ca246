"""What the processes on one database report of each other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aitp_desk.desk.jobs.process_watch import DROPPED_AFTER, GONE_AFTER, ProcessWatch
from aitp_desk.desk.maintenance.process_health import probe_processes
from aitp_desk.model.component import Condition
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


@pytest.fixture
def two(store: Store) -> tuple[ProcessWatch, ProcessWatch]:
    """Two processes."""
    clock = Clock()
    return ProcessWatch(store, "web/1", clock), ProcessWatch(store, "web/2", clock)


async def look(watch: ProcessWatch) -> dict[str, Condition]:
    await watch.beat()
    await watch.free_gone()
    return {found.name: found for found in await probe_processes(watch)}


async def states(watch: ProcessWatch) -> dict[str, str]:
    """The state of each process; the first line is about all."""
    return {name: found.state for name, found in (await look(watch)).items() if ":" in name}


async def test_each_process_knows_the_state_of_all(two: tuple[ProcessWatch, ProcessWatch]) -> None:
    first, second = two
    assert await states(first) == {"process:web/1": "up"}
    second.state = "degraded"
    assert await states(second) == {"process:web/1": "up", "process:web/2": "up"}
    assert await states(first) == {"process:web/1": "up", "process:web/2": "degraded"}


async def test_it_is_told_how_many_are_up_and_who_they_are_and_since_when(
    store: Store, two: tuple[ProcessWatch, ProcessWatch]
) -> None:
    first, second = two
    assert (await look(first))["processes"].reason == "1 process is up."
    await second.beat()
    found = await look(first)
    assert found["processes"].reason == "2 processes are up."
    for process, name in ((first, "process:web/1"), (second, "process:web/2")):
        reason = found[name].reason
        assert reason.startswith(f"Process {process.process}, begun at ")
        assert reason.endswith(" UTC.")
    for _ in range(GONE_AFTER):
        found = await look(first)
    assert found["processes"].reason == "1 process is up, 1 gone."


async def test_one_that_no_longer_beats_is_down_until_it_is_forgotten(
    two: tuple[ProcessWatch, ProcessWatch],
) -> None:
    first, second = two
    await second.beat()
    for _ in range(GONE_AFTER):
        assert (await states(first))["process:web/2"] == "up"
    found = (await look(first))["process:web/2"]
    assert found.state == "down"
    assert "It has not reported for 15 seconds." in found.reason
    await second.beat()
    assert (await states(first))["process:web/2"] == "up"
    for _ in range(DROPPED_AFTER + 1):
        await look(first)
    assert await states(first) == {"process:web/1": "up"}


async def test_one_that_was_replaced_is_not_missed(
    store: Store, two: tuple[ProcessWatch, ProcessWatch]
) -> None:
    first, killed = two
    await killed.beat()
    for _ in range(GONE_AFTER):
        await look(first)
    assert (await states(first))["process:web/2"] == "down"
    await ProcessWatch(store, "web/2", Clock()).beat()
    assert await states(first) == {"process:web/1": "up", "process:web/2": "up"}


async def test_one_that_ends_in_good_order_is_not_missed(
    two: tuple[ProcessWatch, ProcessWatch],
) -> None:
    first, second = two
    async with second.run():
        assert await states(first) == {"process:web/1": "up", "process:web/2": "up"}
    assert await states(first) == {"process:web/1": "up"}
