"""Retention drops parts of PostgreSQL's large tables, and nothing else is seen of them."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aitp_desk.model.access.audit import AuditAction, ObjectKind
from aitp_desk.model.errors import Forbidden
from aitp_desk.model.ids import new_id
from aitp_desk.store.base import Store, Work
from aitp_desk.store.engine.migration import POSTGRES_SCHEMA
from aitp_desk.store.engine.postgres.migration import migrate
from aitp_desk.store.engine.postgres.reader import open_reader
from aitp_desk.store.engine.postgres.statements import load_postgres_statements
from aitp_desk.store.engine.postgres.store import PostgresStore
from aitp_desk.store.reads.audit_log import check_audit
from aitp_desk.store.units.audit import keep_audit
from aitp_desk.store.units.privacy.retention import drop_old_folded, trim_audit
from aitp_desk.store.units.threads import folded_threads as folded_thread_units
from tests.support.access.audit_log import KEYS, somebody
from tests.support.store.postgres import PostgresServer

pytestmark = pytest.mark.servers

DAY = 24 * 60 * 60
BEGAN = 1_800_000_000
LIMIT = 20
PART_BYTES = 8192
"""Parts of a page or more are large."""
PARTS = """
SELECT c.relname FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
WHERE i.inhparent = '{}'::regclass ORDER BY c.relname
"""


@pytest.fixture
async def store(postgres: PostgresServer) -> AsyncIterator[PostgresStore]:
    async with PostgresStore.open(await make_parted(postgres), {}) as opened:
        yield opened


async def make_parted(postgres: PostgresServer) -> str:
    url = await postgres.make("parted")
    connection = await asyncpg.connect(url)
    name = await connection.fetchval("SELECT current_database()")
    await connection.execute(f'ALTER DATABASE "{name}" SET aitp_desk.part_bytes = {PART_BYTES}')
    await connection.close()
    return url


async def parts(postgres: PostgresServer, table: str) -> list[str]:
    return [name for (name,) in await postgres.rows(PARTS.format(table), "parted")]


async def note(store: Store, at: int, rows: int) -> None:
    for _ in range(rows):
        await store.run(
            keep_audit,
            by=somebody(at=at),
            action=AuditAction.CREDENTIAL_REFUSED,
            kind=ObjectKind.ADDRESS,
            id_="a" * 40,
        )


async def fold(store: Store, at: int, rows: int) -> None:
    for _ in range(rows):
        store.record(
            folded_thread_units.fold_turn,
            thread_id=new_id("thread", at),
            session_id=new_id("session", at),
            last_at=at,
            turn=bytes(400),
        )
    await store.settled()


async def trim(store: Store, before: int) -> int:
    dropped = 0
    while True:
        by = somebody(at=before + 30 * DAY)
        some = await store.run(trim_audit, by=by, before=before, limit=LIMIT)
        dropped += some
        if some < LIMIT:
            return dropped


async def drop_folded(store: Store, before: int) -> int:
    dropped = 0
    while True:
        some = await store.run(drop_old_folded, before=before, limit=LIMIT)
        dropped += some
        if some < LIMIT:
            return dropped


async def test_a_log_that_grows_is_cut_and_loses_whole_parts(
    store: PostgresStore, postgres: PostgresServer
) -> None:
    for day in range(6):
        await note(store, BEGAN + day * DAY, 60)
        assert await trim(store, BEGAN) == 0  # nothing is due
    cut = await parts(postgres, "audit")
    assert len(cut) > 3
    before = BEGAN + 4 * DAY
    head = (await check_audit(store, KEYS)).head
    dropped = await trim(store, before)
    assert dropped > 60
    left = await parts(postgres, "audit")
    assert set(left) < set(cut)
    checked = await check_audit(store, KEYS, head)
    assert (checked.broken, checked.dropped) == (None, dropped)
    # what is left of what is due stands in a part with rows that are not, and goes with them
    assert await trim(store, before + 9 * DAY) == 6 * 60 - dropped
    assert (await check_audit(store, KEYS)).broken is None


async def test_folded_turns_that_grow_are_cut_and_lose_whole_parts(
    store: PostgresStore, postgres: PostgresServer
) -> None:
    for day in range(6):
        await fold(store, BEGAN + day * DAY, 60)
        assert await drop_folded(store, BEGAN) == 0
    cut = await parts(postgres, "folded_turns")
    assert len(cut) > 3
    dropped = await drop_folded(store, BEGAN + 4 * DAY)
    assert 0 < dropped <= 4 * 60
    assert set(await parts(postgres, "folded_turns")) < set(cut)
    assert await drop_folded(store, BEGAN + 9 * DAY) == 6 * 60 - dropped


async def test_a_part_of_one_that_reads_the_database_stays_until_it_has_read(
    store: PostgresStore, postgres: PostgresServer
) -> None:
    await note(store, BEGAN, 60)
    await note(store, BEGAN + 2 * DAY, 2)
    assert await trim(store, BEGAN) == 0
    await note(store, BEGAN + 5 * DAY, 1)
    cut = await parts(postgres, "audit")
    async with open_reader(postgres.url("parted"), {}) as reader:
        assert await reader.read("audit_anchor", {})
        assert await trim(store, BEGAN + 4 * DAY) == 0
        await note(store, BEGAN + 6 * DAY, 1)  # others write meanwhile
        checked = await check_audit(reader, KEYS)
        assert (checked.broken, checked.dropped, checked.head.n) == (None, 0, 63)
    assert await parts(postgres, "audit") == cut
    assert await trim(store, BEGAN + 4 * DAY) == 62
    assert cut[0] not in await parts(postgres, "audit")


def drop_and_refuse(*, thread_id: str, before: int) -> Work[None]:
    yield from drop_old_folded(before=before, limit=LIMIT)
    raise Forbidden(thread_id)


async def test_a_unit_that_refuses_has_dropped_nothing(
    store: PostgresStore, postgres: PostgresServer
) -> None:
    await fold(store, BEGAN, 60)
    await fold(store, BEGAN + 2 * DAY, 1)
    assert await drop_folded(store, BEGAN) == 0
    cut = await parts(postgres, "folded_turns")
    refused, noted = await asyncio.gather(
        store.run(drop_and_refuse, thread_id="thread_1", before=BEGAN + 9 * DAY),
        note(store, BEGAN, 1),
        return_exceptions=True,
    )
    assert isinstance(refused, Forbidden)
    assert noted is None
    assert await parts(postgres, "folded_turns") == cut
    assert await drop_folded(store, BEGAN + 9 * DAY) == 61


async def test_rows_that_are_kept_for_long_are_in_few_parts(
    store: PostgresStore, postgres: PostgresServer
) -> None:
    year = 365 * DAY
    for day in range(0, 365, 2):
        await fold(store, BEGAN + day * DAY, 20)
        assert await drop_folded(store, BEGAN + day * DAY - year) == 0
    cut = await parts(postgres, "folded_turns")
    assert 10 < len(cut) < 40
    dropped = await drop_folded(store, BEGAN + 100 * DAY)
    assert 80 * 10 < dropped < 100 * 10
    assert len(await parts(postgres, "folded_turns")) < len(cut) - 5


async def test_a_table_that_became_very_large_is_left_as_it_is(
    store: PostgresStore, postgres: PostgresServer
) -> None:
    await fold(store, BEGAN, 1200)  # more than 64 times as much as is large
    await fold(store, BEGAN + 2 * DAY, 1)
    assert await drop_folded(store, BEGAN + DAY) == 1200
    assert len(await parts(postgres, "folded_turns")) == 1


async def test_rows_of_an_older_version_are_kept_while_it_goes_on(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    for path in sorted(POSTGRES_SCHEMA.glob("*.sql"))[:2]:
        shutil.copy(path, tmp_path)
    connection = await asyncpg.connect(await make_parted(postgres))
    await migrate(connection, now=0, folder=tmp_path)
    statements = load_postgres_statements()
    fold_turn = await connection.prepare(statements["fold_turn"].sql)
    head = await connection.prepare(statements["audit_head"].sql)
    delete = await connection.prepare("DELETE FROM audit WHERE n <= $1")
    turns = [(new_id("thread", BEGAN + n), None, BEGAN + n, b"turn") for n in range(3)]
    await fold_turn.fetch(*turns[0])
    await connection.execute("INSERT INTO audit VALUES (1, 1, 'a', 'b', 'c', 'd', 'e', 1, 'f')")

    async with PostgresStore.open(postgres.url("parted"), {}) as store:
        assert store.opened.migrated == len(list(POSTGRES_SCHEMA.glob("*.sql"))) - 2
        await fold_turn.fetch(*turns[1])
        assert tuple(*await head.fetch()) == (1, b"f")
        await connection.execute("UPDATE audit_anchor SET n = 1")
        await delete.fetch(1)
        assert await head.fetch() == []
        kept = await postgres.rows("SELECT thread_id FROM folded_turns ORDER BY 1", "parted")
        assert kept == [(thread_id,) for thread_id, *_ in turns[:2]]
        assert await drop_folded(store, BEGAN + 2) == 2
    await connection.close()


@settings(deadline=None, max_examples=8)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 70), st.integers(1, 6)), max_size=9))
def test_what_is_due_goes_within_two_days_and_nothing_else_goes(
    postgres: PostgresServer, passes: list[tuple[int, int, int]]
) -> None:
    """Days that pass, rows that are written then, and how many days they are kept."""

    async def live() -> None:
        async with PostgresStore.open(await make_parted(postgres), {}) as store:
            now, due = BEGAN, BEGAN - 2 * DAY
            folded: list[int] = []
            noted: list[int] = []
            for days, rows, kept in passes:
                now += days * DAY
                await fold(store, now, rows)
                await note(store, now, rows)
                folded += [now] * rows
                noted += [now] * rows
                due = max(due, now - kept * DAY)
                await store.run(drop_old_folded, before=due, limit=1000)
                by = somebody(at=now)
                if await store.run(trim_audit, by=by, before=due, limit=1000):
                    noted.append(now)
                for table, column, written in (
                    ("folded_turns", "last_at", folded),
                    ("audit", "at", noted),
                ):
                    found = await postgres.rows(f"SELECT {column} FROM {table}", "parted")
                    left = sorted(at for (at,) in found)
                    assert [at for at in left if at >= due] == [at for at in written if at >= due]
                    assert min(left, default=due) >= due - 2 * DAY
                assert (await check_audit(store, KEYS)).broken is None

    asyncio.run(live())
