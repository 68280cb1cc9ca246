"""Runs background tasks: for the lifetime of a context manager, or again and again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

import structlog

from aitp_desk.model.errors import StoreBusy
from aitp_desk.store.base import StoreError

AGAIN_SECONDS = 5.0
"""How long work that failed waits until it begins again."""

_log = structlog.get_logger()


@asynccontextmanager
async def run_in_background(work: Callable[[], Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    """Run a task while the context lasts, then cancel and await it.

    Raises:
        Exception: at the end, the failure of the task.
    """
    task = asyncio.create_task(work())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def keep_running(work: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    """Run work without an end while the context lasts, as :func:`persist` does."""
    async with run_in_background(partial(persist, work)):
        yield


async def persist(work: Callable[[], Awaitable[None]]) -> None:
    """Do work without an end; where it fails, begin again after a pause.

    A desk would go on without it, and nobody would notice.
    """
    while True:
        try:
            return await work()
        except Exception as error:  # noqa: BLE001 -- whatever it is, the rest of the desk goes on
            _log.error("background_failed", work=_name_of(work), reason=type(error).__name__)
            await asyncio.sleep(AGAIN_SECONDS)


def _name_of(work: Callable[..., Any]) -> str:
    named = work
    while isinstance(named, partial):  # what is repeated tells more than `repeat`
        named = next(filter(callable, named.args), named.func)
    return getattr(named, "__qualname__", type(named).__name__)


async def repeat(
    work: Callable[[], Awaitable[object]], seconds: float, failed: str | None = None
) -> None:
    """Do some work again and again, after a pause each time.

    Parameters:
        failed: what is logged if the store could not do it; None for work without the store.
    """
    while True:
        await asyncio.sleep(seconds)
        try:
            await work()
        except (StoreBusy, StoreError) as error:
            if failed is None:
                raise
            _log.warning(failed, reason=str(error))


async def cancel_tasks(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Cancel tasks, and wait for their ends, whatever these are."""
    ending = tuple(tasks)
    for task in ending:
        task.cancel()
    await asyncio.gather(*ending, return_exceptions=True)


class BackgroundTasks:
    """Work that follows a response, as long as its context lasts."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Cancel at the end what is not done."""
        try:
            yield
        finally:
            await cancel_tasks(self._tasks)

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Start work; what it raises is logged."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.warning("follow_up_failed", reason=type(error).__name__)
