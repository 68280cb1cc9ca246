"""Health checks: the state of every component, and since when it has it.

All reports (``/ready``, capabilities, figures, operators' pages) use this module. The time of each
change is stored, so that a restart does not reset it; a component that is up counts as up since the
process start at the earliest, because nothing checked it before.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress

import structlog

from aitp_desk.desk.jobs.background_task import keep_running
from aitp_desk.desk.jobs.process_watch import ProcessWatch
from aitp_desk.desk.maintenance.process_health import PREFIX
from aitp_desk.model.component import Component, Condition, Part, state_of
from aitp_desk.model.errors import StoreBusy
from aitp_desk.store.base import Store, StoreError
from aitp_desk.store.reads import conditions as condition_reads
from aitp_desk.store.units.jobs.conditions import StoredCondition, keep_conditions

EVERY_SECONDS = 15.0
"""Interval of checks when there are no requests, so that the time of a change is known."""
PROBE_SECONDS = 2.0
"""A component that has not reported by then is down."""

Probe = Callable[[], Awaitable[Sequence[Condition]]]
"""Checks components of the desk, without changing anything."""

_log = structlog.get_logger()


class HealthChecks:
    """Checks all components.

    Parameters:
        clock: Unix seconds.
        worker: the label of this process; None for the only one of a desk.

    Attributes:
        processes: reports the state of this process to the others; None for the only one.
    """

    def __init__(self, store: Store, clock: Callable[[], float], worker: str | None = None) -> None:
        self.worker = worker
        self.processes: ProcessWatch | None = None
        self._store = store
        self._clock = clock
        self._begun = int(clock())
        self._looks: dict[str, tuple[Probe, Part]] = {}
        self._known: dict[str, StoredCondition] | None = None
        self._unwritten: dict[str, StoredCondition] = {}
        self._one_at_a_time = asyncio.Lock()
        self._begun_looks = 0
        self._ended_look = 0
        self._components: tuple[Component, ...] = ()

    def add(self, name: str, look: Probe, part: Part = "own") -> None:
        """Add a check.

        Parameters:
            name, part: of the component that is down if the check fails.
        """
        self._looks[name] = look, part

    async def get_components(self) -> tuple[Component, ...]:
        """Return all components in their current state.

        Requests during a check share the next one.
        """
        before = self._begun_looks
        async with self._one_at_a_time:
            if self._ended_look <= before:
                self._begun_looks = look = self._begun_looks + 1
                self._components = await self._check()
                self._ended_look = look
            return self._components

    @asynccontextmanager
    async def run_periodically(self, seconds: float = EVERY_SECONDS) -> AsyncIterator[None]:
        """Check periodically while the context lasts."""

        async def look() -> None:
            while True:
                await self.get_components()
                await asyncio.sleep(seconds)

        async with keep_running(look):
            yield

    async def _check(self) -> tuple[Component, ...]:
        told = await asyncio.gather(
            *(self._ask(name, look, part) for name, (look, part) in self._looks.items())
        )
        now = int(self._clock())
        since = await self._remembered()
        components = tuple(
            self._note(condition, since, now) for conditions in told for condition in conditions
        )
        if self.processes is not None:
            self.processes.state = state_of(
                one for one in components if not one.name.startswith(PREFIX)
            )
        with suppress(TimeoutError):  # the next check tries again
            async with asyncio.timeout(PROBE_SECONDS):
                await self._write()
        return components

    async def _ask(self, name: str, look: Probe, part: Part) -> Sequence[Condition]:
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                return await look()
        except TimeoutError:
            why = f"It did not report its state within {PROBE_SECONDS:g} seconds."
        except (StoreBusy, StoreError):
            why = "The store does not answer."
        except Exception:  # noqa: BLE001 -- one failure must not hide the other reports
            _log.exception("look_failed", component=name)
            why = "It could not be checked; see the log."
        return (Condition(name=name, state="down", reason=why, part=part),)

    async def _remembered(self) -> dict[str, StoredCondition]:
        """Return the known conditions of all components; empty while the store cannot be read."""
        if self._known is not None:
            return self._known
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                self._known = await condition_reads.conditions(self._store)
        except (StoreError, TimeoutError):
            return self._unwritten
        self._known |= self._unwritten
        return self._known

    def _note(self, found: Condition, known: dict[str, StoredCondition], now: int) -> Component:
        before = known.get(found.name)
        if before is None or before.state != found.state:
            before = StoredCondition(found.name, found.state, now)
            known[found.name] = self._unwritten[found.name] = before
        since = min(before.since, now)
        if found.state == "up":
            since = max(since, min(self._begun, now))
        return Component(
            name=found.name,
            state=found.state,
            reason=found.reason,
            part=found.part,
            since=since,
        )

    async def _write(self) -> None:
        if not self._unwritten or self._known is None:
            return
        written = dict(self._unwritten)
        try:
            await self._store.run(keep_conditions, conditions=tuple(written.values()))
        except (StoreBusy, StoreError) as error:  # the next check tries again
            _log.warning("conditions_not_written", reason=str(error))
            return
        self._unwritten.clear()
