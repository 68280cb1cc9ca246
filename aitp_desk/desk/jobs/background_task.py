"""Work that goes on beside something else, and no longer than that."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any


@asynccontextmanager
async def run_in_background(work: Callable[[], Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    """Do work for as long as the context lasts; at its end the work is cancelled and waited for.

    Raises:
        Exception: at the end, what the work failed with.
    """
    task = asyncio.create_task(work())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
