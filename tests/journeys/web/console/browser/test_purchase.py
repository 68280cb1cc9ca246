"""Operators at the console where the site is asked to pay others, in Chromium.

Playwright is imported by the fixtures alone: ``make test`` collects this file without having it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.console import PHONE, AtConsole, at_console
from tests.support.plugins.trade import CEILINGS, Trade, principal_of, trading

if TYPE_CHECKING:
    from playwright.async_api import Expect

pytestmark = BROWSER_MARKS

CARD = "Asks the site to pay"


async def choose(anna: AtConsole, what: str) -> None:
    """Choose one of the two in the open dialog, and answer."""
    await anna.dialog.get_by_label(what, exact=True).check()
    await anna.dialog.get_by_role("button", name="Answer").click()


async def test_an_operator_reads_what_is_to_be_paid_and_pays_it(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    ceilings = {"EUR": {**CEILINGS, "per_payment": "4.99"}}
    async with trading(tmp_path, ceilings=ceilings) as trade:
        assert await trade.bring(await trade.ask(name="Ada")) == []
        async with at_console(browser, trade.buyer.desk, trade.data, viewport=PHONE) as anna:
            await anna.go(f"#/threads/{trade.thread}")
            card = anna.page.get_by_role("group", name=CARD)
            words = (
                "Pay 5.00 EUR to tickets (tickets.example), from the payment channel ch-site there."
                " A payment may be at most 4.99 EUR without a person's decision; it would be"
                " 5.00 EUR."
            )
            await expect(card).to_contain_text(words)
            await expect(card).to_contain_text("Sells a ticket")
            await expect(card).to_contain_text("Waits for an answer")
            assert await find_flaws(anna.page) == []
            assert not await anna.is_too_wide()
            await card.get_by_role("button", name="Answer…").click()
            await expect(anna.dialog).to_contain_text(words)
            await anna.dialog.get_by_role("button", name="Answer").click()
            assert [one["state"] for one in await trade.bought()] == ["wanted"], "nothing is chosen"
            await choose(anna, "Pay")
            await expect(anna.dialog).to_have_count(0)
            await expect(card).to_contain_text("Answered")
            await expect(anna.button("Answer…")).to_have_count(0)
            assert await find_flaws(anna.page) == []
        (bought,) = await trade.bought()
        assert bought["state"] == "pending"


async def test_an_operator_declines_and_decides_about_a_channel_that_needs_more(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    ceilings = {"EUR": {**CEILINGS, "top_up": "0"}}
    async with trading(tmp_path, funds="2.00", ceilings=ceilings) as trade:
        (payment,) = await trade.bring(await trade.ask(name="Ada"))
        failure, lacking = await trade.pay(payment)
        await trade.bring(failure)
        assert await trade.bring(lacking) == []
        async with at_console(browser, trade.buyer.desk, trade.data) as anna:
            await anna.go(f"#/threads/{trade.thread}")
            card = anna.page.get_by_role("group", name=CARD).last
            words = "Put 3.00 EUR into the payment channel ch-site at tickets (tickets.example)."
            await expect(card).to_contain_text(words)
            await anna.button("Answer…").click()
            await choose(anna, "Pay")
            await expect(card).to_contain_text("Answered")
            assert await response_of(trade) == "3.00"
            friend = principal_of((await trade.buyer.with_key("threads")).key or "")
            other = {"id": "https://friend.example", "principal": friend}
            trade.thread = await trade.arrive(other)
            assert await trade.bring(await trade.ask(name="Ben")) == []
            await anna.go(f"#/threads/{trade.thread}")
            only = anna.page.get_by_role("group", name=CARD)
            await expect(only).to_contain_text(
                "Another participant of this thread could have caused the request"
            )
            await anna.button("Answer…").click()
            await choose(anna, "Do not pay")
            await expect(only).to_contain_text("Answered")
        assert [one["state"] for one in await trade.bought()] == ["failed", "declined"]


async def response_of(trade: Trade) -> Any:
    """How much the buyer has put into its channel, as it has said on the thread."""
    said = await trade.said_by_buyer()
    (response,) = (one["top_up_response"] for one in said if "top_up_response" in one)
    return response["amount"]
