"""The database's clock, as several processes follow it."""

from __future__ import annotations

import pytest

from aitp_desk.store.clock import LONGEST_LOOK_SECONDS, DatabaseClock
from aitp_desk.store.engine.postgres.store import PostgresStore
from tests.support.doubles.agent import NOON, Clock
from tests.support.store.postgres import PostgresServer


async def test_it_goes_on_from_the_databases_time_whatever_the_machines_is() -> None:
    ticks, database, takes = Clock(), Clock(), 0.5
    ticks.now = 100.0

    async def read() -> float:
        ticks.now += takes
        return database.now

    clock = DatabaseClock(read, ticks)
    await clock.look()
    assert clock() == NOON + 0.25
    ticks.now += 10
    assert clock() == NOON + 10.25
    # an answer that took long says little about the time
    database.now += 1000
    takes = LONGEST_LOOK_SECONDS + 0.1
    await clock.look()
    assert clock() == NOON + 10.25 + takes
    takes = 0.0
    await clock.look()
    assert clock() == NOON + 1000


@pytest.mark.servers
async def test_the_time_of_postgresql_is_read(postgres: PostgresServer) -> None:
    async with PostgresStore.open(await postgres.begin(), {}) as store:
        ((before,),) = await postgres.rows("SELECT extract(epoch FROM clock_timestamp())::float8")
        assert before <= await store.read_time() < before + 60
