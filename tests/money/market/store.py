"""A store whose process dies at a commit: what it had not written is gone without notice."""

from __future__ import annotations

import asyncio
from typing import Any

from aitp_desk.store.engine.sqlite_writer import WriterThread
from aitp_desk.store.engine.unit import Unit


class Fate:
    """When a store dies.

    Attributes:
        commits: before how many commits from now; None for never.
        is_written: whether the commit at which it dies is still written, though nobody hears of it.
        is_dead: whether it has died.
        died: set then, on the loop that made this.
    """

    def __init__(self) -> None:
        self.commits: int | None = None
        self.is_written = False
        self.is_dead = False
        self.died = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def die(self) -> None:
        """Die now."""
        self.is_dead = True
        self._loop.call_soon_threadsafe(self.died.set)


class StruckWriter(WriterThread):
    """A writer that has a fate."""

    def __init__(self, fate: Fate, *args: Any, **kwargs: Any) -> None:
        self._fate = fate
        super().__init__(*args, **kwargs)

    def _write(self, units: list[Unit]) -> None:
        fate = self._fate
        if fate.is_dead:
            _silence(units)
        elif fate.commits is None:
            super()._write(units)
        elif fate.commits > 0:
            fate.commits -= 1
            super()._write(units)
        else:
            if fate.is_written:
                fate.commits = None
                super()._write(units)
            fate.die()
            _silence(units)


def _silence(units: list[Unit]) -> None:
    """Have those who wait for them end as it does in a process that ends."""
    for unit in units:
        unit.result, unit.error = None, asyncio.CancelledError()  # type: ignore[assignment]
