"""Finds the processes of a database that are gone, and frees their work.

Every process adds to its beats in the database, and reads those of the others. One whose beats have
not changed in several readings is gone: killed, or paused for so long that its work must not wait
for it. Its leases of runs, jobs and schedules are ended then. No clock is compared, so it does not
matter how far the clocks of two machines differ; and while the database cannot be reached, nobody
is judged.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import msgspec
import structlog

from aitp_desk.desk.jobs.background_task import run_in_background
from aitp_desk.model.errors import StoreBusy
from aitp_desk.store.base import Store, StoreError
from aitp_desk.store.reads import processes as process_reads
from aitp_desk.store.units.jobs.processes import drop_process, keep_process, release_work

BEAT_SECONDS = 3.0
GONE_AFTER = 5
"""After so many readings without a new beat a process is gone."""
DROPPED_AFTER = 100
"""After so many its row is deleted."""

_log = structlog.get_logger()


class _Sighting(msgspec.Struct):
    """What was last read of a process.

    Parameters:
        unchanged: how many readings in a row had the same beats.
        has_beaten: whether its beats have changed since it was first seen.
        is_freed: whether its leases have been ended.
    """

    beats: int
    unchanged: int = 0
    has_beaten: bool = False
    is_freed: bool = False


class ProcessWatch:
    """Reports that this process lives, and watches the others.

    Attributes:
        process: the id of this process, under which it holds its leases.
        freed: called after leases of a process that is gone were ended.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._seen: dict[str, _Sighting] = {}
        self.process = secrets.token_hex(8)
        self.freed: Callable[[], None] = lambda: None

    def is_gone(self, process: str) -> bool:
        """Return whether a process is gone; one that is not in the database is."""
        sighting = self._seen.get(process)
        return sighting is None or sighting.unchanged >= GONE_AFTER

    async def beat(self) -> None:
        """Report that this process lives, and free the work of those that are gone.

        Raises:
            StoreBusy, StoreError: the next beat goes on.
        """
        await self._store.run(keep_process, process=self.process)
        beats = await process_reads.beats(self._store)
        for process in self._seen.keys() - beats.keys():
            del self._seen[process]
        for process, number in beats.items():
            sighting = self._seen.setdefault(process, _Sighting(number))
            if sighting.beats != number:
                self._seen[process] = _Sighting(number, has_beaten=True)
                continue
            sighting.unchanged += 1
            if sighting.unchanged == GONE_AFTER and sighting.has_beaten:
                _log.warning("process_gone", process=process)
            if sighting.unchanged >= GONE_AFTER and not sighting.is_freed:
                await self._free(process)
                sighting.is_freed = True
            if sighting.unchanged >= DROPPED_AFTER:
                await self._store.run(drop_process, process=process)

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Beat while the context lasts.

        Raises:
            StoreBusy, StoreError: there was no first beat.
        """
        await self.beat()
        async with run_in_background(self._beat_regularly):
            yield
        with suppress(StoreBusy, StoreError):
            await self._store.run(drop_process, process=self.process)

    async def _free(self, process: str) -> None:
        count = await self._store.run(release_work, process=process)
        if count:
            _log.info("work_freed", process=process, count=count)
            self.freed()

    async def _beat_regularly(self) -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            try:
                await self.beat()
            except (StoreBusy, StoreError) as error:
                _log.warning("process_beat_failed", reason=str(error))
