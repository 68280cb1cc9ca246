"""The health of all processes that serve one database.

Each process stores its state and when it had it; so any of them can report for all. One that ends
in good order says so. One that no longer reports is down, until it is back or, after a while,
forgotten: it may have been taken away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import structlog

from aitp_desk.model.component import ComponentState, Condition
from aitp_desk.model.errors import StoreBusy
from aitp_desk.store.base import Store, StoreError
from aitp_desk.store.reads import processes as process_reads
from aitp_desk.store.units.jobs.conditions import KeptCondition, keep_conditions

REPORT_SECONDS = 10
"""How often a process reports, at most."""
SILENT_SECONDS = 60
"""A process that has not reported for so long is down."""
FORGOTTEN_SECONDS = 15 * 60
PREFIX = "process:"
_STORED = "report of process:"
"""Prefix of the stored reports; the components have conditions like all others."""
_ENDED = 0

_log = structlog.get_logger()


class ProcessHealth:
    """Reports the state of this process, and knows that of the others.

    Parameters:
        name: of this process; another one that replaces it has the same.
        clock: Unix seconds, the same for all processes.
    """

    def __init__(self, store: Store, name: str, clock: Callable[[], float]) -> None:
        self._store = store
        self._name = name
        self._clock = clock
        self._reported_at = 0

    async def report(self, state: ComponentState) -> None:
        """Store the state of this process, if the last report is not new."""
        now = int(self._clock())
        if now - self._reported_at >= REPORT_SECONDS:
            await self._write(state, now)
            self._reported_at = now

    async def end(self) -> None:
        """Store that this process has ended in good order."""
        await self._write("down", _ENDED)

    async def probe(self) -> Sequence[Condition]:
        """Return the condition of each process."""
        now = int(self._clock())
        found = [Condition(name=f"{PREFIX}{self._name}")]
        for kept in (await process_reads.conditions(self._store)).values():
            name = kept.name.removeprefix(_STORED)
            if name in (kept.name, self._name) or now - kept.since > FORGOTTEN_SECONDS:
                continue
            found.append(_read(f"{PREFIX}{name}", kept, now))
        return sorted(found, key=lambda one: one.name)

    async def _write(self, state: ComponentState, at: int) -> None:
        kept = KeptCondition(f"{_STORED}{self._name}", state, at)
        try:
            await self._store.run(keep_conditions, conditions=(kept,))
        except (StoreBusy, StoreError) as error:  # the next report tries again
            _log.warning("process_not_reported", reason=str(error))


def _read(name: str, kept: KeptCondition, now: int) -> Condition:
    if now - kept.since > SILENT_SECONDS:
        silent = f"It has not reported for {now - kept.since} seconds."
        return Condition(name=name, state="down", reason=silent)
    reason = "" if kept.state == "up" else "Its own health says which part."
    return Condition(name=name, state=kept.state, reason=reason)
