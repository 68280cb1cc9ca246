"""Conditions that come true at another server or in another process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

SECONDS = 60


async def until(found: Callable[[], Any]) -> Any:
    """What is found, once it is there."""
    async with asyncio.timeout(SECONDS):
        while not (what := found()):  # noqa: ASYNC110 -- it is another server's
            await asyncio.sleep(0.02)
    return what
