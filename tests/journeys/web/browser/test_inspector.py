"""A developer sees next to the chat how each answer was found, under `aitp-desk dev`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp
import pytest
import pytest_asyncio

from aitp_desk.app.server import RunningServer
from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.widget import AtChat, at_chat, at_page
from tests.support.desk.command import SECONDS, start
from tests.support.desk.processes import free_port
from tests.support.desk.server import serving

if TYPE_CHECKING:
    from playwright.async_api import Expect, Locator

pytestmark = BROWSER_MARKS

QUESTION = "How long may I return a book?"
HOURS = "When do you open?"
MARKUP = "<img src=x onerror=alert(1)> kayaks?"


@pytest_asyncio.fixture(loop_scope="session")
async def explained_desk(tmp_path: Path) -> AsyncIterator[RunningServer]:
    async with serving(tmp_path / "data", "tickets.people=offered", explains=True) as desk:
        yield desk


def findings(visitor: AtChat) -> Locator:
    """What the panel shows, a question each, the newest first."""
    return visitor.page.locator(".findings > details")


async def until_ready(process: asyncio.subprocess.Process) -> None:
    """Wait for the end of a desk's start-up report."""
    assert process.stdout is not None
    async with asyncio.timeout(SECONDS):
        while b"/ready" not in (line := await process.stdout.readline()):
            assert line


async def until_served(url: str, words: str) -> None:
    """Wait until the desk has read a page again."""
    async with asyncio.timeout(SECONDS), aiohttp.ClientSession(url) as web:
        while True:
            async with web.get("/hours.md") as answer:
                if words in await answer.text():
                    return
            await asyncio.sleep(0.1)


async def test_each_question_has_its_sections_and_reasons(
    explained_desk: RunningServer, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_page(browser, explained_desk) as visitor:
        await expect(visitor.page.locator(".inspector")).to_contain_text("Ask the chat something")
        await visitor.ask(QUESTION)
        first = findings(visitor).first
        await expect(first).to_contain_text("Level 0: words")
        await expect(first.locator("summary").first).to_have_text(QUESTION)
        section = first.locator("ol > li").first
        await expect(section.locator("a")).to_have_text("Returns › Return window")
        await expect(section.locator(".verdict")).to_have_text("Chosen: it has the best score.")
        await expect(section.locator("code")).to_have_text("policies/returns.md:7")
        assert await find_flaws(visitor.page) == []
        await visitor.ask(MARKUP)
        newest = findings(visitor).first
        await expect(newest).to_contain_text("Refused")
        await expect(newest.locator("summary").first).to_have_text(MARKUP)
        await expect(findings(visitor)).to_have_count(2)
        await expect(findings(visitor).last.locator(".reason")).to_be_hidden()
        await expect(visitor.page.locator(".inspector img")).to_have_count(0)
        await expect(newest.locator("li.taken")).to_have_count(0)
        await visitor.ask("I want to talk to a person.")
        await expect(findings(visitor).first).to_contain_text("Nothing was searched")
        assert await find_flaws(visitor.page) == []


async def test_a_keyboard_opens_a_finding_and_a_section(
    explained_desk: RunningServer, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_page(browser, explained_desk) as visitor:
        for question in (QUESTION, "What does shipping to Europe cost?"):
            await visitor.ask(question)
            await expect(findings(visitor).first.locator(".reason")).to_be_visible()
        older = findings(visitor).last
        await visitor.page.locator(".findings").focus()
        for _ in range(40):
            await visitor.press("Tab")
            if await older.locator("summary").first.evaluate("one => one.matches(':focus')"):
                break
        await visitor.press("Enter", "Tab")
        await expect(older.locator(".reason")).to_be_visible()
        async with visitor.page.context.expect_page() as opened:
            await visitor.press("Enter")
        url = f"{explained_desk.url}/policies/returns#return-window"
        await expect(await opened.value).to_have_url(url)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "is_below"), [(375, True), (1280, False)])
async def test_the_panel_is_next_to_the_chat_or_below_it(
    explained_desk: RunningServer,
    browser: OpenBrowser,
    expect: Expect,
    scheme: str,
    width: int,
    *,
    is_below: bool,
) -> None:
    options = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    async with at_page(browser, explained_desk, **options) as visitor:
        await visitor.ask(QUESTION)
        await expect(findings(visitor).locator(".reason")).to_be_visible()
        chat = await visitor.page.locator("aitp-chat").bounding_box()
        panel = await visitor.page.locator(".inspector").bounding_box()
        assert chat is not None
        assert panel is not None
        assert (panel["y"] >= chat["y"] + chat["height"]) is is_below
        assert (panel["x"] >= chat["x"] + chat["width"]) is not is_below
        assert not await visitor.is_too_wide()
        assert await find_flaws(visitor.page) == []


async def test_the_panel_goes_on_after_changes_of_pages_and_settings(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    site, port = tmp_path / "site", free_port()
    site.mkdir()
    page, settings = site / "hours.md", site / "desk.toml"
    page.write_text("# Hours\n\n## Shop\n\nWe open at nine.\n")
    settings.write_text("[site]\nname = 'Before'\n")
    process = await start("dev", site, "--port", port, "--data", tmp_path / "data")
    try:
        await until_ready(process)
        url = f"http://127.0.0.1:{port}"
        async with at_chat(browser, "/", is_open=False, base_url=url) as visitor:
            await visitor.ask(HOURS)
            await expect(findings(visitor).first.locator("code").first).to_have_text("hours.md:3")
            page.write_text("# Hours\n\nOf all.\n\n## Shop\n\nWe open at ten.\n")
            settings.write_text("[site]\nname = 'Afterwards'\n")
            await until_ready(process)
            await visitor.ask(HOURS)
            newest = findings(visitor).first
            await expect(newest.locator("code").first).to_have_text("hours.md:5")
            await expect(findings(visitor)).to_have_count(2)
            page.write_text("# Hours\n\n## Shop\n\nWe open at eleven.\n")
            await visitor.page.reload()
            await expect(findings(visitor)).to_have_count(0)
            await expect(visitor.answers).to_have_count(2)
            await until_served(url, "eleven")
            await visitor.ask(HOURS)
            await expect(newest.locator("code").first).to_have_text("hours.md:3")
    finally:
        process.terminate()
        async with asyncio.timeout(SECONDS):
            await process.communicate()
