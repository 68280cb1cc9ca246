"""Operators at the console, in Chromium, with a real desk and its visitors behind it.

Playwright is imported by the fixtures alone: ``make test`` collects this file without having it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from aitp_desk.agent.base import Answer, Delta, Event, Turn
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.console import PHONE, WIDE, AtConsole, at_console
from tests.support.clients.ahp import Visitor
from tests.support.clients.threads import Talker, talking

if TYPE_CHECKING:
    from playwright.async_api import Expect, Route

pytestmark = BROWSER_MARKS

ANSWER = "The agent's own answer."
HOSTILE = (
    "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script>"
    " https://elsewhere.example/a?b=1&c javascript:alert(1)"
)
LONG = "W" * 3000
ARABIC = "مرحبا، هل لديكم دفاتر خضراء؟ (40) \u202e abc"


class ScriptedAgent:
    """Says the same each time; what has "slowly" in it is begun, and ended when it is let."""

    name = "scripted"

    def __init__(self) -> None:
        self.may_end = asyncio.Event()

    async def reply(self, turn: Turn) -> AsyncIterator[Event]:
        if "slowly" in turn.question:
            yield Delta("The agent's ")
            await self.may_end.wait()
            yield Delta("own answer.")
        yield Answer(ANSWER, tokens_used=5)


class Ground:
    """A desk, a visitor with a key of their own, and a browser for its operators."""

    def __init__(
        self,
        talker: Talker,
        visitor: Talker,
        data: Path,
        browser: OpenBrowser,
        may_end: asyncio.Event,
    ) -> None:
        self.desk = talker.desk
        self.anonymous = talker
        self.visitor = visitor
        self.may_end = may_end
        self._data = data
        self._browser = browser

    def operator(
        self, name: str = "anna", **options: Any
    ) -> AbstractAsyncContextManager[AtConsole]:
        return at_console(self._browser, self.desk, self._data, name, **options)

    async def thread(self, *words: str, wait: int | None = 10) -> str:
        """A conversation in which the visitor has said this, and was answered."""
        first, *more = words
        thread_id = (await self.visitor.open({"role": "user", "content": first}, wait=wait)).id
        for each in more:
            assert (await self.visitor.post(thread_id, each, wait=wait)).status == 200
        return thread_id


@pytest_asyncio.fixture(loop_scope="session")
async def ground(tmp_path: Path, browser: OpenBrowser) -> AsyncIterator[Ground]:
    agent = ScriptedAgent()
    async with talking(tmp_path, agent=agent) as talker:
        visitor = await talker.with_key("threads")
        yield Ground(talker, visitor, tmp_path / "data", browser, agent.may_end)


async def test_an_operator_takes_a_conversation_over_and_hands_it_back(
    ground: Ground, expect: Expect
) -> None:
    async with ground.operator() as anna:
        await anna.go("#/threads")
        await expect(anna.page.get_by_text("No conversations yet.")).to_be_visible()
        thread = await ground.thread("Do you ship to Norway?")
        await expect(anna.rows).to_have_count(1)
        await anna.rows.click()
        await expect(anna.said).to_have_text(["Do you ship to Norway?", ANSWER])

        await anna.take_over()
        await anna.say("Yes, this is Anna: within 6 days.")
        assert (await ground.visitor.texts(thread))[-1] == "Yes, this is Anna: within 6 days."
        await ground.visitor.post(thread, "Thank you!")
        await expect(anna.said.last).to_have_text("Thank you!")
        told = anna.page.locator("[data-announcer]")  # to those who cannot see it
        await expect(told).to_contain_text("Visitor: Thank you!")
        assert (await ground.visitor.texts(thread))[-1] == "Thank you!"  # the agent is silent

        await anna.button("Hand back").click()
        await expect(anna.button("Take over")).to_be_visible()
        await ground.visitor.post(thread, "And to Iceland?", wait=10)
        await expect(anna.said.last).to_have_text(ANSWER)
        speakers = anna.page.locator(".log .by strong")
        await expect(speakers).to_have_text(
            ["Visitor", "Agent", "You", "Visitor", "Visitor", "Agent"]
        )
        assert await anna.texts() == await ground.visitor.texts(thread)


async def test_a_visitor_over_ahp_is_answered_by_an_operator(
    ground: Ground, expect: Expect
) -> None:
    visitor = Visitor(ground.desk, ground.anonymous.http)
    first = await visitor.ask("Do you ship to Norway?", "site_info")
    thread = await ground.anonymous.thread_of(first.session_id)
    async with ground.operator() as anna:
        await anna.open_thread(thread)
        await anna.take_over()
        held = await visitor.ask("Is that sure?", session_id=first.session_id)
        assert "A person, anna, has taken this conversation over" in held.answer
        await expect(anna.said.last).to_have_text("Is that sure?")
        await anna.say("It is.")
        assert (await visitor.ask("And?", session_id=first.session_id)).answer == "anna: It is."
        await anna.button("Hand back").click()
        await expect(anna.button("Take over")).to_be_visible()
        assert (await visitor.ask("And now?", session_id=first.session_id)).answer == ANSWER


async def test_an_answer_of_the_agent_is_seen_as_it_is_written(
    ground: Ground, expect: Expect
) -> None:
    thread = await ground.thread("Hello")
    async with ground.operator() as anna:
        await anna.open_thread(thread)
        await ground.visitor.post(thread, "Tell me slowly")
        await expect(anna.page.locator(".writing .said")).to_have_text("The agent's")
        ground.may_end.set()
        await expect(anna.said.last).to_have_text(ANSWER)
        await expect(anna.page.locator(".writing")).to_be_hidden()
        await expect(anna.said).to_have_count(4)


async def test_a_long_note_is_folded(ground: Ground, expect: Expect) -> None:
    thread = await ground.thread("Hello")
    async with ground.operator() as anna:
        await anna.open_thread(thread)
        await anna.button("Internal note").click()
        await anna.note.fill("Pays late. " + "And again. " * 200 + "The end.")
        await anna.press("Enter")
        note = anna.page.locator(".message.note")
        await expect(note.locator("summary")).to_contain_text("Pays late.")
        await expect(note.locator(".said")).to_be_hidden()
        await note.locator("summary").click()
        await expect(note.locator(".said")).to_contain_text("The end.")


async def test_notes_are_for_operators_alone(ground: Ground, expect: Expect) -> None:
    thread = await ground.thread("Hello")
    async with ground.operator() as anna, ground.operator("bert") as bert:
        await bert.open_thread(thread)
        await anna.open_thread(thread)
        await anna.button("Internal note").click()
        await anna.note.fill("Pays late.")
        await anna.press("Enter")
        for each in (anna, bert):
            note = each.page.locator(".message.note")
            await expect(note).to_contain_text("Pays late.")
            await expect(note).to_contain_text("visitors never see this")
        await expect(bert.page.locator(".message.note .by strong")).to_have_text("anna")
        await anna.page.reload()
        await expect(anna.page.locator(".message.note .said")).to_have_text("Pays late.")
        assert "Pays late." not in await ground.visitor.texts(thread)


async def test_of_two_operators_one_has_a_conversation(ground: Ground, expect: Expect) -> None:
    thread = await ground.thread("Hello")
    async with ground.operator() as anna, ground.operator("bert") as bert:
        await bert.open_thread(thread)
        await anna.open_thread(thread)
        await anna.take_over()
        await expect(bert.page.get_by_text("anna answers this conversation.")).to_be_visible()
        await expect(bert.button("Take over")).to_be_hidden()
        await anna.say("Hello, this is Anna.")
        await expect(bert.said.last).to_have_text("Hello, this is Anna.")
        await bert.button("Hand back…").click()
        await bert.dialog.get_by_role("button", name="Hand back").click()
        await bert.take_over()
        await expect(anna.page.get_by_text("bert answers this conversation.")).to_be_visible()


async def test_a_note_that_is_begun_during_a_takeover_stays_a_note(
    ground: Ground, expect: Expect
) -> None:
    thread = await ground.thread("Where is my order?")
    may_go = asyncio.Event()

    async def wait(route: Route) -> None:
        await may_go.wait()
        await route.continue_()

    async with ground.operator() as anna:
        await anna.open_thread(thread)
        await anna.page.route("**/take", wait)
        await anna.page.keyboard.down("t")
        await anna.press("n")
        await anna.page.keyboard.type("A difficult customer")
        async with anna.page.expect_response("**/take"):
            may_go.set()
        await expect(anna.page.get_by_text("You answer", exact=True)).to_be_visible()
        await expect(anna.note).to_have_value("A difficult customer")
        await expect(anna.note).to_be_focused()
        await anna.press("Enter")
        await expect(anna.page.get_by_text("A difficult customer")).to_be_visible()
    assert "A difficult customer" not in await ground.visitor.texts(thread)


async def test_a_shortcut_that_is_held_down_is_no_text(ground: Ground, expect: Expect) -> None:
    thread = await ground.thread("Where is my order?")
    async with ground.operator() as anna:
        await anna.open_thread(thread)
        await anna.page.keyboard.down("n")
        await expect(anna.note).to_be_focused()
        await anna.page.keyboard.down("n")  # as a held key repeats
        await anna.page.keyboard.up("n")
        await anna.page.keyboard.type("new")
        await expect(anna.note).to_have_value("new")


async def test_all_is_done_by_keys_alone(ground: Ground, expect: Expect) -> None:
    for words in ("First", "Second"):
        await ground.thread(words)
    thread = await ground.thread("Third")
    async with ground.operator() as anna:
        await anna.press("2")
        await expect(anna.rows).to_have_count(3)
        await anna.press("j", "j", "k", "ArrowDown", "k")  # the newest stands first
        await expect(anna.rows.first).to_be_focused()
        await anna.press("Enter")
        await expect(anna.said.first).to_have_text("Third")
        await anna.press("t")
        await expect(anna.answer).to_be_focused()
        await anna.page.keyboard.type("Typed?")  # keys are letters here
        await anna.press("Shift+Enter")
        await anna.page.keyboard.type("bye")
        await anna.press("Enter")
        await expect(anna.said.last).to_have_text("Typed?\nbye")
        assert (await ground.visitor.texts(thread))[-1] == "Typed?\nbye"
        await anna.press("Escape", "n")
        await expect(anna.note).to_be_focused()
        await anna.press("Escape", "r")
        await expect(anna.answer).to_be_focused()
        await anna.press("Escape", "b")
        await expect(anna.button("Take over")).to_be_visible()
        await anna.press("/")
        await expect(anna.page.get_by_role("searchbox")).to_be_focused()
        await anna.page.keyboard.type("second")
        await expect(anna.rows).to_have_count(1)
        await anna.press("Escape", "?")
        await expect(anna.dialog).to_contain_text("write an internal note")
        await anna.dialog.get_by_label("Use single keys").uncheck()
        await anna.press("Escape", "1")
        await expect(anna.page).to_have_url(re.compile("#/threads"))


async def test_a_phone_shows_the_list_or_what_is_open(ground: Ground, expect: Expect) -> None:
    thread = await ground.thread("Hello")
    async with ground.operator("Anna Katharina Müller", viewport=PHONE, has_touch=True) as anna:
        await anna.page.get_by_role("link", name="Threads").tap()
        await anna.rows.tap()
        await expect(anna.said.first).to_be_visible()
        await expect(anna.rows).to_be_hidden()
        await anna.take_over()
        await anna.say("Hello, this is Anna.")
        assert (await ground.visitor.texts(thread))[-1] == "Hello, this is Anna."
        assert not await anna.is_too_wide()
        await anna.page.get_by_role("link", name="Back to threads").tap()
        await expect(anna.rows).to_be_visible()
        await expect(anna.said.first).to_be_hidden()
        assert not await anna.is_too_wide()


@pytest.mark.parametrize("viewport", [WIDE, PHONE])
async def test_what_a_hostile_visitor_says_is_words(
    ground: Ground, expect: Expect, viewport: dict[str, int]
) -> None:
    thread = await ground.thread(HOSTILE, LONG, ARABIC)
    async with ground.operator(viewport=viewport) as anna:
        await anna.go("#/threads")
        await expect(anna.rows).to_have_count(1)
        assert not await anna.is_too_wide()
        await anna.open_thread(thread)
        visitors = anna.page.locator(".message.visitor .said")
        await expect(visitors).to_have_text([HOSTILE, LONG, ARABIC])
        links = visitors.get_by_role("link")
        await expect(links).to_have_text(["https://elsewhere.example/a?b=1&c"])
        await expect(links).to_have_attribute("rel", "noopener noreferrer nofollow")
        await expect(links).to_have_attribute("target", "_blank")
        assert not await anna.is_too_wide()
        await expect(anna.page.locator(".message img, .message script")).to_have_count(0)
        assert "broken" not in await anna.page.title()
        direction = "(all) => all.map((each) => getComputedStyle(each).direction)"
        assert await visitors.evaluate_all(direction) == ["ltr", "ltr", "rtl"]


async def test_a_connection_that_was_cut_loses_and_doubles_nothing(
    ground: Ground, expect: Expect
) -> None:
    thread = await ground.thread("Before")
    async with ground.operator() as anna:
        await anna.open_thread(thread)
        await anna.take_over()
        lost = anna.page.get_by_text("The connection is lost; trying again")
        for nth in range(2):
            await anna.page.context.set_offline(True)
            await expect(lost).to_be_visible()
            await expect(anna.page.get_by_text("New messages cannot be shown")).to_be_visible()
            await ground.visitor.post(thread, f"Meanwhile {nth}")
            await anna.answer.fill("Half typed")
            await anna.press("Enter")
            await expect(anna.rows).to_have_count(1)
            alert = anna.page.get_by_role("alert")
            await expect(alert).to_contain_text("cannot be reached")
            await expect(anna.answer).to_have_value("Half typed")
            await anna.page.context.set_offline(False)
            await expect(anna.said.last).to_have_text(f"Meanwhile {nth}")
            await expect(lost).to_be_hidden()
            await expect(anna.page.get_by_text("New messages cannot be shown")).to_be_hidden()
        await anna.say("Here again.")
        assert await anna.texts() == await ground.visitor.texts(thread)


async def test_what_was_not_sent_is_kept_and_it_is_said_why(ground: Ground, expect: Expect) -> None:
    thread = await ground.thread("Hello")

    async def busy(route: Route) -> None:
        error = {"code": "unavailable", "message": "The desk is busy.", "param": None}
        await route.fulfill(status=503, json={"error": error})

    async with ground.operator() as anna:
        await anna.open_thread(thread)
        await anna.take_over()
        await anna.page.route("**/say", busy)
        await anna.answer.fill("My words")
        await anna.press("Enter")
        alert = anna.page.get_by_role("alert")
        await expect(alert).to_have_text("The desk is busy. Nothing was sent.")
        await anna.page.reload()
        await expect(anna.answer).to_have_value("My words")
        await anna.page.unroute("**/say")
        await anna.answer.press("Enter")
        await expect(anna.said.last).to_have_text("My words")
        await expect(anna.answer).to_have_value("")


async def test_where_the_session_is_over_one_signs_in_again_and_types_on(
    ground: Ground, expect: Expect
) -> None:
    thread = await ground.thread("Hello")
    async with ground.operator() as anna:
        await anna.open_thread(thread)
        await anna.take_over()
        await anna.answer.fill("Half typed")
        await anna.page.context.clear_cookies()
        await anna.press("Enter")
        await expect(anna.page.get_by_text("Your session has ended.")).to_be_visible()
        await anna.page.get_by_label("API key").fill("desk_wrong")
        await anna.press("Enter")
        await expect(anna.page.get_by_role("alert")).to_be_visible()
        await anna.sign_in()
        await expect(anna.answer).to_have_value("Half typed")
        await anna.answer.press("Enter")
        await expect(anna.said.last).to_have_text("Half typed")

        await anna.answer.fill("Never sent")
        await anna.page.locator("summary", has_text="anna").click()
        await anna.button("Sign out").click()
        await expect(anna.page.get_by_text("You are signed out.")).to_be_visible()
        assert await anna.page.evaluate("Object.keys(sessionStorage)") == []
        await anna.page.reload()
        await expect(anna.page.get_by_label("API key")).to_be_focused()


async def test_what_one_looks_for_stands_in_the_address(ground: Ground, expect: Expect) -> None:
    await ground.thread("Do you sell lamps?")
    mine = await ground.thread("Do you sell chairs?")
    async with ground.operator() as anna:
        await anna.open_thread(mine)
        await anna.take_over()
        await anna.page.get_by_role("searchbox").fill("LAMPS")
        await expect(anna.rows).to_have_count(1)
        await expect(anna.rows).to_contain_text(ANSWER)
        await anna.page.reload()
        await expect(anna.page.get_by_role("searchbox")).to_have_value("LAMPS")
        await expect(anna.rows).to_have_count(1)
        await anna.page.get_by_label("Answered by").select_option("Mine")
        await expect(anna.page.get_by_text("No matches.")).to_be_visible()
        await anna.button("Clear filters").click()
        await expect(anna.rows).to_have_count(2)
        await anna.page.get_by_label("Answered by").select_option("Mine")
        await expect(anna.rows).to_have_count(1)
        await expect(anna.page).to_have_url(re.compile(rf"#/threads/{mine}\?owner=mine$"))


async def test_of_a_long_conversation_the_newest_comes_first_and_the_rest_on_demand(
    ground: Ground, expect: Expect
) -> None:
    thread = await ground.thread("Begin")
    async with ground.operator() as anna:
        await anna.open_thread(thread)
        await anna.take_over()  # nobody answers what follows
        for nth in range(60):
            await ground.visitor.post(thread, f"Message {nth}")
        await anna.page.reload()
        await expect(anna.said).to_have_count(50)
        await expect(anna.said.last).to_be_in_viewport()
        await anna.page.get_by_role("region", name="Messages").press("Home")
        first = anna.said.get_by_text("Message 10", exact=True)
        await expect(first).to_be_in_viewport()
        await anna.button("Show earlier messages").click()
        await expect(anna.said).to_have_count(62)
        await expect(first).to_be_in_viewport()
        await ground.visitor.post(thread, "The newest")
        await anna.button("New messages below").click()
        await expect(anna.said.last).to_be_in_viewport()
        await expect(anna.said.last).to_have_text("The newest")
        await expect(anna.button("Show earlier messages")).to_be_hidden()
        assert await anna.texts() == await ground.visitor.texts(thread)


async def test_a_page_out_of_sight_goes_on_where_it_was(ground: Ground, expect: Expect) -> None:
    thread = await ground.thread("Hello")
    hide = "(hidden) => { Object.defineProperty(document, 'hidden', { get: () => hidden,"
    hide += " configurable: true }); document.dispatchEvent(new Event('visibilitychange')); }"
    async with ground.operator() as anna:
        await anna.open_thread(thread)
        await anna.take_over()
        await ground.visitor.post(thread, "Seen")
        await expect(anna.said.last).to_have_text("Seen")
        await anna.page.evaluate(hide, True)
        await ground.visitor.post(thread, "Not seen yet")
        await anna.page.evaluate(hide, False)
        await expect(anna.said.last).to_have_text("Not seen yet")
        assert await anna.texts() == await ground.visitor.texts(thread)


async def test_a_conversation_whose_last_message_was_deleted_has_no_text(
    ground: Ground, expect: Expect
) -> None:
    thread = await ground.thread("Hello")
    listed = (await ground.visitor.send("GET", f"/v1/threads/{thread}/messages")).ok["data"]
    for message in listed:
        path = f"/v1/threads/{thread}/messages/{message['id']}"
        assert (await ground.visitor.send("DELETE", path)).ok
    async with ground.operator() as anna:
        await anna.page.goto("/console#/threads")
        await expect(anna.page.locator(".row-words")).to_have_text("Agent: No text")


async def test_a_deleted_conversation_is_said_to_be_gone(ground: Ground, expect: Expect) -> None:
    thread = await ground.thread("Hello")
    async with ground.operator() as anna:
        await anna.open_thread(thread)
        await ground.visitor.send("DELETE", f"/v1/threads/{thread}")
        await expect(anna.page.get_by_role("alert")).to_have_text("This conversation was deleted.")
        await expect(anna.button("Take over")).to_be_hidden()
        await expect(anna.rows).to_have_count(0)


async def test_a_page_that_is_loaded_again_and_again_stays_within_the_limits(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with (
        talking(tmp_path, "limits.enabled=true") as talker,
        at_console(browser, talker.desk, tmp_path / "data") as anna,
    ):
        for _ in range(5):
            await anna.page.reload()
            await expect(
                anna.page.get_by_role("heading", name="Tickets", exact=True)
            ).to_be_visible()
