"""The console by keyboard: Enter sends everywhere, and the focus is never lost."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.console import PHONE, AtConsole, at_console
from tests.support.clients.operator import write_site
from tests.support.clients.threads import Talker, talking
from tests.support.sites.orders import Caller

if TYPE_CHECKING:
    from playwright.async_api import Expect

pytestmark = BROWSER_MARKS

COMPOSED = """(box, init) => {
    const usual = { key: "Enter", bubbles: true, cancelable: true };
    const event = new KeyboardEvent("keydown", { ...usual, ...init });
    if (init.keyCode) Object.defineProperty(event, "keyCode", { value: init.keyCode });
    return box.dispatchEvent(event);
}"""


class Office:
    """A desk with people who answer, and a visitor who calls."""

    def __init__(self, talker: Talker, visitor: Talker, caller: Caller) -> None:
        self.talker = talker
        self.visitor = visitor
        self.caller = caller

    async def quote(self, wish: str) -> str:
        """Have a quote asked for, which a person makes; the session."""
        return (await self.caller.ask({"wish": wish}, "custom_quote")).session_id

    async def thread(self, words: str) -> str:
        return (await self.visitor.open({"role": "user", "content": words})).id


@pytest_asyncio.fixture(loop_scope="session")
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    site = write_site(tmp_path)
    async with talking(tmp_path, "capabilities.sign.open_for=3600", site=site) as talker:
        visitor = await talker.with_key("actions", "threads")
        yield Office(talker, visitor, Caller(visitor, site))


@pytest_asyncio.fixture(loop_scope="session")
async def anna(office: Office, tmp_path: Path, browser: OpenBrowser) -> AsyncIterator[AtConsole]:
    async with at_console(browser, office.talker.desk, tmp_path / "data", "anna") as anna:
        yield anna


async def is_focused(anna: AtConsole) -> bool:
    """Whether an element that is shown has the focus."""
    shown: bool = await anna.page.evaluate(
        "document.activeElement !== document.body && document.activeElement.checkVisibility()"
    )
    return shown


@pytest.mark.parametrize("key", ["Enter", "Control+Enter"])
async def test_a_ticket_is_answered_with_enter_and_the_focus_stays(
    office: Office, anna: AtConsole, expect: Expect, key: str
) -> None:
    session = await office.quote("forty lamps")
    await anna.rows.click()
    await expect(anna.page.get_by_label("Answer")).to_be_visible()
    await anna.press("r")
    await anna.page.keyboard.type("900")
    await anna.press("Shift+Enter")
    await anna.page.keyboard.type("EUR.")
    box = anna.page.get_by_label("Answer")
    assert await box.evaluate(COMPOSED, {"isComposing": True})  # of an input method
    assert await box.evaluate(COMPOSED, {"keyCode": 229})
    await expect(box).to_have_value("900\nEUR.")
    await anna.press(key)
    await expect(anna.page.get_by_label("How it ended")).to_contain_text("900\nEUR.")
    ended = await office.caller.ended(session)
    assert ended.body["response"]["answer"] == "anna: 900\nEUR."
    await expect(anna.page.locator(".detail h2")).to_be_focused()


async def test_a_dialog_is_confirmed_with_enter(
    office: Office, anna: AtConsole, expect: Expect
) -> None:
    session = await office.quote("a lighthouse")
    await anna.rows.click()
    await anna.button("Close…").click()
    await anna.dialog.get_by_label("Why").fill("We sell none.")
    await anna.press("Control+Enter")
    await expect(anna.dialog).to_have_count(0)
    await expect(anna.page.get_by_label("How it ended")).to_contain_text("We sell none.")
    assert (await office.caller.ended(session)).body["status"] == "failed"
    assert await is_focused(anna)


async def test_a_text_of_several_lines_is_sent_with_ctrl_enter(
    office: Office, anna: AtConsole, expect: Expect
) -> None:
    thread = await office.thread("I would like to rent a boat.")
    await anna.open_thread(thread)
    await anna.take_over()
    await anna.press("Escape", "a")
    await anna.dialog.get_by_label("Kind of request").select_option("Sign a text")
    await anna.dialog.get_by_label("Question").fill("Sign this")
    text = anna.dialog.get_by_label("Text to sign, word for word")
    await text.fill("I return the boat")
    await text.press("End")
    await anna.press("Enter")
    await anna.page.keyboard.type("by Sunday.")
    await expect(text).to_have_value("I return the boat\nby Sunday.")
    await anna.press("Control+Enter")
    await expect(anna.dialog).to_have_count(0)
    await expect(anna.page.locator(".log").get_by_text("Sign this")).to_be_visible()


async def test_an_update_leaves_the_focus_in_its_row_and_more_leads_to_new_rows(
    office: Office, anna: AtConsole, expect: Expect
) -> None:
    first = await office.thread("The first of all")
    for number in range(51):
        await office.thread(f"Number {number}")
    await anna.go("#/threads")
    await expect(anna.rows).to_have_count(50)
    await anna.page.get_by_role("button", name="Show more").press("Enter")
    await expect(anna.rows).to_have_count(52)
    await expect(anna.rows.nth(50)).to_be_focused()
    await anna.press("ArrowDown")
    await expect(anna.rows.last).to_be_focused()
    await office.visitor.post(first, "Hello again")  # now it comes first
    await expect(anna.rows.first).to_have_attribute("href", f"#/threads/{first}")
    await expect(anna.rows.first).to_be_focused()


async def test_health_is_reached_on_a_phone(
    office: Office, tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    options = {"viewport": PHONE, "has_touch": True}
    desk = office.talker.desk
    async with at_console(browser, desk, tmp_path / "data", "bert", **options) as bert:
        await bert.page.locator(".account summary").tap()
        await bert.page.locator(".menu").get_by_role("link", name="Health").tap()
        await expect(bert.page.get_by_role("heading", name="Health", level=2)).to_be_visible()
        assert not await bert.is_too_wide()


async def test_the_key_that_takes_over_and_the_next_ones_are_no_text(
    office: Office, anna: AtConsole, expect: Expect
) -> None:
    thread = await office.thread("Is somebody there?")
    await anna.open_thread(thread)
    await anna.page.keyboard.down("t")
    await anna.page.keyboard.down("t")
    await expect(anna.answer).to_be_focused()
    await anna.page.keyboard.down("t")
    await anna.page.keyboard.up("t")
    await expect(anna.answer).to_have_value("")
    await anna.page.keyboard.type("to you")
    await expect(anna.answer).to_have_value("to you")
