"""Expiry: deletes short-lived rows, independent of the owner's settings.

These are idempotency keys, sessions without turns, operators' sessions, anonymous files, nonces,
ended jobs, events of deleted threads, and calls that have waited too long for an answer.
"""

from __future__ import annotations

from collections.abc import Callable

from aitp_desk.desk.access.idempotency import REMEMBERED_SECONDS
from aitp_desk.model.calls.call import CallError
from aitp_desk.model.calls.job import JobState
from aitp_desk.model.error_kind import FailureCode
from aitp_desk.store.base import Store, Work
from aitp_desk.store.units.calls.calls import expire_waiting
from aitp_desk.store.units.jobs.jobs import forget_jobs
from aitp_desk.store.units.keys.console_sessions import forget_sessions
from aitp_desk.store.units.keys.nonces import forget_nonces
from aitp_desk.store.units.privacy.retention import drop_old_events
from aitp_desk.store.units.threads.sessions import delete_expired

EVERY_SECONDS = 600
NONCE_SECONDS = 60 * 60
"""How long a nonce is remembered after its expiry, in case a clock is set back."""
DONE_SECONDS = 24 * 60 * 60
"""How long a completed job is kept; until then no duplicate is queued."""
DEAD_SECONDS = 30 * 24 * 60 * 60
"""How long a job that was given up is kept."""
EVENTS_SECONDS = 24 * 60 * 60
"""How long the events of a deleted thread are kept, for those who follow it."""
ROWS_AT_ONCE = 1000
THREADS_AT_ONCE = 100
FILES_AT_ONCE = 10
UNANSWERED = CallError(FailureCode.EXPIRED.value, "No answer came in time; nothing was done.")


class Expiry:
    """Deletes expired rows.

    Parameters:
        session_seconds: how long a session without turns is kept.
        clock: Unix seconds.
    """

    def __init__(self, store: Store, session_seconds: int, clock: Callable[[], float]) -> None:
        self._store = store
        self._session_seconds = session_seconds
        self._clock = clock

    async def drop_expired(self) -> int:
        """Delete expired rows in bounded batches; return their number.

        Raises:
            StoreBusy, StoreError: the store could not continue.
        """
        now = int(self._clock())
        return (
            await self._drop_used(now)
            + await self._drop_all(forget_nonces, before=now - NONCE_SECONDS)
            + await self._drop_all(forget_sessions, now=now)
            + await self._drop_all(
                drop_old_events, before=now - EVENTS_SECONDS, now=now, limit=THREADS_AT_ONCE
            )
            + await self._drop_all(expire_waiting, error=UNANSWERED, now=now)
            + await self._drop_all(forget_jobs, state=JobState.DONE, before=now - DONE_SECONDS)
            + await self._drop_all(forget_jobs, state=JobState.DEAD, before=now - DEAD_SECONDS)
        )

    async def _drop_used(self, now: int) -> int:
        dropped = 0
        while True:
            gone = await self._store.run(
                delete_expired,
                once_before=now - REMEMBERED_SECONDS,
                sessions_before=now - self._session_seconds,
                files_until=now,
                limit=ROWS_AT_ONCE,
                files=FILES_AT_ONCE,
            )
            dropped += gone.idempotency + gone.sessions + gone.files
            rows = (gone.idempotency, gone.sessions)
            if ROWS_AT_ONCE not in rows and gone.files != FILES_AT_ONCE:
                return dropped

    async def _drop_all(
        self, unit: Callable[..., Work[int]], *, limit: int = ROWS_AT_ONCE, **arguments: object
    ) -> int:
        """Repeat a unit that returns a row count, until a batch is partial."""
        dropped = 0
        while True:
            count = await self._store.run(unit, **arguments, limit=limit)
            dropped += count
            if count < limit:
                return dropped
