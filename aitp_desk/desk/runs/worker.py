"""The run worker: claims queued runs and answers them, also after a crash.

A run is held under a lease. A process that died leaves only leases. Where it was the only one on
its database, the next start releases them, and its worker claims those runs again; where there are
others, one of them does so once the process is gone (``jobs/process_watch.py``) or the leases have
expired. A run's end and its replies are one commit that requires the lease, so a run is answered
once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial

import structlog

from aitp_desk.desk.events.broadcaster import Broadcaster
from aitp_desk.desk.jobs.background_task import cancel_tasks, persist
from aitp_desk.desk.jobs.queue import JobQueue
from aitp_desk.desk.limits.fair_share import FairShare
from aitp_desk.desk.runs.executor import RunExecutor
from aitp_desk.desk.runs.summaries import ThreadSummarizer
from aitp_desk.model.calls.call import CallState
from aitp_desk.model.conversation.run import RunState
from aitp_desk.model.errors import StoreBusy
from aitp_desk.store.base import Store, StoreError
from aitp_desk.store.reads import calls as call_reads
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.runs import ClaimedRun
from aitp_desk.store.units.runs.workers import claim_runs, release_runs, renew_lease
from aitp_desk.store.units.tickets.handover import TAKEN_OVER

LEASE_SECONDS = 60
MAX_AT_ONCE = 16
"""How many runs one process works on at once."""
MAX_OF_ONE = 12
"""How many of these may be one caller's; a few more when they are claimed together."""
AGAIN_SECONDS = 0.25
"""Delay before another check whether a run may be stopped."""
CLAIM_BATCH = 4
"""How many runs are claimed at once."""

_log = structlog.get_logger()


