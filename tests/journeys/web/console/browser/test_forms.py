"""Operators at the console where forms are asked for and filled in, in Chromium.

Playwright is imported by the fixtures alone: ``make test`` collects this file without having it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
import pytest_asyncio

from aitp_data import DataRequests
from aitp_desk.app.server import open_server
from aitp_desk.config import load_config
from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.console import PHONE, WIDE, AtConsole, at_console
from tests.support.clients.threads import Talker
from tests.support.desk.server import SITE
from tests.support.doubles.agent import ScriptedAgent
from tests.support.doubles.website import website

if TYPE_CHECKING:
    from playwright.async_api import Expect

pytestmark = BROWSER_MARKS

SLUG = "aitp.dev/data"
SECRET = "4242 4242 4242 4242"
FORM = {
    "id": "delivery",
    "title": "Where to?",
    "description": "For the parcel.",
    "form": {
        "fields": [
            {"id": "email", "label": "Email", "type": "email", "required": True},
            {"id": "how", "label": "How", "type": "select", "options": ["Post", "Courier"]},
            {"id": "note", "label": "Note", "type": "textarea", "description": "For the driver."},
        ]
    },
}
PAYMENT = {
    "id": "payment",
    "title": "Your card",
    "description": "To pay.",
    "form": {
        "fields": [
            {"id": "card", "label": "Card", "autocomplete": "cc-number", "required": True},
            {"id": "name", "label": "Name"},
        ]
    },
}


class Ground:
    """A desk that asks for data, a guest with a key, and a browser for its operators."""

    def __init__(self, guest: Talker, data: Path, browser: OpenBrowser) -> None:
        self.desk = guest.desk
        self.guest = guest
        self._data = data
        self._browser = browser

    def operator(
        self, name: str = "anna", *scopes: str, **options: Any
    ) -> AbstractAsyncContextManager[AtConsole]:
        return at_console(self._browser, self.desk, self._data, name, *scopes, **options)

    async def say(self, thread: str, **message: Any) -> None:
        said = await self.guest.post(thread, json.dumps({"$schema": SLUG, **message}), wait=10)
        assert said.status == 200, said.body


@pytest_asyncio.fixture(loop_scope="session")
async def ground(tmp_path: Path, browser: OpenBrowser) -> AsyncIterator[Ground]:
    data = tmp_path / "data"
    chosen = (
        *("limits.enabled=false", "egress.allow_loopback=true"),
        *("capabilities.requests={}", "capabilities.data={}"),
    )
    config = load_config(SITE, chosen, port=0, data=data)
    beside = {"data": DataRequests}
    async with (
        open_server(config, agent=ScriptedAgent(), capabilities_beside=beside) as desk,
        aiohttp.ClientSession(desk.url) as http,
    ):
        guest = await Talker(desk, data, http).with_key("threads")
        yield Ground(guest, data, browser)


async def test_an_operator_asks_for_data_and_what_is_sealed_stays_so(
    ground: Ground, expect: Expect
) -> None:
    thread = (await ground.guest.open("I would like to pay.", wait=10)).id
    async with ground.operator() as anna, ground.operator("ben", "sensitive") as ben:
        await anna.open_thread(thread)
        await anna.take_over()
        await anna.button("Ask…").click()
        await anna.dialog.get_by_label("Kind of request").select_option("Fill in a form")
        await anna.dialog.get_by_label("Question").fill("Your card")
        await anna.dialog.get_by_label("Field 1", exact=True).fill("Number")
        await anna.dialog.get_by_label("Sealed: field 1").check()
        await anna.dialog.get_by_role("button", name="Add a field").click()
        await anna.page.keyboard.type("How")
        await anna.dialog.get_by_label("Type of field 2").select_option("One of a list")
        await anna.dialog.get_by_label("List of field 2").fill("Once\nMonthly")
        await anna.dialog.get_by_role("button", name="Ask", exact=True).click()
        await expect(anna.dialog).to_have_count(0)
        card = anna.page.get_by_role("group", name="Asks to fill in a form")
        await expect(card.locator(".fields li")).to_have_text(["Number (will be sealed)", "How"])

        values = [{"id": "field-1", "value": SECRET}, {"id": "field-2", "value": "Once"}]
        await ground.say(thread, data={"fields": values})
        await expect(card).to_contain_text("Answered just now")
        filled = anna.page.get_by_role("group", name="Data")
        await expect(filled.locator("dd")).to_have_text(["sealed", "Once"])
        await expect(filled.get_by_role("button")).to_have_count(0)

        await ben.page.clock.install()
        await ben.go(f"#/threads/{thread}")
        value = ben.page.get_by_role("group", name="Data").locator(".sealed")
        await expect(value).not_to_contain_text(SECRET)
        await ben.button("Reveal Number").click()
        await expect(value).to_contain_text(SECRET)
        await ben.button("Hide Number").click()
        await expect(value).not_to_contain_text(SECRET)
        await ben.button("Reveal Number").click()
        await expect(value).to_contain_text(SECRET)
        await ben.page.clock.fast_forward("00:21")
        await expect(value).not_to_contain_text(SECRET)
        assert SECRET not in await ben.page.content()
    noted = ground.guest.rows("SELECT proven_by FROM audit WHERE action = 'sealed.read'")
    assert noted == [("console",), ("console",)]


async def test_an_operator_fills_in_what_a_visitor_asks(ground: Ground, expect: Expect) -> None:
    part = json.dumps({"$schema": SLUG, "request_data": FORM})
    thread = (await ground.guest.open(part, wait=10)).id
    async with ground.operator() as anna:
        await anna.go(f"#/threads/{thread}")
        await anna.button("Answer…").click()
        email = anna.dialog.get_by_label("Email")
        await email.fill("nobody@localhost@elsewhere")
        assert await email.evaluate("input => !input.checkValidity()")  # the browser knows emails
        await email.evaluate("input => (input.type = 'text')")
        await anna.dialog.get_by_role("button", name="Answer").click()
        alert = anna.dialog.get_by_role("alert")
        await expect(alert).to_be_visible()
        await expect(email).to_have_attribute("aria-invalid", "true")
        await expect(email).to_be_focused()
        assert await email.evaluate("input => input.nextElementSibling.role") == "alert"
        await email.fill("shop@example.com")
        await anna.dialog.get_by_label("How").select_option("Courier")
        await anna.dialog.get_by_label("Note").fill("Ring twice.\nWait.")
        await anna.dialog.get_by_role("button", name="Answer").click()
        await expect(anna.dialog).to_have_count(0)
        filled = anna.page.get_by_role("group", name="Data")
        await expect(filled.locator("dd")).to_have_text(
            ["shop@example.com", "Courier", "Ring twice.\nWait."]
        )
        card = anna.page.get_by_role("group", name="Asks to fill in a form")
        await expect(card).to_contain_text("Answered just now")
        assert "shop@example.com" in (await ground.guest.texts(thread))[-1]


async def test_what_an_operator_fills_in_to_be_sealed_is_masked_as_it_is_typed(
    ground: Ground, expect: Expect
) -> None:
    part = json.dumps({"$schema": SLUG, "request_data": PAYMENT})
    thread = (await ground.guest.open(part, wait=10)).id
    async with ground.operator() as anna:
        await anna.go(f"#/threads/{thread}")
        await anna.button("Answer…").click()
        await expect(anna.dialog.get_by_label("Name")).to_have_attribute("type", "text")
        await expect(anna.dialog.get_by_label("Card")).to_have_attribute("type", "password")
        await anna.dialog.get_by_label("Card").fill(SECRET)
        await anna.press("Enter")
        await expect(anna.dialog).to_have_count(0)
        filled = anna.page.get_by_role("group", name="Data")
        await expect(filled.locator("dd").first).to_have_text("sealed")
        assert SECRET not in str(await ground.guest.texts(thread))


async def test_an_operator_fills_in_a_form_that_was_fetched(ground: Ground, expect: Expect) -> None:
    async with website() as site, ground.operator() as anna:
        site.put("/form.json", json.dumps(FORM["form"]), type="application/json")
        asked = FORM | {"form": {"json_url": f"{site.url}/form.json"}}
        part = json.dumps({"$schema": SLUG, "request_data": asked})
        thread = (await ground.guest.open(part, wait=10)).id
        await anna.go(f"#/threads/{thread}")
        cards = anna.page.get_by_role("group", name="Asks to fill in a form")
        await expect(cards.first).to_contain_text(f"The form is at {site.url}/form.json")
        await expect(cards).to_have_count(2)
        await anna.button("Answer…").click()
        await anna.dialog.get_by_label("Email").fill("shop@example.com")
        await anna.press("Enter")
        await expect(anna.dialog).to_have_count(0)
        for card in await cards.all():
            await expect(card).to_contain_text("Answered just now")


@pytest.mark.parametrize(
    ("scheme", "viewport"), [("light", WIDE), ("dark", WIDE), ("light", PHONE)]
)
async def test_forms_fit_and_axe_finds_nothing_wrong_with_them(
    ground: Ground, expect: Expect, scheme: str, viewport: dict[str, int]
) -> None:
    part = json.dumps({"$schema": SLUG, "request_data": FORM})
    thread = (await ground.guest.open(part, wait=10)).id
    async with ground.operator("anna", "sensitive", color_scheme=scheme, viewport=viewport) as anna:
        await anna.go(f"#/threads/{thread}")
        await anna.button("Answer…").click()
        await expect(anna.dialog.get_by_label("Email")).to_be_visible()
        assert await find_flaws(anna.page) == []
        assert not await anna.is_too_wide()
        await anna.press("Escape")
        await anna.take_over()
        await anna.button("Ask…").click()
        await anna.dialog.get_by_label("Kind of request").select_option("Fill in a form")
        await anna.dialog.get_by_label("Type of field 1").select_option("One of a list")
        assert await find_flaws(anna.page) == []
        assert not await anna.is_too_wide()
        await anna.press("Escape")
        await anna.send(thread, "data", request_data=PAYMENT)
        values = [{"id": "card", "value": SECRET}, {"id": "name", "value": "W" * 60}]
        await ground.say(thread, data={"request_data_id": "payment", "fields": values})
        await anna.button("Reveal Card").click()
        await expect(anna.button("Hide Card")).to_be_visible()
        assert await find_flaws(anna.page) == []
        assert not await anna.is_too_wide()
