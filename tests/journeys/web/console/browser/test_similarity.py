"""Operators find earlier tickets like one, and what was asked in vain, in Chromium.

Playwright is imported by the fixtures alone: ``make test`` collects this file without having it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.journeys.web.console.test_similarity import ground_of
from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.console import PHONE, WIDE, at_console

if TYPE_CHECKING:
    from playwright.async_api import Expect

pytestmark = BROWSER_MARKS


@pytest.mark.parametrize("size", [WIDE, PHONE])
async def test_similar_items_are_one_click_away(
    tmp_path: Path, browser: OpenBrowser, expect: Expect, size: dict[str, int]
) -> None:
    async with ground_of(tmp_path) as ground:
        first = await ground.ticket("forty red lamps")
        last = await ground.ticket("forty <b>blue</b> lamps")
        await ground.talker.open("Do you sell <i>canoes</i>?", wait=10)
        asked = (await ground.talker.open("Do you sell <i>canoes</i>?", wait=10)).ok
        where = tmp_path / "data"
        desk = ground.talker.desk
        async with at_console(browser, desk, where, "ben", viewport=size) as ben:
            await ben.go(f"#/tickets/{last}")
            similar = ben.page.get_by_role("region", name="Similar earlier tickets")
            await expect(similar.get_by_role("listitem")).to_have_count(1)
            assert await find_flaws(ben.page) == []
            await similar.get_by_role("link").click()
            await expect(ben.page).to_have_url(f"{desk.url}/console#/tickets/{first}")
            await ben.go("#/unanswered")
            question = ben.page.get_by_role("link", name="Do you sell <i>canoes</i>?")
            await expect(ben.page.get_by_text("2 times")).to_be_visible()
            assert await find_flaws(ben.page) == []
            await question.click()
            await expect(ben.page).to_have_url(f"{desk.url}/console#/threads/{asked['id']}")
