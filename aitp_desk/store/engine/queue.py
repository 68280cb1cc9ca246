"""Collects the units that an engine's writer commits in groups.

Units are collected for one tick of the event loop and submitted to the writer as one group; records
are collected for longer, unless a caller waits for a unit behind them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

from aitp_desk.model.errors import StoreBusy
from aitp_desk.store.base import P, StoreError, T, Work
from aitp_desk.store.engine.failure_log import FailureLog
from aitp_desk.store.engine.metrics import QueueMetrics
from aitp_desk.store.engine.unit import Unit

MAX_UNITS = 512
"""Maximum number of units in one commit."""
BEHIND_UNITS = 4 * MAX_UNITS
"""From this many waiting units a store is behind. Fewer arrive between two commits."""
GATHER_SECONDS = 0.05
"""How long records are collected; the rest of their 100 ms is for the commit."""


class Writer(Protocol):
    """Commits units; tells the queue of those that are settled."""

    def enqueue(self, units: list[Unit]) -> None:
        """Submit units; the list belongs to the writer from now on."""


class UnitQueue:
    """The writing half of a store, used on one event loop.

    An engine sets ``_writer`` and calls :meth:`_settle`.

    Parameters:
        most_waiting: how many units may wait before callers are turned away.
    """

    _writer: Writer

    def __init__(self, most_waiting: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._most_waiting = most_waiting
        self._behind = min(BEHIND_UNITS, most_waiting // 2)
        self._waiting = 0
        self._line = QueueMetrics()
        self._gathered: list[Unit] = []
        self._hand_over: asyncio.Handle | None = None
        self._is_due = False
        self._is_closed = False
        self._failed = FailureLog(self._loop)

    @property
    def is_behind(self) -> bool:
        """Whether more units wait than a few commits take; see ``base.Store.is_behind``."""
        return self._waiting > self._behind

    async def run(self, work: Callable[P, Work[T]], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run one unit and return its result after its commit; see ``base.Store.run``."""
        future: asyncio.Future[T] = self._loop.create_future()
        self._gather(Unit(work, args, kwargs, future))
        return await future

    async def run_apart(
        self, work: Callable[P, Work[T]], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run one unit as any other; an engine of several processes has a path apart."""
        return await self.run(work, *args, **kwargs)

    def record(self, work: Callable[P, Work[Any]], /, *args: P.args, **kwargs: P.kwargs) -> None:
        """Submit one unit without waiting for it; see ``base.Store.record``."""
        self._gather(Unit(work, args, kwargs))

    async def settled(self) -> None:
        """Return once everything submitted before this call is settled; see ``base.Store``."""
        if self._waiting or self._is_closed:
            future: asyncio.Future[None] = self._loop.create_future()
            self._gather(Unit(_nothing, (), {}, future), is_bounded=False)
            await future
        else:  # also if another program holds the database
            await asyncio.sleep(0)

    def _gather(self, unit: Unit, *, is_bounded: bool = True) -> None:
        """Queue a unit and schedule the hand-over to the writer."""
        if self._is_closed:
            raise StoreError("The store is closed.")
        if is_bounded and self._waiting >= self._most_waiting:
            raise StoreBusy("Too many writes are waiting. Try again in a second.", retry_after=1)
        self._waiting += 1
        self._gathered.append(unit)
        if self._is_due:
            return
        if unit.future is not None or len(self._gathered) >= MAX_UNITS:
            if self._hand_over is not None:
                self._hand_over.cancel()
            self._hand_over = self._loop.call_soon(self._hand_over_now)
            self._is_due = True
        elif self._hand_over is None:
            self._hand_over = self._loop.call_later(GATHER_SECONDS, self._hand_over_now)

    def _hand_over_now(self) -> None:
        units, self._gathered = self._gathered, []
        self._hand_over, self._is_due = None, False
        self._line.hand_over(len(units), self._loop.time())
        self._writer.enqueue(units)

    def _settle(self, units: list[Unit]) -> None:
        self._waiting -= len(units)
        self._line.settle(len(units))
        for unit in units:
            if unit.future is not None:
                unit.resolve_future()
            elif unit.error is not None:
                self._failed.note(unit.name, unit.error)

    def _refuse_more(self) -> None:
        """Accept no further units, and submit all that were collected."""
        self._is_closed = True
        if self._hand_over is not None:
            self._hand_over.cancel()
            self._hand_over_now()


def _nothing() -> Work[None]:
    """Do nothing, as a unit in the queue."""
    yield from ()
