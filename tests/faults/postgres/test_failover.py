"""A PostgreSQL server that is replaced by its standby while it commits."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from tests.faults.actions.interruption import Entering, enter, until_ended
from tests.faults.test_postgres_outage import DURABLE, OPENAI, until_ready
from tests.support.clients.threads import Talker, Told, talking
from tests.support.store.postgres import PostgresCluster, standby_pair
from tests.support.store.postgres_line import Line, open_line

pytestmark = pytest.mark.servers
SECONDS = 60
POSTS = 4
SENDERS = "SELECT pid FROM pg_stat_replication"
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"


async def ask(server: PostgresCluster, sql: str) -> list[Any]:
    connection = await asyncpg.connect(server.url)
    try:
        return [value for (value,) in await connection.fetch(sql)]
    finally:
        await connection.close()


async def kept(line: Line, server: PostgresCluster) -> None:
    """Return once both servers have the transaction, and only its desk does not know."""
    await line.is_reached.wait()
    line.may_pass.set()
    await line.is_answered.wait()


async def lost(line: Line, server: PostgresCluster) -> None:
    """Return once the server has written what its standby will never have."""
    await line.is_reached.wait()
    for pid in await ask(server, SENDERS):
        os.kill(pid, signal.SIGSTOP)  # it ends with its server
    line.may_pass.set()
    while not (await ask(server, WAITING))[0]:
        pass


Fate = Callable[[Line, PostgresCluster], Awaitable[None]]
FATES = pytest.mark.parametrize("fate", [kept, lost])


class Failover:
    """A server to which a desk is connected by a line, and its standby."""

    def __init__(self, line: Line, server: PostgresCluster, standby: PostgresCluster) -> None:
        self._line = line
        self._server = server
        self._standby = standby

    def prepare(self, written: str) -> None:
        """Hold the COMMIT of what is written next."""
        self._line.holds = written.encode()

    async def happen(self, fate: Fate, talker: Talker) -> None:
        """Have the standby take over while that COMMIT is in flight."""
        async with asyncio.timeout(SECONDS):
            await fate(self._line, self._server)
        self._line.end()
        await asyncio.to_thread(self._server.stop)
        await asyncio.to_thread(self._standby.promote)
        await until_ready(talker)


@asynccontextmanager
async def replaced(
    folder: Path, entering: Entering | None = None
) -> AsyncIterator[tuple[Talker, Failover]]:
    """A desk with two servers, and a caller with a key."""
    line_folder = folder / "line"
    line_folder.mkdir()
    with standby_pair(DURABLE) as (server, standby):
        url = server.url_with(standby, line_folder)
        async with (
            open_line(server.url, line_folder) as line,
            talking(
                folder, f"store.url={url}", actions=entering.offered if entering else ()
            ) as anybody,
        ):
            talker = await anybody.with_key("actions", "threads")
            yield talker, Failover(line, server, standby)


@FATES
async def test_messages_whose_commit_is_in_flight_are_there_once(
    tmp_path: Path, fate: Fate
) -> None:
    async with replaced(tmp_path) as (talker, failover):
        thread = (await talker.open("Hello.", headers=OPENAI)).id
        texts = [f"Message {n}." for n in range(POSTS)]

        async def send(text: str) -> Told:
            key = ("Idempotency-Key", text.rjust(20, "k"))
            return await talker.post(thread, text, headers=[*OPENAI, key])

        failover.prepare(texts[0])
        sending = [asyncio.create_task(send(text)) for text in texts]
        await failover.happen(fate, talker)
        told = await asyncio.gather(*sending)
        there = await talker.texts(thread)
        assert there.count("Hello.") == 1, "it was acknowledged before"
        for text, one in zip(texts, told, strict=True):
            if one.status == 200:
                assert there.count(text) == 1
            else:
                assert one.status == 503
                assert int(one.headers["Retry-After"]) >= 1
        for text, one in zip(texts, told, strict=True):
            again = await send(text)
            assert again.status == 200
            assert one.status == 503 or again.id == one.id
        assert sorted(await talker.texts(thread)) == sorted(["Hello.", *texts])


@FATES
async def test_a_call_whose_begin_is_in_flight_is_carried_out_once_or_not_at_all(
    tmp_path: Path, fate: Fate
) -> None:
    entering = Entering()
    async with replaced(tmp_path, entering) as (talker, failover):
        failover.prepare("the-entry")
        calling = asyncio.create_task(enter(talker, "enter", "the-entry"))
        await failover.happen(fate, talker)
        told = await calling
        if told.status == 200:
            assert told.body["status"] == "success"
            assert entering.entered == ["the-entry"]
        else:
            assert told.status == 503
            assert int(told.headers["Retry-After"]) >= 1
            assert entering.entered == []
        again = await enter(talker, "enter", "afterward")
        assert again.body["status"] == "success"
        assert entering.entered == ["the-entry"] * (told.status == 200) + ["afterward"]


@FATES
async def test_a_call_whose_end_is_in_flight_is_not_carried_out_again(
    tmp_path: Path, fate: Fate
) -> None:
    entering = Entering()
    async with replaced(tmp_path, entering) as (talker, failover):
        accepted = await enter(talker, "enter_later", "the-entry")
        await entering.begun.wait()
        failover.prepare("the-entry")
        entering.may_enter.set()
        await failover.happen(fate, talker)
        assert await until_ended(talker, accepted) == "success"
        assert entering.entered == ["the-entry"]
