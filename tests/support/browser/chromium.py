"""Chromium for tests: fresh contexts of a browser that asks nothing of the network by itself.

Playwright is imported when a browser is opened: what only collects tests does without it.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext

BROWSER_MARKS = [pytest.mark.servers, pytest.mark.asyncio(loop_scope="session")]
"""The marks of a module whose tests use a browser, which lives on the event loop of the session.

Its asynchronous fixtures are on that loop too: `@pytest_asyncio.fixture(loop_scope="session")`.
"""


class OpenBrowser(Protocol):
    """Opens a fresh context of the browser of this test."""

    def __call__(self, **options: Any) -> AbstractAsyncContextManager[BrowserContext]: ...


@asynccontextmanager
async def browsing() -> AsyncIterator[OpenBrowser]:
    """A browser for as long as the context lasts; one that has crashed is started again."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:

        async def launch() -> Browser:
            return await playwright.chromium.launch(
                executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"),
                args=[
                    "--headless",
                    "--no-sandbox",
                    "--disable-gpu",
                    "--no-first-run",
                    "--disable-background-networking",
                    "--disable-component-update",
                    "--disable-sync",
                    # a process that a page leaves is used again: to start one takes 0.1 s
                    "--renderer-process-limit=1",
                ],
            )

        chromium = await launch()

        @asynccontextmanager
        async def opened(**options: Any) -> AsyncIterator[BrowserContext]:
            nonlocal chromium
            if not chromium.is_connected():
                chromium = await launch()
            context = await chromium.new_context(reduced_motion="reduce", **options)
            context.set_default_timeout(15_000)
            try:
                yield context
            finally:
                await context.close()

        yield opened
        await chromium.close()
