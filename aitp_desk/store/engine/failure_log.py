"""Records that failed, for the log: nobody waits for them, so nobody else hears of it."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import structlog

from aitp_desk.store.base import StoreError

TOLD_SECONDS = 1.0
"""What fails for one record mostly fails for thousands: they are told together, so often."""

_log = structlog.get_logger()


class FailureLog:
    """Tells of the first at once, and of those after it once a second, with how many there were.

    There is no traceback: to write one takes the loop longer than many requests.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._untold: Counter[tuple[str, str]] = Counter()
        self._waiting: asyncio.TimerHandle | None = None

    def note(self, unit: str, error: Exception) -> None:
        """Note one.

        Parameters:
            unit: its work's name.
        """
        self._untold[unit, _describe(error)] += 1
        if self._waiting is None:
            self._tell()

    def close(self) -> None:
        """Tell of all that are left."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._tell_untold()

    def _tell(self) -> None:
        self._tell_untold()
        self._waiting = self._loop.call_later(TOLD_SECONDS, self._go_on)

    def _go_on(self) -> None:
        self._waiting = None
        if self._untold:
            self._tell()

    def _tell_untold(self) -> None:
        for (unit, error), count in self._untold.items():
            _log.error("store.record_failed", unit=unit, error=error, count=count)
        self._untold.clear()


def _describe(error: Exception) -> str:
    """What failed, or where it was raised: what other errors say may name what stays secret."""
    if isinstance(error, StoreError):
        return str(error)
    name = type(error).__name__
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    if place is None:
        return name
    return f"{name} in {Path(place.tb_frame.f_code.co_filename).name}, line {place.tb_lineno}"
