"""A desk all of whose connections for reads are in use."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import pytest

from aitp_desk.store.engine.postgres import store as postgres_store
from tests.faults.actions.interruption import Entering, enter, until_ended
from tests.faults.test_postgres_outage import OPENAI, QUERY, SECONDS, rpc, until_ready
from tests.support.clients.threads import Talker, Told, talking
from tests.support.store.postgres import PostgresServer

pytestmark = pytest.mark.servers
CONNECTIONS = 2
A2A = [("A2A-Version", "1.0"), ("Accept", "application/json")]
WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'threads'::regclass"


@asynccontextmanager
async def held(url: str) -> AsyncIterator[asyncpg.Connection]:
    """While another program keeps the table of threads to itself."""
    connection = await asyncpg.connect(url)
    try:
        async with connection.transaction():
            await connection.execute("LOCK TABLE threads IN ACCESS EXCLUSIVE MODE")
            yield connection
    finally:
        await connection.close()


async def until_taken(connection: asyncpg.Connection, count: int) -> None:
    """Return once so many reads wait for the table."""
    async with asyncio.timeout(SECONDS):
        while await connection.fetchval(WAITING) < count:
            pass


async def read_until_taken(talker: Talker, thread: str) -> Told:
    """Read a thread, again while a job of the desk's own has the last connection."""
    while (told := await talker.read(thread)).status == 503:
        pass
    return told


async def read_all(talker: Talker, thread: str, call: str, task: str, poll: str) -> dict[str, Told]:
    """Send a request that reads the store, over each protocol."""
    status = {"name": "call_status", "arguments": {"capability": "enter_later", "call_id": call}}
    mcp = [
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", "2025-06-18"),
    ]
    requests = {
        "AITP": talker.read(thread),
        "AHP": talker.send("GET", poll),
        "OpenAPI": talker.send("GET", f"/capabilities/enter_later/calls/{call}"),
        "A2A": talker.send("GET", f"/a2a/tasks/{task}", headers=A2A),
        "MCP": talker.send("POST", "/mcp", rpc("tools/call", status), headers=mcp),
    }
    return dict(zip(requests, await asyncio.gather(*requests.values()), strict=True))


async def test_each_protocol_refuses_instead_of_waiting(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = await postgres.begin()
    settings = (f"store.url={url}", f"store.connections={CONNECTIONS}")
    entering = Entering()
    async with talking(tmp_path, *settings, actions=entering.offered) as anybody:
        talker = await anybody.with_key("actions", "threads")
        threads = [(await talker.open("Hello.", headers=OPENAI)).id for _ in range(CONNECTIONS)]
        accepted = await enter(talker, "enter_later", "long-call")
        begun = await talker.send("POST", "/capabilities/enter_later", {"note": "long-call"})
        assert begun.status == 202
        call = begun.body["id"]
        message = {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": QUERY}]}
        sent = await talker.send("POST", "/a2a/message:send", {"message": message}, headers=A2A)
        ids = (threads[0], call, sent.ok["task"]["id"], accepted.body["poll"])
        for told in (await read_all(talker, *ids)).values():
            assert told.status == 200
        async with held(url) as holder:
            waiting = []
            for number, thread in enumerate(threads, 1):
                waiting.append(asyncio.create_task(read_until_taken(talker, thread)))
                await until_taken(holder, number)
            with monkeypatch.context() as patch:
                patch.setattr(postgres_store, "POOL_SECONDS", 0.1)
                refused = await read_all(talker, *ids)
            assert refused["MCP"].body["error"]["data"]["retry_after"] >= 1
            assert "error" in refused["A2A"].body
            for told in refused.values():
                assert told.status == 503
                assert int(told.headers["Retry-After"]) >= 1
            assert (await talker.send("GET", "/health")).status == 200
            assert not any(task.done() for task in waiting)
        for task in waiting:
            assert (await task).status == 200
        await until_ready(talker)
        for told in (await read_all(talker, *ids)).values():
            assert told.status == 200
        entering.may_enter.set()
        assert await until_ended(talker, accepted) == "success"


async def test_a_read_that_waits_for_too_long_is_ended_and_frees_its_connection(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aitp_desk.store.engine.postgres.connections.CLIENT_SECONDS", 0.0)
    url = await postgres.begin()
    settings = (f"store.url={url}", "store.connections=1", "store.statement_seconds=1")
    async with talking(tmp_path, *settings) as talker:
        # what opens a thread has no more than that second either
        while (opened := await talker.open("Hello.", headers=OPENAI)).status == 503:
            pass
        thread = opened.id
        async with held(url):
            refused = await talker.read(thread)
            assert refused.status == 503
            assert int(refused.headers["Retry-After"]) >= 1
        await until_ready(talker)
        assert (await read_until_taken(talker, thread)).id == thread
