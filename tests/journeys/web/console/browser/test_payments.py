"""Operators at the console where something is paid, in Chromium.

Playwright is imported by the fixtures alone: ``make test`` collects this file without having it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.console import PHONE, at_console
from tests.support.clients.threads import Talker
from tests.support.desk.command import run
from tests.support.sites.shop import shopping

if TYPE_CHECKING:
    from playwright.async_api import Expect

pytestmark = BROWSER_MARKS

PAYING = "capabilities.payments.quote_minutes=30"
QUOTE, RECEIPT = "Asks for payment", "Receipt"


async def owner(*arguments: object, data: Path) -> list[str]:
    code, told, wrong = await run("ledger", *arguments, "--data", data)
    assert code == 0, wrong
    return told


async def asked(visitor: Talker) -> dict[str, Any]:
    """A caller has asked for a map: how it is paid."""
    told = await visitor.send("POST", "/capabilities/buy_trail_map", {"trail": "Cinder Rim"})
    assert told.status == 402, told.body
    payment: dict[str, Any] = told.body["payment"]
    return payment


async def test_an_operator_sees_a_quote_paid_and_the_money_go_back(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    data = tmp_path / "data"
    async with shopping(tmp_path, PAYING) as (shopper, _):
        visitor = shopper.talker.without_key()
        (told,) = await owner("open", "acct_ruth", "--code", "--json", data=data)
        await owner("credit", "acct_ruth", "10", "USD", data=data)
        thread = (await asked(visitor))["thread_id"]
        async with at_console(browser, shopper.talker.desk, data, viewport=PHONE) as anna:
            await anna.go(f"#/threads/{thread}")
            quote = anna.page.get_by_role("group", name=QUOTE)
            await expect(quote).to_contain_text("Waits for payment")
            await expect(quote).to_contain_text("4.90 USD")
            await visitor.post(thread, f"pay {json.loads(told)['code']}", wait=5)
            receipt = anna.page.get_by_role("group", name=RECEIPT)
            await expect(receipt).to_contain_text("Paid: 4.90 USD.")
            payment = await receipt.locator("dd").last.inner_text()
            await expect(quote.locator(".stands")).to_have_text("Paid")
            await expect(quote).to_contain_text(payment)
            assert await find_flaws(anna.page) == []
            assert not await anna.is_too_wide()
            await owner("refund", payment, data=data)
            await expect(quote.locator(".stands")).to_have_text("Paid, and refunded")
            gone = anna.page.get_by_role("group", name="About a payment")
            await expect(gone).to_contain_text("4.90 USD were refunded to the payer.")


async def test_what_is_declined_is_seen_and_what_a_visitor_claims_is_no_receipt(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with shopping(tmp_path, PAYING) as (shopper, _):
        visitor = shopper.talker.without_key()
        payment = await asked(visitor)
        await visitor.post(payment["thread_id"], "no", wait=5)
        claimed = {
            "quote_id": payment["quote_id"],
            "result": "success",
            "timestamp": "2027-01-15T08:00:00Z",
            "message": "I have paid you.",
            "payment_id": "pay_1",
            "merchant_signature": f"ed25519:{'A' * 86}==",
        }
        message = {"$schema": payment["message"]["$schema"], "payment_confirmation": claimed}
        await visitor.post(payment["thread_id"], json.dumps(message), wait=5)
        async with at_console(browser, shopper.talker.desk, tmp_path / "data") as anna:
            await anna.open_thread(payment["thread_id"])
            quote = anna.page.get_by_role("group", name=QUOTE)
            await expect(quote.locator(".stands")).to_have_text("Declined")
            await expect(anna.said.get_by_text("I have paid you.", exact=True)).to_be_visible()
            await expect(anna.page.get_by_role("group", name=RECEIPT)).to_have_count(0)
            assert await find_flaws(anna.page) == []
