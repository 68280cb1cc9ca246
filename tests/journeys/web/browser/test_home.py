"""A person asks at the home page, in Chromium, with a real desk behind it.

Playwright is imported by the fixtures alone: ``make test`` collects this file without having it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from aitp_desk.agent.base import Answer, Clarification, Event, Source, Turn
from aitp_desk.app.server import RunningServer
from tests.support.browser.chromium import OpenBrowser
from tests.support.desk.server import serving

if TYPE_CHECKING:
    from playwright.async_api import Expect, Page, Request

pytestmark = pytest.mark.servers

ABROAD = Path(__file__).parents[3] / "support" / "sites" / "multilingual"
NOTICE = "Agent Handshake Protocol"
HOSTILE = (
    "<img src=x onerror=\"document.title='broken'\"> [go](javascript:alert(1)) and"
    " [home](/about) and https://elsewhere.example/a.\n\n```sh\ncurl <b>\n```\n- one\n- **two**"
)


class ScriptedAgent:
    """Asks back where the question is about shipping, else says what it was made to say."""

    name = "scripted"

    def __init__(self, text: str) -> None:
        self.text = text

    async def reply(self, turn: Turn) -> AsyncIterator[Event]:
        if "shipping" in turn.question and turn.clarification is None:
            yield Clarification("Shipping to where?", ("Domestic", "Europe"))
        elif turn.clarification is not None:
            yield Answer(f"For {turn.clarification} it is 3.50 EUR.", tokens_used=5)
        else:
            yield Answer(self.text, (Source("Bad", "/javascript:alert(1)", "direct"),))


async def ask(page: Page, question: str) -> None:
    """Type a question, send it, and wait until its turn is over."""
    turns = await page.locator(".turn").count()
    await page.get_by_label("Your question").fill(question)
    await page.keyboard.press("Enter")
    await page.locator(".turn").nth(turns).wait_for()
    await page.locator('[role=log][aria-busy="false"]').wait_for()


def sent(page: Page) -> list[Request]:
    """The requests that the page makes from now on."""
    requests: list[Request] = []
    page.on("request", lambda request: requests.append(request))  # noqa: PLW0108 (no built-ins)
    return requests


def bodies(requests: list[Request]) -> list[dict[str, Any]]:
    """What was posted, in order."""
    return [json.loads(request.post_data) for request in requests if request.post_data]


async def test_a_question_is_answered_with_its_sources(
    served_desk: RunningServer, browser: OpenBrowser, expect: Expect
) -> None:
    async with browser() as context:
        page = await context.new_page()
        await page.goto(served_desk.url)
        await ask(page, "How long may I return a book?")
        turn = page.locator(".turn").last
        await expect(turn.get_by_role("heading", level=2)).to_have_text(
            "How long may I return a book?"
        )
        await expect(turn.locator(".answer")).to_contain_text("14 days")
        await turn.locator(".sources a").first.click()
        await expect(page).to_have_url(f"{served_desk.url}/policies/returns#return-window")
        await expect(page.locator(":target")).to_have_text("Return window")


async def test_a_fresh_load_takes_at_most_eight_requests(
    served_desk: RunningServer, browser: OpenBrowser
) -> None:
    async with browser() as context:
        page = await context.new_page()
        requests = sent(page)
        await page.goto(served_desk.url, wait_until="networkidle")
        assert len(requests) <= 8, [request.url for request in requests]


async def test_a_follow_up_keeps_the_session(
    served_desk: RunningServer, browser: OpenBrowser
) -> None:
    async with browser() as context:
        page = await context.new_page()
        await page.goto(served_desk.url)
        requests = sent(page)
        await ask(page, "How long may I return a book?")
        await page.locator("[data-ask][data-live]").wait_for()
        thread = await page.evaluate("localStorage.getItem('aitp-desk.thread')")
        await ask(page, "And second-hand books?")
        assert [body.get("session_id") for body in bodies(requests)] == [None, thread]


async def test_a_new_conversation_forgets_the_session(
    served_desk: RunningServer, browser: OpenBrowser, expect: Expect
) -> None:
    async with browser() as context:
        page = await context.new_page()
        await page.goto(served_desk.url)
        await ask(page, "How long may I return a book?")
        await page.get_by_role("button", name="New conversation").click()
        await expect(page.locator(".turn")).to_have_count(0)
        await expect(page.get_by_label("Your question")).to_be_focused()
        requests = sent(page)
        await ask(page, "What does gift wrapping cost?")
        assert "session_id" not in bodies(requests)[0]


async def test_an_example_is_asked_by_its_button(
    served_desk: RunningServer, browser: OpenBrowser, expect: Expect
) -> None:
    async with browser() as context:
        page = await context.new_page()
        await page.goto(f"{served_desk.url}/policies/returns")
        await page.get_by_role("button", name="Return window").click()
        await expect(page.locator(".answer")).to_contain_text("14 days")
        await expect(page.locator(".turn")).to_be_focused()
        await expect(page.locator(".examples")).to_be_hidden()


async def test_a_question_on_a_page_in_french_is_asked_in_french(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with serving(tmp_path / "data", folder=ABROAD) as desk, browser() as context:
        page = await context.new_page()
        requests = sent(page)
        for path, said in (("/returns.fr", "14 jours"), ("/returns", "14 days")):
            await page.goto(desk.url + path)
            await page.locator(".examples button").first.click()
            await expect(page.locator(".answer")).to_contain_text(said)
    assert [body["context"].get("locale") for body in bodies(requests)] == ["fr", None]


async def test_a_question_back_is_answered_by_a_button_or_in_own_words(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    agent = ScriptedAgent("")
    async with serving(tmp_path / "data", agent=agent) as desk, browser() as context:
        page = await context.new_page()
        await page.goto(desk.url)
        requests = sent(page)
        await ask(page, "What is shipping?")
        await expect(page.locator(".answer")).to_have_text("Shipping to where?")
        await page.get_by_role("button", name="Europe").click()
        await expect(page.locator(".answer").last).to_have_text("For Europe it is 3.50 EUR.")
        await ask(page, "What is shipping?")
        await page.get_by_label("Your answer").fill("the moon")
        await page.keyboard.press("Enter")
        await expect(page.locator(".answer").last).to_have_text("For the moon it is 3.50 EUR.")
        said = bodies(requests)
        assert [body["query"] for body in said] == ["What is shipping?"] * 4
        assert [body.get("clarification") for body in said] == [None, "Europe", None, "the moon"]
        assert len({body.get("session_id") for body in said}) == 2


async def test_what_an_answer_says_stays_text(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    agent = ScriptedAgent(HOSTILE)
    async with serving(tmp_path / "data", agent=agent) as desk, browser() as context:
        page = await context.new_page()
        await page.goto(desk.url)
        title = await page.title()
        await ask(page, "Anything?")
        answer = page.locator(".answer")
        await expect(answer).to_contain_text("<img src=x onerror=")
        await expect(answer.locator("img")).to_have_count(0)
        links = answer.locator("a")
        assert await links.evaluate_all("links => links.map(link => link.href)") == [
            f"{desk.url}/about",
            "https://elsewhere.example/a",
        ]
        await expect(answer.locator("pre")).to_have_text("curl <b>")
        await expect(answer.locator("li")).to_have_text(["one", "two"])
        assert await page.title() == title


async def test_a_refusal_is_in_words_and_can_be_tried_again(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    limits = ("limits.enabled=true", "limits.converse_per_minute=1")
    async with serving(tmp_path / "data", *limits) as desk, browser() as context:
        page = await context.new_page()
        await page.goto(desk.url)
        await ask(page, "How long may I return a book?")
        await ask(page, "What does gift wrapping cost?")
        await expect(page.locator(".failure")).to_contain_text("Please try again in")
        await expect(page.get_by_role("button", name="Try again")).to_be_visible()


async def test_a_conversation_that_has_ended_starts_again(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    turns = "sessions.max_turns=1"
    async with serving(tmp_path / "data", turns) as desk, browser() as context:
        page = await context.new_page()
        await page.goto(desk.url)
        await ask(page, "How long may I return a book?")
        await ask(page, "What does gift wrapping cost?")
        turn = page.locator(".turn").last
        await expect(turn.locator(".note")).to_contain_text("This is a new one")
        await expect(turn.locator(".answer")).to_contain_text("2 EUR")


async def test_a_desk_that_is_gone_is_reported_in_words(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with browser() as context:
        page = await context.new_page()
        async with serving(tmp_path / "data") as desk:
            await page.goto(desk.url)
        await ask(page, "How long may I return a book?")
        await expect(page.locator(".failure")).to_have_text("The desk cannot be reached just now.")


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_a_page_fits_a_narrow_phone_in_both_schemes(
    served_desk: RunningServer, browser: OpenBrowser, scheme: str
) -> None:
    small = {"viewport": {"width": 320, "height": 640}, "color_scheme": scheme}
    async with browser(**small) as context:
        page = await context.new_page()
        grounds = set()
        for path in ("/", "/policies/shipping", "/nothing/here", "/docs"):
            await page.goto(served_desk.url + path)
            if await page.get_by_label("Your question").count():
                await ask(page, "What does shipping to Europe cost?")
            width = await page.evaluate("document.documentElement.scrollWidth")
            assert width <= 320, path
            grounds.add(await page.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert len(grounds) == 1
        brightness = int(grounds.pop().removeprefix("rgb(").partition(",")[0])
        assert (brightness > 127) is (scheme == "light")


async def test_nothing_is_loaded_from_another_site_and_nothing_is_refused_by_the_policy(
    served_desk: RunningServer, browser: OpenBrowser
) -> None:
    async with browser() as context:
        page = await context.new_page()
        requests = sent(page)
        complaints: list[str] = []
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        for path in ("/", "/about", "/policies/shipping"):
            await page.goto(served_desk.url + path)
            await ask(page, "What does shipping to Europe cost?")
        assert all(request.url.startswith(f"{served_desk.url}/") for request in requests)
        assert not complaints
        assert not await context.cookies()


async def test_a_keyboard_is_enough(
    served_desk: RunningServer, browser: OpenBrowser, expect: Expect
) -> None:
    async with browser() as context:
        page = await context.new_page()
        await page.goto(served_desk.url)
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
        await page.keyboard.press("Enter")
        await page.keyboard.press("Tab")
        await expect(page.get_by_label("Your question")).to_be_focused()
        await page.keyboard.type("How long may I return a book?")
        await page.keyboard.press("Enter")
        source = page.locator(".sources a").first
        await expect(source).to_be_visible()
        for _ in range(20):
            await page.keyboard.press("Shift+Tab")
            if await source.evaluate("link => link === document.activeElement"):
                break
        await expect(source).to_be_focused()
        await page.keyboard.press("Enter")
        await expect(page).to_have_url(f"{served_desk.url}/policies/returns#return-window")


@pytest.mark.requirement("AHP-3.4-2", "AHP-3.4-4")
@pytest.mark.parametrize("path", ["/", "/policies/returns", "/nothing/here"])
async def test_the_notice_is_out_of_sight_and_in_the_page_after_every_script(
    served_desk: RunningServer, browser: OpenBrowser, expect: Expect, path: str
) -> None:
    async with browser() as context:
        page = await context.new_page()
        await page.goto(served_desk.url + path)
        if await page.get_by_label("Your question").count():
            await ask(page, "How long may I return a book?")
        notice = page.locator('section[aria-label="AI Agent Notice"]')
        await expect(notice).to_have_count(1)
        await expect(notice).to_be_hidden()
        assert NOTICE in await page.inner_text("body")
        assert NOTICE in (await page.text_content("body") or "")
        assert NOTICE in await page.locator("body").aria_snapshot()


async def test_without_scripts_the_pages_can_still_be_read(
    served_desk: RunningServer, browser: OpenBrowser, expect: Expect
) -> None:
    async with browser(java_script_enabled=False) as context:
        page = await context.new_page()
        await page.goto(served_desk.url)
        await expect(page.locator("noscript p")).to_contain_text(
            "The question box needs JavaScript."
        )
        await expect(page.get_by_label("Your question")).to_be_hidden()
        await page.get_by_role("link", name="Returns", exact=True).click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Returns")
