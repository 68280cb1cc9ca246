"""The job queue: runs promised work, also after a crash.

A job is held under a lease while its handler works; the handler's result is committed together with
the job's end, if the lease was not lost meanwhile. A failed job is retried after growing delays,
until it is dead: it is then kept for the site's operators (``aitp-desk jobs``).
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

import msgspec
import structlog

from aitp_desk.desk.jobs.background_task import cancel_tasks, persist
from aitp_desk.desk.jobs.kinds import Finish, GiveUp, JobKind, Retry, Unfinished
from aitp_desk.model.errors import StoreBusy
from aitp_desk.store.base import Store, StoreError, Work
from aitp_desk.store.reads import jobs as job_reads
from aitp_desk.store.records.capabilities import RecordsMoved
from aitp_desk.store.records.jobs import ClaimedJob, JobCapacity
from aitp_desk.store.units.jobs.jobs import (
    bury_job,
    claim_jobs,
    finish_job,
    put_back_job,
    release_jobs,
    renew_job,
)

LEASE_SECONDS = 60
RENEW_SECONDS = LEASE_SECONDS / 3
AGAIN_SECONDS = 1.0
"""Delay before a failed write to the store is retried."""
ATTEMPTS = 5
"""How often the end of a job is computed again after a conflicting change."""
WRITING_SECONDS = 60
"""How long a job's result is kept in memory if it cannot be written."""

INTERRUPTED = "The desk was interrupted during this job."
UNWRITTEN = "The result of the job could not be stored."
MOVED = "The records of the job were changed concurrently."

_log = structlog.get_logger()


