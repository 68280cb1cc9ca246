"""Retention: deletes data that is older than the site owner's settings allow.

A pass goes through all threads that are old enough, a page at a time, and deletes those that were
not used since, one unit of work each; then files, calls without a thread, sealed values, and rows
of the audit log. It pauses between these for other work.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from aitp_desk.config import Retention
from aitp_desk.config.units import DAY_SECONDS
from aitp_desk.desk.events.broadcaster import Broadcaster
from aitp_desk.desk.maintenance.cache_eviction import Evict
from aitp_desk.model.access.audit import AuditKeys, make_own_auditor
from aitp_desk.store.base import Store, Work
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.units.privacy.retention import (
    drop_old_calls,
    drop_old_files,
    drop_old_folded,
    drop_old_thread,
    note_retention,
    trim_audit,
)
from aitp_desk.store.units.privacy.sealed_values import drop_old_sealed

EVERY_SECONDS = 3600
BETWEEN_SECONDS = 0.01
"""Pause after each piece, in which others have the store."""
PAGE_ROWS = 500
FOLDED_AT_ONCE = 100
FILES_AT_ONCE = 10
CALLS_AT_ONCE = 100
SEALED_AT_ONCE = 100
AUDIT_AT_ONCE = 1000


class RetentionService:
    """Deletes data after its retention time.

    Parameters:
        settings: the retention times.
        audit: the keys of the audit log.
        stop: stops the work on a run.
        forget: functions that drop content held in memory.
    """

    def __init__(
        self,
        *,
        store: Store,
        settings: Retention,
        audit: AuditKeys,
        events: Broadcaster,
        stop: Callable[[str], None],
        forget: Sequence[Evict],
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._settings = settings
        self._audit = audit
        self._events = events
        self._stop = stop
        self._forget = forget
        self._clock = clock

    @property
    def is_enabled(self) -> bool:
        """Whether any retention time is set."""
        return any(msgspec.structs.astuple(self._settings))

    async def drop_old(self) -> int:
        """Delete data after its retention time; return the number of items.

        Raises:
            StoreBusy, StoreError: the store could not continue.
        """
        settings, gone = self._settings, 0
        if settings.threads_days:
            before = self._before(settings.threads_days)
            count = await self._drop_threads(before)
            count += await self._repeat(drop_old_folded, before, FOLDED_AT_ONCE)
            await self._note("threads", count)
            gone += count
        if settings.files_days:
            before = self._before(settings.files_days)
            count = await self._repeat(drop_old_files, before, FILES_AT_ONCE)
            await self._note("files", count)
            gone += count
        if settings.calls_days:
            count = await self._repeat(
                drop_old_calls, self._before(settings.calls_days), CALLS_AT_ONCE
            )
            await self._note("calls", count)
            gone += count
        if settings.sealed_days:
            count = await self._repeat(
                drop_old_sealed, self._before(settings.sealed_days), SEALED_AT_ONCE
            )
            await self._note("sealed", count)
            gone += count
        if settings.audit_days:
            before = self._before(settings.audit_days)
            by = make_own_auditor(self._audit, int(self._clock()))
            gone += await self._repeat(partial(trim_audit, by=by), before, AUDIT_AT_ONCE)
        return gone

    async def _drop_threads(self, before: int) -> int:
        """Delete the threads that were not used since a time; return their number."""
        dropped, after = 0, ""
        while page := await reads.threads_opened(self._store, before, after, PAGE_ROWS):
            for after, used_at in page:
                if used_at is not None and used_at < before:
                    dropped += await self._drop_thread(after, before)
            await asyncio.sleep(BETWEEN_SECONDS)
        return dropped

    async def _drop_thread(self, thread_id: str, before: int) -> bool:
        ended = await self._store.run(
            drop_old_thread, thread_id=thread_id, before=before, now=int(self._clock())
        )
        if ended is None:
            return False
        for run_id in ended:
            self._stop(run_id)
            self._events.notify_end(run_id)
        self._events.notify_change(thread_id)
        await asyncio.sleep(BETWEEN_SECONDS)
        return True

    async def _repeat(self, work: Callable[..., Work[int]], before: int, limit: int) -> int:
        """Repeat a unit of work until nothing is left; return the number of items."""
        done = 0
        while True:
            count = await self._store.run(work, before=before, limit=limit)
            done += count
            if count < limit:
                return done
            await asyncio.sleep(BETWEEN_SECONDS)

    async def _note(self, what: str, count: int) -> None:
        """Record the deletion in the audit log, and drop cached content."""
        if not count:
            return
        for forget in self._forget:
            forget()
        by = make_own_auditor(self._audit, int(self._clock()))
        await self._store.run(note_retention, by=by, what=what, count=count)

    def _before(self, days: int) -> int:
        return int(self._clock()) - days * DAY_SECONDS
