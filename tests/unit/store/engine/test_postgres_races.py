"""Two desks that write one PostgreSQL database at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given, settings

from aitp_desk.desk.jobs.scheduler import Schedule, Scheduler
from aitp_desk.model.access.audit import AuditAction, ObjectKind, Outcome
from aitp_desk.model.calls.schedule import StoredSchedule
from aitp_desk.store.base import Store, Work
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.reads.audit_log import check_audit
from aitp_desk.store.reads.schedules import schedules
from aitp_desk.store.records.threads import IdempotencyRecord
from aitp_desk.store.units.audit import keep_audit
from tests.support.access.audit_log import KEYS, somebody
from tests.support.doubles.agent import Clock
from tests.support.store.desk_pair import open_pair
from tests.support.store.messages import answer, claim, open_thread, post
from tests.support.store.postgres import PostgresServer
from tests.unit.store.test_capabilities import STEPS, walk

pytestmark = pytest.mark.servers

HOUR = 3600


@pytest.fixture
async def pair(postgres: PostgresServer, database: Path) -> AsyncIterator[Store]:
    async with open_pair(postgres, database) as stores:
        yield stores


async def test_a_thread_has_one_order_of_messages(pair: Store) -> None:
    thread_id = (await open_thread(pair, "first")).thread_id
    posted = await asyncio.gather(
        *(post(pair, thread_id, str(number), run=bool(number % 3)) for number in range(60))
    )
    assert sorted(done.messages[0].seq for done in posted) == list(range(2, 62))
    thread = await reads.thread(pair, thread_id)
    assert thread is not None
    events = await reads.events(pair, thread_id, after=0, limit=1000)
    assert [event.n for event in events] == list(range(1, thread.last_event + 1))


async def test_an_idempotency_key_stands_for_one_thread(pair: Store) -> None:
    for number in range(10):
        once = IdempotencyRecord("aya", f"key {number}", b"f")
        opened = await asyncio.gather(
            *(open_thread(pair, "Hello", idempotency=once) for _ in range(4))
        )
        assert len({one.thread_id for one in opened}) == 1
        assert sorted(one.replayed for one in opened) == [False, True, True, True]


async def test_the_audit_log_is_one_chain(pair: Store) -> None:
    await asyncio.gather(
        *(
            pair.run(
                keep_audit,
                by=somebody(),
                action=AuditAction.CREDENTIAL_REFUSED,
                kind=ObjectKind.ADDRESS,
                id_=str(number),
                outcome=Outcome.UNKNOWN,
                count=1,
            )
            for number in range(60)
        )
    )
    checked = await check_audit(pair, KEYS)
    assert (checked.broken, checked.head.n) == (None, 60)


def test_records_and_counters_are_the_sum_of_what_was_applied(
    postgres: PostgresServer, database: Path
) -> None:
    with asyncio.Runner() as runner:
        context = open_pair(postgres, database)
        pair = runner.run(context.__aenter__())
        tries = iter(range(1000))

        @settings(database=None)
        @given(STEPS)
        def holds(rounds: list[list[tuple[str, str, int]]]) -> None:
            runner.run(walk(pair, rounds, f"{next(tries)}-"))

        try:
            holds()
        finally:
            runner.run(context.__aexit__(None, None, None))


async def test_a_run_is_taken_up_by_one_worker(pair: Store) -> None:
    for _ in range(12):
        await open_thread(pair, "Hello?", run=True)

    async def work_on(name: str) -> list[str]:
        taken = []
        while held := await claim(pair, worker=name):
            for one in held:
                assert await answer(pair, one, "!")
                taken.append(one.id)
        return taken

    taken = [run for runs in await asyncio.gather(*map(work_on, "abcd")) for run in runs]
    assert len(taken) == len(set(taken)) == 12


async def test_what_a_unit_has_read_nobody_changes_before_its_commit(pair: Store) -> None:
    await asyncio.gather(*(pair.run(add_one) for _ in range(50)))
    assert await reads.epoch(pair, "n") == 50


def add_one() -> Work[None]:
    """Add by reading and writing, which only works one after another."""
    rows = yield "epoch", {"name": "n"}
    value = rows[0][0] if rows else 0
    yield "raise_epoch", {"name": "n"}
    rows = yield "epoch", {"name": "n"}
    assert rows[0][0] == value + 1, "somebody else wrote in between"


async def test_of_two_schedulers_one_runs_what_is_due(pair: Store) -> None:
    clock, done = Clock(), asyncio.Queue[str]()

    def scheduler(name: str) -> Scheduler:
        async def sweep() -> int:
            done.put_nowait(name)
            return 1

        made = Scheduler(pair, name, clock)
        made.add(Schedule("sweep", HOUR, sweep))
        return made

    racing = [scheduler("one"), scheduler("other")]
    async with racing[0].run(), racing[1].run(), asyncio.timeout(60):
        for number in range(1, 31):
            await done.get()
            await until_ended(pair, number)
            clock.advance(HOUR)
            for each in racing:
                each.wake()
        await done.get()
        await pair.settled()
    assert done.empty()
    assert (await read_schedule(pair)).runs == 31


async def until_ended(store: Store, run: int) -> None:
    while True:
        kept = await read_schedule(store)
        if kept.runs == run and kept.leased_by is None:
            return


async def read_schedule(store: Store) -> StoredSchedule:
    (found,) = await schedules(store)
    return found
