"""Tickets at the console, in Chromium: what waits for a person, and that its pages are for all.

Playwright is imported by the fixtures alone: ``make test`` collects this file without having it.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.console import PHONE, WIDE, AtConsole, at_console
from tests.support.clients.operator import write_site
from tests.support.clients.threads import Talker, talking
from tests.support.sites.orders import Caller

if TYPE_CHECKING:
    from playwright.async_api import Expect

pytestmark = BROWSER_MARKS

RESET = '''
from aitp_desk.actions import Secret, action


@action(kind="async", mutability="reversible", blast_radius="self", approval=True)
def reset(account: str, password: Secret) -> str:
    """Resets an account."""
    return "Reset."
'''
PRICE = {"amount": "2.50", "currency": "EUR"}


class Ground:
    """A desk whose actions take people, who calls them, and a browser for its operators."""

    def __init__(self, talker: Talker, folder: Path, caller: Caller, browser: OpenBrowser) -> None:
        self.talker = talker
        self.caller = caller
        self._data = folder / "data"
        self._browser = browser

    def operator(
        self, name: str = "anna", **options: Any
    ) -> AbstractAsyncContextManager[AtConsole]:
        return at_console(self._browser, self.talker.desk, self._data, name, **options)

    async def quote(self, wish: str) -> str:
        """Have a quote asked for, which a person makes; the session."""
        return (await self.caller.ask({"wish": wish}, "custom_quote")).session_id

    async def refund(self, order: str) -> str:
        """Have money asked back, which takes approval; the session."""
        asked = {"order": order, "amount": 500, "_confirm": PRICE}
        return (await self.caller.ask(asked, "refund")).session_id


@pytest_asyncio.fixture(loop_scope="session")
async def ground(tmp_path: Path, browser: OpenBrowser) -> AsyncIterator[Ground]:
    site = write_site(tmp_path)
    async with talking(tmp_path, site=site) as talker:
        caller = Caller(await talker.with_key("actions", "threads"), site)
        yield Ground(talker, tmp_path, caller, browser)


async def test_what_waits_appears_by_itself_and_is_answered(ground: Ground, expect: Expect) -> None:
    async with ground.operator() as anna:
        await expect(anna.page.get_by_text("Nobody is waiting.")).to_be_visible()
        session = await ground.quote("forty lamps")
        await expect(anna.rows).to_contain_text(["Quote: forty lamps"])
        await expect(anna.page.get_by_role("link", name="Tickets 1")).to_be_visible()
        await expect(anna.page).to_have_title(re.compile(r"^\(1\) Tickets"))
        await anna.press("j", "Enter")
        await expect(anna.button("Take")).to_be_visible()
        await anna.press("t")
        await expect(anna.button("Hand back")).to_be_visible()
        await anna.press("r")
        await anna.page.keyboard.type("900 EUR.")
        await anna.page.reload()
        await expect(anna.page.get_by_label("Answer")).to_have_value("900 EUR.")
        await anna.button("Answer").click()
        outcome = anna.page.get_by_label("How it ended")
        await expect(outcome).to_contain_text("Answered by anna")
        await expect(outcome).to_contain_text("900 EUR.")
        await expect(anna.page.get_by_text("Nobody is waiting.")).to_be_visible()
        assert (await ground.caller.ended(session)).body["response"]["answer"] == "anna: 900 EUR."
        await anna.page.get_by_label("State").select_option("Done")
        await expect(anna.rows).to_contain_text(["Answered by you"])


async def test_a_ticket_is_closed_with_a_reason(ground: Ground, expect: Expect) -> None:
    session = await ground.quote("a lighthouse")
    async with ground.operator() as anna:
        await anna.rows.click()
        await anna.button("Close…").click()
        await anna.dialog.get_by_label("Why").fill("We sell none.")
        await anna.button("Close the ticket").click()
        outcome = anna.page.get_by_label("How it ended")
        await expect(outcome).to_contain_text("We sell none.")
        assert (await ground.caller.ended(session)).body["status"] == "failed"


async def test_of_two_operators_one_has_a_ticket(ground: Ground, expect: Expect) -> None:
    await ground.quote("forty lamps")
    async with ground.operator() as anna, ground.operator("bert") as bert:
        await bert.rows.click()
        await anna.rows.click()
        await anna.button("Take").click()
        await expect(bert.page.get_by_text("anna has this ticket.")).to_be_visible()
        await expect(bert.button("Answer")).to_be_hidden()
        await expect(bert.rows).to_contain_text(["Taken by anna"])
        await anna.button("Hand back").click()
        await expect(bert.button("Answer")).to_be_visible()


async def test_a_grave_call_is_shown_in_full_and_approved_at_the_second_word(
    ground: Ground, expect: Expect
) -> None:
    session = await ground.refund("B12")
    async with ground.operator() as anna:
        await anna.rows.click()
        call = anna.page.get_by_label("What it would do")
        for words in ("Pays money back.", "refund", "B12", "500", "2.50", "Cannot be undone"):
            await expect(call).to_contain_text(words)
        await anna.button("Approve…").click()
        await expect(anna.dialog).to_contain_text("B12")
        await expect(anna.button("Cancel")).to_be_focused()
        await anna.press("Enter")
        await expect(anna.dialog).to_be_hidden()
        assert ground.caller.booked == []
        await anna.button("Approve…").click()
        await anna.button("Yes, approve").click()
        await expect(anna.page.get_by_label("How it ended")).to_contain_text("Answered by anna")
        assert (await ground.caller.ended(session)).body["status"] == "success"
        assert ground.caller.booked == ["B12 500"]


async def test_what_is_to_be_approved_reads_as_it_is(ground: Ground, expect: Expect) -> None:
    await ground.refund("B12\u202e50 https://lamps.example/\u2066ged")
    async with ground.operator() as anna:
        shown = "B12\ufffd50 https://lamps.example/\ufffdged"
        await expect(anna.rows).to_contain_text(shown)
        await anna.rows.click()
        call = anna.page.get_by_label("What it would do")
        await expect(call).to_contain_text(shown)
        await expect(call.get_by_role("link")).to_have_attribute("href", "https://lamps.example/")
        await expect(anna.page.locator("h2.about")).to_contain_text(shown)


async def test_a_call_is_declined_in_its_conversation(ground: Ground, expect: Expect) -> None:
    session = await ground.refund("D1")
    thread = await ground.talker.thread_of(session)
    async with ground.operator() as anna:
        await anna.open_thread(thread)
        card = anna.page.get_by_label("Waits for a person")
        await expect(card).to_contain_text("Cannot be undone")
        await card.get_by_role("button", name="Decline…").click()
        await anna.dialog.get_by_label("Why").fill("Too late.")
        await anna.button("Decline").click()
        await expect(card).to_be_hidden()
        assert (await ground.caller.ended(session)).body["status"] == "failed"
        assert ground.caller.booked == []


async def test_a_conversation_is_resolved_with_last_words(ground: Ground, expect: Expect) -> None:
    opened = await ground.caller.talker.open({"role": "user", "content": "Hello"}, wait=10)
    async with ground.operator() as anna:
        await anna.open_thread(opened.id)
        await anna.take_over()
        await anna.answer.blur()
        await anna.press("e")
        await anna.dialog.get_by_label("Last message").fill("Have a good day.")
        await anna.button("Resolve").click()
        await expect(anna.button("Take over")).to_be_visible()
        await expect(anna.said.last).to_have_text("Have a good day.")
        assert (await ground.caller.talker.texts(opened.id))[-1] == "Have a good day."


async def test_a_visitor_who_asks_for_a_person_is_answered_by_one_until_all_is_resolved(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    wish = "Can I talk to a person about my order?"
    async with (
        talking(tmp_path, 'tickets.people="on_request"') as visitor,
        at_console(browser, visitor.desk, tmp_path / "data") as anna,
    ):
        await expect(anna.page.get_by_text("Nobody is waiting.")).to_be_visible()
        thread = (await visitor.open({"role": "user", "content": wish}, wait=10)).id
        await expect(anna.rows).to_contain_text(["Asks for a person"])
        await anna.rows.click()
        await expect(anna.said.first).to_have_text(wish)
        await anna.press("o")
        await anna.button("Take over").wait_for()
        await anna.press("t")
        await anna.say("This is Anna. What is its number?")
        await visitor.post(thread, "A7")
        await expect(anna.said.last).to_have_text("A7")
        card = anna.page.get_by_label("Waits for a person")
        await expect(card).to_contain_text("Taken by you")
        await anna.button("Resolve…").click()
        await anna.dialog.get_by_label("Last message").fill("It is on its way.")
        await anna.button("Resolve").click()
        await expect(card).to_be_hidden()
        await expect(anna.said.last).to_have_text("It is on its way.")
        assert await anna.texts() == await visitor.texts(thread)
        await anna.page.get_by_role("link", name="Tickets").click()
        await expect(anna.page.get_by_text("Nobody is waiting.")).to_be_visible()
        await visitor.post(thread, "What about a damaged parcel?", wait=10)
        assert "photo of a damaged parcel" in (await visitor.texts(thread))[-1]  # by the agent


async def test_what_is_sealed_of_a_call_is_opened_by_who_may(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    site, data, secret = write_site(tmp_path), tmp_path / "data", "Sesame-4711"
    (site / "actions.py").write_text(RESET)
    async with talking(tmp_path, site=site) as talker:
        caller = Caller(await talker.with_key("actions", "threads"), site)
        await caller.ask({"account": "aya", "password": secret}, "reset")
        async with (
            at_console(browser, talker.desk, data) as anna,
            at_console(browser, talker.desk, data, "ben", "sensitive") as ben,
        ):
            for operator in (anna, ben):
                await operator.rows.click()
                await expect(operator.page.get_by_label("What it would do")).to_contain_text("aya")
                assert secret not in await operator.page.content()
            assert await anna.page.get_by_role("button", name="Reveal").count() == 0
            await ben.button("Reveal password").click()
            await expect(ben.page.locator(".call .sealed")).to_contain_text(secret)
    assert len(talker.rows("SELECT 1 FROM audit WHERE action = 'sealed.read'")) == 1


async def test_the_load_stands_in_a_table_as_well(ground: Ground, expect: Expect) -> None:
    await ground.caller.talker.open({"role": "user", "content": "Hello"}, wait=10)
    await ground.quote("forty lamps")
    async with ground.operator() as anna:
        await anna.press("3")
        figures = anna.page.locator(".figures")
        await expect(figures).to_contain_text("Waiting1")
        await expect(anna.page.locator("svg.chart")).to_have_count(3)
        await anna.page.get_by_text("The numbers as a table").click()
        newest = anna.page.get_by_role("row").nth(1).get_by_role("cell")
        await expect(newest).to_have_count(5)
        assert int(await newest.nth(1).inner_text()) >= 2  # from visitors
        assert int(await newest.nth(2).inner_text()) == 1  # new tickets
        await anna.page.get_by_label("Period").select_option("7 days")
        await expect(anna.page.get_by_role("row")).to_have_count(7 * 24 + 1)
        await expect(anna.page).to_have_url(re.compile(r"#/load\?hours=168$"))


@pytest.mark.parametrize(
    ("scheme", "viewport"), [("light", WIDE), ("dark", WIDE), ("light", PHONE)]
)
async def test_axe_finds_nothing_wrong_with_any_view(
    ground: Ground, expect: Expect, scheme: str, viewport: dict[str, int]
) -> None:
    await ground.quote("forty lamps")
    thread = await ground.talker.thread_of(await ground.refund("B12"))
    async with ground.operator(color_scheme=scheme, viewport=viewport) as anna:
        flaws: dict[str, list[str]] = {}

        async def look(view: str) -> None:
            flaws[view] = await find_flaws(anna.page)

        await expect(anna.rows).to_have_count(2)
        await look("tickets")
        await anna.page.get_by_role("searchbox").fill("nothing of the kind")
        await expect(anna.page.get_by_text("No matches.")).to_be_visible()
        await look("nothing found")
        await anna.go("#/tickets")
        await anna.rows.filter(has_text="Quote").click()
        await expect(anna.page.get_by_label("Answer")).to_be_visible()
        await look("a ticket")
        await anna.go("#/tickets")
        await anna.rows.filter(has_text="Pays").click()
        await anna.button("Approve…").click()
        await look("an approval")
        await anna.press("Escape")
        await anna.go("#/threads")
        await expect(anna.rows).to_have_count(2)
        await look("threads")
        await anna.open_thread(thread)
        await look("a thread of the agent")
        await anna.take_over()
        await anna.say("Hello")
        await look("a thread of one's own")
        await anna.button("Internal note").click()
        await anna.note.fill("Pays late.")
        await anna.press("Enter")
        await expect(anna.page.locator(".message.note")).to_be_visible()
        await anna.page.locator(".details summary").click()
        await look("a note")
        await anna.go("#/load")
        await anna.page.get_by_text("The numbers as a table").click()
        await look("load")
        await anna.press("?")
        await look("keys")
        await anna.press("Escape")
        await anna.page.locator("summary", has_text="anna").click()
        await look("menu")
        await anna.button("Sign out").click()
        await expect(anna.page.get_by_text("You are signed out.")).to_be_visible()
        await look("sign-in")
        assert len(flaws) == 12
        assert {view: found for view, found in flaws.items() if found} == {}
