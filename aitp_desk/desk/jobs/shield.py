"""Work that is done whole, also where nobody waits for it any more."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from functools import partial
from typing import Any, Generic, TypeVar

R = TypeVar("R")


class TaskShield(Generic[R]):
    """Work that is under way in this process, by names that whoever asks for it knows."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[R]] = {}

    async def run_shielded(self, name: str, work: Coroutine[Any, Any, R]) -> R:
        """Do work and wait for it; where the wait is cancelled the work goes on.

        Raises:
            Exception: what the work raises.
        """
        task = asyncio.create_task(work)
        self._tasks[name] = task
        task.add_done_callback(partial(self._let_go, name))
        return await asyncio.shield(task)

    async def wait_for_all(self, names: Iterable[str]) -> None:
        """Wait until nothing of these names is under way; how it ended is for others."""
        tasks = [self._tasks[name] for name in names if name in self._tasks]
        if tasks:
            await asyncio.wait(tasks)

    def _let_go(self, name: str, task: asyncio.Task[R]) -> None:
        del self._tasks[name]
        if not task.cancelled():
            task.exception()  # whoever waits is told
