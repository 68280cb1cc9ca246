"""What the console shows of platforms, in Chromium: codes, and what does not arrive there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.journeys.transports.test_attacks import say
from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.console import PHONE, WIDE, at_console
from tests.support.transports.pigeon_platform import PigeonPlatform
from tests.support.transports.platforms import carrying

if TYPE_CHECKING:
    from playwright.async_api import Expect

pytestmark = BROWSER_MARKS


@pytest.mark.parametrize("viewport", [WIDE, PHONE])
async def test_the_menu_shows_what_to_write(
    tmp_path: Path, browser: OpenBrowser, expect: Expect, viewport: dict[str, int]
) -> None:
    room = "transports.pigeon.operators=room"
    async with (
        carrying(tmp_path, "pigeon", room) as desk,
        at_console(browser, desk.talker.desk, tmp_path / "data", viewport=viewport) as anna,
    ):
        menu = anna.page.locator("details.account")
        await menu.locator("summary").click()
        await menu.get_by_role("button", name="Work from pigeon").click()
        code = menu.get_by_role("status").locator("code")
        await expect(code).to_contain_text("bind ")
        assert await find_flaws(anna.page) == []
        await desk.platform.write("ada", await code.inner_text())
        await desk.platform.write("ada", "Am I there?")
        await expect(code).to_be_visible()
    assert any("You act as anna now." in one.text for one in await desk.platform.shown("ada"))


@pytest.mark.parametrize("viewport", [WIDE, PHONE])
async def test_a_conversation_shows_why_messages_do_not_arrive(
    tmp_path: Path, browser: OpenBrowser, expect: Expect, viewport: dict[str, int]
) -> None:
    async with (
        carrying(tmp_path, "pigeon") as desk,
        at_console(browser, desk.talker.desk, tmp_path / "data", viewport=viewport) as anna,
    ):
        assert isinstance(desk.platform, PigeonPlatform)
        await say(desk, "ada", "I need a tent.")
        ((thread,),) = desk.talker.rows("SELECT id FROM threads")
        await anna.page.goto(f"{desk.talker.desk.url}/console#/threads/{thread}")
        await anna.page.locator("details.details summary").click()
        await expect(anna.page.get_by_text("pigeon: open")).to_be_visible()
        desk.platform.gone.add("ada")
        await desk.platform.write("ada", "Are you there?")
        held = anna.page.get_by_text("Messages do not arrive: pigeon: cannot be reached.")
        await expect(held).to_be_visible()
        await expect(anna.page.get_by_text("A message was not delivered.")).to_be_visible()
        assert await find_flaws(anna.page) == []
