"""Runs background tasks: for the lifetime of a context manager, or again and again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any


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


async def repeat(work: Callable[[], Awaitable[None]], seconds: float) -> None:
    """Do some work again and again, after a pause each time."""
    while True:
        await asyncio.sleep(seconds)
        await work()