class RunWorker:
    """Claims and executes runs.

    Parameters:
        turns: of each desk, by its name; empty for the site's own.
        summarizer, jobs: run as long as the worker does.
        worker: the name under which this process holds leases.
        is_shared: whether other processes work on the same database.
    """

    def __init__(
        self,
        *,
        store: Store,
        turns: Mapping[str, RunExecutor],
        events: Broadcaster,
        summarizer: ThreadSummarizer,
        jobs: JobQueue,
        worker: str,
        clock: Callable[[], float],
        is_shared: bool = False,
    ) -> None:
        self._store = store
        self._is_shared = is_shared
        self.turns = turns
        self._events = events
        self._summarizer = summarizer
        self._jobs = jobs
        self._clock = clock
        self._name = worker
        self._wanted = asyncio.Event()
        self._in_doubt = asyncio.Event()
        self._shares = FairShare(MAX_OF_ONE)
        self._held: dict[asyncio.Task[None], ClaimedRun] = {}
        self._cancelled: set[asyncio.Task[None]] = set()
        self._is_full = False
        self._loops: list[asyncio.Task[None]] = []

    def wake(self, run_id: str = "", caller: str = "") -> None:
        """Look for work now. See :class:`aitp_desk.desk.limits.fair_share.WakeWorker`."""
        if run_id:
            self._shares.add_run(run_id, caller)
        self._wanted.set()

    def stop_run(self, run_id: str) -> None:
        """Stop a run that is being cancelled, here or in another process."""
        if not self.stop_held(run_id):
            self._events.request_stop(run_id)

    def stop_held(self, run_id: str) -> bool:
        """Stop a run that is being cancelled, if it is here; return whether it is."""
        is_here = False
        for task, claim in self._held.items():
            if claim.id == run_id and task not in self._cancelled:
                self._cancelled.add(task)
                task.cancel()
                is_here = True
        return is_here

    def stop_taken_over(self) -> None:
        """Stop the work on runs that operators have ended by taking over their threads.

        Callers that wait for a call that an operator has ended are notified as well.
        """
        self._in_doubt.set()

    @property
    def is_working(self) -> bool:
        """Whether the worker claims runs and jobs."""
        is_working = bool(self._loops) and not any(loop.done() for loop in self._loops)
        return is_working and self._jobs.is_working

    @asynccontextmanager
    async def run(self, stop_seconds: float) -> AsyncIterator[None]:
        """Work while the context lasts, then allow running work ``stop_seconds`` to end."""
        if not self._is_shared:
            freed = await self._store.run(release_runs, worker=None)
            if freed:
                _log.info("runs_resumed", count=freed)
        self._loops = [
            asyncio.create_task(persist(self._take_up)),
            asyncio.create_task(persist(self._renew)),
            asyncio.create_task(persist(self._review)),
            asyncio.create_task(persist(self._summarizer.run)),
        ]
        await self._jobs.begin()
        try:
            yield
        finally:
            await asyncio.gather(self._stop(stop_seconds), self._jobs.stop(stop_seconds))

    async def _stop(self, seconds: float) -> None:
        await cancel_tasks(self._loops)
        if self._held:
            await asyncio.wait(self._held, timeout=seconds)
        self._cancelled.clear()  # the next start ends the rest
        await cancel_tasks(self._held)
        try:
            await self._store.run(release_runs, worker=self._name)
        except (StoreBusy, StoreError) as error:  # left to the next start
            _log.warning("runs_not_released", reason=str(error))

    def _turns_of(self, claim: ClaimedRun) -> RunExecutor:
        return self.turns.get(claim.desk) or self.turns[""]

    async def _take_up(self) -> None:
        while True:
            self._wanted.clear()
            room = min(CLAIM_BATCH, MAX_AT_ONCE - len(self._held))
            if not room and not self._is_full:
                self._events.offer_work()
            self._is_full = not room
            taken = await self._claim(room) if room else ()
            for claim in taken:
                caller = partial(self._shares.caller, claim.id)
                self._hold(claim, self._turns_of(claim).execute_run(claim, caller))
            if len(taken) < room or not room:
                with suppress(TimeoutError):
                    async with asyncio.timeout(LEASE_SECONDS / 2):
                        await self._wanted.wait()

    async def _claim(self, room: int) -> tuple[ClaimedRun, ...]:
        now = int(self._clock())
        try:
            claims = await self._store.run(
                claim_runs,
                worker=self._name,
                now=now,
                lease_until=now + LEASE_SECONDS,
                limit=room,
                left=self._shares.list_waiting(),
            )
        except (StoreBusy, StoreError) as error:
            _log.warning("runs_not_claimed", reason=str(error))
            return ()
        for run in claims.ended:
            self._events.notify_end(run.id)
            self._events.notify_change(run.thread_id)
        for claim in claims.taken:
            self._events.notify_change(claim.thread_id)
        return claims.taken

    def _hold(self, claim: ClaimedRun, work: Coroutine[None, None, None]) -> None:
        self._shares.begin(claim.id)
        task = asyncio.create_task(work)
        self._held[task] = claim
        task.add_done_callback(self._let_go)

    def _let_go(self, task: asyncio.Task[None]) -> None:
        claim = self._held.pop(task)
        self._shares.end(claim.id)
        if task in self._cancelled:
            self._cancelled.discard(task)
            self._hold(claim, self._turns_of(claim).stop_run(claim))
        elif not task.cancelled() and (error := task.exception()) is not None:
            _log.error("run_not_written", run=claim.id, exc_info=error)
        self.wake()  # a later run of the same thread may be claimable now

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(LEASE_SECONDS / 3)
            for task, claim in list(self._held.items()):
                until = int(self._clock()) + LEASE_SECONDS
                with suppress(StoreBusy, StoreError):
                    state = await self._store.run(renew_lease, claim=claim, lease_until=until)
                    if state is RunState.CANCELLING:
                        self.stop_held(claim.id)
                    elif state is None:
                        task.cancel()

    async def _review(self) -> None:
        while True:
            await self._in_doubt.wait()
            self._in_doubt.clear()
            held = {claim.id: task for task, claim in self._held.items()}
            for run_id in {*held, *self._events.awaited}:
                with suppress(StoreError):  # the lease or the caller's own time ends it
                    run = await reads.run(self._store, run_id)
                    if run is None:
                        await self._review_call(run_id)
                    if run is None or run.error != TAKEN_OVER:
                        continue
                    self._events.notify_end(run_id)
                    if run_id in held:
                        await self._silence(run_id, run.thread_id, held[run_id])

    async def _review_call(self, call_id: str) -> None:
        """Notify callers that wait for a call that an operator has ended."""
        call = await call_reads.call_by_id(self._store, call_id)
        if call is not None and call.is_over:
            self._events.notify_end(call_id)

    async def _silence(self, run_id: str, thread_id: str, task: asyncio.Task[None]) -> None:
        """Stop the work on a run, after a call in progress has ended."""
        self._events.stop_answer(thread_id)
        calls = await call_reads.calls_of_run(self._store, run_id)
        if any(call.state is CallState.STARTED and call.accepted_at is None for call in calls):
            asyncio.get_running_loop().call_later(AGAIN_SECONDS, self.stop_taken_over)
        else:
            task.cancel()
