"""A form that a person of the site asks for is filled in at the page, in Chromium.

What is wrong with it is said by the capability, next to the field; what is sensitive is sealed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.widget import AtChat, at_page
from tests.support.clients.operator import Operator, operating, write_site
from tests.support.clients.threads import talking
from tests.support.doubles.agent import ScriptedAgent
from tests.support.plugins.decisions import SIZE
from tests.support.store.secret_search import bytes_below, found_in

if TYPE_CHECKING:
    from playwright.async_api import Expect

pytestmark = BROWSER_MARKS

ENABLED = ("capabilities.requests.open_for=3600", "capabilities.data.open_for=3600")
CARD, WRONG = "4000056655665556", "4000056655665557"
FORM: dict[str, Any] = {
    "id": "deposit",
    "title": "Deposit",
    "description": "For a lamp that is lent.",
    "form": {
        "fields": [
            {"id": "mail", "label": "Mail", "type": "email", "required": True},
            {"id": "zip", "label": "Postal code", "autocomplete": "postal-code"},
            {"id": "card", "label": "Card", "autocomplete": "cc-number", "required": True},
        ]
    },
}


async def asked_by_a_person(
    anna: Operator, visitor: AtChat, capability: str, **message: Any
) -> str:
    """Have an operator ask for something in a visitor's conversation; the thread of it."""
    await visitor.ask("Do you lend lamps?")
    await visitor.answers.wait_for()
    thread = str(await visitor.thread())
    await anna.post(f"threads/{thread}/take")
    await anna.post(f"threads/{thread}/messages", capability=capability, message=message)
    return thread


async def test_a_capabilitys_refusal_is_next_to_the_field(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    data = tmp_path / "data"
    async with (
        talking(tmp_path, *ENABLED, site=write_site(tmp_path), agent=ScriptedAgent()) as guest,
        operating(guest.desk, data, "anna") as anna,
        at_page(browser, guest.desk) as visitor,
    ):
        thread = await asked_by_a_person(anna, visitor, "data", request_data=FORM)
        await visitor.card.get_by_role("textbox", name="Mail").fill("ada@example.com")
        card = visitor.card.get_by_role("textbox", name="Card")
        await card.fill(WRONG)
        await visitor.button("Send").click()
        await expect(card).to_be_focused()
        await expect(card).to_have_attribute("aria-invalid", "true")
        await expect(visitor.card.locator(".wrong:visible")).to_have_count(1)
        await card.fill(CARD)
        await visitor.button("Send").click()
        await expect(visitor.words.last).to_have_text("Filled in.")
        await expect(visitor.card).to_contain_text("Answered.")
        assert CARD not in await visitor.page.content()
        told = (await anna.get(f"threads/{thread}/messages"))["data"]
        assert "sealed_" in str(told)
        assert CARD not in str(told)
    assert found_in(bytes_below(tmp_path), [CARD, WRONG]) == set()


async def test_a_person_who_has_the_conversation_asks_for_a_decision(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with (
        talking(tmp_path, *ENABLED, site=write_site(tmp_path), agent=ScriptedAgent()) as guest,
        operating(guest.desk, tmp_path / "data", "anna") as anna,
        at_page(browser, guest.desk) as visitor,
    ):
        thread = await asked_by_a_person(anna, visitor, "requests", request_decision=SIZE)
        await visitor.card.get_by_role("radio", name="m").check()
        await visitor.button("Choose").click()
        await expect(visitor.card).to_contain_text("Answered.")
        told = (await anna.get(f"threads/{thread}/messages"))["data"]
        assert "'state': 'answered'" in str(told)
