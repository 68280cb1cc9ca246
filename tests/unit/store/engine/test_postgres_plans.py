"""PostgreSQL finds by its indexes what it is asked for in tables that grow."""

from __future__ import annotations

import asyncpg
import pytest

from tests.bench.plans import fill, find_walks
from tests.support.store.postgres import PostgresServer

MESSAGES = 200_000
LARGEST = {"messages", "events", "runs", "threads", "actors", "steps"}


@pytest.mark.servers
async def test_no_statement_walks_through_conversations(postgres: PostgresServer) -> None:
    connection = await asyncpg.connect(await postgres.begin("grown"))
    await fill(connection, MESSAGES)
    assert [walk for walk in await find_walks(connection) if walk.table in LARGEST] == []
    await connection.close()
