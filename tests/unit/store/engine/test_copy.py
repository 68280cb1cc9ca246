"""Copies of a store from one engine to the other."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import asyncpg
import pytest

from aitp_desk.store.base import StoreError
from aitp_desk.store.engine.copy import tables
from aitp_desk.store.engine.copy.copier import copy_store
from aitp_desk.store.engine.copy.postgres_rows import open_postgres_source, open_postgres_target
from aitp_desk.store.engine.copy.sqlite_rows import open_sqlite_source, open_sqlite_target
from aitp_desk.store.engine.postgres.reader import MOST_TOLD, open_reader
from aitp_desk.store.engine.postgres.store import PostgresStore
from aitp_desk.store.engine.sqlite import SqliteStore
from aitp_desk.store.engine.sqlite_reader import open_reader as open_sqlite_reader
from aitp_desk.store.records.keys import Key
from aitp_desk.store.units.keys.tokens import create_token
from aitp_desk.store.units.threads.folded_threads import fold_turn
from tests.support.access.audit_log import somebody
from tests.support.store.integrity import check_whole
from tests.support.store.messages import (
    a_session,
    a_thread,
    first_turn,
    open_thread,
    post,
)
from tests.support.store.postgres import PostgresServer
from tests.support.store.twin_store import compare_rows

pytestmark = pytest.mark.servers


@pytest.fixture
async def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database with some rows, which are copied a few at a time."""
    monkeypatch.setattr(tables, "ROWS_AT_ONCE", 3)
    path = tmp_path / "desk.db"
    async with SqliteStore.open(path, synchronous="normal") as store:
        for number in range(4):
            opened = await open_thread(store, f"Hello {number}", run=True)
            for text in "abc":
                await post(store, opened.thread_id, f"{text} ünïcödé 🏕")
        for name in ("one", "two"):
            token = Key(name.ljust(16, "0"), name, b"\0\xff", ("threads",), 1)
            await store.run(create_token, token=token, by=somebody())
        await store.run(fold_turn, **first_turn(a_session(a_thread())))
    return path


@pytest.fixture
async def empty(postgres: PostgresServer) -> str:
    """An empty database of a server."""
    return await postgres.make("copied")


def ignore(done: int, of: int | None) -> None:
    """Tell nobody of the progress."""


async def to_postgres(source: Path, url: str) -> int:
    async with (
        open_sqlite_source(source, is_exclusive=True) as rows,
        open_postgres_target(url, {}) as target,
    ):
        return (await copy_store(rows, target, ignore)).resumed


async def test_what_goes_to_postgres_and_back_is_the_same(
    source: Path, empty: str, tmp_path: Path
) -> None:
    assert await to_postgres(source, empty) == 0
    async with PostgresStore.open(empty, {}) as store:
        await open_thread(store, "It serves.")
    back = tmp_path / "back.db"
    async with (
        open_postgres_source(empty, {}, is_exclusive=True) as rows,
        open_sqlite_target(back) as target,
    ):
        await copy_store(rows, target, ignore)
    check_whole(back)
    async with SqliteStore.open(source) as store_before:
        before = await store_before.read("tokens", {})
    async with SqliteStore.open(back) as store_after:
        assert await store_after.read("tokens", {}) == before


async def test_a_copy_without_changes_is_equal_row_by_row(
    source: Path, empty: str, tmp_path: Path
) -> None:
    await to_postgres(source, empty)
    back = tmp_path / "back.db"
    async with (
        open_postgres_source(empty, {}, is_exclusive=False) as rows,
        open_sqlite_target(back) as target,
    ):
        await copy_store(rows, target, ignore)
    compare_rows(source, back)


class Interrupted(Exception):
    """What ends a copy in the middle."""


async def test_an_interrupted_copy_is_not_served_and_goes_on(source: Path, empty: str) -> None:
    def interrupt(done: int, of: int | None) -> None:
        if done > 20:
            raise Interrupted

    with pytest.raises(Interrupted):
        async with (
            open_sqlite_source(source, is_exclusive=True) as rows,
            open_postgres_target(empty, {}) as target,
        ):
            await copy_store(rows, target, interrupt)
    with pytest.raises(StoreError, match="was not finished"):
        async with PostgresStore.open(empty, {}):
            pass
    assert await to_postgres(source, empty) > 20
    async with PostgresStore.open(empty, {}) as store:
        assert len(await store.read("tokens", {})) == 2


