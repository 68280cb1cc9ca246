"""What each card of the chat takes, says and sends, in Chromium, with a real desk behind it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.seller import SLUGS, selling
from tests.support.browser.widget import PHONE
from tests.support.plugins.decisions import CANCEL, COLOURS, SIZE, TENTS

if TYPE_CHECKING:
    from playwright.async_api import Expect

pytestmark = BROWSER_MARKS

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
            "image_url": "https://elsewhere.example/x.png",
        }
    ],
}


async def test_one_of_several_is_chosen_with_the_keyboard_alone(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with selling(tmp_path, browser) as (visitor, seller):
        await seller.ask(request_decision=SIZE)
        await expect(visitor.card.get_by_role("heading")).to_have_text("Size?")
        await visitor.button("Choose").focus()
        await visitor.press("Enter")
        await expect(visitor.card.get_by_role("alert")).to_have_text("Choose one")
        await visitor.press("ArrowDown", "Enter")
        await expect(visitor.card).to_contain_text("Answered.")
        await expect(visitor.words.last).to_have_text("Chosen: m.")
        await expect(visitor.card.get_by_role("heading")).to_be_focused()
        await expect(visitor.card).to_contain_text("Answered.")
        await expect(visitor.card.get_by_role("radio")).to_have_count(0)
        assert visitor.structured() == [
            {"decision": {"request_decision_id": "size", "options": [{"id": "m"}]}}
        ]
        assert json.loads(visitor.posted()[-1]["content"])["$schema"] == SLUGS["request_decision"]


async def test_several_are_chosen(tmp_path: Path, browser: OpenBrowser, expect: Expect) -> None:
    async with selling(tmp_path, browser) as (visitor, seller):
        await seller.ask(request_decision=COLOURS)
        await visitor.button("Choose").click()
        await expect(visitor.card.get_by_role("alert")).to_have_text("Choose one or several.")
        await visitor.card.get_by_text("Red").click()
        await expect(visitor.card.get_by_role("alert")).to_be_hidden()
        await visitor.card.get_by_role("checkbox", name="g").check()
        await visitor.button("Choose").click()
        await expect(visitor.words.last).to_have_text("Chosen: Red, g.")
        assert visitor.structured()[0]["decision"]["options"] == [{"id": "r"}, {"id": "g"}]


async def test_products_are_counted(tmp_path: Path, browser: OpenBrowser, expect: Expect) -> None:
    async with selling(tmp_path, browser) as (visitor, seller):
        await seller.ask(request_decision=TENTS)
        card = visitor.card
        await expect(card).to_contain_text("4.5 of 5 stars, 12 reviews")
        await expect(card.get_by_role("link", name="Details: Ridge")).to_have_attribute(
            "href", "https://shop.example/ridge"
        )
        await visitor.button("Choose").click()
        await expect(card.get_by_role("alert")).to_have_text("Fill in at least one of these.")
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
        await expect(visitor.words.last).to_have_text("Chosen: Ridge – green, 2 × Cove.")
        assert visitor.structured() == [
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
    async with selling(tmp_path, browser) as (visitor, seller):
        await seller.ask(request_decision=CANCEL)
        await visitor.button("No, keep it").click()
        await expect(visitor.words.last).to_have_text("Chosen: No, keep it.")
        assert visitor.structured()[0]["decision"]["options"] == [{"id": "n"}]


async def test_a_form_shows_errors_next_to_its_fields(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with selling(tmp_path, browser) as (visitor, seller):
        await seller.ask(request_data=FORM)
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
        await visitor.card.get_by_label("Remember this for the next form").check()
        await visitor.button("Use this address").click()
        await expect(visitor.card).to_contain_text("Answered.")
        assert visitor.structured()[-1] == {
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


async def test_each_field_is_typed_as_what_it_is(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with selling(tmp_path, browser) as (visitor, seller):
        await seller.ask(request_data=FORM)
        await expect(visitor.card.get_by_label("Gate code", exact=True)).to_be_visible()
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
    async with selling(tmp_path, browser) as (visitor, seller):
        await seller.ask(request_data=FORM)
        card = visitor.card.get_by_label("Card number", exact=True)
        assert await card.evaluate("f => getComputedStyle(f).webkitTextSecurity") == "disc"
        show = visitor.button("Show: Card number")
        await show.click()
        assert await card.evaluate("f => getComputedStyle(f).webkitTextSecurity") == "none"
        await expect(show).to_have_attribute("aria-pressed", "true")
        await card.fill(SECRET)
        await visitor.card.get_by_label("Name").fill("Ada")
        await visitor.card.get_by_label("Mail address").fill("ada@example.com")
        await visitor.button("Use this address").click()
        await expect(visitor.words.last).to_have_text("Filled in.")
        await visitor.ask("Thank you.")
        shown = await visitor.page.evaluate(
            "document.querySelector('aitp-chat').shadowRoot.textContent"
        )
        assert SECRET not in shown
        assert [SECRET in json.dumps(body) for body in visitor.posted()] == [False, True, False]


async def test_sensitive_fields_of_every_type_are_masked_until_they_are_shown(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    types = {"pin": "number", "story": "textarea", "colour": "select"}
    fields: list[dict[str, Any]] = [
        {"id": name, "type": type_, "sensitive": True, "options": ["Red", "Blue"]}
        for name, type_ in types.items()
    ]
    fields.append({"id": "day", "autocomplete": "bday", "sensitive": True})
    fields.append({"id": "word", "autocomplete": "new-password"})
    async with selling(tmp_path, browser) as (visitor, seller):
        await seller.ask(
            request_data={"id": "secret", "description": "", "form": {"fields": fields}}
        )
        for name in (*types, "day", "word"):
            field = visitor.card.get_by_label(name, exact=True)
            box = await field.bounding_box()
            button = await visitor.button(f"Show: {name}").bounding_box()
            assert box is not None
            assert button is not None
            assert box["y"] <= button["y"] < box["y"] + box["height"], "both stand on one line"
            if name == "colour":
                masked = await field.evaluate("f => getComputedStyle(f).webkitTextSecurity")
                assert masked == "none", "nothing is chosen yet"
                await field.select_option("Red")
            seen = [await field.get_attribute("type")]
            for _ in range(3):
                seen.append(await field.evaluate("f => getComputedStyle(f).webkitTextSecurity"))
                await visitor.button(f"Show: {name}").click()
                seen.append(await field.get_attribute("type"))
            if name == "word":
                assert seen[::2] == ["password", "text", "password", "text"]
            else:
                assert len(set(seen[::2])) == 1
            assert seen[1::2] == ["disc", "none", "disc"]


async def test_what_is_replaced_by_a_newer_question_is_closed(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with selling(tmp_path, browser) as (visitor, seller):
        await seller.ask(request_decision=CANCEL)
        await seller.ask(request_decision={**SIZE, "supersedes": "cancel"})
        await expect(visitor.page.locator(".card").first).to_contain_text(
            "Replaced by a newer question."
        )
        await expect(visitor.card.get_by_role("radio")).to_have_count(2)


async def test_what_is_not_answered_in_time_is_closed(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    until = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    async with selling(tmp_path, browser) as (visitor, seller):
        await visitor.page.clock.install()
        await seller.ask(request_decision={**SIZE, "valid_until": until})
        await expect(visitor.card).to_contain_text("Open until")
        await visitor.page.clock.run_for(3_700_000)
        await expect(visitor.card).to_contain_text("Not answered in time.")
        await expect(visitor.card.get_by_role("radio")).to_have_count(0)


async def test_what_others_have_written_stays_text(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with selling(tmp_path, browser) as (visitor, seller):
        title = await visitor.page.title()
        await seller.ask(request_decision=HOSTILE)
        await expect(visitor.card.get_by_role("heading")).to_contain_text("<img src=x onerror=")
        await expect(visitor.card).to_contain_text("<b>x</b>")
        await expect(visitor.card.locator("img, a")).to_have_count(0)
        assert await visitor.page.title() == title


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_cards_fit_a_phone_in_both_schemes_and_are_there_for_everybody(
    tmp_path: Path, browser: OpenBrowser, expect: Expect, scheme: str
) -> None:
    options = {"viewport": PHONE, "color_scheme": scheme, "has_touch": True}
    async with selling(tmp_path, browser, **options) as (visitor, seller):
        asked = [{"request_decision": one} for one in (SIZE, COLOURS, TENTS, CANCEL)]
        for number, message in enumerate((*asked, {"request_data": FORM}), 1):
            await seller.ask(**message)
            await expect(visitor.page.locator(".card")).to_have_count(number)
            assert not await visitor.is_too_wide(), message
        await visitor.button("Use this address").click()
        assert await find_flaws(visitor.page) == []
