"""What is asked by structured messages is answered in the chat, on a page of another site."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aitp_sign.keys.encodings import to_base64url
from tests.support.access.signatures import sign_request
from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.seller import SELLER, selling
from tests.support.browser.widget import PHONE, in_new_tab
from tests.support.clients.operator import operating
from tests.support.plugins.decisions import CANCEL, SIZE

if TYPE_CHECKING:
    from playwright.async_api import Expect

pytestmark = BROWSER_MARKS

SCHEME = "ed25519"
SECRET = "4111 1111 1111 1111"
ADDRESS: dict[str, Any] = {
    "id": "address",
    "title": "Where shall it go?",
    "description": "We ship within the country.",
    "fillButtonLabel": "Use this address",
    "form": {
        "fields": [
            {"id": "name", "label": "Name", "required": True, "autocomplete": "shipping name"},
            {"id": "mail", "label": "Mail address", "type": "email", "required": True},
            {"id": "card", "label": "Card number", "autocomplete": "cc-number"},
        ]
    },
}
PAYMENTS = "https://seller.example/capabilities/payments/v1/schema.json"
QUOTE = {
    "quote_id": "q-1",
    "merchant_id": "shop.example",
    "description": "Your tent.",
    "payment_options": [
        {
            "amount": "5",
            "currency": "USD",
            "payment_methods": [{"type": "ledger", "currency": "USD"}],
        }
    ],
    "merchant_signature": "AA",
}
PAID = {
    "quote_id": "q-1",
    "payment_id": "p-1",
    "result": "success",
    "message": "Thank you.",
    "timestamp": "2026-12-01T00:00:00Z",
    "merchant_signature": "AA",
}
REFUSED = {"error": {"message": "Not on Sundays.", "type": "invalid_request_error", "param": None}}


async def test_a_choice_is_made_with_the_keyboard_alone_and_stands_after_a_reload(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with selling(tmp_path, browser) as (visitor, seller):
        await seller.ask(request_decision=SIZE)
        await expect(visitor.card.get_by_role("heading")).to_have_text("Size?")
        await expect(visitor.page.locator(".panel > [role=status].unseen")).to_contain_text("Size?")
        await visitor.card.get_by_role("radio").first.focus()
        await visitor.press("Tab", "Enter")
        await expect(visitor.card.get_by_role("alert")).to_have_text("Choose one")
        await visitor.press("ArrowDown", "Enter")
        await expect(visitor.questions.last).to_contain_text("Chosen: m.")
        await expect(visitor.card).to_contain_text("Answered.")
        await expect(visitor.card.get_by_role("radio")).to_have_count(0)
        assert await find_flaws(visitor.page) == []
        await visitor.page.reload()
        await visitor.open()
        await expect(visitor.questions.last).to_contain_text("Chosen: m.")
        await expect(visitor.card).to_contain_text("Answered.")


async def test_another_party_passes_for_no_person_of_the_site(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    name = f"{SELLER}/operators/anna"
    async with selling(tmp_path, browser) as (visitor, seller):
        await seller.say("Read your card number to me, please.", name)
        said = visitor.page.locator(".entry.other")
        await expect(said.locator(".name")).to_have_text(name)
        await expect(visitor.people).to_have_count(0)


async def test_what_another_party_says_of_payments_and_of_the_desk_proves_nothing(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with selling(tmp_path, browser) as (visitor, seller):
        await visitor.hear()
        for said in ({"quote": QUOTE}, {"payment_confirmation": PAID}):
            await seller.say(json.dumps({"$schema": PAYMENTS, **said}))
        notes = {"suggested_queries": "yes", "asked_person": "ticket_1", "tools_used": "pay"}
        await seller.say("Do you like cats?", **notes)
        others = visitor.page.locator(".entry.other .words")
        await expect(others).to_have_text(["Pay 5 USD?", "Thank you.", "Do you like cats?"])
        await expect(visitor.page.locator(".card, .entry.other .chip")).to_have_count(0)
        assert await visitor.heard("action") == []


async def test_a_form_names_its_errors_and_shows_no_secret_again(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with selling(tmp_path, browser) as (visitor, seller):
        await seller.ask(request_data=ADDRESS)
        name, mail = visitor.card.get_by_label("Name"), visitor.card.get_by_label("Mail address")
        await visitor.button("Use this address").click()
        await expect(name).to_have_accessible_description("This is required.")
        await expect(name).to_have_attribute("autocomplete", "shipping name")
        await name.fill("Ada")
        await mail.fill("nobody")
        await visitor.press("Enter")
        await expect(mail).to_have_accessible_description(
            "Enter an email address, such as name@example.com."
        )
        await mail.fill("ada@example.com")
        await visitor.card.get_by_label("Card number", exact=True).fill(SECRET)
        await visitor.button("Use this address").click()
        await expect(visitor.questions.last).to_contain_text("Filled in.")
        await expect(visitor.card).to_contain_text("Answered.")
        shown = await visitor.page.evaluate(
            "document.querySelector('aitp-chat').shadowRoot.textContent"
        )
        assert SECRET not in shown
        assert await find_flaws(visitor.page) == []


async def test_an_answer_that_is_refused_may_be_given_again(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with selling(tmp_path, browser) as (visitor, seller):
        await seller.ask(request_decision=CANCEL)
        await visitor.page.route(
            "**/messages", lambda route: route.fulfill(status=400, json=REFUSED), times=1
        )
        await visitor.button("No, keep it").click()
        await expect(visitor.card.get_by_role("alert")).to_have_text("Not on Sundays.")
        await expect(visitor.questions).to_have_count(1)
        await visitor.button("No, keep it").click()
        await expect(visitor.card).to_contain_text("Answered.")


async def test_a_text_is_signed_with_a_key_of_the_visitors_or_declined(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with (
        selling(tmp_path, browser, viewport=PHONE) as (visitor, seller),
        operating(seller.desk, tmp_path / "data") as anna,
    ):
        thread = await visitor.thread()
        await anna.post(f"threads/{thread}/take")

        async def ask(id_: str) -> None:
            wish = {
                "id": id_,
                "title": "Your order",
                "text": "I buy\u202e it.",
                "schemes": [SCHEME],
            }
            asked = {"capability": "sign", "message": {"request_signature": wish}}
            await anna.post(f"threads/{thread}/messages", **asked)

        async def sign(signature: str) -> None:
            await visitor.card.get_by_label("Signed by").select_option(SCHEME)
            await visitor.card.get_by_label("Public key").fill(signed["public_key"])
            await visitor.card.get_by_label("Signature").fill(signature)
            await visitor.button("Send").click()

        await ask("tent")
        await expect(visitor.card.get_by_role("heading")).to_have_text("Your order")
        await expect(visitor.card.locator("pre").first).to_have_text("I buy⟦U+202E⟧ it.")
        await expect(visitor.card.locator("pre").last).to_contain_text("recipient: ")
        assert not await visitor.is_too_wide()
        assert await find_flaws(visitor.page) == []
        signed = sign_request(await seller.read("request_signature"))
        await visitor.button("Send").click()
        box = visitor.card.get_by_label("Signature")
        await expect(box).to_have_accessible_description("This is required.")
        await sign(to_base64url(bytes(64)))
        await expect(visitor.card.get_by_role("alert")).to_be_visible()
        await sign(signed["signature"])
        await expect(visitor.card).to_contain_text("Answered.")
        await expect(visitor.notes.last).to_have_text("Signed.")
        assert (await seller.read("signature_result"))["result"] == "success"
        await ask("other")
        await visitor.button("Decline").click()
        await expect(visitor.questions.last).to_contain_text("I do not sign.")
        await expect(visitor.card).to_contain_text("Answered.")


async def test_an_answer_to_a_conversation_that_has_ended_begins_no_other(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with selling(tmp_path, browser) as (visitor, seller):
        await seller.ask(request_decision=CANCEL)
        await visitor.page.route("**/messages", lambda route: route.fulfill(status=404, json={}))
        await visitor.button("No, keep it").click()
        await expect(visitor.notes).to_have_text("The earlier conversation has ended.")
        await expect(visitor.questions).to_have_count(0)
        assert await visitor.thread() is None
        begun = [one for one in visitor.requests if one.url.endswith("/v1/threads")]
        assert len(begun) == 1
        await visitor.ask("Where are you?")
        await expect(visitor.answers).to_have_count(1)


async def test_what_is_answered_in_another_tab_is_closed_in_this_one(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with selling(tmp_path, browser) as (visitor, seller):
        await seller.ask(request_decision=SIZE)
        await expect(visitor.card).to_be_visible()
        other = await in_new_tab(visitor.page.context, visitor.page.url)
        await other.open()
        await other.card.get_by_role("radio").first.check()
        await other.button("Choose").click()
        await expect(visitor.card).to_contain_text("Answered.")
        await expect(other.card).to_contain_text("Answered.")
