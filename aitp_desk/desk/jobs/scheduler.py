"""The scheduler: recurring work of the desk, and its results.

Each schedule is a row in the database, with its last and next run: ``aitp-desk jobs list
--schedules`` shows them. Of all processes on a database one runs each schedule, under a lease. Work
whose result is kept in memory is then done by each of the others too. A failed run is repeated
after growing delays, but never after longer than the schedule's own interval.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager, suppress
from functools import partial

import msgspec
import structlog

from aitp_desk.desk.jobs.background_task import persist
from aitp_desk.model.calls.schedule import StoredSchedule
from aitp_desk.model.errors import StoreBusy
from aitp_desk.store.base import Store, StoreError, Work
from aitp_desk.store.reads import schedules as schedule_reads
from aitp_desk.store.units.jobs.schedules import (
    ScheduleRun,
    claim_schedules,
    end_badly,
    end_well,
    release_schedules,
    renew_schedule,
    set_schedules,
)

LEASE_SECONDS = 60
FIRST_DELAY = 10
"""Seconds after a first failure; doubled after each further one."""
JITTER = 0.25
"""A delay after a failure is longer by up to this fraction of it."""
AGAIN_SECONDS = 1.0
"""Delay before a failed write to the store is retried."""

_log = structlog.get_logger()


class ScheduleSkipped(Exception):
    """The work cannot run now, by no fault of the desk.

    The message says why.
    """


class Schedule(msgspec.Struct, frozen=True):
    """Recurring work.

    Parameters:
        name: shown to operators.
        every: seconds from the end of a run to the start of the next.
        work: does it, and returns how many items it has processed. Two processes may run it at the
            same time for a moment, if the first was considered dead.
        at_start: whether a starting process runs it at once, whenever it ran last.
        is_remembered: whether its result is in the memory of the process that has run it.
    """

    name: str
    every: int
    work: Callable[[], Awaitable[int]]
    at_start: bool = False
    is_remembered: bool = False

    def delay(self, failures: int, chance: float) -> int:
        """Return the seconds until the next attempt.

        Parameters:
            failures: number of earlier failures.
            chance: from 0 to 1.
        """
        wait = FIRST_DELAY * 2 ** min(failures, 20) * (1 + JITTER * chance)
        return min(self.every, int(wait))


class Scheduler:
    """Runs schedules when they are due.

    Parameters:
        worker: the name under which this process holds leases.
        clock: Unix seconds.
        chance: returns a random number from 0 to 1.
        is_shared: whether other processes may hold schedules.
    """

    def __init__(
        self,
        store: Store,
        worker: str,
        clock: Callable[[], float],
        chance: Callable[[], float] = random.random,
        *,
        is_shared: bool = True,
    ) -> None:
        self._store = store
        self._is_shared = is_shared
        self._clock = clock
        self._chance = chance
        self._worker = worker
        self._schedules: dict[str, Schedule] = {}
        self._wanted = asyncio.Event()
        self._held: dict[str, tuple[ScheduleRun, asyncio.Task[None]]] = {}
        self._runs: dict[str, int] = {}  # the last run whose result is known here
        self._followers: dict[str, asyncio.Task[None]] = {}

    def add(self, schedule: Schedule) -> None:
        """Add a schedule. Call it before :meth:`run`."""
        self._schedules[schedule.name] = schedule

    def wake(self) -> None:
        """Look now for what is due."""
        self._wanted.set()

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Run due schedules while the context lasts."""
        schedules = self._schedules.values()
        before = await schedule_reads.schedules(self._store)
        # one that is under way elsewhere has no result yet
        self._runs = {one.name: one.runs - (one.leased_by is not None) for one in before}
        await self._store.run(
            set_schedules,
            every={one.name: one.every for one in schedules},
            at_once=tuple(one.name for one in schedules if one.at_start),
            is_shared=self._is_shared,
        )
        loops = [
            asyncio.create_task(persist(self._take_up)),
            asyncio.create_task(persist(self._renew)),
        ]
        try:
            yield
        finally:
            tasks = [*loops, *(task for _, task in self._held.values())]
            tasks += self._followers.values()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            try:
                await self._store.run(release_schedules, worker=self._worker)
            except (StoreBusy, StoreError) as error:  # their leases expire
                _log.warning("schedules_not_released", reason=str(error))

    async def _take_up(self) -> None:
        while True:
            self._wanted.clear()
            try:
                due, seconds = await self._look()
                if due:
                    await self._claim(due)
                    continue
            except (StoreBusy, StoreError) as error:
                _log.warning("schedules_not_begun", reason=str(error))
                seconds = AGAIN_SECONDS
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._wanted.wait()

    async def _claim(self, due: Collection[StoredSchedule]) -> None:
        taken = await self._store.run(
            claim_schedules,
            due=due,
            worker=self._worker,
            now=int(self._clock()),
            lease_seconds=LEASE_SECONDS,
        )
        for run in taken:
            self._runs[run.name] = run.run
            task = asyncio.create_task(self._work(self._schedules[run.name], run))
            self._held[run.name] = (run, task)
            task.add_done_callback(partial(self._let_go, run.name))

    def _let_go(self, name: str, _task: asyncio.Task[None]) -> None:
        del self._held[name]
        self.wake()

    async def _look(self) -> tuple[list[StoredSchedule], float]:
        """Return the schedules that are due, and the seconds until the next one is."""
        found = await schedule_reads.schedules(self._store)
        now, wait = self._clock(), LEASE_SECONDS / 2  # not earlier: a read may take long
        due = []
        for kept in found:
            if kept.name in self._schedules and kept.name not in self._held:
                self._follow(kept)
                if kept.is_due(int(now), LEASE_SECONDS):
                    due.append(kept)
                at = kept.due_at if kept.leased_by is None else kept.lease_until
                wait = min(wait, max(AGAIN_SECONDS, at - now))
        return due, wait

    def _follow(self, kept: StoredSchedule) -> None:
        """Run work whose result is only in the memory of another process."""
        schedule, name = self._schedules[kept.name], kept.name
        is_known = kept.leased_by is not None or kept.runs <= self._runs.get(name, 0)
        if schedule.is_remembered and not is_known and name not in self._followers:
            self._runs[name] = kept.runs
            task = self._followers[name] = asyncio.create_task(self._repeat(schedule))
            task.add_done_callback(lambda _: self._followers.pop(name, None))

    async def _repeat(self, schedule: Schedule) -> None:
        try:
            await schedule.work()
        except Exception as error:  # noqa: BLE001 -- the next run follows
            _log.warning("schedule_not_repeated", schedule=schedule.name, reason=str(error))

    async def _work(self, schedule: Schedule, run: ScheduleRun) -> None:
        try:
            did = await schedule.work()
        except (StoreBusy, StoreError, ScheduleSkipped) as error:
            await self._fail(schedule, run, str(error))
        except Exception as error:  # noqa: BLE001 -- a schedule's failure must not stop the others
            _log.error("schedule_fault", schedule=run.name, exc_info=error)
            name = type(error).__name__
            await self._fail(schedule, run, f"A fault of the desk ({name}); see the log.")
        else:
            await self._write(run, end_well, now=int(self._clock()), did=did)

    async def _fail(self, schedule: Schedule, run: ScheduleRun, reason: str) -> None:
        now = self._clock()
        delay = schedule.delay(run.failures, self._chance())
        _log.warning("schedule_failed", schedule=run.name, reason=reason, retried_in=delay)
        await self._write(run, end_badly, now=int(now), due_at=int(now) + delay, error=reason)

    async def _write(
        self, run: ScheduleRun, unit: Callable[..., Work[bool]], **arguments: object
    ) -> None:
        """Store the end of a run, as soon as the store can."""
        while True:
            try:
                held = await self._store.run(unit, run=run, **arguments)
            except (StoreBusy, StoreError) as error:
                _log.warning("schedule_not_written_yet", reason=str(error))
                await asyncio.sleep(AGAIN_SECONDS)
                continue
            if not held:
                _log.warning("schedule_lease_lost", schedule=run.name)
            return

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(LEASE_SECONDS / 3)
            for run, task in list(self._held.values()):
                until = int(self._clock()) + LEASE_SECONDS
                with suppress(StoreBusy, StoreError):
                    if not await self._store.run(renew_schedule, run=run, lease_until=until):
                        task.cancel()
