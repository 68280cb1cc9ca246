"""Operators get a code at the console with which they work from a platform, in Chromium."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.console import PHONE, WIDE, at_console
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
