"""A visitor at the question form in a browser: what the page shows, and mouse and keyboard."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from aitp_desk.app.server import RunningServer
from tests.support.browser.chromium import OpenBrowser

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page, Request

PHONE = {"width": 360, "height": 740}


class AtPage:
    """One home page of a desk.

    Attributes:
        page: for what has no method here.
        requests: all that the page has made, in order.
        faults: what the page complained of: errors of scripts, and what its policy refused.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.requests: list[Request] = []
        self.faults: list[str] = []
        page.on("request", lambda request: self.requests.append(request))  # noqa: PLW0108
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", lambda said: self._heard(said.type, said.text))

    def _heard(self, kind: str, text: str) -> None:
        """Requests that are refused are told by the browser as well."""
        if kind == "error" and not text.startswith("Failed to load resource"):
            self.faults.append(text)

    async def ask(self, words: str) -> None:
        """Type something into the box, send it, and wait until its turn is over."""
        turns = await self.turns.count()
        await self.box.fill(words)
        await self.page.keyboard.press("Enter")
        await self.turns.nth(turns).wait_for()
        await self.settled()

    async def settled(self) -> None:
        """Wait until nothing is under way."""
        await self.page.locator('[role=log][aria-busy="false"]').wait_for()

    async def followed(self) -> None:
        """Wait until the page follows the conversation, and has kept it."""
        await self.page.locator("[data-ask][data-live]").wait_for()

    async def press(self, *keys: str) -> None:
        """Press keys, one after another."""
        for key in keys:
            await self.page.keyboard.press(key)

    @property
    def box(self) -> Locator:
        """Where a question is typed, or an answer."""
        return self.page.locator("[data-form] textarea")

    @property
    def turns(self) -> Locator:
        """All turns, oldest first."""
        return self.page.locator(".turn")

    @property
    def turn(self) -> Locator:
        """The newest turn."""
        return self.turns.last

    @property
    def said(self) -> Locator:
        """What the desk says in the newest turn, in words."""
        return self.turn.locator(".answer")

    @property
    def card(self) -> Locator:
        """The newest card, open or closed."""
        return self.page.locator(".card").last

    def button(self, name: str) -> Locator:
        """The button of the newest card with exactly these words."""
        return self.card.get_by_role("button", name=name, exact=True)

    def posted(self) -> list[dict[str, Any]]:
        """What was asked, in order."""
        asked = (one for one in self.requests if one.url.endswith("/agent/converse"))
        return [json.loads(one.post_data) for one in asked if one.post_data]

    def messages(self) -> list[dict[str, Any]]:
        """The messages that were posted, without their schemas."""
        queries = [body["query"] for body in self.posted()]
        found = [json.loads(query) for query in queries if query.startswith("{")]
        return [{key: one[key] for key in one if key != "$schema"} for one in found]

    async def is_too_wide(self) -> bool:
        """Whether anything reaches beyond the page's width."""
        wide: bool = await self.page.evaluate(
            "document.documentElement.scrollWidth > window.innerWidth"
        )
        return wide


@asynccontextmanager
async def at_page(
    browser: OpenBrowser, desk: RunningServer, **options: Any
) -> AsyncIterator[AtPage]:
    """A visitor at the home page of a desk, in a fresh browser context.

    Nothing may have gone wrong on the page in the end.

    Parameters:
        options: as Playwright's ``new_context`` takes them.
    """
    async with browser(base_url=desk.url, locale="en-US", **options) as context:
        visitor = AtPage(await context.new_page())
        await visitor.page.goto("/")
        yield visitor
        assert visitor.faults == []
