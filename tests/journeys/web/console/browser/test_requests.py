"""Operators at the console where decisions and data are asked for, in Chromium.

Playwright is imported by the fixtures alone: ``make test`` collects this file without having it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.console import PHONE, WIDE, AtConsole, at_console
from tests.support.clients.threads import Talker, talking
from tests.support.doubles.agent import ScriptedAgent
from tests.support.plugins.decisions import CANCEL, SIZE, TENTS
from tests.support.sites.tents import buying

if TYPE_CHECKING:
    from playwright.async_api import Expect, Route

pytestmark = BROWSER_MARKS

SLUG = "aitp.dev/requests"
SELLER = "https://seller.example"
HOSTILE = "<img src=x onerror=\"document.title='broken'\"> \u202e abc"


class Ground:
    """A desk, a caller's agent who talks with another's there, and a browser for its operators."""

    def __init__(self, talker: Talker, guest: Talker, data: Path, browser: OpenBrowser) -> None:
        self.desk = talker.desk
        self.guest = guest
        self._data = data
        self._browser = browser

    def operator(
        self, name: str = "anna", **options: Any
    ) -> AbstractAsyncContextManager[AtConsole]:
        return at_console(self._browser, self.desk, self._data, name, **options)

    async def thread(self, *requests: dict[str, Any]) -> str:
        """A conversation in which a seller's agent asks a buyer's for these decisions."""
        actors = [{"id": SELLER, "capabilities": [{"schema": SLUG}]}, {"id": "buyer"}]
        thread = (await self.guest.open(metadata={"actors": actors})).id
        for request in requests:
            await self.say(thread, SELLER, request_decision=request)
        return thread

    async def say(self, thread: str, actor: str, **message: Any) -> None:
        part = json.dumps({"$schema": SLUG, **message})
        said = await self.guest.post(thread, part, wait=10, metadata={"actor": actor})
        assert said.status == 200, said.body


@pytest_asyncio.fixture(loop_scope="session")
async def ground(tmp_path: Path, browser: OpenBrowser) -> AsyncIterator[Ground]:
    settings = ("capabilities.requests.open_for=3600",)
    async with talking(tmp_path, *settings, agent=ScriptedAgent()) as talker:
        yield Ground(talker, await talker.with_key("threads"), tmp_path / "data", browser)


async def test_a_request_is_a_card_and_its_answer_is_seen_as_it_comes(
    ground: Ground, expect: Expect
) -> None:
    thread = await ground.thread(TENTS)
    async with ground.operator() as anna:
        await anna.go(f"#/threads/{thread}")
        card = anna.page.get_by_role("group", name="Asks to choose, with quantities")
        await expect(card.get_by_role("heading", name="Which tent?")).to_be_visible()
        await expect(card).to_contain_text("Both fit two people.")
        await expect(card).to_contain_text("Waits for an answer since < 1 min, due in 59 min")
        await expect(card.locator(".option")).to_have_count(4)
        ridge = card.locator(".option").first
        await expect(ridge).to_contain_text("USD")
        await expect(ridge).to_contain_text("4.5 of 5 stars, 12 reviews")
        # a visitor has named it: it is a link, and the browser asks nobody for it
        await expect(ridge.locator("img")).to_have_count(0)
        await expect(
            ridge.get_by_role("link", name="https://shop.example/ridge.jpg")
        ).to_be_visible()

        await ground.say(thread, "buyer", decision={"options": [{"id": "cove", "quantity": 2}]})
        await expect(card).to_contain_text("Answered just now")
        chosen = card.locator(".option.chosen")
        await expect(chosen).to_have_count(1)
        await expect(chosen).to_contain_text("Cove")
        await expect(chosen).to_contain_text("✓ Chosen: 2")
        answer = anna.page.get_by_role("group", name="Decision")
        await expect(answer).to_contain_text("2 × Cove")
        await expect(anna.said).to_have_count(0)  # neither is JSON, nor words next to the card


async def test_a_request_that_was_replaced_or_has_had_its_time_says_so(
    ground: Ground, expect: Expect
) -> None:
    thread = await ground.thread(SIZE, SIZE | {"id": "size-2", "supersedes": "size"})
    async with ground.operator() as anna:
        await anna.go(f"#/threads/{thread}")
        cards = anna.page.get_by_role("group", name="Asks to choose one")
        await expect(cards.nth(0)).to_contain_text("Replaced by a newer request")
        await expect(cards.nth(1)).to_contain_text("Waits for an answer")
        await anna.page.clock.install()
        await anna.page.clock.set_fixed_time("2100-01-01")
        # the page holds to the clock of the desk, not to that of the browser
        await anna.page.reload()
        await expect(cards.nth(1)).to_contain_text("Waits for an answer")


async def test_nobodys_words_are_markup_in_a_card(ground: Ground, expect: Expect) -> None:
    request = CANCEL | {"title": HOSTILE, "description": HOSTILE}
    options = [{"id": "a", "name": HOSTILE, "image_url": "https://shop.example/<b>"}, {"id": "b"}]
    thread = await ground.thread(request | {"options": options})
    async with ground.operator() as anna:
        await anna.go(f"#/threads/{thread}")
        heading = anna.page.get_by_role("heading", name="<img src=x")
        await expect(heading).to_have_text(HOSTILE.replace("\u202e", "\ufffd"))
        await expect(anna.page.locator("main img")).to_have_count(0)
        assert "broken" not in await anna.page.title()


async def test_an_operator_asks_and_sees_the_answer_come(ground: Ground, expect: Expect) -> None:
    thread = (await ground.guest.open("Which tent do I need?", wait=10)).id
    async with ground.operator() as anna:
        await anna.open_thread(thread)
        await expect(anna.button("Ask…")).to_have_count(0)  # before the conversation is theirs
        await anna.take_over()
        await anna.press("Escape", "a")
        await anna.dialog.get_by_label("Question").fill("For how many people?")
        await anna.dialog.get_by_label("Option 1").fill("One")
        second = anna.dialog.get_by_role("textbox", name="Option 2")
        await second.fill("One")
        await anna.dialog.get_by_role("button", name="Ask").click()
        alert = anna.dialog.get_by_role("alert")
        await expect(alert).to_have_text("Two options have the same name.")
        await second.fill("Two")
        await anna.dialog.get_by_role("button", name="Add an option").click()
        await expect(anna.dialog.get_by_role("textbox", name="Option 3")).to_be_focused()
        await anna.page.keyboard.type("More")
        await anna.press("Enter")
        await expect(anna.dialog).to_have_count(0)
        card = anna.page.get_by_role("group", name="Asks to choose one")
        await expect(card).to_contain_text("Waits for an answer")
        asked = "For how many people?\n1. One\n2. Two\n3. More\nReply 1, 2 or 3."
        assert (await ground.guest.texts(thread))[-1] == asked

        await ground.guest.post(thread, "two please")
        await expect(card).to_contain_text("Answered just now")
        await expect(card.locator(".option.chosen")).to_contain_text("Two")
        await expect(anna.said.last).to_have_text("two please")
        answer = anna.page.get_by_role("group", name="Decision")
        await expect(answer).to_contain_text("Two")


async def test_what_the_agent_asks_for_a_call_is_seen_with_what_the_visitor_says(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with buying(tmp_path) as anybody:
        buyer = await anybody.with_key("actions", "threads")
        session, thread = await buyer.begin()
        async with at_console(browser, buyer.talker.desk, tmp_path / "data") as anna:
            await anna.go(f"#/threads/{thread}")
            cards = anna.page.locator(".asked")
            await expect(cards.first).to_contain_text("Which tent?")
            await expect(cards.first).to_contain_text("Waits for an answer")
            await expect(anna.button("Answer…")).to_have_count(0)  # it is the visitor's to answer
            await buyer.ask("the second one", session)
            await expect(cards).to_have_count(3)  # what was chosen, and what is asked next
            await expect(cards.first).to_contain_text("✓ Chosen")
            await expect(anna.said.last).to_have_text("the second one")
            await buyer.ask("blue", session)
            consent = anna.page.get_by_role("group", name="Asks for a yes or no")
            await expect(consent).to_contain_text("It costs 199 USD")
            await buyer.ask("yes", session)
            await expect(consent).to_contain_text("Answered just now")
            await expect(anna.said.last).to_have_text("The blue cove is yours.")
    assert buyer.orders == ["cove blue"]


async def test_pictures_of_the_site_are_shown_and_nobody_else_is_asked_for_one(
    ground: Ground, expect: Expect
) -> None:
    thread = (await ground.guest.open("Hello", wait=10)).id
    own, other = f"{ground.desk.url}/tent.png", "https://elsewhere.example/tent.png"
    options = [{"id": "a", "image_url": own}, {"id": "b", "image_url": other}]
    async with ground.operator() as anna:
        asked: list[str] = []
        anna.page.on("request", lambda request: asked.append(request.url))
        await anna.open_thread(thread)
        await anna.take_over()
        await anna.send(thread, "requests", request_decision=SIZE | {"options": options})
        card = anna.page.get_by_role("group", name="Asks to choose one")
        await expect(card.locator("img")).to_have_attribute("src", own)
        await expect(card.get_by_role("link", name=other)).to_be_visible()
        await anna.page.wait_for_function("document.querySelector('.picture').complete")
        assert own in asked
        assert {url for url in asked if not url.startswith(ground.desk.url)} == set()


async def test_a_question_whose_answer_was_lost_on_the_way_is_asked_once(
    ground: Ground, expect: Expect
) -> None:
    thread = (await ground.guest.open("Hello", wait=10)).id

    async def lose(route: Route) -> None:
        await route.fetch()  # it arrives, and nobody hears of it
        await route.abort()

    async with ground.operator() as anna:
        await anna.open_thread(thread)
        await anna.take_over()
        await anna.page.route("**/messages", lose, times=1)
        await anna.button("Ask…").click()
        await anna.dialog.get_by_label("Question").fill("Well?")
        await anna.dialog.get_by_label("Option 1").fill("Yes")
        ask = anna.dialog.get_by_role("button", name="Ask", exact=True)
        await ask.click()
        await expect(anna.dialog.get_by_role("alert")).to_contain_text("cannot be reached")
        await ask.click()
        await expect(anna.dialog).to_have_count(0)
        await anna.page.route("**/say", lose, times=1)
        await anna.answer.fill("Are you there?")
        await anna.press("Enter")
        await expect(anna.page.get_by_role("alert").last).to_contain_text("cannot be reached")
        await anna.press("Enter")
        await expect(anna.answer).to_have_value("")
        said = await ground.guest.texts(thread)
        assert said[2:] == ["Well?\n1. Yes\nReply 1.", "Are you there?"]
        await anna.answer.fill("Are you there?")
        await anna.press("Enter")
        await expect(anna.answer).to_have_value("")
        # it is said once more where that is meant
        assert (await ground.guest.texts(thread))[3:] == ["Are you there?"] * 2


async def test_a_question_that_is_answered_late_is_marked_above(
    ground: Ground, expect: Expect
) -> None:
    thread = (await ground.guest.open("Hello", wait=10)).id
    async with ground.operator() as anna:
        await anna.open_thread(thread)
        await anna.take_over()
        await anna.send(thread, "requests", request_decision=SIZE)
        card = anna.page.get_by_role("group", name="Asks to choose one")
        await expect(card).to_contain_text("Waits for an answer")
        for nth in range(60):
            await ground.guest.post(thread, f"Something else, {nth}")
        await expect(anna.said.last).to_have_text("Something else, 59")
        await ground.guest.post(
            thread, json.dumps({"$schema": SLUG, "decision": {"options": [{"id": "m"}]}})
        )
        await expect(card).to_contain_text("Answered just now")


@pytest.mark.parametrize("kind", ["Yes or no", "Choose one or several", "Choose, with quantities"])
async def test_each_kind_of_question_can_be_asked(
    ground: Ground, expect: Expect, kind: str
) -> None:
    thread = (await ground.guest.open("Hello", wait=10)).id
    async with ground.operator() as anna:
        await anna.open_thread(thread)
        await anna.take_over()
        await anna.button("Ask…").click()
        await anna.dialog.get_by_label("Kind of request").select_option(kind)
        await anna.dialog.get_by_label("Question").fill("Well?")
        await anna.dialog.get_by_label("Option 1").fill("Yes, please")
        await anna.dialog.get_by_role("button", name="Ask").click()
        await expect(anna.dialog).to_have_count(0)
        await expect(anna.page.locator(".asked")).to_contain_text("Yes, please")
        await ground.guest.post(
            thread, "1" if kind != "Choose, with quantities" else "2 of number 1"
        )
        await expect(anna.page.locator(".asked").first).to_contain_text("Answered just now")


async def test_an_operator_answers_what_a_visitor_asks(ground: Ground, expect: Expect) -> None:
    part = json.dumps({"$schema": SLUG, "request_decision": TENTS})
    thread = (await ground.guest.open(part, wait=10)).id
    async with ground.operator() as anna:
        await anna.go(f"#/threads/{thread}")
        await anna.button("Answer…").click()
        await expect(anna.dialog).to_contain_text("This also takes over the conversation.")
        await anna.dialog.get_by_role("button", name="Answer").click()
        await expect(anna.dialog.get_by_role("alert")).to_have_text("Choose at least one.")
        await anna.dialog.get_by_label("Ridge in red").fill("3")
        await anna.press("Enter")
        await expect(anna.dialog).to_have_count(0)
        card = anna.page.get_by_role("group", name="Asks to choose, with quantities")
        await expect(card).to_contain_text("Answered just now")
        await expect(card.locator(".option.chosen")).to_contain_text("✓ Chosen: 3")
        await expect(anna.button("Answer…")).to_have_count(0)
        await expect(anna.answer).to_be_visible()  # the conversation is theirs
        assert (await ground.guest.texts(thread))[-1] == "Chosen: 3 × Ridge in red."


async def test_a_long_question_of_an_operator_is_seen_to_its_end(
    ground: Ground, expect: Expect
) -> None:
    thread = (await ground.guest.open("Hello", wait=10)).id
    async with ground.operator(viewport=PHONE) as anna:
        await anna.open_thread(thread)
        await anna.take_over()
        title = "Which of all these sizes shall it be? " * 4
        await anna.send(thread, "requests", request_decision=SIZE | {"title": title})
        heading = anna.page.get_by_role("heading", name="Which of all these sizes")
        await expect(heading).to_be_in_viewport(ratio=1)


async def test_who_answers_by_keys_is_still_in_the_conversation_then(
    ground: Ground, expect: Expect
) -> None:
    part = json.dumps({"$schema": SLUG, "request_decision": SIZE})
    thread = (await ground.guest.open(part, wait=10)).id
    async with ground.operator() as anna:
        await anna.go(f"#/threads/{thread}")
        await anna.button("Answer…").press("Enter")
        await anna.dialog.get_by_label("S", exact=True).check()
        await anna.press("Enter")
        card = anna.page.get_by_role("group", name="Asks to choose one")
        await expect(card).to_contain_text("Answered just now")
        # the button is gone that was pressed
        await expect(anna.page.get_by_role("region", name="Messages")).to_be_focused()


async def test_of_two_operators_one_answers(ground: Ground, expect: Expect) -> None:
    part = json.dumps({"$schema": SLUG, "request_decision": SIZE})
    thread = (await ground.guest.open(part, wait=10)).id
    async with ground.operator() as anna, ground.operator("bert") as bert:
        await anna.go(f"#/threads/{thread}")
        await anna.take_over()
        await bert.go(f"#/threads/{thread}")
        await bert.button("Answer…").click()
        await bert.dialog.get_by_label("S", exact=True).check()
        await bert.dialog.get_by_role("button", name="Answer").click()
        await expect(bert.dialog.get_by_role("alert")).to_contain_text("anna has taken")
        assert len(await ground.guest.texts(thread)) == 2


@pytest.mark.parametrize(
    ("scheme", "viewport"), [("light", WIDE), ("dark", WIDE), ("light", PHONE)]
)
async def test_cards_fit_and_axe_finds_nothing_wrong_with_them(
    ground: Ground, expect: Expect, scheme: str, viewport: dict[str, int]
) -> None:
    thread = await ground.thread(SIZE, TENTS | {"description": "W" * 300})
    await ground.say(
        thread, "buyer", decision={"request_decision_id": "size", "options": [{"id": "s"}]}
    )
    async with ground.operator(color_scheme=scheme, viewport=viewport) as anna:
        await anna.go(f"#/threads/{thread}")
        await expect(anna.page.get_by_role("group", name="Decision")).to_be_visible()
        assert await find_flaws(anna.page) == []
        assert not await anna.is_too_wide()
        part = json.dumps({"$schema": SLUG, "request_decision": TENTS})
        await anna.go(f"#/threads/{(await ground.guest.open(part, wait=10)).id}")
        await anna.button("Answer…").click()
        await expect(anna.dialog.get_by_label("Cove")).to_be_visible()
        assert await find_flaws(anna.page) == []
        assert not await anna.is_too_wide()
        await anna.press("Escape")
        await anna.take_over()
        await anna.button("Ask…").click()
        await anna.dialog.get_by_role("button", name="Add an option").click()
        assert await find_flaws(anna.page) == []
        assert not await anna.is_too_wide()
