"""Logs records that failed; no caller waits for them, so nothing else reports it."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import structlog

from aitp_desk.store.base import StoreError

PERIOD_SECONDS = 1.0
"""One failing record often means thousands: they are logged together, once per this period."""

_log = structlog.get_logger()


class FailureLog:
    """Logs the first failure at once, and the number of later ones each second.

    No traceback is written: that would take the event loop longer than many requests.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._unlogged: Counter[tuple[str, str]] = Counter()
        self._waiting: asyncio.TimerHandle | None = None

    def note(self, unit: str, error: Exception) -> None:
        """Record one failure.

        Parameters:
            unit: the name of the unit's function.
        """
        self._unlogged[unit, _describe(error)] += 1
        if self._waiting is None:
            self._log_and_wait()

    def close(self) -> None:
        """Log all failures that are left."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._log_failures()

    def _log_and_wait(self) -> None:
        self._log_failures()
        self._waiting = self._loop.call_later(PERIOD_SECONDS, self._go_on)

    def _go_on(self) -> None:
        self._waiting = None
        if self._unlogged:
            self._log_and_wait()

    def _log_failures(self) -> None:
        for (unit, error), count in self._unlogged.items():
            _log.error("store.record_failed", unit=unit, error=error, count=count)
        self._unlogged.clear()


def _describe(error: Exception) -> str:
    """Describe what failed, or where it was raised: the text of other errors may hold secrets."""
    if isinstance(error, StoreError):
        return str(error)
    name = type(error).__name__
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    if place is None:
        return name
    return f"{name} in {Path(place.tb_frame.f_code.co_filename).name}, line {place.tb_lineno}"
