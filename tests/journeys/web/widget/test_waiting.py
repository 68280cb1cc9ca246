"""Nobody answers, or nobody is there: the chat asks for an email address, once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from aitp_desk.app.server import RunningServer
from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.console import at_console
from tests.support.browser.widget import PHONE, at_chat, hosting, write_host_page
from tests.support.clients.operator import Operator, operating
from tests.support.desk.server import serving

if TYPE_CHECKING:
    from playwright.async_api import Expect

pytestmark = BROWSER_MARKS

WISH = "Talk to a person"
ADDRESS = "ada@example.com"


class Ground(NamedTuple):
    """A desk, an operator of its console, and the address of a page with the chat."""

    desk: RunningServer
    anna: Operator
    url: str

    async def find_ticket(self) -> Any:
        """The only ticket, as the console shows it."""
        (ticket,) = (await self.anna.get("tickets"))["data"]
        return ticket


@asynccontextmanager
async def waiting(tmp_path: Path, *settings: str) -> AsyncIterator[Ground]:
    """A desk whose visitors may ask for people, and a site with the chat."""
    async with AsyncExitStack() as stack:
        site = await stack.enter_async_context(hosting())
        named = (f"widget.origins=['{site.url}']", "tickets.people=on_request", *settings)
        desk = await stack.enter_async_context(serving(tmp_path / "data", *named))
        anna = await stack.enter_async_context(operating(desk, tmp_path / "data"))
        site.put("/", write_host_page(desk.url), desk.url)
        site.put("/rtl", write_host_page(desk.url, lang="ar", direction="rtl"), desk.url)
        yield Ground(desk, anna, f"{site.url}/")


async def test_a_visitor_whom_nobody_answers_leaves_an_address_for_the_operators(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with (
        waiting(tmp_path, "tickets.answer_minutes=0") as ground,
        at_chat(browser, ground.url) as visitor,
    ):
        form = visitor.page.get_by_role("form", name="Email address (optional)")
        await visitor.ask(WISH)
        await expect(form).to_contain_text("Nobody has answered yet.")
        assert await visitor.focused() == "textarea"
        box = form.get_by_label("Email address (optional)")
        await expect(box).to_have_attribute("autocomplete", "email")
        assert await find_flaws(visitor.page) == []
        await box.fill("ada")
        await visitor.press("Enter")
        assert "contact" not in await ground.find_ticket()
        await box.fill(ADDRESS)
        await visitor.press("Enter")
        await expect(form).to_be_hidden()
        await expect(visitor.notes.last).to_contain_text("can now reach you by email too")
        assert await visitor.focused() == "textarea"
        ticket = await ground.find_ticket()
        assert (ticket["contact"], ticket["thread"]) == (ADDRESS, await visitor.thread())
        await visitor.page.reload()
        await visitor.open()
        await expect(visitor.answers).to_have_count(1)
        await visitor.page.wait_for_timeout(2500)
        await expect(form).to_be_hidden()
        await visitor.choose("Delete my conversation")
        await visitor.page.get_by_role("button", name="Delete", exact=True).click()
        await expect(visitor.questions).to_have_count(0)
        shown = (await ground.anna.get("tickets?state=all"))["data"]
        assert not any("contact" in one for one in shown)


async def test_a_ticket_is_a_card_with_its_number_its_state_and_who_has_it(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with (
        waiting(tmp_path) as ground,
        at_chat(browser, ground.url, viewport=PHONE) as visitor,
    ):
        await visitor.ask(WISH)
        await expect(visitor.card.get_by_role("heading")).to_have_text("Handed to a person")
        ticket = await ground.find_ticket()
        await expect(visitor.card).to_contain_text(f"Number: {ticket['id']}")
        number = visitor.card.locator("code")
        assert await number.evaluate("one => one.getClientRects().length") == 1, "on one line"
        await expect(visitor.card.get_by_role("status")).to_have_text("Nobody has taken it yet.")
        await expect(visitor.card).to_contain_text("You can go on writing here.")
        assert not await visitor.is_too_wide()
        assert await find_flaws(visitor.page) == []
        await ground.anna.post(f"threads/{ticket['thread']}/take")
        await expect(visitor.card.get_by_role("status")).to_have_text("anna has taken it.")
        await visitor.page.reload()
        await visitor.open()
        await expect(visitor.card.get_by_role("status")).to_have_text("anna has taken it.")
        await ground.anna.post(f"threads/{ticket['thread']}/resolve", words="Here I am.")
        await expect(visitor.card).to_contain_text("Answered.")
        await expect(visitor.card.get_by_role("status")).to_have_count(0)


async def test_who_is_answered_or_declines_is_not_asked_for_an_address(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with (
        waiting(tmp_path, "tickets.answer_minutes=0") as ground,
        at_chat(browser, ground.url) as visitor,
    ):
        form = visitor.page.get_by_role("form", name="Email address (optional)")
        await visitor.ask(WISH)
        await form.get_by_label("Email address (optional)").fill("ad")
        ticket = await ground.find_ticket()
        await ground.anna.post(f"tickets/{ticket['id']}/answer", words="Here I am.")
        await expect(visitor.people).to_contain_text("Here I am.")
        await expect(form).to_be_hidden()
        assert await visitor.focused() == "textarea", "the form is gone"
        await visitor.ask(WISH)
        await expect(form).to_be_visible()
        await form.get_by_role("button", name="No, thank you").click()
        await expect(form).to_be_hidden()
        await visitor.page.reload()
        await visitor.open()
        await expect(visitor.people).to_have_count(1)
        await visitor.page.wait_for_timeout(2500)
        await expect(form).to_be_hidden()


async def test_a_visitor_sees_that_an_answer_is_typed_at_the_ticket(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with (
        waiting(tmp_path) as ground,
        at_console(browser, ground.desk, tmp_path / "data", "ben") as ben,
        at_chat(browser, ground.url) as visitor,
    ):
        await visitor.ask(WISH)
        await expect(ben.rows).to_have_count(1)
        await ben.rows.click()
        await ben.button("Take").click()
        await expect(visitor.notes).to_have_text("ben has joined and answers from now on.")
        await ben.page.get_by_label("Answer", exact=True).press_sequentially("We")
        await expect(visitor.page.locator(".typing")).to_be_visible()
        await ben.press("Enter")
        await expect(visitor.people).to_contain_text("We")
        await expect(visitor.page.locator(".typing")).to_be_hidden()


async def test_an_operator_at_the_console_and_a_visitor_at_the_chat_talk_live(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with (
        waiting(tmp_path) as ground,
        at_console(browser, ground.desk, tmp_path / "data", "ben") as ben,
        at_chat(browser, ground.url, viewport=PHONE) as visitor,
    ):
        await visitor.ask(WISH)
        await expect(ben.rows).to_have_count(1)
        await ben.rows.click()
        await expect(ben.page.get_by_role("link", name="Open", exact=True)).to_be_visible()
        await ben.press("o")
        await expect(ben.button("Take over")).to_be_visible()
        await ben.press("t")
        await expect(ben.answer).to_be_focused()
        await expect(visitor.notes).to_have_text("ben has joined and answers from now on.")
        await ben.page.keyboard.type("We have **two**.")
        await expect(visitor.page.locator(".typing")).to_be_visible()
        await ben.press("Enter")
        await expect(visitor.people).to_have_count(1, timeout=1000)
        await expect(visitor.people.locator(".name")).to_have_text("ben")
        await expect(visitor.people.locator("strong")).to_have_text("two")
        await expect(ben.answer).to_be_focused()
        await visitor.ask("Thank you!")
        await expect(ben.said.last).to_have_text("Thank you!", timeout=1000)
        await expect(visitor.answers).to_have_count(1)  # the agent is silent
        await ben.press("Escape", "b")
        await expect(visitor.notes.last).to_have_text("The assistant answers again.")


async def test_the_menu_offers_to_talk_to_a_person_if_the_owner_wants_it(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with (
        waiting(tmp_path) as ground,
        at_chat(browser, ground.url, locale="fr-FR") as visitor,
    ):
        await visitor.ask("How long may I return a book?")
        await visitor.page.get_by_role("button", name="Plus").click()
        await visitor.page.get_by_role("button", name="Parler à une personne").click()
        await expect(visitor.questions.last).to_contain_text("Parler à une personne")
        await expect(visitor.answers).to_have_count(2)
        assert await visitor.focused() == "textarea"
        assert (await ground.find_ticket())["kind"] == "request"
    async with (
        waiting(tmp_path / "second", "widget.ask_person=false") as ground,
        at_chat(browser, ground.url) as visitor,
    ):
        await visitor.ask("How long may I return a book?")
        await visitor.page.get_by_role("button", name="More").click()
        await expect(visitor.page.locator(".menu button")).to_have_count(2)


@pytest.mark.parametrize(
    ("locale", "label", "why"),
    [
        ("en-US", "Email address (optional)", "Nobody is here right now. People answer again from"),
        ("pl-PL", "Adres e-mail (opcjonalnie)", "W tej chwili nikogo nie ma. Odpowiemy ponownie"),
        ("ja-JP", "メールアドレス（任意）", "ただいま担当者は不在です。"),
        ("ar", "Email address (optional)", "Nobody is here right now."),
    ],
)
async def test_outside_the_hours_the_chat_says_when_people_answer_again(
    tmp_path: Path, browser: OpenBrowser, expect: Expect, locale: str, label: str, why: str
) -> None:
    opens = datetime.now(UTC) + timedelta(days=2)
    day = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")[opens.weekday()]
    hours = f"tickets.hours=['{day} 10:00-11:00']"
    async with waiting(tmp_path, hours, "site.timezone=UTC") as ground:
        page = f"{ground.url}rtl" if locale == "ar" else ground.url
        async with at_chat(
            browser, page, locale=locale, viewport=PHONE, timezone_id="UTC"
        ) as visitor:
            form = visitor.page.get_by_role("form", name=label)
            await visitor.ask(WISH)
            await expect(form).to_contain_text(why)
            if locale == "en-US":
                await expect(form).to_contain_text(f"{opens:%A, %B} {opens.day}")
                await expect(form).to_contain_text("10:00")
            assert not await visitor.is_too_wide()
            assert await find_flaws(visitor.page) == []
