"""A number of a source shows what it stands for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.widget import PHONE, at_chat, hosting, write_host_page
from tests.support.desk.server import serving

if TYPE_CHECKING:
    from playwright.async_api import Expect

pytestmark = BROWSER_MARKS

QUOTE = "You may return any book within 14 days of delivery for a full refund."


@pytest.mark.parametrize("options", [{}, {"viewport": PHONE, "color_scheme": "dark"}])
async def test_a_number_shows_its_source_on_hover_and_focus_until_escape(
    tmp_path: Path, browser: OpenBrowser, expect: Expect, options: dict[str, Any]
) -> None:
    async with hosting() as site:
        named = f"widget.origins=['{site.url}']"
        async with serving(tmp_path / "data", named) as desk:
            site.put("/", write_host_page(desk.url), desk.url)
            async with at_chat(browser, f"{site.url}/", **options) as visitor:
                await visitor.ask("How long may I return a book?")
                number = visitor.answers.locator(".cite").first
                preview = visitor.answers.locator(".preview").first
                await expect(number).to_have_accessible_description(QUOTE)
                made = len(visitor.requests)
                await expect(preview).to_be_hidden()
                await number.hover()
                await expect(preview).to_contain_text("Returns: Return window")
                await expect(preview).to_contain_text(QUOTE)
                await preview.hover()
                await expect(preview).to_be_visible()
                assert not await visitor.is_too_wide()
                assert await find_flaws(visitor.page) == []
                await visitor.press("Escape")
                await expect(preview).to_be_hidden()
                await expect(visitor.panel).to_be_visible()
                await visitor.box.hover()
                await number.focus()
                await expect(preview).to_be_visible()
                await visitor.press("Escape")
                await expect(preview).to_be_hidden()
                await expect(number).to_be_focused()
                await visitor.press("Escape")
                await expect(visitor.panel).to_be_hidden()
                assert len(visitor.requests) == made


async def test_nothing_moves_for_visitors_who_want_no_motion(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    animated = (
        "[...document.querySelector('aitp-chat').shadowRoot.querySelectorAll('*')]"
        ".filter((one) => getComputedStyle(one).animationName !== 'none').length"
    )
    async with hosting() as site:
        named = f"widget.origins=['{site.url}']"
        async with serving(tmp_path / "data", named) as desk:
            site.put("/", write_host_page(desk.url), desk.url)
            async with at_chat(browser, f"{site.url}/") as visitor:
                await visitor.ask("How long may I return a book?")
                await expect(visitor.answers).to_have_count(1)
                assert await visitor.page.evaluate(animated) == 0
                await visitor.page.emulate_media(reduced_motion="no-preference")
                assert await visitor.page.evaluate(animated) > 0
