"""Beats of processes whose store is busy, cut off or gone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from aitp_desk.desk.jobs.process_watch import GONE_AFTER, ProcessWatch
from aitp_desk.model.errors import StoreBusy
from aitp_desk.store.base import Store
from aitp_desk.store.engine.postgres.migration import LOCK
from aitp_desk.store.engine.postgres.store import PostgresStore
from aitp_desk.store.reads import threads as reads
from tests.support.store.messages import a_thread, open_thread
from tests.support.store.postgres import PostgresServer

pytestmark = pytest.mark.servers
SECONDS = 30
QUEUE = 4
WAITING = """
SELECT count(*) FROM pg_locks WHERE NOT granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


@asynccontextmanager
async def halted(url: str) -> AsyncIterator[asyncpg.Connection]:
    """While another program lets nobody write, and nobody read threads."""
    connection = await asyncpg.connect(url)
    try:
        async with connection.transaction():
            await connection.execute(LOCK)
            await connection.execute("LOCK TABLE threads IN ACCESS EXCLUSIVE MODE")
            yield connection
    finally:
        await connection.close()


async def read_one(store: Store) -> object:
    return await reads.thread(store, a_thread().id)


@asynccontextmanager
async def crowded(store: Store, connection: asyncpg.Connection) -> AsyncIterator[None]:
    """While a store has all the work that it takes, and none of it goes on."""
    work: list[asyncio.Task[object]] = [
        asyncio.create_task(open_thread(store, f"Hello {n}")) for n in range(QUEUE)
    ]
    work.append(asyncio.create_task(read_one(store)))
    try:
        async with asyncio.timeout(SECONDS):
            while await connection.fetchval(WAITING) < 2:  # the writer, and all reads
                assert not [one for one in work if one.done()]
        with pytest.raises(StoreBusy):
            await open_thread(store, "One too many")
        yield
    finally:
        for one in work:
            one.cancel()
        await asyncio.gather(*work, return_exceptions=True)


async def test_a_process_whose_store_is_full_of_slow_work_is_not_gone(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aitp_desk.store.engine.postgres.writer.LOCK_SECONDS", SECONDS)
    url = await postgres.begin()
    async with (
        PostgresStore.open(url, {}, queue=QUEUE, pool_size=1) as full,
        PostgresStore.open(url, {}) as idle,
    ):
        busy, watching, dead = ProcessWatch(full), ProcessWatch(idle), ProcessWatch(idle)
        await dead.beat()
        await watching.beat()
        async with halted(url) as connection, crowded(full, connection):
            for _ in range(3 * GONE_AFTER):
                await busy.beat()
                await watching.beat()
                assert not watching.is_gone(busy.process)
                assert not busy.is_gone(watching.process)
        assert watching.is_gone(dead.process)


async def test_beats_go_on_after_their_connection_was_cut(postgres: PostgresServer) -> None:
    url = await postgres.begin()
    async with PostgresStore.open(url, {}) as store:
        watch = ProcessWatch(store)
        await watch.beat()
        (before,) = watch.list_presences()
        await postgres.rows(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        await watch.beat()
        (after,) = watch.list_presences()
        assert (before.beat.number, after.beat.number) == (1, 2)


async def test_a_cancelled_beat_is_no_hindrance_to_the_next(postgres: PostgresServer) -> None:
    url = await postgres.begin()
    async with PostgresStore.open(url, {}) as store:
        watch = ProcessWatch(store)
        await watch.beat()
        connection = await asyncpg.connect(url)
        async with connection.transaction():
            await connection.execute("LOCK TABLE processes IN ACCESS EXCLUSIVE MODE")
            late = asyncio.create_task(watch.beat())
            async with asyncio.timeout(SECONDS):
                while not await connection.fetchval(WAITING):
                    assert not late.done()
            late.cancel()
            await asyncio.wait([late])
        await connection.close()
        await watch.beat()
        assert not watch.is_gone(watch.process)
