"""What the SQLite engine promises about its file."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from aitp_desk.model.conversation.thread import ThreadUpdate
from aitp_desk.model.errors import StoreBusy
from aitp_desk.store.base import Opened, Row, StoreChanged, StoreError, StoreTooNew, Work
from aitp_desk.store.engine import sqlite_writer
from aitp_desk.store.engine.queue import MAX_UNITS
from aitp_desk.store.engine.sqlite import SqliteStore, Synchronous
from aitp_desk.store.engine.statements import load_statements
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.keys import Key
from aitp_desk.store.units.keys.nonces import keep_nonce
from aitp_desk.store.units.keys.tokens import create_token
from aitp_desk.store.units.threads.deletion import delete_thread
from aitp_desk.store.units.threads.folded_threads import fold_turn
from aitp_desk.store.units.threads.threads import update_thread
from tests.support.store.integrity import check_whole
from tests.support.store.messages import (
    NOW,
    VISITOR,
    a_session,
    a_thread,
    first_turn,
    open_thread,
    post,
    texts_of,
)


def permissions(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def change(database: Path, statement: str) -> None:
    """Do by hand what nobody should."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(statement)


async def open_once(database: Path) -> Opened:
    async with SqliteStore.open(database) as store:
        return store.opened


async def test_folder_and_files_are_made_for_the_user_alone(tmp_path: Path) -> None:
    database = tmp_path / "data" / "desk.db"
    async with SqliteStore.open(database) as store:
        await open_thread(store, "Hello")
        assert permissions(database.parent) == 0o700
        assert {permissions(path) for path in database.parent.iterdir()} == {0o600}


async def test_the_schema_is_applied_once(database: Path) -> None:
    first = await open_once(database)
    again = await open_once(database)
    assert first == Opened(version=first.migrated, migrated=first.migrated)
    assert again == Opened(version=first.version, migrated=0)


async def test_two_that_open_at_once_apply_the_schema_once(database: Path) -> None:
    async with SqliteStore.open(database) as one, SqliteStore.open(database) as other:
        assert (one.opened.migrated > 0, other.opened.migrated) == (True, 0)


async def test_a_newer_database_is_refused(database: Path) -> None:
    await open_once(database)
    change(database, "INSERT INTO migrations VALUES (9999, 'sha', 0)")
    with pytest.raises(StoreTooNew, match="newer version of aitp-desk"):
        await open_once(database)


async def test_a_changed_migration_is_refused(database: Path) -> None:
    await open_once(database)
    change(database, "UPDATE migrations SET sha256 = 'other' WHERE number = 1")
    with pytest.raises(StoreChanged, match=r"0001_threads\.sql"):
        await open_once(database)


async def test_a_file_that_is_no_database_is_refused(database: Path) -> None:
    shutil.copyfile(__file__, database)
    with pytest.raises(StoreError, match="file is not a database"):
        await open_once(database)


async def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file stands here")
    with pytest.raises(StoreError, match="cannot be opened"):
        await open_once(tmp_path / "data" / "desk.db")


async def test_the_file_may_be_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "disk" / "real.db", tmp_path / "desk.db"
    link.symlink_to(real)
    async with SqliteStore.open(link) as store:
        placed = await open_thread(store, "Hello")
    async with SqliteStore.open(real) as store:
        assert await reads.newest_messages(store, placed.thread_id, 9) == placed.messages


async def test_what_was_written_is_there_after_opening_again(database: Path) -> None:
    async with SqliteStore.open(database) as store:
        placed = await open_thread(store, "One", "Two")
    async with SqliteStore.open(database) as store:
        assert await reads.newest_messages(store, placed.thread_id, 9) == placed.messages


