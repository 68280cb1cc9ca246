"""Chromium for tests: fresh contexts of a browser that asks nothing of the network by itself.

Playwright is imported when a browser is opened: what only collects tests does without it.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext


class OpenBrowser(Protocol):
    """Opens a fresh context of the browser of this test."""

    def __call__(self, **options: Any) -> AbstractAsyncContextManager[BrowserContext]: ...


@asynccontextmanager
async def browsing() -> AsyncIterator[OpenBrowser]:
    """A browser for as long as the context lasts."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"),
            args=[
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ],
        )

        @asynccontextmanager
        async def opened(**options: Any) -> AsyncIterator[BrowserContext]:
            context = await chromium.new_context(reduced_motion="reduce", **options)
            context.set_default_timeout(15_000)
            try:
                yield context
            finally:
                await context.close()

        yield opened
        await chromium.close()
