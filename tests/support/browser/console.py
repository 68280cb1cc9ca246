"""An operator at the console in a browser: what the page shows, and mouse and keyboard."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aitp_desk.app.server import RunningServer
from tests.support.access.keys import make_key
from tests.support.browser.chromium import OpenBrowser

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page

WIDE = {"width": 1280, "height": 800}
PHONE = {"width": 360, "height": 740}


class AtConsole:
    """One page of the console.

    Attributes:
        page: for what has no method here.
        faults: what the page complained of: errors of scripts, and what its policy refused.
    """

    def __init__(self, page: Page, token: str) -> None:
        self.page = page
        self.token = token
        self.faults: list[str] = []
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", lambda said: self._heard(said.type, said.text))

    def _heard(self, kind: str, text: str) -> None:
        """Requests that fail are told by the browser as well; those are part of many journeys."""
        if kind == "error" and not text.startswith("Failed to load resource"):
            self.faults.append(text)

    async def sign_in(self, token: str | None = None) -> None:
        """Sign in at the page that asks for it, and wait for what comes after."""
        await self.page.get_by_label("API key").fill(token or self.token)
        await self.page.keyboard.press("Enter")
        await self.page.get_by_role("navigation").wait_for()

    async def go(self, where: str) -> None:
        """Go to a part of the console, such as ``#/threads``."""
        await self.page.goto(f"/console{where}")

    async def open_thread(self, thread_id: str) -> None:
        """Open a conversation and wait for what was said in it."""
        await self.go(f"#/threads/{thread_id}")
        await self.said.first.wait_for()

    async def take_over(self) -> None:
        """Take the open conversation over."""
        await self.page.get_by_role("button", name="Take over").click()
        await self.answer.wait_for()

    async def say(self, words: str) -> None:
        """Type an answer and send it, and wait until it stands there."""
        await self.answer.fill(words)
        await self.page.keyboard.press("Enter")
        await self.said.get_by_text(words, exact=True).wait_for()

    async def send(self, thread_id: str, capability: str, **message: Any) -> None:
        """Send a message of a capability on a thread that this operator has."""
        status = await self.page.evaluate(
            """async ([thread, body]) => {
                const session = await (await fetch("/console/api/session")).json();
                const answer = await fetch(`/console/api/threads/${thread}/messages`, {
                    method: "POST",
                    headers: {"X-CSRF-Token": session.csrf, "Content-Type": "application/json"},
                    body: JSON.stringify(body),
                });
                return answer.status;
            }""",
            [thread_id, {"capability": capability, "message": message}],
        )
        assert status == 200

    async def press(self, *keys: str) -> None:
        """Press keys, one after another."""
        for key in keys:
            await self.page.keyboard.press(key)

    @property
    def rows(self) -> Locator:
        """What the list shows."""
        return self.page.locator("a.row")

    @property
    def said(self) -> Locator:
        """The words of all messages and notes, oldest first."""
        return self.page.locator(".log .said")

    @property
    def answer(self) -> Locator:
        """Where an answer is typed."""
        return self.page.get_by_label("Your answer")

    @property
    def note(self) -> Locator:
        """Where a note is typed."""
        return self.page.get_by_label("Your note")

    @property
    def dialog(self) -> Locator:
        """What is asked before something is done."""
        return self.page.get_by_role("dialog")

    def button(self, name: str) -> Locator:
        """The button with exactly these words."""
        return self.page.get_by_role("button", name=name, exact=True)

    async def texts(self) -> list[str]:
        """The words of all messages and notes, oldest first."""
        return await self.said.all_inner_texts()

    async def is_too_wide(self) -> bool:
        """Whether anything reaches beyond the page's width."""
        wide: bool = await self.page.evaluate(
            "document.documentElement.scrollWidth > window.innerWidth"
            " || [...document.querySelectorAll('.scroll')].some("
            "      (each) => each.scrollWidth > each.clientWidth)"
        )
        return wide


@asynccontextmanager
async def at_console(
    browser: OpenBrowser,
    desk: RunningServer,
    data: Path,
    name: str = "anna",
    *scopes: str,
    **options: Any,
) -> AsyncIterator[AtConsole]:
    """An operator who has signed in to the console, in a fresh browser context.

    Nothing may have gone wrong on the page in the end.

    Parameters:
        data: the desk's data folder.
        name: of their key.
        scopes: that it has besides ``operator``.
        options: as Playwright's ``new_context`` takes them.
    """
    async with browser(base_url=desk.url, **{"viewport": WIDE, **options}) as context:
        token = await make_key(desk.store, data, "operator", *scopes, name=name)
        console = AtConsole(await context.new_page(), token)
        await console.go("")
        await console.sign_in()
        yield console
        assert console.faults == []
