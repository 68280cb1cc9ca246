"""Changes that processes on one PostgreSQL database send each other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest

from aitp_desk.store.changes import Change
from aitp_desk.store.engine.postgres.change_feed import MAX_PAYLOAD_BYTES, PostgresChangeFeed
from aitp_desk.store.engine.postgres.connections import plan_connections
from tests.support.store.postgres import PostgresServer

pytestmark = pytest.mark.servers

SECONDS = 60


class Process:
    """A process with a feed, and what it has received."""

    def __init__(self, feed: PostgresChangeFeed) -> None:
        self.publish = feed.publish
        self._received: asyncio.Queue[Change] = asyncio.Queue()
        self._looks: asyncio.Queue[None] = asyncio.Queue()

    def on_change(self, change: Change) -> None:
        self._received.put_nowait(change)

    def on_look(self) -> None:
        self._looks.put_nowait(None)

    async def next(self) -> Change:
        async with asyncio.timeout(SECONDS):
            return await self._received.get()

    async def looked(self) -> None:
        async with asyncio.timeout(SECONDS):
            await self._looks.get()

    @property
    def has_more(self) -> bool:
        return not self._received.empty()


@asynccontextmanager
async def process(url: str, *, is_pooled: bool = False) -> AsyncIterator[Process]:
    """A process that listens."""
    feed = PostgresChangeFeed(plan_connections(url, {}, seconds=5, is_pooled=is_pooled))
    here = Process(feed)
    async with feed.deliver(here.on_change, here.on_look):
        await here.looked()
        yield here


async def test_a_change_reaches_every_other_process_once(postgres: PostgresServer) -> None:
    url = await postgres.begin()
    async with process(url) as one, process(url) as two, process(url) as three:
        for change in (Change("thread", "thread_1"), Change("typing", "thread_1", "ann")):
            one.publish(change)
            one.publish(change)
            assert await two.next() == change
            assert await three.next() == change
        two.publish(Change("end", "run_1"))
        assert await one.next() == await three.next() == Change("end", "run_1")
        assert [one.has_more, two.has_more, three.has_more] == [False] * 3


async def test_many_at_once_all_arrive_in_order(postgres: PostgresServer) -> None:
    url = await postgres.begin()
    sent = [Change("thread", f"thread_{number:04}") for number in range(2_000)]
    sent.append(Change("typing", "thread_1", "a" * (MAX_PAYLOAD_BYTES - 100)))
    async with process(url) as one, process(url) as two:
        for change in sent:
            one.publish(change)
        assert [await two.next() for _ in sent] == sent


async def test_the_last_change_is_sent_before_the_end(postgres: PostgresServer) -> None:
    url = await postgres.begin()
    async with process(url) as two:
        async with process(url) as one:
            one.publish(Change("end", "run_1"))
        assert await two.next() == Change("end", "run_1")


async def test_after_an_interruption_it_looks_and_listens_again(postgres: PostgresServer) -> None:
    url = await postgres.begin()
    async with process(url) as one, process(url) as two:
        killed = await postgres.rows(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND query LIKE '%aitp_desk_changes%'"
            " AND pid <> pg_backend_pid()"
        )
        assert killed == [(True,), (True,)]
        one.publish(Change("thread", "thread_1"))  # kept until there is a connection
        await two.looked()
        await one.looked()
        one.publish(Change("thread", "thread_2"))
        while (change := await two.next()) != Change("thread", "thread_2"):
            assert change == Change("thread", "thread_1")


async def test_what_another_program_sends_is_left_alone(postgres: PostgresServer) -> None:
    url = await postgres.begin()
    async with process(url) as one, process(url) as two:
        for payload in ("", "[]", '["x", [["unknown", "thread_1", ""]]]'):
            await postgres.rows(f"SELECT pg_notify('aitp_desk_changes', '{payload}')")
        one.publish(Change("thread", "thread_1"))
        assert await two.next() == Change("thread", "thread_1")


async def test_behind_a_pooler_it_only_looks(postgres: PostgresServer) -> None:
    url = await postgres.begin()
    async with process(url, is_pooled=True) as one, process(url) as two:
        one.publish(Change("thread", "thread_1"))
        await one.looked()
        assert not two.has_more


async def test_whatever_a_connection_raises_changes_are_sent_by_the_next_one(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute, failed = asyncpg.Connection.execute, asyncio.Event()

    async def fail_once(connection: asyncpg.Connection, sql: str, *given: Any, **named: Any) -> Any:
        if "pg_notify" in sql and not failed.is_set():
            failed.set()
            raise RuntimeError("the handle is closed")
        return await execute(connection, sql, *given, **named)

    url = await postgres.begin()
    async with process(url) as one, process(url) as two:
        monkeypatch.setattr(asyncpg.Connection, "execute", fail_once)
        one.publish(Change("thread", "thread_1"))
        assert await two.next() == Change("thread", "thread_1")
    assert failed.is_set()
