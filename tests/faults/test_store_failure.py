"""A desk whose database is full, held by another program, or slow, while it carries out calls."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from pathlib import Path

import pytest

from aitp_desk.store.base import Row, Work
from aitp_desk.store.engine.sqlite_writer import WriterThread
from aitp_desk.store.engine.statements import load_statements
from aitp_desk.store.engine.unit import Unit
from tests.faults.actions.interruption import LONG, SECONDS, Entering, enter, status_of, until_ended
from tests.support.clients.threads import DATABASE, Talker, talking
from tests.support.store.integrity import check_whole


def ask(statement: str) -> Work[list[Row]]:
    return (yield statement, {})


@asynccontextmanager
async def full(talker: Talker, _database: Path, thread_id: str) -> AsyncIterator[None]:
    """While nothing of any length can be written: no page is left."""
    store = talker.desk.store
    await store.run(ask, "bound_pages")
    async with asyncio.timeout(SECONDS):
        for said in (LONG * 10, LONG, LONG[:2000]):
            while (await talker.post(thread_id, said, headers=OPENAI)).status == 200:
                pass
    yield
    await store.run(ask, "unbound_pages")


@asynccontextmanager
async def held(_talker: Talker, database: Path, _thread_id: str) -> AsyncIterator[None]:
    """While another program writes."""
    with closing(sqlite3.connect(database, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        yield
        holder.execute("ROLLBACK")


OPENAI = [("OpenAI-Beta", "assistants=v2")]
Fault = Callable[[Talker, Path, str], AbstractAsyncContextManager[None]]


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A desk that does not wait long for the database, and statements that bound it."""
    monkeypatch.setattr("aitp_desk.store.engine.sqlite.COMMIT_WAITS_MS", 10)
    monkeypatch.setattr("aitp_desk.desk.jobs.queue.AGAIN_SECONDS", 0.01)
    monkeypatch.setattr("aitp_desk.desk.calls.repository.AGAIN_SECONDS", 0.01)
    extra = {
        "bound_pages": "PRAGMA max_page_count = 1",  # it is never less than there are
        "unbound_pages": "PRAGMA max_page_count = 1000000",
    }
    monkeypatch.setattr(
        "aitp_desk.store.engine.sqlite.load_statements",
        lambda engine: {**load_statements(engine), **extra},
    )


@pytest.mark.parametrize("fault", [full, held])
async def test_while_nothing_can_be_written_nothing_is_begun_and_nothing_is_lost(
    tmp_path: Path, fault: Fault
) -> None:
    entering = Entering()
    database = tmp_path / "data" / DATABASE
    async with talking(tmp_path, actions=entering.offered) as anybody:
        talker = await anybody.with_key("actions", "threads")
        thread = (await talker.open("Hello.", headers=OPENAI)).id
        accepted = await enter(talker, "enter_later", "long-call")
        await entering.begun.wait()
        entering.begun.clear()
        waiting = asyncio.create_task(enter(talker, "enter_held", "waited-on"))
        await entering.begun.wait()
        async with fault(talker, database, thread):
            before = talker.counts()
            refused = await talker.post(thread, LONG, headers=OPENAI)
            assert refused.refusal[:2] == (503, "unavailable")
            not_called = await enter(talker, "enter", LONG)
            assert (not_called.status, not_called.body["code"]) == (503, "unavailable")
            for told in (refused, not_called):
                assert int(told.headers["Retry-After"]) >= 1
                assert "sqlite" not in str(told.body).lower()
            assert entering.entered == []
            assert talker.counts() == before
            assert (await talker.read(thread)).status == 200
            found = {"ahp": "0.1", "capability": "content_search", "query": "Do you sell books?"}
            assert (await talker.send("POST", "/agent/converse", found)).status == 200
            entering.may_enter.set()
            async with asyncio.timeout(SECONDS):
                while len(entering.entered) < 2:
                    assert (await talker.send("GET", "/health")).status == 200
            assert await status_of(talker, accepted) == "pending"
            assert not waiting.done()
        assert (await waiting).body["status"] == "success"
        assert await until_ended(talker, accepted) == "success"
        assert (await enter(talker, "enter", "afterward")).body["status"] == "success"
        assert sorted(entering.entered) == ["afterward", "long-call", "waited-on"]
        assert (await talker.post(thread, LONG, headers=OPENAI)).status == 200
    check_whole(database)


@pytest.mark.slow
async def test_a_slow_store_makes_nobody_wait_who_does_not_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entering, slowness = Entering(), 0.0

    class SlowWriter(WriterThread):
        def _write(self, units: list[Unit]) -> None:
            time.sleep(slowness)
            super()._write(units)

    monkeypatch.setattr("aitp_desk.store.engine.sqlite.WriterThread", SlowWriter)
    entering.may_enter.set()
    async with talking(tmp_path, actions=entering.offered) as anybody:
        talker = await anybody.with_key("actions", "threads")
        slowness = 0.1
        posting = asyncio.create_task(talker.open("Hello.", headers=OPENAI))
        calling = asyncio.create_task(enter(talker, "enter", "at-once"))
        accepting = asyncio.create_task(enter(talker, "enter_later", "long-call"))
        began, answered = time.monotonic(), 0
        while time.monotonic() < began + slowness and not posting.done():
            assert (await talker.send("GET", "/health")).status == 200
            answered += 1
        assert answered > 1
        assert (await posting).status == 200
        assert (await calling).body["status"] == "success"
        assert await until_ended(talker, await accepting) == "success"
    assert sorted(entering.entered) == ["at-once", "long-call"]
