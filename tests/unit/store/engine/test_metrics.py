"""What a store tells of its own work."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from aitp_desk.store.base import StoreError, Work
from aitp_desk.store.engine.metrics import QueueMetrics
from aitp_desk.store.engine.sqlite import SqliteStore


def note(*, name: str) -> Work[None]:
    """Write a little."""
    yield "raise_epoch", {"name": name}


def test_the_first_of_the_line_is_the_oldest_that_is_not_settled() -> None:
    line = QueueMetrics()
    assert line.seconds(100.0) == 0
    line.hand_over(3, 10.0)
    line.hand_over(2, 20.0)
    assert line.seconds(100.0) == 90
    line.settle(2)
    assert line.seconds(100.0) == 90, "one of the first group still waits"
    line.settle(1)
    assert line.seconds(100.0) == 80
    line.settle(2)
    assert line.seconds(100.0) == 0


async def test_commits_are_counted_with_what_was_in_them(tmp_path: Path) -> None:
    async with SqliteStore.open(tmp_path / "desk.db", queue=50) as store:
        for _ in range(10):
            store.record(note, name="a")
        waiting = store.measure()
        assert (waiting.waiting, waiting.most_waiting) == (10, 50)
        await store.settled()
        told = store.measure()
    assert (told.waiting, told.waiting_seconds) == (0, 0)
    assert told.commits.sizes.total == 11, "and the one that waited for them"
    assert sum(told.commits.seconds.counts) == sum(told.commits.sizes.counts)
    assert told.commits.failed == 0
    assert told.files is not None
    assert told.files.bytes > 0
    assert told.files.free_bytes > 0


async def test_what_the_database_does_not_take_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "desk.db"
    async with SqliteStore.open(path) as store:
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.execute("ALTER TABLE epochs RENAME TO gone")
            with pytest.raises(StoreError):
                await store.run(note, name="a")
            assert store.measure().commits.failed == 1
            database.execute("ALTER TABLE gone RENAME TO epochs")
        await store.run(note, name="a")
        assert store.measure().commits.failed == 1
