"""A visitor at the chat, on a page of the desk or of another site: what it shows, and its keys."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from aitp_desk.app.server import RunningServer
from tests.support.browser.chromium import OpenBrowser
from tests.support.doubles.website import Website, website

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Locator, Page, Request

PHONE = {"width": 360, "height": 740}
WIDE = {"width": 1280, "height": 800}


def write_host_page(
    desk_url: str, *, lang: str = "en", direction: str = "ltr", attributes: str = ""
) -> str:
    """A page that includes the chat as `aitp-desk snippet --widget` says."""
    return (
        f'<!doctype html><html lang="{lang}" dir="{direction}"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>Host</title>'
        '<link rel="icon" href="/icon.svg"><main><h1>A page of the shop</h1><p>With words.</p>'
        f'</main><script type="module" src="{desk_url}/widget.js"></script>'
        f"<aitp-chat {attributes}></aitp-chat></html>"
    )


def write_strict_policy(desk_url: str) -> str:
    """The policy of a page that loads nothing but its own files and the desk's."""
    return (
        f"default-src 'self'; script-src 'self' {desk_url}; connect-src 'self' {desk_url};"
        f" img-src 'self' {desk_url}; frame-src {desk_url};"
        " require-trusted-types-for 'script'"
    )


class HostSite:
    """A website with the chat, on ``localhost``; the desk is on ``127.0.0.1``.

    Attributes:
        url: its address.
    """

    def __init__(self, site: Website) -> None:
        self._site = site
        self.url = site.url.replace("127.0.0.1", "localhost")

    def put(self, path: str, page: str, desk_url: str) -> None:
        """Write a page, under a strict policy."""
        headers = {"Content-Security-Policy": write_strict_policy(desk_url)}
        self._site.put(path, page, headers=headers)


@asynccontextmanager
async def hosting() -> AsyncIterator[HostSite]:
    """A website on another origin than every desk."""
    async with website() as site:
        site.put("/icon.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>", type="image/svg+xml")
        yield HostSite(site)


