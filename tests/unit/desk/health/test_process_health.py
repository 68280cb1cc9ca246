"""What the processes on one database report of each other."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from aitp_desk.desk.jobs.process_watch import DROPPED_AFTER, GONE_AFTER, ProcessWatch
from aitp_desk.desk.maintenance.process_health import probe_processes
from aitp_desk.model.component import Condition
from aitp_desk.model.process_figures import ProcessFigures
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
    assert (await look(first))["processes"].reason.startswith("1 process is up. ")
    await second.beat()
    found = await look(first)
    assert found["processes"].reason.startswith("2 processes are up. ")
    for process, name in ((first, "process:web/1"), (second, "process:web/2")):
        reason = found[name].reason
        assert reason.startswith(f"Process {process.process}, begun at ")
        assert " UTC. " in reason
    for _ in range(GONE_AFTER):
        found = await look(first)
    assert found["processes"].reason.startswith("1 process is up, 1 gone. ")


async def test_the_figures_of_all_that_are_up_are_added(
    two: tuple[ProcessWatch, ProcessWatch], tmp_path: Path
) -> None:
    first, second = two
    busy = ProcessFigures(
        requests=10, errors=1, questions=3, runs=2, streams=4, memory=100 * 1024**2
    )
    told = msgspec.json.encode(busy).decode()
    with closing(sqlite3.connect(tmp_path / "desk.db", isolation_level=None)) as database:
        insert = "INSERT INTO processes (id, beats, name, figures) VALUES (?, 1, ?, ?)"
        database.execute(insert, ("gone", "web/3", told))
    async with first.run(lambda: busy), second.run(lambda: busy):
        for _ in range(GONE_AFTER):
            await second.beat()
            await first.beat()
        found = await look(first)
    assert found["processes"].reason == (
        "2 processes are up, 1 gone. Requests: 20, errors: 2, questions: 6, runs: 4;"
        " open streams: 8, memory: 200 MiB."
    )
    assert found["process:web/2"].reason.endswith(
        "Requests: 10, errors: 1, questions: 3, runs: 2; open streams: 4, memory: 100 MiB."
    )


async def test_a_process_of_an_older_version_reports_no_figures(
    two: tuple[ProcessWatch, ProcessWatch], tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "desk.db", isolation_level=None)) as database:
        database.execute("INSERT INTO processes (id, beats, name) VALUES ('older', 1, 'web/2')")
    found = await look(two[0])
    assert found["processes"].reason.startswith("2 processes are up. Requests: 0, ")
    assert found["process:web/2"].reason.endswith(" UTC.")


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
