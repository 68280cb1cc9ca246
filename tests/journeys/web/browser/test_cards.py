"""What the desk asks by messages is answered in place, in Chromium, with a real desk behind it.

The agent is scripted: it asks what a test wants asked, and keeps what it is answered.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from aitp_desk.agent.base import Answer, Clarification, Outcome, Turn
from aitp_desk.model.conversation.spoken import Spoken
from aitp_desk.model.errors import InvalidRequest
from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import OpenBrowser
from tests.support.browser.page import PHONE, AtPage, at_page
from tests.support.desk.server import serving
from tests.support.doubles.agent import ScriptedAgent
from tests.support.plugins.decisions import CANCEL, COLOURS, SIZE, TENTS
from tests.support.plugins.message_monitor import Overheard

if TYPE_CHECKING:
    from playwright.async_api import Expect

pytestmark = pytest.mark.servers

HELP = "For the parcel's number."
FORM: dict[str, Any] = {
    "id": "address",
    "title": "Where shall it go?",
    "description": "We ship within the country.",
    "fillButtonLabel": "Use this address",
    "remembers": True,
    "form": {
        "fields": [
            {"id": "name", "label": "Name", "required": True, "autocomplete": "shipping name"},
            {
                "id": "mail",
                "label": "Mail address",
                "type": "email",
                "required": True,
                "description": HELP,
            },
            {"id": "street", "label": "Street", "type": "textarea"},
            {"id": "country", "type": "combobox", "options": ["France", "Italy"]},
            {
                "id": "speed",
                "label": "How fast",
                "type": "select",
                "options": ["Standard", "Express"],
                "required": True,
                "default_value": "Standard",
            },
            {"id": "parcels", "label": "Parcels", "type": "number", "default_value": "1"},
            {"id": "phone", "label": "Phone", "type": "tel"},
            {"id": "born", "label": "Day of birth", "autocomplete": "bday"},
            {"id": "card", "label": "Card number", "autocomplete": "cc-number"},
            {"id": "gate", "label": "Gate code", "sensitive": True},
        ]
    },
}
SECRET = "4111 1111 1111 1111"
HOSTILE: dict[str, Any] = {
    "id": "hostile",
    "title": "<img src=x onerror=\"document.title='broken'\">",
    "description": "[go](javascript:alert(1))",
    "options": [
        {
            "id": "x",
            "name": "<b>x</b>",
            "url": "javascript:alert(1)",
            "image_url": "https://elsewhere.example/x.png",
        }
    ],
}
CARDS: dict[str, dict[str, Any]] = {
    "size": {"request_decision": SIZE},
    "colours": {"request_decision": COLOURS},
    "tents": {"request_decision": TENTS},
    "cancel": {"request_decision": CANCEL},
    "address": {"request_data": FORM},
    "hostile": {"request_decision": HOSTILE},
}


def spoken(message: dict[str, Any]) -> Spoken:
    """A message as the desk says it."""
    slug = "data" if message.keys() & {"request_data", "data"} else "requests"
    schema = {"$schema": f"aitp.dev/{slug}"}
    return Spoken("In words.", slug, json.dumps(schema | message))


class Asking:
    """Asks what a question names, else says what it was answered.

    Attributes:
        refusal: what the next message is refused with.
        then: what is said next to a message.
        turns: what it was asked, in order.
    """

    def __init__(self) -> None:
        self.refusal: InvalidRequest | None = None
        self.then: Outcome = Answer("Thank you.")
        self.turns: list[Turn] = []

    async def __call__(self, turn: Turn) -> Outcome:
        self.turns.append(turn)
        asked = turn.clarification or turn.question
        if asked in CARDS:
            said = (Spoken("One moment."), spoken(CARDS[asked]))
            return Clarification("One moment.\n\nIn words.", spoken=said)
        if self.refusal is not None:
            raise self.refusal
        return self.then


@asynccontextmanager
async def asked(
    tmp_path: Path, browser: OpenBrowser, asking: Asking | None = None, **options: Any
) -> AsyncIterator[AtPage]:
    """A visitor at a desk where this is asked."""
    agent = ScriptedAgent(asking or Asking())
    async with (
        serving(tmp_path / "data", agent=agent) as desk,
        at_page(browser, desk, **options) as visitor,
    ):
        yield visitor


async def test_one_of_several_is_chosen_with_the_keyboard_alone(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with asked(tmp_path, browser) as visitor:
        await visitor.ask("size")
        await expect(visitor.said).to_have_text("One moment.")
        await expect(visitor.card.get_by_role("heading")).to_have_text("Size?")
        await visitor.press("Shift+Tab")
        await expect(visitor.button("Choose")).to_be_focused()
        await visitor.press("Enter")
        await expect(visitor.card.get_by_role("alert")).to_have_text("Choose one.")
        await visitor.press("ArrowDown", "Enter")
        await expect(visitor.said).to_have_text("Thank you.")
        await expect(visitor.turn.get_by_role("heading", level=2)).to_have_text("m")
        await expect(visitor.turn).to_be_focused()
        await expect(visitor.card).to_contain_text("Answered.")
        await expect(visitor.card.get_by_role("radio")).to_have_count(0)
        assert visitor.messages() == [
            {"decision": {"request_decision_id": "size", "options": [{"id": "m"}]}}
        ]
        first, second = visitor.posted()
        assert first["context"]["accept_types"] == [
            "x-aitp/requests",
            "x-aitp/data",
            "x-aitp/payments",
        ]
        assert second["session_id"], "it is answered where it was asked"
        assert json.loads(second["query"])["$schema"] == "aitp.dev/requests"


async def test_several_are_chosen(tmp_path: Path, browser: OpenBrowser, expect: Expect) -> None:
    async with asked(tmp_path, browser) as visitor:
        await visitor.ask("colours")
        await visitor.button("Choose").click()
        await expect(visitor.card.get_by_role("alert")).to_have_text("Choose one or several.")
        await visitor.card.get_by_text("Red").click()
        await expect(visitor.card.get_by_role("alert")).to_be_hidden()
        await visitor.card.get_by_role("checkbox", name="g").check()
        await visitor.button("Choose").click()
        await expect(visitor.turn.get_by_role("heading", level=2)).to_have_text("Red, g")
        assert visitor.messages()[0]["decision"]["options"] == [{"id": "r"}, {"id": "g"}]


async def test_products_are_counted(tmp_path: Path, browser: OpenBrowser, expect: Expect) -> None:
    async with asked(tmp_path, browser) as visitor:
        await visitor.ask("tents")
        card = visitor.card
        await expect(card).to_contain_text("4.5 of 5 stars, 12 reviews")
        await expect(card.get_by_role("link", name="Details of Ridge")).to_have_attribute(
            "href", "https://shop.example/ridge"
        )
        await visitor.button("Choose").click()
        await expect(card.get_by_role("alert")).to_have_text("Enter a quantity for at least one.")
        await visitor.button("One more: Ridge – green").click()
        await visitor.button("One more: Ridge – green").click()
        await visitor.button("One less: Ridge – green").click()
        cove = card.get_by_role("spinbutton", name="How many: Cove")
        await cove.fill("1.5")
        await visitor.button("Choose").click()
        await expect(cove).to_be_focused()
        await expect(cove).to_have_accessible_description("Enter a whole number, such as 2.")
        await cove.fill("2")
        await expect(cove).not_to_have_attribute("aria-invalid", "true")
        await expect(card.get_by_role("status")).to_have_text("Total: $759.48")
        await visitor.press("Enter")
        await expect(visitor.turn.get_by_role("heading", level=2)).to_have_text(
            "Ridge – green, 2 × Cove"
        )
        assert visitor.messages() == [
            {
                "decision": {
                    "request_decision_id": "tents",
                    "options": [
                        {"id": "ridge-green", "quantity": 1},
                        {"id": "cove", "quantity": 2},
                    ],
                }
            }
        ]


async def test_a_yes_is_one_button(tmp_path: Path, browser: OpenBrowser, expect: Expect) -> None:
    async with asked(tmp_path, browser) as visitor:
        await visitor.ask("cancel")
        await visitor.button("No, keep it").click()
        await expect(visitor.turn.get_by_role("heading", level=2)).to_have_text("No, keep it")
        assert visitor.messages()[0]["decision"]["options"] == [{"id": "n"}]


async def test_a_form_shows_errors_next_to_its_fields(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    asking = Asking()
    async with asked(tmp_path, browser, asking) as visitor:
        await visitor.ask("address")
        name, mail = visitor.card.get_by_label("Name"), visitor.card.get_by_label("Mail address")
        await visitor.button("Use this address").click()
        await expect(name).to_be_focused()
        await expect(name).to_have_accessible_description("This is required.")
        await expect(mail).to_have_accessible_description(f"{HELP} This is required.")
        await name.fill("Ada")
        await expect(name).not_to_have_attribute("aria-invalid", "true")
        await mail.fill("nobody")
        await visitor.press("Enter")
        await expect(mail).to_be_focused()
        await expect(mail).to_have_accessible_description(
            f"{HELP} Enter an email address, such as name@example.com."
        )
        await mail.fill("ada@example.com")
        asking.refusal = InvalidRequest("No such mailbox.", param="data.fields[1].value")
        await visitor.press("Enter")
        await expect(mail).to_have_accessible_description(f"{HELP} No such mailbox.")
        await expect(mail).to_be_focused()
        asking.refusal = InvalidRequest("Not on Sundays.", param="data")
        await visitor.press("Enter")
        await expect(visitor.card.get_by_role("alert")).to_have_text("Not on Sundays.")
        await expect(visitor.turns).to_have_count(1)
        asking.refusal = None
        assert "remember" not in visitor.messages()[-1]["data"]
        await visitor.card.get_by_label("Remember this for the next form").check()
        await visitor.button("Use this address").click()
        await expect(visitor.said).to_have_text("Thank you.")
        await expect(visitor.turn.locator("dd")).to_have_text(
            ["Ada", "ada@example.com", "Standard", "1"]
        )
        assert visitor.messages()[-1] == {
            "data": {
                "request_data_id": "address",
                "fields": [
                    {"id": "name", "value": "Ada"},
                    {"id": "mail", "value": "ada@example.com"},
                    {"id": "speed", "value": "Standard"},
                    {"id": "parcels", "value": "1"},
                ],
                "remember": True,
            }
        }


async def test_what_is_too_long_to_be_sent_is_said_before_it_is(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with asked(tmp_path, browser) as visitor:
        await visitor.ask("address")
        street = visitor.card.get_by_label("Street")
        assert await street.get_attribute("maxlength") == "2000"
        await visitor.card.get_by_label("Name").fill("Ada")
        await visitor.card.get_by_label("Mail address").fill("ada@example.com")
        await street.fill('"' * 2000)
        await visitor.button("Use this address").click()
        await expect(visitor.card.get_by_role("alert")).to_contain_text("Please shorten it.")
        assert len(visitor.posted()) == 1
        await street.fill("Elm")
        await visitor.button("Use this address").click()
        await expect(visitor.said).to_have_text("Thank you.")


async def test_each_field_is_typed_as_what_it_is(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with asked(tmp_path, browser) as visitor:
        await visitor.ask("address")
        seen = {}
        for field in await visitor.card.locator(".entry").locator("input, select, textarea").all():
            seen[await field.get_attribute("name")] = [
                await field.evaluate("field => field.type"),
                await field.get_attribute("inputmode"),
                await field.get_attribute("autocomplete"),
            ]
        assert seen == {
            "name": ["text", None, "shipping name"],
            "mail": ["email", "email", None],
            "street": ["textarea", None, None],
            "country": ["text", None, None],
            "speed": ["select-one", None, None],
            "parcels": ["number", "decimal", None],
            "phone": ["tel", "tel", None],
            "born": ["date", None, "bday"],
            "card": ["text", "numeric", "cc-number"],
            "gate": ["text", None, "off"],
        }
        proposed = visitor.card.locator("datalist option")
        assert await proposed.evaluate_all("all => all.map(one => one.value)") == [
            "France",
            "Italy",
        ]
        await expect(visitor.card.get_by_label("Name")).to_have_attribute("required", "")


async def test_what_is_sensitive_is_masked_and_not_told_again(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    asking = Asking()
    asking.then = Clarification("Shall it be paid?", ("yes", "no"))
    async with asked(tmp_path, browser, asking) as visitor:
        await visitor.ask("address")
        card = visitor.card.get_by_label("Card number", exact=True)
        assert await card.evaluate("f => getComputedStyle(f).webkitTextSecurity") == "disc"
        show = visitor.button("Show what is typed as Card number")
        await show.click()
        assert await card.evaluate("f => getComputedStyle(f).webkitTextSecurity") == "none"
        await expect(show).to_have_attribute("aria-pressed", "true")
        await card.fill(SECRET)
        await visitor.card.get_by_label("Name").fill("Ada")
        await visitor.card.get_by_label("Mail address").fill("ada@example.com")
        await visitor.button("Use this address").click()
        await expect(visitor.turn.locator("dd").last).to_have_text("••••")
        await visitor.ask("yes")
        assert SECRET not in await visitor.page.content()
        assert [SECRET in json.dumps(body) for body in visitor.posted()] == [False, True, False]
        assert visitor.posted()[-1]["query"] == "Where shall it go?"


async def test_words_still_answer(tmp_path: Path, browser: OpenBrowser, expect: Expect) -> None:
    async with asked(tmp_path, browser) as visitor:
        await visitor.ask("size")
        await visitor.ask("the second one")
        await expect(visitor.said).to_have_text("Thank you.")
        last = visitor.posted()[-1]
        assert (last["query"], last["clarification"]) == ("size", "the second one")


async def test_what_was_asked_is_closed_where_it_was_answered_or_replaced(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    asking = Asking()
    async with asked(tmp_path, browser, asking) as visitor:
        for question in ("size", "cancel"):
            await visitor.ask(question)
        size, cancel = visitor.page.locator(".card").nth(0), visitor.page.locator(".card").nth(1)
        chosen = [{"id": "m", "name": "m"}]
        asking.then = Answer(
            "In words.",
            spoken=(spoken({"decision": {"request_decision_id": "size", "options": chosen}}),),
        )
        await visitor.ask("m, please")
        await expect(size).to_contain_text("Chosen: m.")
        await expect(visitor.turn).to_contain_text("Chosen: m.")
        newer = {"request_decision": {**SIZE, "id": "newer", "supersedes": "cancel"}}
        asking.then = Clarification("In words.", spoken=(spoken(newer),))
        await visitor.ask("Something else.")
        await expect(cancel).to_contain_text("Replaced by a newer question.")
        await expect(visitor.card.get_by_role("radio")).to_have_count(2)


async def test_what_is_not_answered_in_time_is_closed(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    asking = Asking()
    until = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    short = {"request_decision": {**SIZE, "valid_until": until}}
    asking.then = Clarification("In words.", spoken=(spoken(short),))
    async with asked(tmp_path, browser, asking) as visitor:
        await visitor.page.clock.install()
        await visitor.ask("short")
        await expect(visitor.card).to_contain_text("Open until")
        await visitor.page.clock.run_for(3_700_000)
        await expect(visitor.card).to_contain_text("Not answered in time.")
        await expect(visitor.card.get_by_role("radio")).to_have_count(0)


async def test_a_message_that_cannot_be_shown_is_rendered_as_text(
    tmp_path: Path, browser: OpenBrowser, expect: Expect, overheard: Overheard
) -> None:
    asking = Asking()
    by_address = {"id": "f", "form": {"json_url": "https://forms.example/f.json"}}
    asking.then = Clarification("In words.", spoken=(spoken({"request_data": by_address}),))
    async with asked(tmp_path, browser, asking) as visitor:
        await visitor.ask("anything")
        await expect(visitor.said).to_have_text("In words.")
        await expect(visitor.card).to_have_count(0)
    assert overheard.wrong(), "no capability would say that"


async def test_what_others_have_written_stays_text(
    tmp_path: Path, browser: OpenBrowser, expect: Expect, overheard: Overheard
) -> None:
    async with asked(tmp_path, browser) as visitor:
        title = await visitor.page.title()
        await visitor.ask("hostile")
        await expect(visitor.card.get_by_role("heading")).to_contain_text("<img src=x onerror=")
        await expect(visitor.card).to_contain_text("<b>x</b>")
        await expect(visitor.card.locator("img, a")).to_have_count(0)
        assert await visitor.page.title() == title
        desk = visitor.requests[0].url
        assert all(request.url.startswith(desk) for request in visitor.requests)
    assert overheard.wrong(), "no capability would say that"


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_cards_fit_a_phone_in_both_schemes_and_are_there_for_everybody(
    tmp_path: Path, browser: OpenBrowser, scheme: str
) -> None:
    async with asked(
        tmp_path, browser, viewport=PHONE, color_scheme=scheme, has_touch=True
    ) as visitor:
        for question in ("size", "colours", "tents", "cancel", "address"):
            await visitor.ask(question)
            assert not await visitor.is_too_wide(), question
        await visitor.button("Use this address").click()
        assert await find_flaws(visitor.page) == []
