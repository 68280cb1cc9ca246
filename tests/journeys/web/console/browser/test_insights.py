"""Operators see what visitors asked for, and what waits for a page, in Chromium.

Playwright is imported by the fixtures alone: ``make test`` collects this file without having it.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.console import PHONE, WIDE, AtConsole, at_console
from tests.support.clients.threads import THREADS, Talker, talking

if TYPE_CHECKING:
    from playwright.async_api import Expect

pytestmark = BROWSER_MARKS

KNOWN = "How much does gift wrapping cost?"
UNKNOWN = "Do you repair <i>canoes</i> --> and kayaks?"


async def rate(talker: Talker, thread: str, **body: Any) -> None:
    path = f"{THREADS}/{thread}/messages/latest/feedback"
    assert (await talker.send("POST", path, body)).ok


async def read_starter(anna: AtConsole) -> tuple[str, str]:
    """The name and the text of the file that the first group is given."""
    async with anna.page.expect_download() as started:
        await anna.button("Write a page").first.click()
    download = await started.value
    return download.suggested_filename, await asyncio.to_thread(
        Path(await download.path()).read_text
    )


@pytest.mark.parametrize(("size", "scheme"), [(WIDE, "light"), (PHONE, "dark")])
async def test_a_question_is_given_a_page_and_marked_as_answered(
    tmp_path: Path, browser: OpenBrowser, expect: Expect, size: dict[str, int], scheme: str
) -> None:
    async with talking(tmp_path) as talker:
        await talker.open(UNKNOWN, wait=10)
        asked = (await talker.open(UNKNOWN, wait=10)).ok
        await rate(talker, (await talker.open(KNOWN, wait=10)).id, rating="up")
        down = (await talker.open(KNOWN, wait=10)).id
        await rate(talker, down, rating="down", reason="Which <b>paper</b>?")
        async with at_console(
            browser, talker.desk, tmp_path / "data", viewport=size, color_scheme=scheme
        ) as anna:
            if size == WIDE:
                await anna.press("6")
            else:
                await anna.page.get_by_role("banner").locator("summary").click()
                await anna.page.locator(".menu").get_by_role("link", name="Insights").click()
            await expect(
                anna.page.get_by_role("heading", name="Insights", exact=True)
            ).to_be_visible()
            figures = anna.page.locator(".figures")
            await expect(figures.get_by_text("50%").first).to_be_visible()
            groups = anna.page.locator(".unanswered > li")
            await expect(groups).to_have_count(2)
            await expect(groups.first).to_contain_text("2 × refused")
            await expect(groups.last).to_contain_text("1 × not helpful")
            await expect(groups.last).to_contain_text("Which <b>paper</b>?")
            pages = anna.page.get_by_role("region", name="Pages quoted most")
            await expect(pages.get_by_role("link", name="Gift wrapping")).to_be_visible()
            assert await find_flaws(anna.page) == []
            assert not await anna.is_too_wide()
            name, text = await read_starter(anna)
            assert name == "do-you-repair-i-canoes-i-and-kayaks.md"
            assert text.startswith(
                "<!--\nVisitors asked:\n- Do you repair icanoes/i - - and kayaks?\n"
            )
            assert text.count("-->") == 1
            assert "\n# Do you repair" in text

            await anna.button("Mark as answered by…").first.click()
            box = anna.page.get_by_label("Page that answers it").first
            await expect(box).to_be_focused()
            await anna.press("Enter")
            await expect(anna.page.get_by_role("alert")).to_have_text("Choose a page of the site.")
            await box.fill("/policies/returns")
            assert await find_flaws(anna.page) == []
            await anna.press("Enter")
            await expect(groups).to_have_count(1)
            await expect(anna.button("Undo")).to_be_focused()
            await anna.press("Enter")
            await expect(groups).to_have_count(2)
            await anna.page.get_by_label("Period").select_option("7 days")
            await expect(anna.page).to_have_url(f"{talker.desk.url}/console#/insights?days=7")
            async with anna.page.expect_download() as started:
                await anna.page.get_by_role("link", name="Questions", exact=True).click()
            assert (await started.value).suggested_filename == "insights-questions.csv"
            await groups.first.get_by_role("link").click()
            await expect(anna.page).to_have_url(f"{talker.desk.url}/console#/threads/{asked['id']}")
