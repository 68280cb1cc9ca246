"""A PostgreSQL server that goes away and comes back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from aitp_desk.model.errors import StoreBusy
from aitp_desk.store.base import Store, StoreError, Work
from aitp_desk.store.engine.postgres import connections, writer
from aitp_desk.store.engine.postgres.migration import LOCK
from aitp_desk.store.engine.postgres.store import PostgresStore
from aitp_desk.store.reads import threads as reads
from tests.support.store.postgres import PostgresServer
from tests.support.store.postgres_line import SOCKET, Cut, Line, open_line

pytestmark = pytest.mark.servers
WAITING = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"


@pytest.fixture
async def line(
    postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Line]:
    folder = tmp_path_factory.mktemp("line")
    async with open_line(await postgres.begin(), folder) as opened:
        yield opened


@pytest.fixture
async def store(line: Line, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Store]:
    monkeypatch.setattr(writer, "BACK_OFF_SECONDS", (0.01,))
    async with PostgresStore.open(line.url, {}) as opened:
        yield opened


def add(name: str = "n") -> Work[int]:
    yield "raise_epoch", {"name": name}
    rows = yield "epoch", {"name": name}
    return int(rows[0][0])


async def test_a_connection_that_was_cut_is_opened_again(store: Store, line: Line) -> None:
    assert await store.run(add) == 1
    for count in (2, 3):
        line.break_all()
        assert await store.run(add) == count
        line.break_all()
        assert await reads.epoch(store, "n") == count


@pytest.mark.parametrize("cut", Cut)
@pytest.mark.parametrize("units", [1, 5])
async def test_a_unit_takes_effect_once_wherever_its_commit_is_cut(
    store: Store, line: Line, cut: Cut, units: int
) -> None:
    line.cut = cut
    numbers = await asyncio.gather(*(store.run(add) for _ in range(units)))
    assert line.cuts == 1
    assert sorted(numbers) == list(range(1, units + 1))
    assert await reads.epoch(store, "n") == units


async def test_units_that_come_while_another_program_writes_are_committed_together(
    store: Store, line: Line, postgres: PostgresServer
) -> None:
    waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    async with PostgresStore.open(line.url, {}) as other:
        connection = await other.connections.connect()
        async with connection.transaction():
            await connection.execute(LOCK)
            units = [asyncio.create_task(store.run(add, name="a"))]
            async with asyncio.timeout(60):
                while not await connection.fetchval(waits):
                    pass
            units += [asyncio.create_task(store.run(add, name=name)) for name in "bc"]
            await asyncio.gather(*(reads.epoch(store, name) for name in "bc"))
        assert await asyncio.gather(*units) == [1, 1, 1]
        await connection.close()
    assert len(set(await postgres.rows("SELECT xmin::text FROM epochs"))) == 1


async def test_callers_are_turned_away_until_the_server_is_there_again(
    store: Store, line: Line
) -> None:
    assert await store.run(add) == 1
    line.is_open = False
    line.break_all()
    for _ in range(3):
        with pytest.raises(StoreBusy, match="cannot be reached") as refused:
            await store.run(add)
        assert refused.value.retry_after == 1
        with pytest.raises(StoreError, match="cannot be reached"):
            await reads.epoch(store, "n")
    line.is_open = True
    assert await store.run(add) == 2
    assert await reads.epoch(store, "n") == 2


async def test_records_wait_for_the_server(store: Store, line: Line) -> None:
    line.is_open = False
    line.break_all()
    for _ in range(3):
        store.record(add)
    with pytest.raises(StoreBusy):
        await store.settled()
    line.is_open = True
    while True:
        with suppress(StoreBusy):
            await store.settled()
            break
    assert await reads.epoch(store, "n") == 3


async def test_another_program_that_holds_the_lock_is_not_waited_for_forever(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "LOCK_SECONDS", 0.05)
    async with PostgresStore.open(line.url, {}) as store:
        connection = await store.connections.connect()
        async with connection.transaction():
            await connection.execute(LOCK)
            with pytest.raises(StoreBusy, match="Another program is writing"):
                await store.run(add)
        await connection.close()
        assert await store.run(add) == 1


@pytest.mark.parametrize("is_pooled", [False, True])
async def test_no_statement_stays_prepared_behind_a_pooler(line: Line, is_pooled: bool) -> None:
    async with PostgresStore.open(line.url, {}, is_pooled=is_pooled) as store:
        for count in (1, 2, 3):
            assert await store.run(add) == count
            assert await reads.epoch(store, "n") == count
        page = await store.read_page("threads_taken", {}, limit=1)
        assert page.rows == []
    assert (b"__asyncpg_stmt" in line.sent) is not is_pooled


async def test_a_server_that_is_not_there_is_told_at_the_start(tmp_path: Path) -> None:
    url = f"postgresql:///desk?host={tmp_path}&user=desk"
    with pytest.raises(StoreError, match="cannot be opened"):
        async with PostgresStore.open(url, {}):
            pass


@pytest.mark.parametrize("closes", [True, False])
async def test_a_server_that_accepts_and_does_not_answer_gives_way_to_the_next(
    postgres: PostgresServer, tmp_path: Path, closes: bool
) -> None:
    accepted = 0

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal accepted
        accepted += 1
        if not closes:
            while await reader.read(65536):
                pass
        writer.transport.abort()

    silent = await asyncio.start_unix_server(accept, str(tmp_path / SOCKET))
    url = (await postgres.begin()).replace("host=", f"host={tmp_path},")
    async with silent, PostgresStore.open(f"{url}&connect_timeout=1", {}) as store:
        before = accepted
        assert await store.run(add) == 1
        assert await reads.epoch(store, "n") == 1
        # no further connection waits for a server that has been silent
        assert before > 0
        assert (accepted > before) == closes


async def test_a_group_that_takes_long_is_committed_in_parts(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "GROUP_SECONDS", 0.0)
    async with PostgresStore.open(line.url, {}) as store:
        commits = line.sent.count(b"COMMIT\0")
        numbers = await asyncio.gather(*(store.run(add) for _ in range(5)))
        assert numbers == [1, 2, 3, 4, 5]
        assert line.sent.count(b"COMMIT\0") - commits == 5


async def test_a_caller_that_waits_too_long_behind_others_is_refused(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "OVERDUE_SECONDS", 0.01)
    async with PostgresStore.open(line.url, {}) as store:
        connection = await store.connections.connect()
        async with connection.transaction():
            await connection.execute(LOCK)
            first = asyncio.create_task(store.run(add))
            while not await connection.fetchval(WAITING):
                pass
            monkeypatch.setattr(writer, "QUEUE_SECONDS", 0.1)
            store.record(add)
            with pytest.raises(StoreBusy, match="many wait for it"):
                await store.run(add)
            assert not first.done()
        await connection.close()
        assert await first == 1
        monkeypatch.setattr(writer, "QUEUE_SECONDS", 30.0)
        await store.settled()
        assert await reads.epoch(store, "n") == 2, "a record is not refused"


async def test_a_record_that_waited_for_the_server_counts_once_in_a_long_group(
    store: Store, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    line.is_open = False
    line.break_all()
    for _ in range(3):
        store.record(add)
    with pytest.raises(StoreBusy):
        await store.settled()
    monkeypatch.setattr(writer, "GROUP_SECONDS", 0.0)
    line.is_open = True
    while True:
        with suppress(StoreBusy):
            await store.settled()
            break
    assert await reads.epoch(store, "n") == 3


class _Fault:
    """Breaks one of the next calls of a connection, by an error that none is known to raise."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls = 0
        self.broken = -1
        for name in ("execute", "executemany", "fetch", "fetchmany", "fetchval"):
            monkeypatch.setattr(asyncpg.Connection, name, self._break(name))

    def _break(self, name: str) -> Callable[..., Awaitable[Any]]:
        call = getattr(asyncpg.Connection, name)

        async def broken(connection: asyncpg.Connection, *given: Any, **named: Any) -> Any:
            self.calls += 1
            if self.calls == self.broken:
                raise RuntimeError("the handle is closed")
            return await call(connection, *given, **named)

        return broken