class JobQueue:
    """Claims jobs when they are queued, and when they are due.

    Parameters:
        worker: the name under which this process holds leases.
        clock: Unix seconds.
        chance: returns a random number from 0 to 1.
        is_shared: whether other processes work on the same database: at the start all jobs stay
            with those that hold them, until these are gone.
        offer: asks other processes to take jobs for which there is no capacity here.
    """

    def __init__(
        self,
        *,
        store: Store,
        worker: str,
        clock: Callable[[], float],
        chance: Callable[[], float] = random.random,
        is_shared: bool = False,
        offer: Callable[[], object] | None = None,
    ) -> None:
        self._store = store
        self._offer = offer
        self._is_shared = is_shared
        self._clock = clock
        self._chance = chance
        self._name = worker
        self._kinds: dict[str, JobKind] = {}
        self._last: dict[str, str] = {}
        self._wanted = asyncio.Event()
        self._has_news = False
        self._held: dict[asyncio.Task[None], ClaimedJob] = {}
        self._loops: list[asyncio.Task[None]] = []

    def register_kinds(self, *kinds: JobKind) -> None:
        """Register kinds of jobs. Call it before :meth:`begin`."""
        self._kinds |= {kind.name: kind for kind in kinds}

    def wake(self) -> None:
        """Look for jobs now: called after a commit that queued one."""
        self._has_news = True
        self._wanted.set()

    def take_offered(self) -> None:
        """Look for jobs for which another process has no capacity."""
        self._wanted.set()

    @property
    def is_working(self) -> bool:
        """Whether jobs are being claimed."""
        return bool(self._loops) and not any(loop.done() for loop in self._loops)

    async def begin(self) -> None:
        """Release the jobs of dead processes, and claim jobs until :meth:`stop`."""
        if not self._is_shared:
            freed = await self._store.run(release_jobs, worker=None, kinds=tuple(self._kinds))
            if freed:
                _log.info("jobs_resumed", count=freed)
        self._loops = [
            asyncio.create_task(persist(self._take_up)),
            asyncio.create_task(persist(self._renew)),
        ]

    async def stop(self, seconds: float) -> None:
        """Stop claiming, allow running jobs ``seconds`` to end, and put back the rest."""
        await cancel_tasks(self._loops)
        if self._held:
            await asyncio.wait(self._held, timeout=seconds)
        await cancel_tasks(self._held)
        try:
            await self._store.run(release_jobs, worker=self._name, kinds=tuple(self._kinds))
        except (StoreBusy, StoreError) as error:  # left to the next start
            _log.warning("jobs_not_released", reason=str(error))

    async def _take_up(self) -> None:
        while True:
            self._wanted.clear()
            has_news, self._has_news = self._has_news, False
            try:
                has_news |= await self._claim()
                # what was offered here is not offered back
                if has_news and self._offer and len(self._capacities()) < len(self._kinds):
                    self._offer()
                seconds = await self._until_next()
            except (StoreBusy, StoreError) as error:
                _log.warning("jobs_not_claimed", reason=str(error))
                seconds = AGAIN_SECONDS
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._wanted.wait()

    async def _claim(self) -> bool:
        """Claim jobs, and begin them; return whether there were any."""
        now = int(self._clock())
        capacities = self._capacities()
        if not capacities:
            return False
        taken = await self._store.run(
            claim_jobs,
            worker=self._name,
            now=now,
            lease_until=now + LEASE_SECONDS,
            capacities=capacities,
            held=self._held_ids,
        )
        for claim in taken:
            self._last[claim.kind] = claim.principal or ""
            task = asyncio.create_task(self._work(self._kinds[claim.kind], claim))
            self._held[task] = claim
            task.add_done_callback(self._let_go)
        return bool(taken)

    async def _until_next(self) -> float:
        """Return the seconds until the next job is due, unless woken before."""
        due = await job_reads.next_due(self._store, self._capacities(), self._held_ids)
        wait = LEASE_SECONDS / 2
        return wait if due is None else max(0.0, min(wait, due - self._clock()))

    @property
    def _held_ids(self) -> tuple[str, ...]:
        return tuple(claim.id for claim in self._held.values())

    def _capacities(self) -> tuple[JobCapacity, ...]:
        """Return how many jobs of each kind may be claimed, for kinds with capacity."""
        capacities = []
        for name, kind in self._kinds.items():
            held = Counter(
                claim.principal or "" for claim in self._held.values() if claim.kind == name
            )
            longest = max(kind.max_delay, kind.longest_wait) + LEASE_SECONDS
            last = self._last.get(name, "")
            most = kind.at_once - held.total()
            of_one = 1 if kind.in_order else kind.of_one
            capacities.append(
                JobCapacity(name, most, longest, of_one, held, last, in_order=kind.in_order)
            )
        return tuple(capacity for capacity in capacities if capacity.most > 0)

    def _let_go(self, task: asyncio.Task[None]) -> None:
        claim = self._held.pop(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("job_not_written", job=claim.id, exc_info=error)
        self.wake()

    async def _work(self, kind: JobKind, claim: ClaimedJob) -> None:
        """Make one attempt, and handle its result."""
        if claim.failures > len(kind.delays):  # its worker was lost in the last attempt
            await self._bury(kind, claim, claim.failures, INTERRUPTED)
            return
        if claim.was_lost and claim.failures > 1:  # otherwise a few quick restarts would bury it
            delay = kind.delay(claim.failures - 2, 0, self._chance())
            await self._wait(kind, claim, claim.failures, INTERRUPTED, delay)
            return
        deadline = asyncio.timeout(kind.deadline)
        try:
            async with deadline:
                finish = await kind.handler(claim)
        except GiveUp as refusal:
            await self._bury(kind, claim, claim.failures + 1, refusal.reason)
        except Retry as failure:
            if failure.has_progressed:
                claim = msgspec.structs.replace(claim, failures=0)
            if isinstance(failure, Unfinished):
                delay = kind.delay(0, failure.after, self._chance())
                await self._wait(kind, claim, 0, failure.reason, delay)
            else:
                await self._fail(kind, claim, failure.reason, failure.after)
        except Exception as error:  # noqa: BLE001 -- a handler's failure must not stop the others
            if isinstance(error, TimeoutError) and deadline.expired():
                await self._fail(kind, claim, f"It took longer than {kind.deadline:g} seconds.")
            else:
                await self._fail(kind, claim, _fault(claim, error))
        else:
            await self._finish(kind, claim, finish or Finish())

    async def _finish(self, kind: JobKind, claim: ClaimedJob, finish: Finish) -> None:
        if finish.is_written:
            self._told(claim, True, finish)
            return
        try:
            async with asyncio.timeout(WRITING_SECONDS):
                held, finish = await self._written(claim, finish)
        except TimeoutError:
            await self._fail(kind, claim, UNWRITTEN)
        except RecordsMoved:
            await self._fail(kind, claim, MOVED)
        except Exception as error:  # noqa: BLE001 -- a refused unit was not committed
            await self._fail(kind, claim, _fault(claim, error))
        else:
            self._told(claim, held, finish)

    async def _written(self, claim: ClaimedJob, finish: Finish) -> tuple[bool, Finish]:
        """Write an end, computed again after a conflicting change; see :meth:`_write`.

        Returns:
            Whether the lease held, and the end as it was written.

        Raises:
            RecordsMoved: every attempt met a conflicting change.
        """
        attempts = 1
        while True:
            now = int(self._clock())
            try:
                held = await self._write(finish_job, claim=claim, now=now, also=finish.also)
            except RecordsMoved:
                if finish.recompute is None or attempts == ATTEMPTS:
                    raise
                attempts += 1
                finish = await finish.recompute()
            else:
                return held, finish

    async def _fail(self, kind: JobKind, claim: ClaimedJob, reason: str, after: int = 0) -> None:
        """Schedule the next attempt of a job, or bury it after the last one."""
        if claim.failures >= len(kind.delays):
            await self._bury(kind, claim, claim.failures + 1, reason)
            return
        delay = kind.delay(claim.failures, after, self._chance())
        await self._wait(kind, claim, claim.failures + 1, reason, delay)

    async def _wait(
        self, kind: JobKind, claim: ClaimedJob, failures: int, reason: str, delay: int
    ) -> None:
        """Put a job back for its next attempt."""
        if failures:
            _log.info("job_failed", job=claim.id, kind=kind.name, reason=reason, retried_in=delay)
        held = await self._write(
            put_back_job,
            claim=claim,
            failures=failures,
            available_at=int(self._clock() + delay),
            error=reason,
        )
        self._told(claim, held)

    async def _bury(self, kind: JobKind, claim: ClaimedJob, failures: int, reason: str) -> None:
        finish = Finish() if kind.given_up is None else kind.given_up(claim, reason)
        held = await self._write(
            bury_job,
            claim=claim,
            failures=failures,
            error=reason,
            now=int(self._clock()),
            also=finish.also,
        )
        if held:
            _log.warning("job_dead", job=claim.id, kind=kind.name, reason=reason)
        self._told(claim, held, finish)

    async def _write(self, unit: Callable[..., Work[bool]], **arguments: object) -> bool:
        """Store the result of an attempt, as soon as the store can."""
        while True:
            try:
                return await self._store.run(unit, **arguments)
            except (StoreBusy, StoreError) as error:
                _log.warning("job_not_written_yet", reason=str(error))
            await asyncio.sleep(AGAIN_SECONDS)

    def _told(self, claim: ClaimedJob, held: bool, finish: Finish | None = None) -> None:
        if not held:
            _log.warning("job_lease_lost", job=claim.id, kind=claim.kind)
        elif finish is not None and finish.committed is not None:
            finish.committed()

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            for task, claim in list(self._held.items()):
                until = int(self._clock()) + LEASE_SECONDS
                with suppress(StoreBusy, StoreError):
                    if not await self._store.run(renew_job, claim=claim, lease_until=until):
                        task.cancel()


def _fault(claim: ClaimedJob, error: Exception) -> str:
    """Log a fault, and return a description for operators without callers' content."""
    _log.error("job_fault", job=claim.id, kind=claim.kind, exc_info=error)
    return f"A fault of the desk ({type(error).__name__}); the log has its traceback."
