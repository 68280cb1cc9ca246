"""Ordering from the example shop at its page by answering what it asks, in Chromium."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.widget import PHONE, AtChat, at_page
from tests.support.sites.shop import SAM, Shopper, shopping
from tests.support.sites.tent_order import (
    ADDRESS,
    ASKING,
    BEGIN,
    STORY,
    check_order,
    join,
    read,
    story,
)

if TYPE_CHECKING:
    from playwright.async_api import Expect

pytestmark = BROWSER_MARKS

FILLED = {
    "Name": ADDRESS["address.name"],
    "Street": ADDRESS["address.street"],
    "City": ADDRESS["address.city"],
    "Postal code": ADDRESS["address.postal_code"],
    "Email": ADDRESS["email"],
}


async def begin(visitor: AtChat, shopper: Shopper, words: str, action: str) -> None:
    """Ask for an action with the key that the shopper's agent has."""
    assert await visitor.identify(shopper.talker.key)
    await visitor.call("ask", words, action)


async def test_an_order_is_placed_by_answering_what_is_asked(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with shopping(tmp_path, *ASKING) as (anybody, _):
        shopper = await anybody.with_key("actions", "threads")
        async with at_page(browser, shopper.talker.desk, viewport=PHONE) as visitor:
            await begin(visitor, shopper, BEGIN, "ship_order")

            await expect(visitor.card.get_by_role("heading", level=3)).to_have_text(
                "Which Tarn Larkspur 2 Tent?"
            )
            for _ in range(2):
                await visitor.button("One more: Lake blue").click()
            await visitor.button("Choose").click()

            await expect(visitor.card.get_by_role("heading", level=3)).to_have_text(
                "Address and email"
            )
            assert await find_flaws(visitor.page) == []
            for label, value in FILLED.items():
                await visitor.card.get_by_role("textbox", name=label, exact=True).fill(value)
            await visitor.button("Send").click()
            state = visitor.card.get_by_role("combobox", name="State")
            await expect(state).to_be_focused()
            await state.select_option(ADDRESS["address.state"])
            await visitor.button("Send").click()

            await expect(visitor.card).to_contain_text("It costs 739.88 USD. Shall I go ahead?")
            assert not await visitor.is_too_wide()
            await visitor.button("Yes").click()
            await expect(visitor.answers.last).to_contain_text(
                "Order TH10482318 to Boise, ID is placed."
            )
            await expect(visitor.page.locator(".card:not(.closed)")).to_have_count(0)
            posted = [one.url for one in visitor.requests if one.url.endswith("/messages")]
            thread = posted[-1].split("/")[-2]
        check_order(shopper)
        await join(shopper, thread)
        assert story(await read(shopper, thread)) == STORY


async def test_an_order_is_cancelled_once_that_is_confirmed(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with shopping(tmp_path, *ASKING) as (anybody, _):
        shopper = await anybody.with_key("actions", "threads")
        async with at_page(browser, shopper.talker.desk) as visitor:
            await begin(
                visitor, shopper, "Please cancel {order_id}, {email}.".format(**SAM), "cancel_order"
            )
            await expect(visitor.button("No")).to_be_visible()
            await visitor.button("Yes").click()
            await expect(visitor.answers.last).to_contain_text("cancelled")
        cancelled = f"SELECT state FROM orders WHERE id = '{SAM['order_id']}'"
        assert shopper.rows(cancelled) == [("cancelled",)]


async def test_what_is_not_wanted_any_more_needs_no_answer(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with shopping(tmp_path, *ASKING) as (anybody, _):
        shopper = await anybody.with_key("actions", "threads")
        async with at_page(browser, shopper.talker.desk) as visitor:
            await begin(visitor, shopper, BEGIN, "ship_order")
            await expect(visitor.button("Choose")).to_be_visible()
            await visitor.ask("never mind")
            await expect(visitor.answers.last).to_contain_text("Nothing was done.")
            await expect(visitor.page.locator(".card:not(.closed)")).to_have_count(0)


async def test_what_is_asked_may_be_answered_in_words_too(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with shopping(tmp_path, *ASKING) as (anybody, _):
        shopper = await anybody.with_key("actions", "threads")
        async with at_page(browser, shopper.talker.desk) as visitor:
            await begin(visitor, shopper, BEGIN, "ship_order")
            tents = visitor.card.filter(has_text="Which Tarn Larkspur 2 Tent?")
            await expect(tents).to_be_visible()
            await visitor.ask("the lake blue one, two of them")
            first = visitor.page.locator(".card").first
            await expect(first).to_contain_text("Answered.")
            await expect(visitor.card.get_by_role("heading", level=3)).to_have_text(
                "Address and email"
            )
            await visitor.ask("Name: Kai Moss")
            await expect(visitor.page.locator(".card:not(.closed)")).to_have_count(1)