async def test_whatever_a_connection_raises_each_caller_is_told_and_the_next_is_served(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = _Fault(monkeypatch)
    assert await store.run(add) == 1
    for broken in range(1, fault.calls + 1):
        fault.calls, fault.broken = 0, broken
        async with asyncio.timeout(60):
            told = await asyncio.gather(
                *(store.run(add, name=f"{broken} {n}") for n in range(3)), return_exceptions=True
            )
            assert {1, "RuntimeError"} >= {one if one == 1 else type(one).__name__ for one in told}
            fault.broken = -1
            assert await store.run(add, name=f"{broken} after") == 1


async def test_a_process_waits_for_long_groups_of_two_others(
    line: Line, postgres: PostgresServer
) -> None:
    async with (
        PostgresStore.open(line.url, {}) as one,
        PostgresStore.open(line.url, {}) as other,
        PostgresStore.open(line.url, {}) as third,
    ):
        line.seconds = 0.1
        # each unit is alone in its wave, of two round trips
        long = asyncio.gather(*(one_of.run(add) for one_of in (one, other) for _ in range(27)))
        while await postgres.rows(WAITING) != [(1,)]:
            pass
        assert await third.run(add, name="short") == 1
        assert sorted(await long) == list(range(1, 55))


async def test_a_process_that_stops_in_the_middle_of_a_commit_refuses_no_other(
    store: Store, line: Line, postgres: PostgresServer
) -> None:
    async with PostgresStore.open(postgres.url(), {}) as other:
        line.holds = b"stopped"
        stopped = asyncio.create_task(store.run(add, name="stopped"))
        await line.is_reached.wait()
        assert await other.run(add) == 1
        line.may_pass.set()
        assert await stopped == 1


async def test_a_server_that_falls_silent_is_not_waited_for_forever(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "CLIENT_SECONDS", 1.0)
    monkeypatch.setattr(connections, "CONNECT_SECONDS", 2.0)
    async with (
        PostgresStore.open(line.url, {}, statement_seconds=1.0) as store,
        asyncio.timeout(50),
    ):
        assert await store.run(add) == 1
        line.seconds = 3600.0
        with pytest.raises(StoreBusy, match="cannot be reached"):
            await store.run(add)
        with pytest.raises(StoreError, match="cannot be reached"):
            await reads.epoch(store, "n")
        with pytest.raises(StoreError, match="cannot be reached"):
            await store.read_page("threads_taken", {}, limit=1)
        line.seconds = 0.0
        while True:
            with suppress(StoreBusy):
                assert await store.run(add) == 2
                break
        assert await reads.epoch(store, "n") == 2
