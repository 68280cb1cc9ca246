"""Reads of one moment on PostgreSQL share round trips, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aitp_desk.store.base import Store, StoreError, Work
from aitp_desk.store.engine.postgres.read_group import MAX_READS
from aitp_desk.store.engine.postgres.store import PostgresStore
from aitp_desk.store.reads import threads as reads
from tests.support.store.postgres import PostgresServer
from tests.support.store.postgres_line import Line, open_line

pytestmark = pytest.mark.servers

COUNT = 2 * MAX_READS + 3
SYNC = b"S\0\0\0\4"
"""The message that ends a round trip."""


@pytest.fixture
async def line(postgres: PostgresServer, tmp_path: Path) -> AsyncIterator[Line]:
    async with open_line(await postgres.begin(), tmp_path) as opened:
        yield opened


@pytest.fixture
async def store(line: Line) -> AsyncIterator[Store]:
    async with PostgresStore.open(line.url, {}) as opened:
        yield opened


def raise_epochs(numbers: range) -> Work[None]:
    """Give each number an epoch that is as high."""
    for number in numbers:
        for _ in range(number):
            yield "raise_epoch", {"name": f"n{number}"}


async def test_each_read_gets_its_own_rows(store: Store) -> None:
    await store.run(raise_epochs, range(20))
    found = await asyncio.gather(*(reads.epoch(store, f"n{number}") for number in range(COUNT)))
    assert found == [number if number < 20 else 0 for number in range(COUNT)]


async def test_reads_of_one_moment_share_round_trips(store: Store, line: Line) -> None:
    for _ in range(2):  # the first one prepares the statements
        line.sent = b""
        await asyncio.gather(*(reads.epoch(store, "n") for _ in range(COUNT)))
    assert line.sent.count(SYNC) == 3


async def test_a_read_sees_what_was_written_before_it(store: Store) -> None:
    for number in range(1, 20):
        await store.run(raise_epochs, range(1, 2))
        assert set(await asyncio.gather(*(reads.epoch(store, "n1") for _ in range(5)))) == {number}


async def test_a_read_that_fails_fails_alone(store: Store) -> None:
    await store.run(raise_epochs, range(3))
    first, wrong, last = await asyncio.gather(
        reads.epoch(store, "n1"),
        store.read("epoch", {"name": 5}),
        reads.epoch(store, "n2"),
        return_exceptions=True,
    )
    assert (first, last) == (1, 2)
    assert isinstance(wrong, StoreError)


async def test_a_caller_that_gives_up_takes_nothing_from_the_others(store: Store) -> None:
    await store.run(raise_epochs, range(3))
    tasks = [asyncio.create_task(reads.epoch(store, f"n{number}")) for number in range(3)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    assert await asyncio.gather(*tasks[1:]) == [1, 2]


async def test_all_reads_fail_where_the_server_is_away(store: Store, line: Line) -> None:
    line.is_open = False
    line.break_all()
    found = await asyncio.gather(
        *(reads.epoch(store, "n") for _ in range(COUNT)), return_exceptions=True
    )
    assert {str(one) for one in found} == {"The database cannot be reached now."}
