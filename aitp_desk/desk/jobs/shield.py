"""Runs work to its end, even if its requester stops waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from functools import partial
from typing import Any, Generic, TypeVar

R = TypeVar("R")


class TaskShield(Generic[R]):
    """Tasks in progress in this process, by names that their requesters know."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[R]] = {}

    async def run_shielded(self, name: str, work: Coroutine[Any, Any, R]) -> R:
        """Run a task and wait for it; cancelling the wait does not cancel it.

        Raises:
            Exception: any exception of the task.
        """
        task = asyncio.create_task(work)
        self._tasks[name] = task
        task.add_done_callback(partial(self._let_go, name))
        return await asyncio.shield(task)

    async def wait_for_all(self, names: Iterable[str]) -> None:
        """Wait until no task with these names is in progress; its result is ignored."""
        tasks = [self._tasks[name] for name in names if name in self._tasks]
        if tasks:
            await asyncio.wait(tasks)

    def _let_go(self, name: str, task: asyncio.Task[R]) -> None:
        del self._tasks[name]
        if not task.cancelled():
            task.exception()  # marks it as retrieved; the waiter raises it
