"""Finds the processes of a database that are gone, and frees their work.

Every process adds to its beats in the database, and reads those of the others. One whose beats have
not changed in several readings is gone: killed, or paused for so long that its work must not wait
for it. Its leases of runs, jobs and schedules are ended then. No clock is compared, so it does not
matter how far the clocks of two machines differ; and while the database cannot be reached, nobody
is judged. Beats wait for no other work of the store: a process that is busy is not gone.

A beat also says how the process is and what it has done, so that any can report on all.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial

import msgspec
import structlog

from aitp_desk.desk.jobs.background_task import keep_running, repeat
from aitp_desk.model.component import ComponentState
from aitp_desk.model.errors import StoreBusy
from aitp_desk.model.process_figures import ProcessFigures
from aitp_desk.store.base import Store, StoreError
from aitp_desk.store.units.jobs.processes import (
    ProcessBeat,
    drop_process,
    keep_process,
    release_work,
)

BEAT_SECONDS = 3.0
GONE_AFTER = 5
"""After so many readings without a new beat a process is gone."""
DROPPED_AFTER = 300
"""After so many its row is deleted: it may have been taken away."""

_log = structlog.get_logger()


class Presence(msgspec.Struct):
    """What was last read of a process.

    Parameters:
        unchanged: how many readings in a row had the same beats.
        has_beaten: whether its beats have changed since it was first seen.
        is_freed: whether its leases have been ended.
    """

    beat: ProcessBeat
    unchanged: int = 0
    has_beaten: bool = False
    is_freed: bool = False

    @property
    def is_gone(self) -> bool:
        """Whether the process no longer beats."""
        return self.unchanged >= GONE_AFTER


class ProcessWatch:
    """Reports that this process lives, and watches the others.

    Parameters:
        name: of this process; another one that replaces it has the same.
        clock: Unix seconds.

    Attributes:
        process: the id of this process, under which it holds its leases.
        name: as given.
        state: the health of this process, which its next beat reports.
        freed: called after leases of a process that is gone were ended.
    """

    def __init__(
        self, store: Store, name: str = "", clock: Callable[[], float] = time.time
    ) -> None:
        self._store = store
        self._seen: dict[str, Presence] = {}
        self._begun = int(clock())
        self.process = secrets.token_hex(8)
        self.name = name
        self.state: ComponentState = "up"
        self._measure: Callable[[], ProcessFigures] = ProcessFigures
        self.freed: Callable[[], None] = lambda: None

    def is_gone(self, process: str) -> bool:
        """Return whether a process is gone; one that is not in the database is."""
        presence = self._seen.get(process)
        return presence is None or presence.is_gone

    def list_presences(self) -> Sequence[Presence]:
        """Return what was last read of every process, also of this one."""
        return tuple(self._seen.values())

    async def beat(self) -> None:
        """Report that this process lives, and read who else does.

        Raises:
            StoreBusy, StoreError: the next beat goes on.
        """
        beats = await self._store.run_apart(
            keep_process,
            process=self.process,
            name=self.name,
            state=self.state,
            begun=self._begun,
            figures=self._measure(),
        )
        self._seen = {one.process: self._see(one) for one in beats}

    async def free_gone(self) -> None:
        """End the leases of processes that are gone.

        Raises:
            StoreBusy, StoreError: the next time goes on.
        """
        for process, presence in tuple(self._seen.items()):
            if presence.is_gone and not presence.is_freed:
                await self._free(process)
                presence.is_freed = True
            if presence.unchanged >= DROPPED_AFTER:
                await self._store.run(drop_process, process=process)

    @asynccontextmanager
    async def run(
        self, measure: Callable[[], ProcessFigures] = ProcessFigures
    ) -> AsyncIterator[None]:
        """Beat while the context lasts.

        Parameters:
            measure: returns the figures of this process, which each beat reports.

        Raises:
            StoreBusy, StoreError: there was no first beat.
        """
        self._measure = measure
        await self.beat()
        async with (
            keep_running(partial(repeat, self.beat, BEAT_SECONDS, "process_beat_failed")),
            # apart from the beats, since this one waits for other work of the store
            keep_running(partial(repeat, self.free_gone, BEAT_SECONDS, "work_not_freed")),
        ):
            yield
        with suppress(StoreBusy, StoreError):
            await self._store.run(drop_process, process=self.process)

    def _see(self, beat: ProcessBeat) -> Presence:
        presence = self._seen.get(beat.process)
        if presence is None:
            return Presence(beat)
        if presence.beat.number != beat.number:
            return Presence(beat, has_beaten=True)
        presence.unchanged += 1
        if presence.unchanged == GONE_AFTER and presence.has_beaten:
            _log.warning("process_gone", process=beat.process)
        return presence

    async def _free(self, process: str) -> None:
        count = await self._store.run(release_work, process=process)
        if count:
            _log.info("work_freed", process=process, count=count)
            self.freed()