class AtChat:
    """One page with the chat.

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
        """The browser reports requests that fail as well."""
        if kind == "error" and not text.startswith("Failed to load resource"):
            self.faults.append(text)

    async def open(self) -> None:
        """Open the chat by its button."""
        await self.launcher.click()
        await self.panel.wait_for()

    async def ask(self, words: str) -> None:
        """Type a question, send it, and wait until it stands there."""
        asked = await self.questions.count()
        await self.box.fill(words)
        await self.page.keyboard.press("Enter")
        await self.questions.nth(asked).wait_for()

    async def press(self, *keys: str) -> None:
        """Press keys, one after another."""
        for key in keys:
            await self.page.keyboard.press(key)

    async def choose(self, name: str) -> None:
        """Choose from the menu."""
        await self.page.get_by_role("button", name="More").click()
        await self.page.get_by_role("button", name=name).click()

    async def identify(self, token: str | None) -> bool:
        """Call the element's method as the page does; return whether the desk knows the person."""
        known: bool = await self.call("identify", token)
        return known

    async def call(self, method: str, *values: Any) -> Any:
        """Call a method of the element as the page does, and wait for what it promises."""
        return await self.page.evaluate(
            "([method, ...values]) => document.querySelector('aitp-chat')[method](...values)",
            [method, *values],
        )

    async def hear(self) -> None:
        """Record the element's events from now on, for :meth:`heard`."""
        await self.page.evaluate(
            "() => { window.heard = []; for (const kind of 'ready open close message answer action"
            " handover error'.split(' '))"
            " document.querySelector('aitp-chat').addEventListener(kind,"
            " ({ type, detail }) => window.heard.push([type, detail])) }"
        )

    async def heard(self, kind: str) -> list[Any]:
        """The details of the recorded events of a kind, in order."""
        told: list[list[Any]] = await self.page.evaluate("window.heard")
        return [detail for name, detail in told if name == kind]

    async def stored(self) -> dict[str, str]:
        """All that the page has stored in the browser."""
        found: dict[str, str] = await self.page.evaluate("({ ...localStorage, ...sessionStorage })")
        return found

    async def thread(self) -> str | None:
        """The thread that the browser has stored."""
        found: str | None = await self.page.evaluate(
            "Object.entries(localStorage).find(([name]) => name.startsWith('aitp-chat ')"
            " && !name.endsWith(' seen'))?.[1] ?? null"
        )
        return found

    async def focused(self) -> str:
        """The class or tag of what has the focus within the chat."""
        found: str = await self.page.evaluate(
            "(() => { const at = document.activeElement?.shadowRoot?.activeElement;"
            " return at ? at.className || at.localName : '' })()"
        )
        return found

    @property
    def launcher(self) -> Locator:
        """The button in the corner."""
        return self.page.locator(".launcher")

    @property
    def panel(self) -> Locator:
        """The open chat."""
        return self.page.locator(".panel:visible")

    @property
    def box(self) -> Locator:
        """Where a question is typed."""
        return self.page.locator(".composer textarea")

    @property
    def questions(self) -> Locator:
        """What the visitor has said."""
        return self.page.locator(".entry.visitor")

    @property
    def words(self) -> Locator:
        """The words of what the visitor has said."""
        return self.page.locator(".entry.visitor .words")

    @property
    def answers(self) -> Locator:
        """What the desk has said, whole."""
        return self.page.locator(".entry.desk.said")

    @property
    def people(self) -> Locator:
        """What people of the site have said."""
        return self.page.locator(".entry.person")

    @property
    def notes(self) -> Locator:
        """Lines about the conversation itself."""
        return self.page.locator(".log .note")

    @property
    def card(self) -> Locator:
        """The newest card, open or closed."""
        return self.page.locator(".card").last

    def button(self, name: str) -> Locator:
        """The button of the newest card with exactly these words."""
        return self.card.get_by_role("button", name=name, exact=True)

    def posted(self) -> list[dict[str, Any]]:
        """The messages that the page has posted, in order."""
        bodies = [
            json.loads(one.post_data or "{}")
            for one in self.requests
            if one.method == "POST" and one.url.endswith(("/v1/threads", "/messages"))
        ]
        return [body["messages"][0] if "messages" in body else body for body in bodies]

    def structured(self) -> list[dict[str, Any]]:
        """Those of them that are structured, without their schemas."""
        contents = [message["content"] for message in self.posted()]
        found = [json.loads(content) for content in contents if content.startswith("{")]
        return [{key: one[key] for key in one if key != "$schema"} for one in found]

    @property
    def banner(self) -> Locator:
        """The line about the connection."""
        return self.page.locator(".banner")

    async def is_too_wide(self) -> bool:
        """Whether anything reaches beyond the page's width, or the log's."""
        wide: bool = await self.page.evaluate(
            "document.documentElement.scrollWidth > window.innerWidth || [...document"
            ".querySelector('aitp-chat')?.shadowRoot?.querySelectorAll('.log') ?? []]"
            ".some((log) => log.scrollWidth > log.clientWidth)"
        )
        return wide


@asynccontextmanager
async def at_chat(
    browser: OpenBrowser, url: str, *, is_open: bool = True, **options: Any
) -> AsyncIterator[AtChat]:
    """A visitor at a page with the chat, in a fresh browser context.

    Nothing may have gone wrong on the page in the end.

    Parameters:
        url: of the page.
        is_open: whether they open the chat.
        options: as Playwright's ``new_context`` takes them.
    """
    async with browser(**{"locale": "en-US", "viewport": WIDE, **options}) as context:
        visitor = await in_new_tab(context, url)
        if is_open:
            await visitor.open()
        yield visitor
        assert visitor.faults == []


@asynccontextmanager
async def at_page(
    browser: OpenBrowser, desk: RunningServer, **options: Any
) -> AsyncIterator[AtChat]:
    """A visitor at the home page of a desk, in a fresh browser context.

    Nothing may have gone wrong on the page in the end.

    Parameters:
        options: as Playwright's ``new_context`` takes them.
    """
    async with at_chat(browser, "/", is_open=False, base_url=desk.url, **options) as visitor:
        yield visitor


async def in_new_tab(context: BrowserContext, url: str) -> AtChat:
    """The chat of a page in a new tab of a browser."""
    visitor = AtChat(await context.new_page())
    await visitor.page.goto(url)
    return visitor
