"""What the owner sets of the chat: logo, questions by path, retention, and hidden tabs."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
import pytest_asyncio

from aitp_desk.app.server import RunningServer
from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.widget import PHONE, at_chat, hosting, write_host_page
from tests.support.clients.operator import Operator, operating
from tests.support.desk.server import SITE, serving

if TYPE_CHECKING:
    from playwright.async_api import Expect, Page

pytestmark = BROWSER_MARKS

QUESTION = "How long may I return a book?"
LOGO = (
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 20 20'>"
    "<circle cx='10' cy='10' r='9' fill='#fff'/></svg>"
)


class Ground(NamedTuple):
    """A desk, an operator of its console, and the address of a site with the chat."""

    desk: RunningServer
    anna: Operator
    url: str


@pytest_asyncio.fixture(loop_scope="session")
async def ground(tmp_path: Path) -> AsyncIterator[Ground]:
    folder = tmp_path / "site"
    shutil.copytree(SITE, folder, ignore=shutil.ignore_patterns(".desk"))
    (folder / "logo.svg").write_text(LOGO)
    async with hosting() as site:
        settings = (
            f"widget.origins=['{site.url}']",
            "widget.logo=logo.svg",
            "widget.logo_alt=A sun",
            "widget.greeting=Ask us.",
            "widget.texts=[{language='pl', greeting='Prosimy pytać.'}]",
            "widget.paths=[{path='/shipping/*', suggestions=['When does it arrive?']}]",
            "widget.sound=true",
            "retention.threads_days=30",
        )
        async with (
            serving(tmp_path / "data", *settings, folder=folder) as desk,
            operating(desk, tmp_path / "data") as anna,
        ):
            for path in ("/", "/shipping/europe", "/shippings"):
                site.put(path, write_host_page(desk.url), desk.url)
            frame = f'<iframe src="{desk.url}/widget" title="Chat"></iframe>'
            site.put("/frame", f"<!doctype html><title>Host</title>{frame}", desk.url)
            yield Ground(desk, anna, site.url)


async def hide(page: Page, *, is_hidden: bool = True) -> None:
    """Have the page believe that its tab is hidden, or shown again."""
    await page.evaluate(
        "hidden => { Object.defineProperty(document, 'hidden', { value: hidden,"
        " configurable: true }); document.dispatchEvent(new Event('visibilitychange')) }",
        is_hidden,
    )


@pytest.mark.parametrize("locale", ["en-US", "es-MX", "pl-PL", "zh-TW"])
async def test_the_logo_the_retention_and_the_questions_of_a_page_are_shown(
    ground: Ground, browser: OpenBrowser, expect: Expect, locale: str
) -> None:
    kept = {
        "en-US": "Messages are kept for 30 days.",
        "es-MX": "Los mensajes se conservan durante 30 días.",
        "pl-PL": "Wiadomości są przechowywane przez 30 dni.",
        "zh-TW": "消息保留 30 天。",
    }
    page = f"{ground.url}/shipping/europe"
    async with at_chat(browser, page, locale=locale, viewport=PHONE) as visitor:
        logo = visitor.page.get_by_role("img", name="A sun")
        await expect(logo).to_be_visible()
        assert await logo.evaluate("image => image.naturalWidth") > 0
        await expect(visitor.page.locator(".chip")).to_have_text(["When does it arrive?"])
        greeting = "Prosimy pytać." if locale == "pl-PL" else "Ask us."
        await expect(visitor.page.locator(".welcome > p")).to_have_text(greeting)
        await expect(visitor.page.locator(".small:visible")).to_have_text(kept[locale])
        assert not await visitor.is_too_wide()
        assert await find_flaws(visitor.page) == []


async def test_other_paths_have_the_common_questions_and_frames_the_logo(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_chat(browser, f"{ground.url}/shippings") as visitor:
        first = visitor.page.locator(".chip").first
        await expect(first).to_be_visible()
        assert await first.inner_text() != "When does it arrive?"
    async with at_chat(browser, f"{ground.url}/frame", is_open=False) as visitor:
        logo = visitor.page.frame_locator("iframe").get_by_role("img", name="A sun")
        await expect(logo).to_be_visible()
        assert await logo.evaluate("image => image.naturalWidth") > 0


async def test_pictures_of_the_desk_are_shown_and_others_are_links(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_chat(browser, f"{ground.url}/") as visitor:
        await visitor.ask(QUESTION)
        await expect(visitor.answers).to_have_count(1)
        thread = await visitor.thread()
        own, other = f"{ground.desk.url}/widget/logo", "https://pictures.example/map.png"
        await ground.anna.post(f"threads/{thread}/take")
        await ground.anna.post(f"threads/{thread}/say", words=f"![The way]({own}) ![Map]({other})")
        words = visitor.people.locator(".words")
        shown = words.get_by_role("img", name="The way")
        await expect(shown).to_have_js_property("complete", value=True)
        assert await shown.evaluate("picture => picture.naturalWidth") > 0
        await expect(words.locator("img")).to_have_count(1)
        await expect(words.get_by_role("link", name="Map")).to_have_attribute("href", other)
        read_out = await visitor.page.locator(".panel > [role=status].unseen").inner_text()
        assert read_out == "anna The way Map"
        assert {one.url for one in visitor.requests if one.resource_type == "image"} >= {own}
        assert other not in {one.url for one in visitor.requests}


async def test_a_hidden_tab_tells_of_a_persons_message_in_its_title_and_by_a_sound(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_chat(browser, f"{ground.url}/") as visitor:
        await visitor.page.evaluate(
            "() => { window.sounds = 0; const { start } = OscillatorNode.prototype;"
            " OscillatorNode.prototype.start = function () {"
            " window.sounds += 1; start.call(this) } }"
        )
        await visitor.ask(QUESTION)
        await expect(visitor.answers).to_have_count(1)
        thread = await visitor.thread()
        await ground.anna.post(f"threads/{thread}/take")
        await expect(visitor.notes).to_have_count(1)
        await hide(visitor.page)
        await ground.anna.post(f"threads/{thread}/say", words="For you: 30 days.")
        await expect(visitor.page).to_have_title("1 new message")
        await expect(visitor.page).to_have_title("Host")
        await ground.anna.post(f"threads/{thread}/say", words="Or 40.")
        await expect(visitor.page).to_have_title("2 new messages")
        await hide(visitor.page, is_hidden=False)
        await expect(visitor.page).to_have_title("Host")
        await expect(visitor.people).to_have_count(2)
        assert await visitor.page.evaluate("window.sounds") == 2


async def test_a_hidden_tab_in_which_nobody_is_awaited_holds_no_connection(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_chat(browser, f"{ground.url}/") as visitor:
        await visitor.ask(QUESTION)
        await expect(visitor.answers).to_have_count(1)
        thread = await visitor.thread()
        await expect(visitor.page.locator(".typing")).to_be_hidden()
        async with visitor.page.expect_event("requestfailed", lambda one: "/events" in one.url):
            await hide(visitor.page)
        await ground.anna.post(f"threads/{thread}/take")
        await hide(visitor.page, is_hidden=False)
        await expect(visitor.notes).to_have_count(1)
