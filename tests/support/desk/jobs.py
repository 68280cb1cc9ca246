"""Jobs in tests: a store's jobs done by handlers that a test hands over."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from aitp_desk.desk.jobs.kinds import Finish, JobKind
from aitp_desk.desk.jobs.queue import JobQueue
from aitp_desk.model.calls.job import Job, JobState
from aitp_desk.store.base import Store, Work
from aitp_desk.store.reads import jobs as job_reads
from aitp_desk.store.records.jobs import ClaimedJob, JobCapacity, NewJob
from aitp_desk.store.units.jobs.jobs import bury_job, claim_jobs, enqueue_job
from tests.support.doubles.agent import NOON, Clock

if TYPE_CHECKING:
    from aitp_desk.app.server import RunningServer

SECONDS = 10


def wake_jobs(desk: RunningServer) -> None:
    """Have a desk look for jobs that are due: whoever has moved its clock has to say so."""
    desk.desk.worker._jobs.wake()  # noqa: SLF001


def a_job(ref: str, kind: str = "errand", **members: Any) -> NewJob:
    """A job of a kind, about something."""
    given: dict[str, Any] = {"payload": {}, "created_at": int(NOON), **members}
    return NewJob(id=f"job_{ref}", kind=kind, ref=ref, **given)


def queue(*jobs: NewJob) -> Work[None]:
    """Queue jobs in one commit."""
    for job in jobs:
        yield from enqueue_job(job)


def give_up_a_job() -> Work[None]:
    """Queue a job, have a worker claim it, and give it up."""
    yield from enqueue_job(a_job("dead"))
    capacities = [JobCapacity("errand", 9, 60)]
    (dead,) = yield from claim_jobs(
        worker="one", now=int(NOON), lease_until=int(NOON), capacities=capacities
    )
    yield from bury_job(claim=dead, failures=3, error="Nobody was there.", now=int(NOON))


async def kept(store: Store, ref: str) -> Job:
    """A job as it is kept now."""
    job = await job_reads.job(store, f"job_{ref}")
    assert job is not None
    return job


class Errands:
    """A handler that does what a test hands it, one thing for each attempt.

    Parameters:
        members: of its kind, that are other than here.

    Attributes:
        begun: the jobs that it was asked to do, as they are.
    """

    def __init__(self, **members: Any) -> None:
        self.begun: asyncio.Queue[ClaimedJob] = asyncio.Queue()
        self._outcomes: asyncio.Queue[Finish | Exception | None] = asyncio.Queue()
        given = {"name": "errand", "deadline": SECONDS, "delays": (60, 600), "at_once": 2}
        self.kind = JobKind(handler=self._do, **{**given, **members})

    def give(self, *outcomes: Finish | Exception | None) -> None:
        """Have the next attempts end like this."""
        for outcome in outcomes:
            self._outcomes.put_nowait(outcome)

    async def next(self) -> ClaimedJob:
        """The next job that it is asked to do."""
        async with asyncio.timeout(SECONDS):
            return await self.begun.get()

    async def _do(self, claim: ClaimedJob) -> Finish | None:
        self.begun.put_nowait(claim)
        outcome = await self._outcomes.get()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


@asynccontextmanager
async def working(
    store: Store,
    *kinds: JobKind,
    clock: Callable[[], float] | None = None,
    stop_seconds: float = 0.01,
    is_shared: bool = False,
    worker: str = "",
    offer: Callable[[], object] | None = None,
) -> AsyncIterator[JobQueue]:
    """Have a store's jobs done for as long as the context lasts."""
    jobs = JobQueue(
        store=store,
        worker=worker or secrets.token_hex(8),
        clock=clock or Clock(),
        chance=lambda: 0.0,
        is_shared=is_shared,
        offer=offer,
    )
    for kind in kinds:
        jobs.register_kinds(kind)
    await jobs.begin()
    try:
        yield jobs
    finally:
        await jobs.stop(stop_seconds)


async def until(store: Store, ref: str, state: JobState, attempts: int | None = None) -> Job:
    """Wait until a job stands so."""
    async with asyncio.timeout(SECONDS):
        while True:
            job = await kept(store, ref)
            if job.state is state and attempts in (None, job.attempts):
                return job
            await asyncio.sleep(0)
