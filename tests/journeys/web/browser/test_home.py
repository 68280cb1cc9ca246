"""A person asks at the home page and at a page of the content, with a real desk behind them.

The chat itself has its own journeys; here it is the pages' part of it. Playwright is imported by
the fixtures alone: ``make test`` collects this file without having it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from aitp_desk.agent.base import Answer, Clarification, Outcome, Turn
from aitp_desk.app.server import RunningServer
from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.widget import at_page
from tests.support.desk.server import serving
from tests.support.doubles.agent import ScriptedAgent

if TYPE_CHECKING:
    from playwright.async_api import Expect

pytestmark = BROWSER_MARKS

ABROAD = Path(__file__).parents[3] / "support" / "sites" / "multilingual"
NOTICE = "Agent Handshake Protocol"
QUESTION = "How long may I return a book?"
LOGO = "https://cdn.example.com/logo.png"


async def ask_back(turn: Turn) -> Outcome:
    """Ask where to; the answer names it."""
    if turn.pending is None:
        return Clarification("Shipping to where?", ("Domestic", "Europe"))
    return Answer(f"For {turn.question} it is 3.50 EUR.")


async def test_a_question_is_answered_with_its_sources(
    served_desk: RunningServer, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_page(browser, served_desk) as visitor:
        await expect(visitor.box).to_be_visible()
        assert await find_flaws(visitor.page) == []
        await visitor.ask(QUESTION)
        await expect(visitor.answers).to_contain_text("14 days")
        assert await find_flaws(visitor.page) == []
        await visitor.page.locator(".sources a").first.click()
        await expect(visitor.page).to_have_url(f"{served_desk.url}/policies/returns#return-window")
        await expect(visitor.page.locator(":target")).to_have_text("Return window")


async def test_a_fresh_load_takes_at_most_eight_requests(
    served_desk: RunningServer, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_page(browser, served_desk) as visitor:
        await expect(visitor.box).to_be_visible()
        assert len(visitor.requests) <= 8, [request.url for request in visitor.requests]


async def test_the_conversation_goes_on_at_every_page_and_no_address_names_it(
    served_desk: RunningServer, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_page(browser, served_desk) as visitor:
        await visitor.ask(QUESTION)
        await expect(visitor.answers).to_contain_text("14 days")
        thread = await visitor.thread()
        await visitor.page.goto("/policies/shipping")
        await visitor.open()
        await expect(visitor.words).to_have_text(QUESTION)
        await expect(visitor.answers).to_contain_text("14 days")
        assert await find_flaws(visitor.page) == []
        await visitor.ask("And second-hand books?")
        await expect(visitor.answers).to_have_count(2)
        assert await visitor.thread() == thread
        await visitor.choose("New conversation")
        await expect(visitor.questions).to_have_count(0)
        await expect(visitor.box).to_be_focused()
        await visitor.page.goto("/")
        await expect(visitor.box).to_be_visible()
        await expect(visitor.questions).to_have_count(0)
        pages = [one.url for one in visitor.requests if one.resource_type == "document"]
        assert not any(str(thread) in url for url in pages)


async def test_a_page_offers_to_ask_about_its_sections(
    served_desk: RunningServer, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_page(browser, served_desk) as visitor:
        await visitor.page.goto("/policies/returns")
        await visitor.open()
        await visitor.page.get_by_role("button", name="Return window").click()
        await expect(visitor.answers).to_contain_text("14 days")
        await expect(visitor.box).to_be_focused()


async def test_a_question_on_a_page_in_french_is_asked_in_french(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with (
        serving(tmp_path / "data", folder=ABROAD) as desk,
        at_page(browser, desk) as visitor,
    ):
        for path, said in (("/returns.fr", "14 jours"), ("/returns", "14 days")):
            await visitor.page.goto(path)
            await visitor.open()
            await visitor.page.locator(".welcome button").first.click()
            await expect(visitor.answers).to_contain_text(said)
            await visitor.page.evaluate("localStorage.clear()")
        assert [one["metadata"].get("locale") for one in visitor.posted()] == ["fr", None]


async def test_a_question_back_is_answered_by_a_button_or_in_own_words(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    agent = ScriptedAgent(ask_back)
    async with (
        serving(tmp_path / "data", agent=agent) as desk,
        at_page(browser, desk) as visitor,
    ):
        await visitor.ask("What is shipping?")
        await visitor.page.get_by_role("button", name="Europe").click()
        await expect(visitor.answers.last).to_contain_text("For Europe it is 3.50 EUR.")
        await visitor.ask("What is shipping?")
        await expect(visitor.page.get_by_role("button", name="Domestic")).to_be_visible()
        await visitor.ask("the moon")
        await expect(visitor.answers.last).to_contain_text("For the moon it is 3.50 EUR.")


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_a_page_fits_a_narrow_phone_in_both_schemes(
    served_desk: RunningServer, browser: OpenBrowser, expect: Expect, scheme: str
) -> None:
    small = {"viewport": {"width": 320, "height": 640}, "color_scheme": scheme}
    async with at_page(browser, served_desk, **small) as visitor:
        await visitor.ask("What does shipping to Europe cost?")
        await expect(visitor.answers).to_have_count(1)
        grounds = set()
        for path in ("/", "/policies/shipping", "/nothing/here", "/docs"):
            await visitor.page.goto(path)
            assert not await visitor.is_too_wide(), path
            ground = "getComputedStyle(document.body).backgroundColor"
            grounds.add(await visitor.page.evaluate(ground))
        assert len(grounds) == 1
        brightness = int(grounds.pop().removeprefix("rgb(").partition(",")[0])
        assert (brightness > 127) is (scheme == "light")


async def test_nothing_is_loaded_from_another_site_and_nothing_is_refused_by_the_policy(
    served_desk: RunningServer, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_page(browser, served_desk) as visitor:
        await visitor.ask("What does shipping to Europe cost?")
        await expect(visitor.answers).to_have_count(1)
        for path in ("/", "/about", "/policies/shipping"):
            await visitor.page.goto(path)
            if path != "/":
                await visitor.open()
            await expect(visitor.answers).to_have_count(1)
        assert all(one.url.startswith(f"{served_desk.url}/") for one in visitor.requests)
        assert not await visitor.page.context.cookies()


async def test_the_owners_logo_is_shown_also_from_another_site(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    named = (f"widget.logo={LOGO}", "widget.origins=['https://cdn.example.com']")
    async with (
        serving(tmp_path / "data", *named) as desk,
        at_page(browser, desk) as visitor,
    ):
        await visitor.page.route(
            LOGO, lambda route: route.fulfill(body="<svg xmlns='http://www.w3.org/2000/svg'/>")
        )
        await visitor.page.reload()
        await expect(visitor.page.locator("header img")).to_have_attribute("src", LOGO)


async def test_a_logo_of_the_desk_is_shown_at_any_name_of_the_desk(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    logo = tmp_path / "site" / "logo.svg"
    logo.parent.mkdir()
    logo.write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (logo.parent / "index.md").write_text("# Lamps\n\nWe sell lamps.\n")
    async with (
        serving(tmp_path / "data", "widget.logo=logo.svg", folder=logo.parent) as desk,
        at_page(browser, desk) as visitor,
    ):
        named = desk.url.replace("127.0.0.1", "localhost")
        await visitor.page.goto(named)
        shown = visitor.page.locator("aitp-chat header img")
        await expect(shown).to_be_visible()
        assert await shown.evaluate("one => one.src") == f"{named}/widget/logo"


async def test_a_keyboard_is_enough(
    served_desk: RunningServer, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_page(browser, served_desk) as visitor:
        await expect(visitor.box).to_be_visible()
        await visitor.press("Tab")
        await expect(visitor.page.get_by_role("link", name="Skip to the content")).to_be_focused()
        await visitor.press("Enter")
        for _ in range(10):
            await visitor.press("Tab")
            if await visitor.focused() == "textarea":
                break
        await visitor.page.keyboard.type(QUESTION)
        await visitor.press("Enter")
        source = visitor.page.locator(".sources a").first
        await expect(source).to_be_visible()
        for _ in range(20):
            await visitor.press("Shift+Tab")
            if await source.evaluate("link => link === link.getRootNode().activeElement"):
                break
        await expect(source).to_be_focused()
        await visitor.press("Enter")
        await expect(visitor.page).to_have_url(f"{served_desk.url}/policies/returns#return-window")


@pytest.mark.requirement("AHP-3.4-2", "AHP-3.4-4")
@pytest.mark.parametrize("path", ["/", "/policies/returns", "/nothing/here"])
async def test_the_notice_is_out_of_sight_and_in_the_page_after_every_script(
    served_desk: RunningServer, browser: OpenBrowser, expect: Expect, path: str
) -> None:
    async with at_page(browser, served_desk) as visitor:
        page = visitor.page
        await page.goto(path, wait_until="networkidle")
        notice = page.locator('section[aria-label="AI Agent Notice"]')
        await expect(notice).to_have_count(1)
        await expect(notice).to_be_hidden()
        assert NOTICE in await page.inner_text("body")
        assert NOTICE in (await page.text_content("body") or "")
        assert NOTICE in await page.locator("body").aria_snapshot()


async def test_without_scripts_the_pages_can_still_be_read(
    served_desk: RunningServer, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_page(browser, served_desk, java_script_enabled=False) as visitor:
        page = visitor.page
        await expect(page.locator("noscript p")).to_contain_text(
            "The question box needs JavaScript."
        )
        await expect(page.locator("aitp-chat")).to_be_hidden()
        await page.get_by_role("link", name="Returns", exact=True).click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Returns")


@pytest.mark.parametrize(
    ("locale", "asks"), [("en-US", "Frage stellen"), ("fr-FR", "Posez une question")]
)
async def test_the_chat_speaks_the_sites_language_or_another_one_of_it(
    tmp_path: Path, browser: OpenBrowser, expect: Expect, locale: str, asks: str
) -> None:
    settings = ('site.language="de"', 'site.languages=["fr"]')
    async with (
        serving(tmp_path / "data", *settings) as desk,
        at_page(browser, desk, locale=locale) as visitor,
    ):
        await expect(visitor.box).to_have_attribute("placeholder", asks)