async def test_closing_commits_what_waits(database: Path) -> None:
    thread = a_thread()
    async with SqliteStore.open(database) as store:
        store.record(fold_turn, **first_turn(a_session(thread), "?", "!"))
    async with SqliteStore.open(database) as store:
        assert texts_of(await reads.newest_messages(store, thread.id, 9)) == ["?", "!"]
    assert [path.name for path in database.parent.iterdir()] == ["desk.db"]


async def test_a_closed_store_takes_nothing(database: Path) -> None:
    async with SqliteStore.open(database) as store:
        pass
    with pytest.raises(StoreError, match="closed"):
        await open_thread(store, "Hello")
    with pytest.raises(StoreError, match="closed"):
        await store.settled()


async def test_records_are_committed_soon_though_nobody_waits(database: Path) -> None:
    committed = asyncio.Event()
    thread = a_thread()

    def watched() -> Work[None]:
        loop.call_soon_threadsafe(committed.set)
        yield from ()

    loop = asyncio.get_running_loop()
    async with SqliteStore.open(database) as store:
        store.record(fold_turn, **first_turn(a_session(thread), "?", "!"))
        store.record(watched)
        async with asyncio.timeout(60):
            await committed.wait()


async def test_many_records_do_not_wait_for_the_clock(database: Path) -> None:
    async with SqliteStore.open(database) as store:
        store_loop = asyncio.get_running_loop()
        seen: list[int] = []

        def note(number: int) -> Work[None]:
            store_loop.call_soon_threadsafe(seen.append, number)
            yield from ()

        for number in range(3 * MAX_UNITS):
            store.record(note, number)
        await store.settled()
        assert seen == list(range(3 * MAX_UNITS))


async def test_the_command_line_may_write_while_a_desk_serves(database: Path) -> None:
    async with SqliteStore.open(database) as serving:
        opened = await open_thread(serving, "Hello")
        async with SqliteStore.open(database) as beside:
            await asyncio.gather(
                *(post(serving, opened.thread_id, run=False) for _ in range(50)),
                *(
                    beside.run(create_token, token=Key(f"t{n}", f"name {n}", b"", (), NOW))
                    for n in range(50)
                ),
            )
        assert len(await reads.list_tokens(serving)) == 50
        kept = await reads.thread(serving, opened.thread_id)
        assert kept is not None
        assert kept.last_seq == 51
    check_whole(database)


