"""Deletes threads that their callers did not want kept (``store: false``)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import structlog

from aitp_desk.desk.events.broadcaster import Broadcaster
from aitp_desk.desk.jobs.kinds import JobKind, Retry
from aitp_desk.desk.jobs.queue import JobQueue
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.run import Run
from aitp_desk.model.errors import DeskError
from aitp_desk.model.ids import new_id
from aitp_desk.store.base import Store, Work
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.jobs import ClaimedJob, NewJob
from aitp_desk.store.records.threads import PostResult
from aitp_desk.store.units.jobs.jobs import enqueue_job
from aitp_desk.store.units.privacy.retention import drop_unkept_thread
from aitp_desk.store.units.threads.threads import AlsoWritten

KIND = "unkept_thread"
KEPT_SECONDS = 60 * 60
"""How long a thread stays whose answer nobody received, or whose functions have no output yet."""
ATTEMPT_SECONDS = 30
AT_ONCE = 4

_log = structlog.get_logger()


class ThreadDisposal:
    """Deletes a thread once its answer is written; a job does it where that was not reached.

    The job is queued in the commit that opens the thread, so that no crash keeps it. A thread stays
    as long as a call or a ticket of it is not over: the caller was promised that.
    """

    def __init__(
        self, *, store: Store, jobs: JobQueue, events: Broadcaster, clock: Callable[[], float]
    ) -> None:
        self._store = store
        self._events = events
        self._clock = clock
        jobs.register_kinds(
            JobKind(
                KIND,
                self._dispose_later,
                ATTEMPT_SECONDS,
                (KEPT_SECONDS,),
                AT_ONCE,
                longest_wait=KEPT_SECONDS,
            )
        )

    def make_job(self, principal: Principal) -> AlsoWritten:
        """Return what queues the job in the commit that opens a thread."""
        return partial(self._enqueue, principal)

    async def dispose(self, run: Run) -> None:
        """Delete the thread of a run that is over; the job deletes what this leaves."""
        try:
            kept = await reads.run(self._store, run.id)
            if kept is None or kept.is_over:
                await self._drop(run.thread_id)
        except DeskError as error:  # the answer is worth more than an early deletion
            _log.info("thread_not_disposed", reason=type(error).__name__)

    def _enqueue(self, principal: Principal, opened: PostResult) -> Work[None]:
        now = self._clock()
        job = NewJob(
            new_id("job", now),
            KIND,
            opened.thread_id,
            {},
            int(now),
            thread_id=opened.thread_id,
            principal=principal.party,
            available_at=int(now) + KEPT_SECONDS,
        )
        yield from enqueue_job(job)

    async def _dispose_later(self, claim: ClaimedJob) -> None:
        if not await self._drop(claim.ref):
            raise Retry("Work on the thread is not over.", has_progressed=True)

    async def _drop(self, thread_id: str) -> bool:
        """Delete a thread, unless work on it is not over."""
        ended = await self._store.run(
            drop_unkept_thread, thread_id=thread_id, now=int(self._clock())
        )
        if ended is None:
            return False
        for run_id in ended:
            self._events.notify_end(run_id)
        self._events.notify_change(thread_id)
        return True
