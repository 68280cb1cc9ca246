"""A visitor reads the pages in Chromium: table of contents, code, and the search as they type."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.widget import PHONE, at_page
from tests.support.desk.server import serving

if TYPE_CHECKING:
    from playwright.async_api import Expect

pytestmark = BROWSER_MARKS

LONG = "A sentence that fills a line of the page. " * 60
PAGE = (
    "# Boots\n\n"
    + "".join(f"## Part {n}\n\n{LONG}\n\n" for n in range(4))
    + '```python\ndef fit(size):\n    return "good"  # always\n```\n\n## Return them\n\nSoon.\n'
)


def write_site(folder: Path) -> Path:
    site = folder / "site"
    (site / "guides").mkdir(parents=True)
    (site / "guides/boots.md").write_text(PAGE)
    (site / "guides/tents.md").write_text("# Returning a tent\n\nDry it first.\n")
    (site / "desk.toml").write_text('[site]\nname = "Laden"\nlanguage = "de"\n')
    return site


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_section_in_view_is_marked(
    browser: OpenBrowser, expect: Expect, tmp_path: Path, scheme: str
) -> None:
    async with (
        serving(tmp_path / "data", folder=write_site(tmp_path)) as desk,
        at_page(browser, desk, viewport={"width": 1280, "height": 700}, color_scheme=scheme) as at,
    ):
        await at.page.goto("/guides/boots")
        contents = at.page.get_by_role("navigation", name="Auf dieser Seite")
        await expect(contents.get_by_role("link")).to_have_count(5)
        current = contents.locator("[aria-current]")
        await expect(current).to_have_count(0)
        await contents.get_by_role("link", name="Part 2").click()
        await expect(current).to_have_text("Part 2")
        await expect(contents).to_be_in_viewport()
        await at.page.locator("#part-1").evaluate("one => one.scrollIntoView()")
        await expect(current).to_have_text("Part 1")
        await expect(at.page.locator("pre .keyword").first).to_have_text("def")
        assert await find_flaws(at.page) == []


async def test_on_a_phone_the_contents_are_folded(
    browser: OpenBrowser, expect: Expect, tmp_path: Path
) -> None:
    async with (
        serving(tmp_path / "data", folder=write_site(tmp_path)) as desk,
        at_page(browser, desk, viewport=PHONE) as at,
    ):
        await at.page.goto("/guides/boots")
        link = at.page.get_by_role("link", name="Return them")
        await expect(link).to_have_count(0)
        await at.page.get_by_text("Auf dieser Seite").locator("visible=true").click()
        assert await find_flaws(at.page) == []
        await link.click()
        await expect(at.page.locator("#return-them")).to_be_in_viewport()
        assert not await at.is_too_wide()


async def test_a_page_is_found_while_typing_and_opened_with_the_keyboard(
    browser: OpenBrowser, expect: Expect, tmp_path: Path
) -> None:
    async with (
        serving(tmp_path / "data", folder=write_site(tmp_path)) as desk,
        at_page(browser, desk, viewport=PHONE) as at,
    ):
        box = at.page.get_by_role("combobox", name="Seiten durchsuchen")
        options = at.page.get_by_role("option")
        await box.press_sequentially("return", delay=20)
        await expect(options).to_have_text(["Returning a tent", "Return them Boots"])
        searches = [one for one in at.requests if "/search?" in one.url]
        assert len(searches) < 4
        await expect(box).to_have_attribute("aria-expanded", "true")
        await expect(at.page.locator(".search [role=status]")).to_contain_text("2 Treffer")
        await at.press("ArrowDown", "ArrowDown")
        chosen = at.page.locator("[role=option][aria-selected=true]")
        await expect(chosen).to_have_text("Return them Boots")
        assert await box.get_attribute("aria-activedescendant") == await chosen.get_attribute("id")
        assert await find_flaws(at.page) == []
        await at.press("ArrowDown")
        await expect(chosen).to_have_count(0)
        await at.press("Escape")
        await expect(options).to_have_count(0)
        await expect(box).to_be_focused()
        await at.press("ArrowDown", "ArrowUp", "Enter")
        await at.page.wait_for_url("**/guides/boots#return-them")


async def test_the_chat_of_a_page_has_the_owners_questions_for_its_path_else_its_headings(
    browser: OpenBrowser, expect: Expect, tmp_path: Path
) -> None:
    asked = "widget.paths=[{path='/guides/bo*', suggestions=['Which boots?']}]"
    async with (
        serving(tmp_path / "data", asked, folder=write_site(tmp_path)) as desk,
        at_page(browser, desk) as at,
    ):
        chips = at.page.locator(".welcome .chip")
        await at.page.goto("/guides/boots")
        await at.open()
        await expect(chips).to_have_text(["Which boots?"])
        await at.page.goto("/guides/tents")
        await at.open()
        await expect(chips.first).to_be_visible()
        await expect(chips.get_by_text("Returning a tent: Returning a tent")).to_have_count(0)


async def test_a_click_opens_a_page_and_enter_alone_all_results(
    browser: OpenBrowser, expect: Expect, tmp_path: Path
) -> None:
    async with (
        serving(tmp_path / "data", folder=write_site(tmp_path)) as desk,
        at_page(browser, desk) as at,
    ):
        box = at.page.get_by_role("combobox")
        await box.fill("tent")
        await at.page.get_by_role("option", name="Returning a tent").click()
        await at.page.wait_for_url("**/guides/tents")
        await box.fill("part")
        await box.press("Enter")
        await at.page.wait_for_url("**/search?q=part")
        await expect(at.page.locator(".results li")).to_have_count(4)
        await expect(at.page.get_by_role("heading", level=1)).to_have_text("Suche: part")
        assert await find_flaws(at.page) == []


async def test_without_javascript_the_search_is_a_form(
    browser: OpenBrowser, expect: Expect, tmp_path: Path
) -> None:
    async with (
        serving(tmp_path / "data", folder=write_site(tmp_path)) as desk,
        at_page(browser, desk, java_script_enabled=False) as at,
    ):
        await at.page.get_by_role("searchbox", name="Seiten durchsuchen").fill("tent")
        await at.page.get_by_role("button", name="Suchen").click()
        await at.page.wait_for_url("**/search?q=tent")
        await expect(at.page.locator(".results a")).to_have_text(["Returning a tent"])