async def test_an_interrupted_copy_is_neither_read_nor_copied(source: Path, empty: str) -> None:
    async with open_postgres_target(empty, {}):
        pass
    with pytest.raises(StoreError, match="was not finished"):
        async with open_reader(empty, {}):
            pass
    for is_exclusive in (True, False):
        with pytest.raises(StoreError, match="was not finished"):
            async with open_postgres_source(empty, {}, is_exclusive=is_exclusive):
                pass
    await to_postgres(source, empty)
    async with open_reader(empty, {}) as reader:
        assert await reader.damage() == ()


async def test_a_copy_with_a_fault_is_not_finished(source: Path, empty: str) -> None:
    async def find_fault(reader: tables.CopyReader) -> tuple[str, ...]:
        return (*await reader.damage(), f"{len(await reader.read('tokens', {}))} tokens")

    async with (
        open_sqlite_source(source, is_exclusive=True) as rows,
        open_postgres_target(empty, {}) as target,
    ):
        report = await copy_store(rows, target, ignore, find_fault)
    assert report.problems == ("2 tokens",)
    with pytest.raises(StoreError, match="was not finished"):
        async with PostgresStore.open(empty, {}):
            pass


async def test_a_copy_whose_lock_was_lost_is_not_finished(
    source: Path, empty: str, postgres: PostgresServer, tmp_path: Path
) -> None:
    await to_postgres(source, empty)
    back = tmp_path / "back.db"

    async def lose_lock(_: tables.CopyReader) -> tuple[str, ...]:
        ended = await postgres.rows(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks WHERE locktype = 'advisory'"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
            "copied",
        )
        assert ended == [(True,)]
        return ()

    with pytest.raises(StoreError, match="locked the database to copy from was lost"):
        async with (
            open_postgres_source(empty, {}, is_exclusive=True) as rows,
            open_sqlite_target(back) as target,
        ):
            await copy_store(rows, target, ignore, lose_lock)
    assert not back.exists()


async def test_every_reference_is_checked_on_postgres_as_on_sqlite(
    source: Path, empty: str
) -> None:
    await to_postgres(source, empty)
    with closing(sqlite3.connect(source)) as database, database:
        database.execute("DELETE FROM threads")
    with open_sqlite_reader(source) as before:
        expected = set(await before.damage())
    assert "a row of actors refers to a missing row of threads" in expected
    connection = await asyncpg.connect(empty)
    await connection.execute("DELETE FROM threads")
    await connection.close()
    async with open_reader(empty, {}) as reader:
        damage = await reader.damage()
    assert expected <= set(damage)
    assert "a row of messages refers to a missing row of threads" in damage
    assert len(damage) <= MOST_TOLD


def test_the_references_are_those_of_the_schema() -> None:
    found = tables.load_references()
    assert tables.Reference("messages", "threads", (("thread_id", "id"),)) in found
    assert tables.Reference("threads", "threads", (("parent_id", "id"),)) in found


async def test_an_interrupted_copy_of_what_was_changed_since_is_refused(
    source: Path, empty: str
) -> None:
    def interrupt(done: int, of: int | None) -> None:
        raise Interrupted

    with pytest.raises(Interrupted):
        async with (
            open_sqlite_source(source, is_exclusive=True) as rows,
            open_postgres_target(empty, {}) as target,
        ):
            await copy_store(rows, target, interrupt)
    with closing(sqlite3.connect(source)) as database, database:
        database.execute("UPDATE actors SET capabilities = '[\"new\"]'")
    with pytest.raises(StoreError, match="differs from the source"):
        await to_postgres(source, empty)


async def test_nothing_is_copied_over_other_data(
    source: Path, postgres: PostgresServer, tmp_path: Path
) -> None:
    url = await postgres.begin()
    async with PostgresStore.open(url, {}) as store:
        await open_thread(store, "Hello")
    with pytest.raises(StoreError, match="is not empty"):
        await to_postgres(source, url)
    with pytest.raises(StoreError, match="exists already"):
        async with open_sqlite_target(source):
            pass


async def test_nobody_writes_to_the_source_meanwhile(
    source: Path, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aitp_desk.store.engine.sqlite.COMMIT_WAITS_MS", 10)
    monkeypatch.setattr("aitp_desk.store.engine.postgres.writer.LOCK_SECONDS", 0.05)
    url = await postgres.begin()
    async with SqliteStore.open(source) as one, PostgresStore.open(url, {}) as other:
        async with (
            open_sqlite_source(source, is_exclusive=True),
            open_postgres_source(url, {}, is_exclusive=True),
        ):
            for store in (one, other):
                with pytest.raises(Exception, match="Another program is writing"):
                    await open_thread(store, "Hello")
        for store in (one, other):
            await open_thread(store, "Hello")