async def test_a_program_that_holds_the_database_makes_it_busy(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aitp_desk.store.engine.sqlite.COMMIT_WAITS_MS", 10)
    async with SqliteStore.open(database) as store:
        opened = await open_thread(store, "Hello")
        with closing(sqlite3.connect(database, isolation_level=None)) as holder:
            holder.execute("BEGIN IMMEDIATE")
            outcomes = await asyncio.gather(
                *(post(store, opened.thread_id) for _ in range(3)), return_exceptions=True
            )
            assert [type(outcome) for outcome in outcomes] == [StoreBusy] * 3
            holder.execute("ROLLBACK")
        placed = await post(store, opened.thread_id)
        assert placed.messages[0].seq == 2


async def test_who_waits_for_what_is_in_line_waits_for_nothing_where_nothing_is(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aitp_desk.store.engine.sqlite.COMMIT_WAITS_MS", 10)
    async with SqliteStore.open(database) as store:
        with closing(sqlite3.connect(database, isolation_level=None)) as holder:
            holder.execute("BEGIN IMMEDIATE")
            await store.settled()
            store.record(keep_nonce, nonce=bytes(16), until=NOW)
            with pytest.raises(StoreBusy):
                await store.settled()
            holder.execute("ROLLBACK")
            await store.settled()
            assert holder.execute("SELECT count(*) FROM nonces").fetchone() == (1,)


async def test_a_record_that_finds_the_database_held_is_there_before_what_comes_after_it(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aitp_desk.store.engine.sqlite.COMMIT_WAITS_MS", 10)
    async with SqliteStore.open(database) as store:
        opened = await open_thread(store, "Hello")
        with closing(sqlite3.connect(database, isolation_level=None)) as holder:
            holder.execute("BEGIN IMMEDIATE")
            nonces = [bytes([number]) * 16 for number in range(3)]
            for nonce in nonces:
                store.record(keep_nonce, nonce=nonce, until=NOW)
                with pytest.raises(StoreBusy):
                    await post(store, opened.thread_id)
            holder.execute("ROLLBACK")
            await post(store, opened.thread_id)
            kept = holder.execute("SELECT digest FROM nonces ORDER BY digest").fetchall()
            assert kept == [(nonce,) for nonce in nonces]


async def test_records_that_found_the_database_held_are_written_once_and_none_has_failed(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aitp_desk.store.engine.sqlite.COMMIT_WAITS_MS", 10)
    thread = a_thread()
    with capture_logs() as logs:
        async with SqliteStore.open(database) as store:
            opened = await open_thread(store, "Hello")
            with closing(sqlite3.connect(database, isolation_level=None)) as holder:
                holder.execute("BEGIN IMMEDIATE")
                store.record(keep_nonce, nonce=b"1" * 16, until=NOW)
                store.record(fold_turn, **first_turn(a_session(thread), "?", "!"))
                store.record(keep_nonce, nonce=b"2" * 16, until=NOW)
                with pytest.raises(StoreBusy):
                    await post(store, opened.thread_id)
                holder.execute("ROLLBACK")
                await post(store, opened.thread_id)
                kept = holder.execute("SELECT digest FROM nonces ORDER BY digest").fetchall()
            assert kept == [(b"1" * 16,), (b"2" * 16,)]
            assert texts_of(await reads.newest_messages(store, thread.id, 9)) == ["?", "!"]
    assert logs == []


async def test_a_store_ends_also_while_records_find_the_database_held(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aitp_desk.store.engine.sqlite.COMMIT_WAITS_MS", 10)
    monkeypatch.setattr(sqlite_writer, "MAX_UNITS", 1)
    with closing(sqlite3.connect(database, isolation_level=None)) as holder:
        async with asyncio.timeout(60), SqliteStore.open(database) as store:
            holder.execute("BEGIN IMMEDIATE")
            for number in range(3):
                store.record(keep_nonce, nonce=bytes([number]) * 16, until=NOW)
                with pytest.raises(StoreBusy):
                    await store.settled()
        holder.execute("ROLLBACK")
    async with SqliteStore.open(database) as store:
        await open_thread(store, "Hello")


@pytest.fixture
def pragmas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Statements next to the desk's own, that look at the writer's connection or bound it."""
    extra = {
        "bound_pages": "PRAGMA max_page_count = 40",
        "unbound_pages": "PRAGMA max_page_count = 1000000",
        "synchronous": "PRAGMA synchronous",
    }
    monkeypatch.setattr(
        "aitp_desk.store.engine.sqlite.load_statements",
        lambda engine: {**load_statements(engine), **extra},
    )


def ask(statement: str) -> Work[list[Row]]:
    return (yield statement, {})


async def test_a_full_disk_fails_those_who_write_and_nothing_else(
    database: Path, pragmas: None
) -> None:
    async with SqliteStore.open(database) as store:
        opened = await open_thread(store, "Hello")
        await store.run(ask, "bound_pages")
        large = "x" * 200_000
        outcomes = await asyncio.gather(
            post(store, opened.thread_id, large),
            store.run(
                update_thread,
                thread_id=opened.thread_id,
                principal=VISITOR,
                update=ThreadUpdate({"a": "b"}),
                now=NOW,
                idle_before=0,
            ),
            post(store, opened.thread_id, large),
            return_exceptions=True,
        )
        assert [type(outcome) for outcome in outcomes] == [StoreError, type(None), StoreError]
        assert "full" in str(outcomes[0])
        await store.run(ask, "unbound_pages")
        placed = await post(store, opened.thread_id, large)
        assert placed.messages[0].seq == 2
    check_whole(database)


async def test_the_log_of_writes_is_emptied_past_its_bound(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bound = 256 * 1024
    monkeypatch.setattr(sqlite_writer, "MAX_WAL_BYTES", bound)
    wal = database.with_name("desk.db-wal")
    sizes: list[int] = []
    async with SqliteStore.open(database) as store:
        opened = await open_thread(store, "Hello")
        for _ in range(60):
            await post(store, opened.thread_id, "x" * 20_000, run=False)
            sizes.append(wal.stat().st_size)
        assert sum(sizes[i + 1] < sizes[i] for i in range(len(sizes) - 1)) >= 2
        # once a checkpoint that is under way stops it, it waits until as much again was written
        assert max(sizes) < 4 * bound
    check_whole(database)


async def test_what_was_deleted_is_in_no_file_once_nothing_is_written_for_a_moment(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_writer, "QUIET_SECONDS", 0.05)
    said = "zqx deleted words"
    async with SqliteStore.open(database) as store:
        opened = await open_thread(store, said)

        def is_there() -> bool:
            files = database.parent.glob(f"{database.name}*")
            return any(said.encode() in file.read_bytes() for file in files)

        assert is_there()
        await store.run(
            delete_thread,
            thread_id=opened.thread_id,
            principal=VISITOR,
            now=NOW,
            idle_before=0,
        )
        async with asyncio.timeout(60):
            while await asyncio.to_thread(is_there):
                pass


@pytest.mark.slow
async def test_a_reader_that_stays_does_not_stop_the_writer(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_writer, "MAX_WAL_BYTES", 64 * 1024)
    async with SqliteStore.open(database) as store:
        opened = await open_thread(store, "Hello")
        with closing(sqlite3.connect(database, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            assert reader.execute("SELECT count(*) FROM messages").fetchone() == (1,)
            for _ in range(10):
                await post(store, opened.thread_id, "x" * 20_000, run=False)
            assert reader.execute("SELECT count(*) FROM messages").fetchone() == (1,)
        kept = await reads.thread(store, opened.thread_id)
        assert kept is not None
        assert kept.last_seq == 11


async def test_reading_cannot_write(database: Path) -> None:
    async with SqliteStore.open(database) as store:
        with pytest.raises(StoreError, match="readonly"):
            await store.read("raise_epoch", {"name": "tokens"})


@pytest.mark.parametrize(("synchronous", "level"), [("normal", 1), ("full", 2)])
async def test_the_owner_chooses_what_a_power_failure_may_cost(
    database: Path, pragmas: None, synchronous: Synchronous, level: int
) -> None:
    async with SqliteStore.open(database, synchronous=synchronous) as store:
        assert await store.run(ask, "synchronous") == [(level,)]


def fail() -> Work[None]:
    """A unit with a fault."""
    yield "epoch", {"name": "any"}
    raise RuntimeError("thread_1 is secret")


async def test_records_that_fail_are_told_once_a_second_with_their_number(database: Path) -> None:
    with capture_logs() as logs:
        async with SqliteStore.open(database) as store:
            for _ in range(1000):
                store.record(fail)
            await store.settled()
            store.record(fail)
            await store.settled()
            assert [entry["count"] for entry in logs] == [1]
    assert [entry["count"] for entry in logs] == [1, 1000]
    for entry in logs:
        assert (entry["event"], entry["unit"]) == ("store.record_failed", "fail")
        assert entry["error"].startswith("RuntimeError in test_sqlite.py, line ")
        assert "exc_info" not in entry


async def test_records_that_the_database_refuses_are_told_with_what_it_said(database: Path) -> None:
    with capture_logs() as logs:
        async with SqliteStore.open(database) as store:
            change(database, "DROP TABLE epochs")
            store.record(fail)
    assert [entry["error"] for entry in logs] == ["The database failed: no such table: epochs"]
