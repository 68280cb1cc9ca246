"""Lets this process take part in what other processes on the same database do.

Subscribers of a thread read what another process has written, waiters wake at the end of a run that
another process executed, and a run is stopped where it is executed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from aitp_desk.desk.events.broadcaster import Broadcaster
from aitp_desk.desk.jobs.background_task import keep_running
from aitp_desk.desk.jobs.queue import JobQueue
from aitp_desk.desk.runs.worker import RunWorker
from aitp_desk.store.base import Store, StoreError
from aitp_desk.store.changes import Change, ChangeFeed
from aitp_desk.store.reads import calls as call_reads
from aitp_desk.store.reads import threads as reads


class RemoteChanges:
    """Handles the changes of other processes.

    Parameters:
        worker: executes runs in this process.
        jobs: does jobs in this process.
    """

    def __init__(
        self, store: Store, events: Broadcaster, worker: RunWorker, jobs: JobQueue
    ) -> None:
        self._store = store
        self._events = events
        self._worker = worker
        self._jobs = jobs
        self._missed = asyncio.Event()

    @asynccontextmanager
    async def receive_from(self, feed: ChangeFeed) -> AsyncIterator[None]:
        """Handle changes for as long as the context lasts."""
        async with (
            keep_running(self._review),
            feed.deliver(self._receive, self._missed.set),
        ):
            yield

    def _receive(self, change: Change) -> None:
        match change.kind:
            case "stop":
                self._worker.stop_held(change.id)
            case "work":
                self._worker.wake()
                self._jobs.take_offered()
            case _:
                self._events.receive(change)

    async def _review(self) -> None:
        """Find out what was missed, whenever changes may have been lost."""
        while True:
            await self._missed.wait()
            self._missed.clear()
            self._events.poll_all()
            self._worker.wake()
            for id_ in self._events.awaited:
                with suppress(StoreError):  # reported where it matters; looked up again
                    if await self._is_over(id_):
                        self._events.receive(Change("end", id_))

    async def _is_over(self, id_: str) -> bool:
        run = await reads.run(self._store, id_)
        if run is not None:
            return run.is_over
        call = await call_reads.call_by_id(self._store, id_)
        return call is None or call.is_over
