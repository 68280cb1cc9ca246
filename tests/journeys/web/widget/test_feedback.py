"""Thumbs under the answers of the chat."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.widget import PHONE, at_chat, hosting, in_new_tab, write_host_page
from tests.support.desk.server import serving

if TYPE_CHECKING:
    from playwright.async_api import Expect, Locator

pytestmark = BROWSER_MARKS

QUESTION = "How long may I return a book?"


def thumb(answer: Locator, name: str) -> Locator:
    return answer.get_by_role("button", name=name, exact=True)


def read_reasons(data: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(data / "desk.db")) as database:
        return database.execute("SELECT thread_id, reason FROM feedback").fetchall()


async def test_an_answer_is_rated_with_the_keyboard_and_stays_rated(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with hosting() as site:
        named = f"widget.origins=['{site.url}']"
        async with serving(tmp_path / "data", named) as desk:
            site.put("/", write_host_page(desk.url), desk.url)
            async with at_chat(browser, f"{site.url}/") as visitor:
                await visitor.ask(QUESTION)
                up, down = thumb(visitor.answers, "Helpful"), thumb(visitor.answers, "Not helpful")
                await expect(up).to_have_attribute("aria-pressed", "false")
                other = await in_new_tab(visitor.page.context, f"{site.url}/")
                await other.open()
                await down.focus()
                await visitor.press("Enter")
                await expect(down).to_have_attribute("aria-pressed", "true")
                await expect(thumb(other.answers, "Not helpful")).to_have_attribute(
                    "aria-pressed", "true"
                )
                reason = visitor.page.get_by_placeholder("What was wrong? (optional)")
                await expect(reason).to_be_focused()
                assert await find_flaws(visitor.page) == []
                await visitor.page.keyboard.type("It is 30 days.")
                await visitor.press("Enter")
                await expect(reason).to_be_hidden()
                await expect(down).to_be_focused()
                await visitor.page.reload()
                await visitor.open()
                await expect(down).to_have_attribute("aria-pressed", "true")
                thread = await visitor.thread()
                assert read_reasons(tmp_path / "data") == [(thread, "It is 30 days.")]
                await visitor.ask("What does gift wrapping cost?")
                await expect(visitor.answers).to_have_count(2)
                await expect(thumb(visitor.answers.first, "Not helpful")).to_be_visible()
                await thumb(visitor.answers.first, "Not helpful").click()
                await expect(thumb(visitor.answers.first, "Not helpful")).to_be_hidden()
                await expect(thumb(visitor.answers.last, "Helpful")).to_be_visible()
                assert other.faults == []


async def test_a_rating_that_the_desk_does_not_take_is_not_shown(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with hosting() as site:
        named = f"widget.origins=['{site.url}']"
        async with serving(tmp_path / "data", named) as desk:
            site.put("/", write_host_page(desk.url), desk.url)
            url = f"{site.url}/"
            async with at_chat(browser, url, viewport=PHONE, color_scheme="dark") as visitor:
                await visitor.ask(QUESTION)
                up = thumb(visitor.answers, "Helpful")
                await visitor.page.route("**/feedback", lambda route: route.abort(), times=1)
                await up.click()
                await expect(up).to_have_attribute("aria-pressed", "false")
                await up.click()
                await expect(up).to_have_attribute("aria-pressed", "true")
                await thumb(visitor.answers, "Not helpful").click()
                await expect(up).to_have_attribute("aria-pressed", "false")
                assert await find_flaws(visitor.page) == []
                assert not await visitor.is_too_wide()


async def test_ratings_outlast_a_reload_of_a_conversation_with_many_events(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with hosting() as site:
        named = (f"widget.origins=['{site.url}']", "events.max_behind=6")
        async with serving(tmp_path / "data", *named) as desk:
            site.put("/", write_host_page(desk.url), desk.url)
            async with at_chat(browser, f"{site.url}/") as visitor:
                await visitor.ask(QUESTION)
                await thumb(visitor.answers, "Helpful").click()
                await expect(thumb(visitor.answers, "Helpful")).to_have_attribute(
                    "aria-pressed", "true"
                )
                await visitor.ask("What does gift wrapping cost?")
                await expect(visitor.answers).to_have_count(2)
                async with visitor.page.expect_response(lambda said: said.status == 410):
                    await visitor.page.reload()
                await visitor.open()
                await expect(thumb(visitor.answers.first, "Helpful")).to_have_attribute(
                    "aria-pressed", "true"
                )
                await expect(thumb(visitor.answers.last, "Helpful")).to_have_attribute(
                    "aria-pressed", "false"
                )
