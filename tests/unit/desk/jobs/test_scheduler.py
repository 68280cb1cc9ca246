"""Schedules: begun in their time by one process, again sooner when they fail."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
import structlog

from aitp_desk.desk.jobs.scheduler import LEASE_SECONDS, Schedule, Scheduler, ScheduleSkipped
from aitp_desk.model.calls.schedule import StoredSchedule
from aitp_desk.model.errors import PreconditionFailed
from aitp_desk.store.base import Params, Store, StoreError, Work
from aitp_desk.store.engine.sqlite import SqliteStore
from aitp_desk.store.reads import schedules as schedule_reads
from aitp_desk.store.units.jobs.processes import release_work
from aitp_desk.store.units.jobs.schedules import (
    ScheduleRun,
    claim_schedules,
    end_well,
    hasten_schedule,
    renew_schedule,
    set_schedules,
)
from tests.support.desk.first_start import begin_database
from tests.support.doubles.agent import NOON, Clock

HOUR = 3600


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    """An open store."""
    begin_database(tmp_path / "desk.db")
    async with SqliteStore.open(tmp_path / "desk.db", synchronous="normal") as opened:
        yield opened


class Sweeping:
    """Work whose runs end as a test says; each tells that it was begun."""

    def __init__(self) -> None:
        self.begun: asyncio.Queue[None] = asyncio.Queue()
        self.outcomes: asyncio.Queue[int | Exception] = asyncio.Queue()
        self.schedule = Schedule("sweep", HOUR, self._work)

    async def _work(self) -> int:
        self.begun.put_nowait(None)
        outcome = await self.outcomes.get()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


@asynccontextmanager
async def keeping(store: Store, clock: Clock, *schedules: Schedule) -> AsyncIterator[Scheduler]:
    kept = Scheduler(store, secrets.token_hex(8), clock, lambda: 0.0)
    for schedule in schedules:
        kept.add(schedule)
    async with kept.run():
        yield kept


async def kept(store: Store) -> StoredSchedule:
    (found,) = await schedule_reads.schedules(store)
    return found


async def claim(store: Store, worker: str, now: int) -> tuple[ScheduleRun, ...]:
    """Claim what is due."""
    due = [one for one in await schedule_reads.schedules(store) if one.is_due(now, LEASE_SECONDS)]
    return await store.run(
        claim_schedules, due=due, worker=worker, now=now, lease_seconds=LEASE_SECONDS
    )


async def begun(sweeping: Sweeping) -> None:
    async with asyncio.timeout(60):
        await sweeping.begun.get()


async def ended(store: Store, runs: int) -> StoredSchedule:
    """Wait until so many runs have ended."""
    async with asyncio.timeout(60):
        while True:
            found = await kept(store)
            if found.runs == runs and found.leased_by is None:
                return found
            await asyncio.sleep(0)


async def test_one_is_begun_at_once_and_again_when_its_time_has_come(store: Store) -> None:
    clock, sweeping = Clock(), Sweeping()
    sweeping.outcomes.put_nowait(7)
    async with keeping(store, clock, sweeping.schedule) as schedules:
        first = await ended(store, 1)
        assert (first.did, first.due_at, first.done_at) == (7, NOON + HOUR, NOON)
        clock.advance(HOUR - 1)
        schedules.wake()
        await begun(sweeping)
        clock.advance(1)
        schedules.wake()
        await begun(sweeping)
        assert (await kept(store)).runs == 2


async def test_a_restart_leaves_its_time_as_it_is_and_another_length_is_taken_over(
    store: Store,
) -> None:
    clock, sweeping = Clock(), Sweeping()
    sweeping.outcomes.put_nowait(0)
    async with keeping(store, clock, sweeping.schedule):
        await ended(store, 1)
    async with keeping(store, clock, Schedule("sweep", 2 * HOUR, sweeping.schedule.work)):
        found = await kept(store)
        assert (found.every, found.due_at, found.runs) == (2 * HOUR, NOON + HOUR, 1)
    async with keeping(store, clock):  # it is not done any more
        assert await schedule_reads.schedules(store) == ()


async def test_what_is_done_at_the_start_is_done_at_each(store: Store) -> None:
    clock, sweeping = Clock(), Sweeping()
    at_start = msgspec.structs.replace(sweeping.schedule, at_start=True)
    for runs in (1, 2):
        sweeping.outcomes.put_nowait(runs)
        async with keeping(store, clock, at_start):
            assert (await ended(store, runs)).did == runs


async def test_one_that_fails_is_tried_again_sooner_than_its_time_and_later_each_time(
    store: Store,
) -> None:
    clock, sweeping = Clock(), Sweeping()
    reasons = (
        StoreError("The disk is full."),
        RuntimeError("a secret"),
        ScheduleSkipped("Nobody has answered."),
    )
    with structlog.testing.capture_logs() as log:
        async with keeping(store, clock, sweeping.schedule) as schedules:
            for failures, reason in enumerate(reasons, 1):
                sweeping.outcomes.put_nowait(reason)
                found = await ended(store, failures)
                wait = 10 * 2 ** (failures - 1)
                assert (found.failures, found.due_at) == (failures, clock() + wait)
                assert found.done_at is None
                clock.advance(wait)
                schedules.wake()
            sweeping.outcomes.put_nowait(1)
            found = await ended(store, 4)
    assert (found.failures, found.last_error, found.due_at) == (0, None, clock() + HOUR)
    told = [line["reason"] for line in log if line["event"] == "schedule_failed"]
    fault = "A fault of the desk (RuntimeError); see the log."
    assert told == ["The disk is full.", fault, "Nobody has answered."]
    assert [line["event"] for line in log].count("schedule_fault") == 1
    assert sweeping.schedule.delay(1000, 1.0) == HOUR


async def test_of_two_processes_one_is_at_it_until_that_one_is_gone(store: Store) -> None:
    clock, one, other = Clock(), Sweeping(), Sweeping()
    async with keeping(store, clock, one.schedule):
        await begun(one)
        async with keeping(store, clock, other.schedule) as schedules:
            schedules.wake()
            await store.settled()
            assert other.begun.empty()
            clock.advance(LEASE_SECONDS)  # the first one has not renewed its lease
            schedules.wake()
            await begun(other)
            one.outcomes.put_nowait(1)
            other.outcomes.put_nowait(2)
            found = await ended(store, 2)
    assert (found.did, found.failures) == (2, 0)


async def test_what_a_dead_process_was_at_is_due_at_once_and_has_failed(store: Store) -> None:
    await store.run(set_schedules, every={"sweep": HOUR})
    at = int(NOON)

    (first,) = await claim(store, "dead", at)
    assert await store.run(release_work, process="another") == 0
    assert await claim(store, "living", at) == ()
    assert await store.run(release_work, process="dead") == 1
    (second,) = await claim(store, "living", at)
    assert second.failures == 1
    assert not await store.run(end_well, run=first, now=at, did=1)
    assert await store.run(end_well, run=second, now=at, did=1)


@pytest.mark.parametrize("is_shared", [False, True])
async def test_the_only_process_goes_on_at_once_with_what_a_dead_one_held(
    store: Store, *, is_shared: bool
) -> None:
    clock, sweeping = Clock(), Sweeping()
    at_start = msgspec.structs.replace(sweeping.schedule, at_start=True)
    await store.run(set_schedules, every={"sweep": HOUR})
    assert await claim(store, "dead", int(NOON))
    schedules = Scheduler(store, "living", clock, is_shared=is_shared)
    schedules.add(at_start)
    async with schedules.run():
        if is_shared:  # the other one may be alive
            schedules.wake()
            await store.settled()
            assert (await kept(store)).leased_by == "dead"
        else:
            await begun(sweeping)
            assert (await kept(store)).failures == 0


async def test_one_that_a_process_leaves_in_good_order_is_due_as_it_was(store: Store) -> None:
    clock, sweeping = Clock(), Sweeping()
    async with keeping(store, clock, sweeping.schedule):
        await begun(sweeping)
    found = await kept(store)
    assert (found.leased_by, found.due_at, found.failures) == (None, 0, 0)


async def test_a_lease_that_was_lost_writes_nothing_and_is_a_failure(store: Store) -> None:
    await store.run(set_schedules, every={"sweep": HOUR})
    at = int(NOON)
    (first,), second, (third,) = [
        await claim(store, "one", now) for now in (at, at + LEASE_SECONDS - 1, at + LEASE_SECONDS)
    ]
    assert (second, third.failures) == ((), 1)
    assert not await store.run(renew_schedule, run=first, lease_until=at + HOUR)
    assert not await store.run(end_well, run=first, now=at, did=1)
    assert await store.run(renew_schedule, run=third, lease_until=at + HOUR)
    assert await store.run(end_well, run=third, now=at, did=1)


async def test_a_clock_that_is_set_back_holds_nothing_up(store: Store) -> None:
    clock, sweeping = Clock(), Sweeping()
    sweeping.outcomes.put_nowait(0)
    async with keeping(store, clock, sweeping.schedule) as schedules:
        await ended(store, 1)
        await begun(sweeping)
        clock.advance(-LEASE_SECONDS - 1)
        schedules.wake()
        await begun(sweeping)
    assert (await kept(store)).runs == 2


async def test_a_process_whose_clock_is_behind_repeats_nothing(store: Store) -> None:
    one, other = Sweeping(), Sweeping()
    one.outcomes.put_nowait(1)
    async with keeping(store, Clock(), one.schedule):
        await ended(store, 1)
        async with keeping(store, Clock(NOON - 3), other.schedule) as schedules:
            schedules.wake()
            await store.settled()
    assert (await kept(store)).runs == 1


class LateStore:
    """A store that delays the first look for what is due, or the first claim of it."""

    def __init__(self, store: Store, *, is_look: bool) -> None:
        self._store = store
        self._is_look = is_look
        self._is_begun = False
        self.waits, self.may_pass, self.is_over = asyncio.Event(), asyncio.Event(), asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def read(self, statement: str, params: Params, /) -> Any:
        is_late = self._is_begun and self._is_look and not self.waits.is_set()
        if self.waits.is_set() and not is_late:
            self.is_over.set()  # it looks again
        return await self._pass(is_late, self._store.read(statement, params))

    async def run(self, work: Callable[..., Work[Any]], /, **arguments: Any) -> Any:
        self._is_begun = True
        is_late = work is claim_schedules and not self._is_look and not self.waits.is_set()
        return await self._pass(is_late, self._store.run(work, **arguments))

    async def _pass(self, is_late: bool, call: Awaitable[Any]) -> Any:
        if is_late:
            self.waits.set()
            await self.may_pass.wait()
        return await call


@pytest.mark.parametrize("is_look", [True, False])
async def test_a_process_that_is_late_repeats_nothing(store: Store, *, is_look: bool) -> None:
    clock, one, other = Clock(), Sweeping(), Sweeping()
    late = LateStore(store, is_look=is_look)
    async with keeping(cast("Store", late), clock, other.schedule) as slow, asyncio.timeout(60):
        await late.waits.wait()
        async with keeping(store, clock, one.schedule):
            await begun(one)
            clock.advance(LEASE_SECONDS + 1)  # by more than clocks differ
            one.outcomes.put_nowait(1)
            await ended(store, 1)
            late.may_pass.set()
            while not late.is_over.is_set():
                slow.wake()
                await store.settled()
            assert (await kept(store)).runs == 1


async def test_one_is_done_at_once_when_requested_unless_it_is_at_work(
    store: Store,
) -> None:
    clock, sweeping = Clock(), Sweeping()
    sweeping.outcomes.put_nowait(0)
    async with keeping(store, clock, sweeping.schedule) as schedules:
        await ended(store, 1)
        await begun(sweeping)
        assert await store.run(hasten_schedule, name="sweep")
        schedules.wake()
        await begun(sweeping)
        with pytest.raises(PreconditionFailed, match="already running"):
            await store.run(hasten_schedule, name="sweep")
    assert not await store.run(hasten_schedule, name="other")


async def test_what_is_remembered_is_done_by_each_process_once_a_round(store: Store) -> None:
    clock = Clock()
    processes = [Sweeping() for _ in range(3)]
    schedules = [
        msgspec.structs.replace(one.schedule, is_remembered=True, at_start=True)
        for one in processes
    ]
    for one in processes:
        for _ in range(10):
            one.outcomes.put_nowait(1)
    async with (
        keeping(store, clock, schedules[0]) as first,
        keeping(store, clock, schedules[1]) as second,
        keeping(store, clock, schedules[2]) as third,
    ):
        for number in range(1, 3):
            async with asyncio.timeout(60):
                while any(one.begun.qsize() < number for one in processes):
                    for scheduler in (first, second, third):
                        scheduler.wake()
                    await store.settled()
            clock.now += HOUR
        for scheduler in (first, second, third):
            scheduler.wake()
    # each start begins a round, and each hour one
    assert 2 <= (await kept(store)).runs <= len(processes) + 2
    assert all(2 <= one.begun.qsize() <= len(processes) + 2 for one in processes)
