"""Buying a map from the example shop in the chat, on a page of another site."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.widget import (
    PHONE,
    AtChat,
    at_chat,
    hosting,
    in_new_tab,
    write_host_page,
)
from tests.support.clients.threads import Talker
from tests.support.desk.command import run
from tests.support.doubles.agent import NOON, Clock
from tests.support.payments.card_shop import HOOK
from tests.support.payments.facilitator import facilitator
from tests.support.payments.stripe_account import KEY, SECRET, account_at
from tests.support.payments.x402_merchant import PAY_TO
from tests.support.sites.shop import shopping

if TYPE_CHECKING:
    from playwright.async_api import Expect, Route

pytestmark = BROWSER_MARKS

PAYING = ("capabilities.payments.quote_minutes=5", "capabilities.requests={}")
MAP = "The map of the Cinder Rim, please."


class Credit(NamedTuple):
    """An account that a code opens."""

    account: str
    code: str


async def store_credit(data: Path, amount: str) -> Credit:
    """A code of store credit, as the shop sells it."""
    code, (told,), _ = await run("ledger", "open", "--data", data, "--code", "--json")
    assert code == 0
    credit = Credit(json.loads(told)["account"], json.loads(told)["code"])
    await top_up(data, credit, amount)
    return credit


async def top_up(data: Path, credit: Credit, amount: str) -> None:
    code, _, told = await run("ledger", "credit", credit.account, amount, "USD", "--data", data)
    assert code == 0, told


class Purchase(NamedTuple):
    """A visitor at the chat of the shop, its clock, where it keeps its data, and its desk."""

    visitor: AtChat
    clock: Clock
    data: Path
    desk: Talker

    async def begin(self, query: str = MAP) -> None:
        """Ask for a map, by the name of its action, as a button of the page would."""
        await self.visitor.call("ask", query, "buy_trail_map")

    async def pay(self, credit: Credit) -> None:
        """Pay with a code of store credit."""
        await self.visitor.card.get_by_label("Code of store credit").fill(credit.code)
        await self.visitor.button("Pay").click()

    async def balance(self, credit: Credit) -> str:
        """What the statement of an account ends with."""
        _, told, _ = await run("ledger", "statement", credit.account, "--data", self.data)
        return told[-1]

    async def audit(self) -> str:
        """What the check of the ledger says."""
        _, told, _ = await run("ledger", "verify", "--data", self.data)
        return told[0]


@asynccontextmanager
async def purchasing(
    tmp_path: Path, browser: OpenBrowser, *settings: str, **options: Any
) -> AsyncIterator[Purchase]:
    """A visitor whose conversation at the shop has begun."""
    async with hosting() as site:
        named = f"widget.origins=['{site.url}']"
        async with shopping(tmp_path, named, *PAYING, *settings) as (shopper, clock):
            desk = shopper.talker.desk
            site.put("/", write_host_page(desk.url), desk.url)
            async with at_chat(browser, f"{site.url}/", **options) as visitor:
                await visitor.ask("What do you sell?")
                await visitor.answers.wait_for()
                yield Purchase(visitor, clock, tmp_path / "data", shopper.talker)


async def test_a_map_is_quoted_paid_by_a_code_and_told_with_a_receipt(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with purchasing(tmp_path, browser, viewport=PHONE) as purchase:
        visitor = purchase.visitor
        credit = await store_credit(purchase.data, "10")
        await purchase.begin()
        await expect(visitor.card.get_by_role("heading")).to_have_text("Pay 4.90 USD?")
        await expect(visitor.page.locator(".failure:visible")).to_have_count(0)
        assert await find_flaws(visitor.page) == []
        assert not await visitor.is_too_wide()
        await purchase.pay(credit)
        receipt = visitor.page.locator(".receipt")
        await expect(receipt).to_contain_text("Paid: 4.90 USD.")
        await expect(visitor.answers.last).to_contain_text("Quarry, 43.9125")
        assert await find_flaws(visitor.page) == []
        assert not await visitor.is_too_wide()
        await visitor.page.reload()
        await visitor.open()
        await expect(receipt).to_contain_text("Paid: 4.90 USD.")
        await expect(visitor.page.locator(".card:not(.closed):not(.receipt)")).to_have_count(0)
        assert await purchase.balance(credit) == f"{credit.account} holds 5.10 USD."


async def test_what_is_refunded_cannot_be_paid_again(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with purchasing(tmp_path, browser) as purchase:
        visitor = purchase.visitor
        credit = await store_credit(purchase.data, "10")
        await purchase.begin()
        await purchase.pay(credit)
        receipt = visitor.page.locator(".receipt")
        await expect(receipt).to_contain_text("Paid: 4.90 USD.")
        paid = (await receipt.locator("dd").last.inner_text()).strip()
        code, _, wrong = await run("ledger", "refund", paid, "--data", purchase.data)
        assert code == 0, wrong
        for is_again in (False, True):
            if is_again:
                await visitor.page.reload()
                await visitor.open()
            await expect(visitor.notes.last).to_have_text("4.90 USD were refunded to the payer.")
            await expect(visitor.page.locator(".card:not(.closed, .receipt)")).to_have_count(0)
        assert await purchase.balance(credit) == f"{credit.account} holds 10.00 USD."


async def test_a_choice_leads_to_a_quote_that_is_declined_in_another_tab(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with purchasing(tmp_path, browser) as purchase:
        visitor = purchase.visitor
        await purchase.begin("A map, please.")
        await expect(visitor.page.locator(".chip")).to_have_count(0)  # the card has its options
        await visitor.card.get_by_label("Cinder Rim").check()
        await visitor.button("Choose").click()
        await expect(visitor.card.get_by_role("heading")).to_have_text("Pay 4.90 USD?")
        await expect(visitor.page.locator(".failure:visible")).to_have_count(0)
        other = await in_new_tab(visitor.page.context, visitor.page.url)
        await other.open()
        await other.button("Decline").click()
        for tab in (visitor, other):
            await expect(tab.page.locator(".card:not(.closed)")).to_have_count(0)
            await expect(tab.page.locator(".receipt")).to_have_count(0)
            await expect(tab.questions.last).to_contain_text("I do not pay.")
        assert "0 payments" in await purchase.audit()


async def test_two_tabs_that_pay_at_once_pay_once_and_show_one_receipt(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    sent: list[str] = []
    both = asyncio.Event()

    async def hold(route: Route) -> None:
        """Let no payment through before both tabs have sent one."""
        sent.append(route.request.url)
        if len(sent) == 2:
            both.set()
        await both.wait()
        await route.continue_()

    async with purchasing(tmp_path, browser) as purchase:
        visitor = purchase.visitor
        credit = await store_credit(purchase.data, "10")
        await purchase.begin()
        other = await in_new_tab(visitor.page.context, visitor.page.url)
        await other.open()
        tabs = (visitor, other)
        await visitor.page.context.route("**/messages", hold)
        for tab in tabs:
            await tab.card.get_by_label("Code of store credit").fill(credit.code)
            await tab.button("Pay").click()
        for tab in tabs:
            await expect(tab.questions.filter(has_text="I pay.")).to_have_count(2)
            await expect(tab.answers.last).to_contain_text("Quarry, 43.9125")
            await expect(tab.page.locator(".receipt")).to_have_count(1)
            await expect(tab.page.locator(".failure:visible, .sending")).to_have_count(0)
        await other.page.reload()
        await other.open()
        await expect(other.answers.last).to_contain_text("Quarry, 43.9125")
        await expect(other.page.locator(".receipt")).to_have_count(1)
        assert await purchase.balance(credit) == f"{credit.account} holds 5.10 USD."
        assert "1 payment" in await purchase.audit()


async def test_what_only_programs_can_pay_says_so(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with facilitator(NOON) as fake:
        coins = f"{{pay_to='{PAY_TO}', networks=['base-sepolia'], facilitator='{fake.url}'}}"
        only = (
            "capabilities.payments.ledger.enabled=false",
            "egress.allow_loopback=true",
            f"capabilities.payments.x402={coins}",
        )
        async with purchasing(tmp_path, browser, *only) as purchase:
            await purchase.begin()
            card = purchase.visitor.card
            await expect(card).to_contain_text("Only a program with a wallet can pay this.")
            await expect(purchase.visitor.button("Pay")).to_have_count(0)
            await purchase.visitor.button("Decline").click()
            await expect(card).to_contain_text("Answered.")


async def test_a_yes_in_words_pays_nothing_and_leaves_the_card_to_pay_with(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with purchasing(tmp_path, browser) as purchase:
        visitor = purchase.visitor
        credit = await store_credit(purchase.data, "10")
        await purchase.begin()
        await expect(visitor.button("Pay")).to_be_visible()
        await visitor.ask("yes please")
        await expect(visitor.answers.last).to_contain_text("It is done after the payment.")
        await purchase.pay(credit)
        await expect(visitor.page.locator(".receipt")).to_contain_text("Paid: 4.90 USD.")


async def test_a_quote_that_has_had_its_time_is_closed_also_after_a_reload(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with purchasing(tmp_path, browser) as purchase:
        visitor = purchase.visitor
        credit = await store_credit(purchase.data, "10")
        await visitor.page.clock.set_fixed_time(purchase.clock.now)
        await purchase.begin()
        await expect(visitor.button("Pay")).to_be_visible()
        purchase.clock.advance(6 * 60)
        await visitor.page.clock.set_fixed_time(purchase.clock.now)
        await purchase.pay(credit)
        await expect(visitor.card).to_contain_text("Not answered in time.")
        await visitor.page.reload()
        await visitor.open()
        await expect(visitor.card).to_contain_text("Not answered in time.")
        await expect(visitor.page.locator(".card:not(.closed)")).to_have_count(0)
        assert await purchase.balance(credit) == f"{credit.account} holds 10.00 USD."


async def test_what_is_too_little_is_added_to_and_pays_then(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with purchasing(tmp_path, browser) as purchase:
        visitor = purchase.visitor
        credit = await store_credit(purchase.data, "1.50")
        await purchase.begin()
        await purchase.pay(credit)
        await expect(visitor.card).to_contain_text("3.40 USD are missing")
        assert await find_flaws(visitor.page) == []
        await top_up(purchase.data, credit, "3.40")
        await purchase.pay(credit)
        await expect(visitor.page.locator(".receipt")).to_contain_text("Paid: 4.90 USD.")


async def test_arguments_by_program_that_have_to_be_paid_are_a_card_too(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with purchasing(tmp_path, browser) as purchase:
        credit = await store_credit(purchase.data, "5")
        await purchase.begin('{"trail": "Cinder Rim"}')
        await purchase.pay(credit)
        await expect(purchase.visitor.page.locator(".receipt")).to_contain_text("Paid: 4.90 USD.")


async def test_what_is_paid_by_card_on_another_page_is_told_with_a_receipt(
    tmp_path: Path, browser: OpenBrowser, expect: Expect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRIPE_API_KEY", KEY)
    monkeypatch.setenv("STRIPE_WEBHOOK_SECRET", SECRET)
    async with account_at(lambda: NOON) as account:
        stripe = f"capabilities.payments.stripe={{api='{account.url}'}}"
        by_card = (
            "capabilities.payments.ledger.enabled=false",
            "egress.allow_loopback=true",
            stripe,
        )
        async with purchasing(tmp_path, browser, *by_card) as purchase:
            visitor, desk = purchase.visitor, purchase.desk
            await purchase.begin()
            await expect(visitor.button("Pay")).to_have_count(0)
            link = visitor.card.get_by_role("link", name="Pay by card")
            address = await link.get_attribute("href") or ""
            await visitor.ask("I pay.")
            await expect(visitor.answers.last).to_contain_text("It is done after the payment.")
            path = "/" + address.split("/", 3)[3]
            async with desk.http.get(path, allow_redirects=False) as led:
                session = led.headers["Location"].rpartition("/")[2]
            body, signature = account.signed(account.pay(session))
            told = await desk.send("POST", HOOK, body, headers=[("Stripe-Signature", signature)])
            assert told.status == 200
            await expect(visitor.page.locator(".receipt")).to_contain_text("Paid: 4.90 USD.")
            await expect(visitor.answers.last).to_contain_text("Quarry, 43.9125")


async def test_who_pays_in_words_has_a_receipt_and_is_told_so_once_more(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with purchasing(tmp_path, browser) as purchase:
        visitor = purchase.visitor
        credit = await store_credit(purchase.data, "10")
        await purchase.begin()
        await expect(visitor.button("Pay")).to_be_visible()
        await visitor.ask(f"I pay with {credit.code}")
        receipt = visitor.page.locator(".receipt")
        await expect(receipt).to_contain_text("Paid: 4.90 USD.")
        await expect(visitor.answers.last).to_contain_text("Quarry, 43.9125")
        await visitor.ask("I pay.")
        await expect(visitor.answers.last).to_contain_text("4.90 USD is paid already")
        await expect(receipt).to_have_count(1)
        assert await purchase.balance(credit) == f"{credit.account} holds 5.10 USD."
