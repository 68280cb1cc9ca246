"""The chat in a browser, on a page of another site with a strict policy."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
import pytest_asyncio

from aitp_desk.app.server import RunningServer
from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.widget import (
    PHONE,
    at_chat,
    hosting,
    in_new_tab,
    write_host_page,
)
from tests.support.clients.operator import Operator, operating
from tests.support.desk.server import serving

if TYPE_CHECKING:
    from playwright.async_api import Expect, Route

pytestmark = BROWSER_MARKS

QUESTION = "How long may I return a book?"
LATE_STORAGE = """
let isLate = true;
const { getItem } = Storage.prototype;
Storage.prototype.getItem = function (name) {
  return isLate && name.startsWith("aitp-chat") ? null : getItem.call(this, name);
};
addEventListener("storage", (event) => {
  if (!isLate) return;
  event.stopImmediatePropagation();
  const arrive = () => {
    isLate = false;
    dispatchEvent(new StorageEvent("storage", { key: event.key, newValue: event.newValue }));
  };
  setTimeout(arrive, 300);
});
"""
"""A tab to which the changes of other tabs come after 300 ms."""


class Ground(NamedTuple):
    """A desk, an operator of its console, and the address of a page with the chat."""

    desk: RunningServer
    anna: Operator
    url: str


@pytest_asyncio.fixture(loop_scope="session")
async def ground(tmp_path: Path) -> AsyncIterator[Ground]:
    async with hosting() as site:
        named = f"widget.origins=['{site.url}']"
        async with (
            serving(tmp_path / "data", named, "tickets.people=on_request") as desk,
            operating(desk, tmp_path / "data") as anna,
        ):
            site.put("/", write_host_page(desk.url), desk.url)
            rtl = write_host_page(desk.url, lang="ar", direction="rtl")
            site.put("/rtl", rtl, desk.url)
            inline = write_host_page(
                desk.url, attributes='inline lang="de" data-suggestions="Wo sind Sie? | Wann?"'
            )
            site.put("/inline", inline, desk.url)
            frame = f'<iframe src="{desk.url}/widget" title="Chat"></iframe>'
            site.put("/frame", f"<!doctype html><title>Host</title>{frame}", desk.url)
            yield Ground(desk, anna, f"{site.url}/")


async def test_a_question_is_answered_with_sources_and_nothing_loads_from_elsewhere(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_chat(browser, ground.url) as visitor:
        assert await visitor.focused() == "textarea"
        await expect(visitor.page.locator(".welcome .chip").first).to_be_visible()
        await visitor.ask(QUESTION)
        await expect(visitor.answers).to_contain_text("14 days")
        source = visitor.answers.locator(".cite").first
        await expect(source).to_have_attribute(
            "href", f"{ground.desk.url}/policies/returns#return-window"
        )
        await expect(visitor.answers.locator(".sources a").first).to_be_visible()
        await expect(visitor.page.locator(".typing")).to_be_hidden()
        question = visitor.answers.locator(".chip").first
        asked = await question.inner_text()
        await question.click()
        await expect(visitor.questions.last).to_contain_text(asked)
        await expect(visitor.answers).to_have_count(2)
        await expect(visitor.page.locator(".choices")).to_have_count(1)
        assert await find_flaws(visitor.page) == []
        await visitor.press("Escape")
        await expect(visitor.panel).to_have_count(0)
        assert await visitor.focused() == "launcher"
        await visitor.press("Enter")
        await expect(visitor.panel).to_have_count(1)
        assert await visitor.focused() == "textarea"
        assert await visitor.launcher.get_attribute("aria-busy") is None
        await visitor.launcher.click()
        await expect(visitor.panel).to_have_count(0)
        thread = await visitor.thread()
        assert thread is not None
        known = (ground.url, ground.desk.url)
        for request in visitor.requests:
            assert request.url.startswith(known), request.url
        assert not any(thread in one.url for one in visitor.requests if "/v1/" not in one.url)
        assert await visitor.page.context.cookies() == []


async def test_no_dots_stand_below_an_answer_that_is_whole(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_chat(browser, ground.url) as visitor:
        await visitor.page.locator(".log").evaluate(
            "(log) => { window.dotted = 0; new MutationObserver(() => { window.dotted +="
            " Boolean(log.querySelector('.desk.said + .typing:not([hidden])')) })"
            ".observe(log, { subtree: true, childList: true, attributes: true }) }"
        )
        await visitor.ask(QUESTION)
        await expect(visitor.answers).to_have_count(1)
        await expect(visitor.page.locator(".typing")).to_be_hidden()
        assert await visitor.page.evaluate("window.dotted") == 0


async def test_a_page_that_nobody_opens_the_chat_of_loads_one_small_file(
    ground: Ground, browser: OpenBrowser
) -> None:
    async with at_chat(browser, ground.url, is_open=False) as visitor:
        await visitor.launcher.wait_for()
        loaded = [one.url for one in visitor.requests if one.url.startswith(ground.desk.url)]
        assert loaded == [f"{ground.desk.url}/widget.js"]


async def test_two_tabs_that_begin_at_once_begin_one_conversation(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    began: list[str] = []
    asked = asyncio.Event()

    async def hold(route: Route) -> None:
        """Begin no conversation before both tabs have asked."""
        began.append(route.request.url)
        await asked.wait()
        await route.continue_()

    async with at_chat(browser, ground.url) as visitor:
        other = await in_new_tab(visitor.page.context, ground.url)
        await other.open()
        await visitor.page.context.route("**/v1/threads", hold)
        await visitor.ask(QUESTION)
        await other.ask("Do you repair boots?")
        asked.set()
        for tab in (visitor, other):
            await expect(tab.questions).to_have_count(2)
            await expect(tab.answers.last).to_be_visible()
            await expect(tab.page.locator(".sending")).to_have_count(0)
        assert await visitor.thread() == await other.thread() is not None
        assert len(began) == 1


async def test_a_tab_that_learns_late_what_another_has_begun_waits_for_it(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    """A browser may hand a lock on before it hands on what was stored under it."""
    began: list[str] = []
    asked = asyncio.Event()

    async def hold(route: Route) -> None:
        began.append(route.request.url)
        await asked.wait()
        await route.continue_()

    async with at_chat(browser, ground.url) as visitor:
        await visitor.page.context.add_init_script(LATE_STORAGE)
        other = await in_new_tab(visitor.page.context, ground.url)
        await other.open()
        await visitor.page.context.route("**/v1/threads", hold)
        await visitor.ask(QUESTION)
        await other.ask("Do you repair boots?")
        asked.set()
        for tab in (visitor, other):
            await expect(tab.questions).to_have_count(2)
            await expect(tab.page.locator(".sending")).to_have_count(0)
        assert await visitor.thread() == await other.thread() is not None
        assert len(began) == 1


async def test_a_reload_and_a_second_tab_show_the_conversation(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_chat(browser, ground.url) as visitor:
        await visitor.ask(QUESTION)
        await expect(visitor.answers).to_contain_text("14 days")
        await visitor.page.reload()
        await visitor.open()
        await expect(visitor.questions).to_have_text([f"You{QUESTION}"])
        await expect(visitor.answers).to_contain_text("14 days")
        await expect(visitor.answers.locator(".sources a").first).to_be_visible()
        other = await in_new_tab(visitor.page.context, ground.url)
        await other.open()
        await expect(other.answers).to_contain_text("14 days")
        await other.ask("What does gift wrapping cost?")
        await expect(visitor.questions).to_have_count(2)
        await expect(visitor.answers.last).to_contain_text("2 EUR")
        await expect(other.answers).to_have_count(2)
        await other.answers.last.get_by_role("button", name="Helpful", exact=True).focus()
        await visitor.choose("New conversation")
        await expect(other.questions).to_have_count(0)
        assert await other.focused() == "log", "the answer is gone"
        await expect(other.page.locator(".welcome .chip").first).to_be_visible()
        await expect(visitor.page.locator(".welcome")).to_have_count(1)
        await other.ask(QUESTION)
        await expect(visitor.answers).to_contain_text("14 days")
        assert other.faults == []


async def test_a_person_joins_and_answers_with_their_name(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_chat(browser, ground.url) as visitor:
        await visitor.ask(QUESTION)
        await expect(visitor.answers).to_have_count(1)
        thread = await visitor.thread()
        await ground.anna.post(f"threads/{thread}/take")
        await expect(visitor.notes).to_have_text("anna has joined and answers from now on.")
        await expect(visitor.page.locator(".state")).to_have_text("anna answers")
        typing = visitor.page.locator(".typing")
        await expect(typing).to_be_hidden()
        await ground.anna.post(f"threads/{thread}/typing")
        await expect(typing).to_be_visible()
        await ground.anna.post(f"threads/{thread}/say", words="For you: **30 days**.")
        await expect(visitor.people).to_contain_text("For you: 30 days.", timeout=1000)
        await expect(visitor.people.locator(".name")).to_have_text("anna")
        await expect(typing).to_be_hidden()
        live = visitor.page.locator("[role=status].unseen")
        await expect(live).to_have_text("anna For you: 30 days.")
        assert await find_flaws(visitor.page) == []
        await visitor.press("Escape")
        await ground.anna.post(f"threads/{thread}/say", words="Or 40.")
        badge = visitor.page.locator(".badge")
        await expect(badge).to_have_text("1")
        await expect(visitor.launcher).to_have_accessible_name("Open the chat. 1 new message")
        await visitor.page.reload()
        await expect(badge).to_have_text("1")
        await visitor.open()
        await expect(badge).to_be_empty()
        await ground.anna.post(f"threads/{thread}/release")
        await expect(visitor.notes.last).to_have_text("The assistant answers again.")


async def test_a_deleted_conversation_is_gone_from_the_desk(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_chat(browser, ground.url) as visitor:
        await visitor.ask(QUESTION)
        await expect(visitor.answers).to_have_count(1)
        thread = await visitor.thread()
        other = await in_new_tab(visitor.page.context, ground.url)
        await other.open()
        await expect(other.answers).to_have_count(1)
        await visitor.choose("Delete my conversation")
        assert await find_flaws(visitor.page) == []
        await visitor.page.get_by_role("button", name="Keep it").click()
        await expect(visitor.answers).to_have_count(1)
        await visitor.choose("Delete my conversation")
        await visitor.page.get_by_role("button", name="Delete", exact=True).click()
        await expect(visitor.questions).to_have_count(0)
        await expect(other.questions).to_have_count(0)
        assert await visitor.thread() is None
        status = await visitor.page.evaluate(
            "url => fetch(url).then(answer => answer.status)",
            f"{ground.desk.url}/v1/threads/{thread}",
        )
        assert status == 404
        await visitor.ask(QUESTION)
        await expect(visitor.answers).to_have_count(1)


async def test_what_cannot_be_sent_is_sent_again_once(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_chat(browser, ground.url) as visitor:
        await visitor.page.context.set_offline(True)
        await visitor.ask(QUESTION)
        await expect(visitor.questions).to_contain_class("sending")
        await expect(visitor.banner).to_contain_text("You are offline.")
        await visitor.page.context.set_offline(False)
        await expect(visitor.answers).to_contain_text("14 days")
        await visitor.page.context.set_offline(True)
        await expect(visitor.banner).to_contain_text("You are offline.")
        await visitor.page.context.set_offline(False)
        await expect(visitor.banner).to_be_hidden()


async def test_a_question_that_waits_is_in_view_below_why_it_waits(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    size = {"width": 480, "height": 480}
    async with at_chat(browser, ground.url, viewport=size) as visitor:
        for count in (1, 2):
            await visitor.ask(QUESTION)
            await expect(visitor.answers).to_have_count(count)
        await visitor.page.context.set_offline(True)
        await visitor.ask("And on Sundays?")
        await expect(visitor.banner).to_be_visible()
        waits = await visitor.questions.last.bounding_box()
        foot = await visitor.page.locator("footer").bounding_box()
        assert waits is not None
        assert foot is not None
        assert waits["y"] + waits["height"] <= foot["y"]


async def test_a_message_whose_acknowledgement_is_lost_is_posted_once(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    lost: list[str] = []

    async def lose(route: Route) -> None:
        """Let the desk have the message, but not the page the acknowledgement."""
        lost.append(route.request.headers["idempotency-key"])
        await route.fetch()
        await route.abort()

    async with at_chat(browser, ground.url) as visitor:
        await visitor.page.route("**/v1/threads", lose, times=2)
        await visitor.ask(QUESTION)
        await expect(visitor.answers).to_have_count(1)
        assert len(lost) == 2
        assert len(set(lost)) == 1
        await visitor.page.route("**/messages", lose, times=1)
        await visitor.ask("What does gift wrapping cost?")
        await expect(visitor.answers).to_have_count(2)
        await expect(visitor.page.locator(".sending")).to_have_count(0)
        await visitor.page.reload()
        await visitor.open()
        await expect(visitor.questions).to_have_count(2)
        await expect(visitor.answers).to_have_count(2)


async def test_a_question_that_a_page_was_left_with_is_asked_once_by_the_next(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    held, delivered = asyncio.Event(), asyncio.Event()

    async def hold(_route: Route) -> None:
        """Let nothing through; the page is left meanwhile."""
        held.set()

    async def deliver(route: Route) -> None:
        """Let the desk have the message; the page is left before the acknowledgement."""
        await route.fetch()
        delivered.set()

    async with at_chat(browser, ground.url) as visitor:
        await visitor.page.route("**/v1/threads", hold, times=1)
        await visitor.ask(QUESTION)
        await held.wait()
        await visitor.page.goto(ground.url)
        await visitor.open()
        await expect(visitor.answers).to_contain_text("14 days")
        await visitor.page.route("**/messages", deliver, times=1)
        await visitor.ask("What does gift wrapping cost?")
        await delivered.wait()
        await visitor.page.reload()
        await visitor.open()
        await expect(visitor.questions).to_have_count(2)
        await expect(visitor.answers).to_have_count(2)
        await expect(visitor.page.locator(".sending")).to_have_count(0)
        await visitor.page.reload()
        await visitor.open()
        await expect(visitor.questions).to_have_count(2)


async def test_the_keyboard_is_enough_and_the_focus_is_never_lost(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_chat(browser, ground.url, is_open=False) as visitor:
        await visitor.launcher.focus()
        await visitor.press("Enter")
        await visitor.panel.wait_for()
        await visitor.page.keyboard.type(QUESTION)
        await visitor.press("Shift+Enter", "Enter")
        await expect(visitor.answers).to_have_count(1)
        assert await visitor.focused() == "textarea"
        menu = visitor.page.get_by_role("button", name="More")
        await menu.focus()
        await visitor.press("Enter")
        await expect(menu).to_have_attribute("aria-expanded", "true")
        await visitor.press("Escape")
        await expect(menu).to_have_attribute("aria-expanded", "false")
        await expect(visitor.panel).to_have_count(1)
        await expect(menu).to_be_focused()
        await visitor.press("Enter", "Tab", "Tab", "Enter")
        await expect(visitor.page.get_by_role("button", name="Keep it")).to_be_focused()
        await visitor.press("Tab", "Enter")
        await expect(visitor.questions).to_have_count(0)
        assert await visitor.focused() == "textarea"
        await expect(menu).to_be_hidden()
        live = visitor.page.locator("[role=status].unseen")
        await expect(live).to_have_text("The conversation is deleted.")
        await visitor.press("Escape")
        assert await visitor.focused() == "launcher"
    async with at_chat(browser, ground.url, viewport=PHONE) as visitor:
        for _ in range(6):  # the page behind a chat that fills the screen is out of reach
            await visitor.press("Tab")
            assert await visitor.focused() != "launcher"


async def test_a_conversation_that_is_gone_is_left_and_another_begun(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_chat(browser, ground.url) as visitor:
        await visitor.ask(QUESTION)
        await expect(visitor.answers).to_have_count(1)
        thread = await visitor.thread()
        gone = f"{ground.desk.url}/v1/threads/{thread}"
        await visitor.page.evaluate("url => fetch(url, { method: 'DELETE' })", gone)
        await expect(visitor.notes).to_have_text("The earlier conversation has ended.")
        await visitor.ask(QUESTION)
        await expect(visitor.answers).to_contain_text("14 days")
        assert await visitor.thread() not in {thread, None}


async def test_a_conversation_with_too_many_events_still_shows_its_messages(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with hosting() as site:
        settings = (f"widget.origins=['{site.url}']", "events.max_behind=6")
        async with serving(tmp_path / "data", *settings) as desk:
            site.put("/", write_host_page(desk.url), desk.url)
            async with at_chat(browser, f"{site.url}/") as visitor:
                for number in range(1, 4):
                    await visitor.ask(QUESTION)
                    await expect(visitor.answers).to_have_count(number)
                await visitor.page.reload()
                await visitor.open()
                await expect(visitor.questions).to_have_count(3)
                await expect(visitor.answers).to_have_count(3)
                await visitor.ask("What does gift wrapping cost?")
                await expect(visitor.answers.last).to_contain_text("2 EUR")
                await expect(visitor.questions).to_have_count(4)


async def test_what_is_refused_says_why_and_can_be_sent_again(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async def refuse(route: Route) -> None:
        await route.fulfill(
            status=429,
            headers={
                "Retry-After": "40",
                "Access-Control-Allow-Origin": "*",
                "Access-Control-Expose-Headers": "Retry-After",
            },
            json={"error": {"message": "Too many.", "code": "rate_limited"}},
        )

    async with at_chat(browser, ground.url) as visitor:
        await visitor.page.route("**/v1/threads", refuse, times=1)
        await visitor.ask(QUESTION)
        failure = visitor.page.locator(".failure")
        await expect(failure).to_contain_text("Too many messages. Please wait 40 seconds.")
        assert await find_flaws(visitor.page) == []
        await failure.get_by_role("button", name="Try again").press("Enter")
        await expect(visitor.answers).to_contain_text("14 days")
        await expect(failure).to_have_count(0)
        assert await visitor.focused() == "log", "the button is gone"


async def test_escape_closes_the_menu_alone_also_where_the_chat_fills_a_phone(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_chat(browser, ground.url, viewport=PHONE) as visitor:
        await visitor.ask(QUESTION)
        await expect(visitor.answers).to_have_count(1)
        menu = visitor.page.get_by_role("button", name="More")
        await menu.press("Enter")
        await expect(visitor.page.locator(".menu")).to_be_visible()
        await visitor.press("Escape")
        await expect(visitor.page.locator(".menu")).to_be_hidden()
        await expect(visitor.panel).to_have_count(1)
        await expect(menu).to_be_focused()
        await visitor.press("Escape")
        await expect(visitor.panel).to_have_count(0)


async def test_it_fills_a_phone_and_a_region_and_a_frame(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_chat(browser, ground.url, viewport=PHONE, color_scheme="dark") as visitor:
        box = await visitor.panel.bounding_box()
        assert box is not None
        assert (box["width"], box["height"]) == (PHONE["width"], PHONE["height"])
        await visitor.ask(QUESTION)
        await expect(visitor.answers).to_have_count(1)
        assert not await visitor.is_too_wide()
        assert await find_flaws(visitor.page) == []
    async with at_chat(browser, f"{ground.url}inline", is_open=False) as visitor:
        region = visitor.page.get_by_role("region", name="My site")
        await expect(region.get_by_placeholder("Frage stellen")).to_be_visible()
        await expect(region.locator(".chip")).to_have_text(["Wo sind Sie?", "Wann?"])
        await visitor.ask(QUESTION)
        await expect(visitor.answers).to_have_count(1)
        assert await find_flaws(visitor.page) == []
    async with at_chat(browser, f"{ground.url}frame", is_open=False, locale="fr-FR") as visitor:
        frame = visitor.page.frame_locator("iframe")
        await frame.locator("textarea").fill(QUESTION)
        await frame.locator("textarea").press("Enter")
        await expect(frame.locator(".entry.desk")).to_contain_text("14 days")


@pytest.mark.parametrize(
    ("path", "locale", "name"),
    [
        ("", "de-AT", "Chat öffnen"),
        ("", "fr-FR", "Ouvrir la discussion"),
        ("", "pl-PL", "Otwórz czat"),
        ("", "ja-JP", "チャットを開く"),
        ("rtl", "ar", None),
    ],
)
async def test_it_speaks_the_visitors_language_and_from_right_to_left(
    ground: Ground, browser: OpenBrowser, expect: Expect, path: str, locale: str, name: str | None
) -> None:
    zoomed = {"width": 640, "height": 400}  # 200 % of a small window
    async with at_chat(browser, ground.url + path, locale=locale, viewport=zoomed) as visitor:
        await expect(visitor.launcher).to_have_accessible_name(name or "Open the chat")
        await visitor.ask(QUESTION)
        await expect(visitor.answers).to_contain_text("14 days")
        assert not await visitor.is_too_wide()
        assert await find_flaws(visitor.page) == []


async def test_a_sentence_ends_at_its_end_on_a_page_from_right_to_left(
    ground: Ground, browser: OpenBrowser
) -> None:
    """The chat has no Arabic: its English sentences end on the right, as do the questions."""
    async with at_chat(browser, f"{ground.url}rtl", locale="ar") as visitor:
        ends = await visitor.page.evaluate(
            """() => [...document.querySelector("aitp-chat").shadowRoot
             .querySelectorAll(".small:not([hidden]), .welcome > p, .chip")].map((element) => {
          const text = element.firstChild, range = document.createRange();
          const at = (place) => {
            range.setStart(text, place);
            range.setEnd(text, place + 1);
            return range.getBoundingClientRect().x;
          };
          return [text.data.at(-1), at(text.length - 1) > at(text.length - 2)];
        })"""
        )
        assert "?" in {sign for sign, _ in ends}
        assert all(is_right for _, is_right in ends)


async def test_the_words_of_a_page_become_no_markup(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    said = (
        "# Heading\n\n<img src=x onerror=alert(1)> [bad](javascript:alert(1))"
        " [good](https://shop.example/a_(b))\n\n1. one\n2. two\n   - deep\n\n| A | B |\n|---|---|\n"
        "| 1 | `2` |\n\n```\nlet a = 1;\n```\n\nPrices:\n\nThe pages are English. They say:"
        "\n\n英語で書かれています。該当する箇所:"
    )
    async with at_chat(browser, ground.url) as visitor:
        await visitor.ask(QUESTION)
        await expect(visitor.answers).to_have_count(1)
        thread = await visitor.thread()
        await ground.anna.post(f"threads/{thread}/take")
        await ground.anna.post(f"threads/{thread}/say", words=said)
        words = visitor.people.locator(".words")
        await expect(words.locator("img")).to_have_count(0)
        await expect(words.locator("a")).to_have_count(1)
        await expect(words.locator("a")).to_have_attribute("rel", "noopener noreferrer")
        await expect(words.locator("a")).to_have_attribute("href", "https://shop.example/a_(b)")
        read_out = await visitor.page.locator(".panel > [role=status].unseen").inner_text()
        assert "good" in read_out
        assert not any(sign in read_out for sign in ("`", "|", "*", "shop.example"))
        await expect(words.locator("ol > li > ul > li")).to_have_text("deep")
        await expect(words.locator("td code")).to_have_text("2")
        await expect(words.locator("pre")).to_have_text("let a = 1;")
        await expect(words.get_by_role("button", name="Copy")).to_be_visible()
        await expect(words.locator(".heading")).to_have_text(["Heading", "Prices:"])
        assert await find_flaws(visitor.page) == []


async def test_code_is_copied_without_its_prompts(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    said = "```\n$ make demo\n>>> for one in (1, 2):\n...     print(one)\nlet a = $ 1;\n```"
    async with at_chat(browser, ground.url) as visitor:
        await visitor.ask(QUESTION)
        await expect(visitor.answers).to_have_count(1)
        thread = await visitor.thread()
        await ground.anna.post(f"threads/{thread}/take")
        await ground.anna.post(f"threads/{thread}/say", words=said)
        await visitor.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        await visitor.people.get_by_role("button", name="Copy").click()
        await expect(visitor.people.get_by_role("button", name="Copied")).to_be_visible()
        copied = await visitor.page.evaluate("navigator.clipboard.readText()")
    assert copied.strip().splitlines() == [
        "make demo",
        "for one in (1, 2):",
        "    print(one)",
        "let a = $ 1;",
    ]
