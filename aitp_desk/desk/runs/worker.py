"""The worker: takes up what was promised, also after a crash, and tidies what has had its time.

A run is held under a lease. Of a process that died nothing is left but leases; the next start ends
them, and its worker takes those runs up again. A run's end and its replies are one commit that asks
for the lease, so that a run is answered once.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial

import structlog

from aitp_desk.desk.events.broadcaster import Broadcaster
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
"""How many of these are one caller's: a few more where they are taken up together."""
AGAIN_SECONDS = 0.25
"""When it is looked again whether a run may be stopped."""
CLAIM_BATCH = 4
"""How many runs are taken up together."""

_log = structlog.get_logger()


class RunWorker:
    """Takes up runs as they come.

    Parameters:
        turns: of each desk, by its name; the site's own is the empty one.
        summarising, jobs: work for as long as the worker does.
    """

    def __init__(
        self,
        *,
        store: Store,
        turns: Mapping[str, RunExecutor],
        following: Broadcaster,
        summarising: ThreadSummarizer,
        jobs: JobQueue,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self.turns = turns
        self._following = following
        self._summarising = summarising
        self._jobs = jobs
        self._clock = clock
        self._name = f"worker_{secrets.token_hex(8)}"
        self._wanted = asyncio.Event()
        self._in_doubt = asyncio.Event()
        self._shares = FairShare(MAX_OF_ONE)
        self._held: dict[asyncio.Task[None], ClaimedRun] = {}
        self._stopping: set[asyncio.Task[None]] = set()
        self._loops: list[asyncio.Task[None]] = []

    def wake(self, run_id: str = "", caller: str = "") -> None:
        """Look for work now. See :class:`aitp_desk.desk.limits.fair_share.WakeWorker`."""
        if run_id:
            self._shares.add_run(run_id, caller)
        self._wanted.set()

    def stop_run(self, run_id: str) -> None:
        """Stop the work on a run that is being cancelled, if it is this worker's."""
        for task, claim in self._held.items():
            if claim.id == run_id and task not in self._stopping:
                self._stopping.add(task)
                task.cancel()

    def stop_taken_over(self) -> None:
        """Stop the work on runs that people have ended, who have taken their threads over.

        Whoever waits for a call that people have ended is told, too.
        """
        self._in_doubt.set()

    @property
    def is_working(self) -> bool:
        """Whether runs and jobs are being taken up."""
        is_working = bool(self._loops) and not any(loop.done() for loop in self._loops)
        return is_working and self._jobs.is_working

    @asynccontextmanager
    async def run(self, stop_seconds: float) -> AsyncIterator[None]:
        """Work for as long as the context lasts; then give what is at work so long to end."""
        freed = await self._store.run(release_runs, worker=None)
        if freed:
            _log.info("runs_resumed", count=freed)
        self._loops = [
            asyncio.create_task(self._take_up()),
            asyncio.create_task(self._renew()),
            asyncio.create_task(self._review()),
            asyncio.create_task(self._summarising.run()),
        ]
        await self._jobs.begin()
        try:
            yield
        finally:
            await asyncio.gather(self._stop(stop_seconds), self._jobs.stop(stop_seconds))

    async def _stop(self, seconds: float) -> None:
        await _cancel(self._loops)
        if self._held:
            await asyncio.wait(self._held, timeout=seconds)
        self._stopping.clear()  # what is left of these, the next start ends
        await _cancel(list(self._held))
        try:
            await self._store.run(release_runs, worker=self._name)
        except (StoreBusy, StoreError) as error:  # the next start does it
            _log.warning("runs_not_released", reason=str(error))

    def _turns_of(self, claim: ClaimedRun) -> RunExecutor:
        return self.turns.get(claim.desk) or self.turns[""]

    async def _take_up(self) -> None:
        while True:
            self._wanted.clear()
            room = min(CLAIM_BATCH, MAX_AT_ONCE - len(self._held))
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
            self._following.notify_end(run.id)
            self._following.notify_change(run.thread_id)
        for claim in claims.taken:
            self._following.notify_change(claim.thread_id)
        return claims.taken

    def _hold(self, claim: ClaimedRun, work: Coroutine[None, None, None]) -> None:
        self._shares.begin(claim.id)
        task = asyncio.create_task(work)
        self._held[task] = claim
        task.add_done_callback(self._let_go)

    def _let_go(self, task: asyncio.Task[None]) -> None:
        claim = self._held.pop(task)
        self._shares.end(claim.id)
        if task in self._stopping:
            self._stopping.discard(task)
            self._hold(claim, self._turns_of(claim).stop_run(claim))
        elif not task.cancelled() and (error := task.exception()) is not None:
            _log.error("run_not_written", run=claim.id, exc_info=error)
        self.wake()  # a follow-up run of the same thread may be free now

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(LEASE_SECONDS / 3)
            for task, claim in list(self._held.items()):
                until = int(self._clock()) + LEASE_SECONDS
                with suppress(StoreBusy, StoreError):
                    state = await self._store.run(renew_lease, claim=claim, lease_until=until)
                    if state is RunState.CANCELLING:
                        self.stop_run(claim.id)
                    elif state is None:
                        task.cancel()

    async def _review(self) -> None:
        while True:
            await self._in_doubt.wait()
            self._in_doubt.clear()
            held = {claim.id: task for task, claim in self._held.items()}
            for run_id in {*held, *self._following.awaited}:
                with suppress(StoreError):  # the lease or the caller's own time ends it
                    run = await reads.run(self._store, run_id)
                    if run is None:
                        await self._review_call(run_id)
                    if run is None or run.error != TAKEN_OVER:
                        continue
                    self._following.notify_end(run_id)
                    if run_id in held:
                        await self._silence(run_id, run.thread_id, held[run_id])

    async def _review_call(self, call_id: str) -> None:
        """Tell those who wait for a call that people have ended it, where they have."""
        call = await call_reads.call_by_id(self._store, call_id)
        if call is not None and call.is_over:
            self._following.notify_end(call_id)

    async def _silence(self, run_id: str, thread_id: str, task: asyncio.Task[None]) -> None:
        """Stop the work on a run, but for a call that it has begun: that comes to its end first."""
        self._following.stop_answer(thread_id)
        calls = await call_reads.calls_of_run(self._store, run_id)
        if any(call.state is CallState.STARTED and call.accepted_at is None for call in calls):
            asyncio.get_running_loop().call_later(AGAIN_SECONDS, self.stop_taken_over)
        else:
            task.cancel()


async def _cancel(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
