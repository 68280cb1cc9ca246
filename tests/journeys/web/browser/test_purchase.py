"""Buying a map from the example shop at its page, which is paid first, in Chromium."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import OpenBrowser
from tests.support.browser.page import PHONE, AtPage, at_page
from tests.support.desk.command import run
from tests.support.sites.shop import shopping

if TYPE_CHECKING:
    from playwright.async_api import Expect

pytestmark = pytest.mark.servers

PAYING = ("capabilities.payments.quote_minutes=5",)
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


async def begin(visitor: AtPage) -> None:
    await visitor.box.fill(MAP)
    await visitor.page.get_by_role("button", name="Buy trail map").click()


async def pay(visitor: AtPage, code: str) -> None:
    await visitor.card.get_by_label("Code of store credit").fill(code)
    await visitor.button("Pay").click()


async def test_a_map_is_quoted_paid_by_a_code_and_told_with_a_receipt(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with shopping(tmp_path, *PAYING) as (shopper, _):
        credit = await store_credit(tmp_path / "data", "10")
        async with at_page(browser, shopper.talker.desk, viewport=PHONE) as visitor:
            await begin(visitor)
            await expect(visitor.card.get_by_role("heading", level=3)).to_have_text("Pay 4.90 USD?")
            assert await find_flaws(visitor.page) == []
            assert not await visitor.is_too_wide()
            await pay(visitor, credit.code)
            receipt = visitor.turn.locator(".receipt")
            await expect(receipt).to_contain_text("Paid: 4.90 USD.")
            await expect(visitor.said).to_contain_text("Quarry, 43.9125")
            assert await find_flaws(visitor.page) == []
        _, told, _ = await run("ledger", "statement", credit.account, "--data", tmp_path / "data")
        assert told[-1] == f"{credit.account} holds 5.10 USD."
        _, told, _ = await run("ledger", "verify", "--data", tmp_path / "data")
        assert told[0].startswith("The ledger is correct")


async def test_a_map_that_is_chosen_on_a_card_is_quoted_on_the_next_and_paid_after_a_reload(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    asking = "capabilities.requests={}"
    async with shopping(tmp_path, *PAYING, asking) as (shopper, _):
        credit = await store_credit(tmp_path / "data", "10")
        async with at_page(browser, shopper.talker.desk, viewport=PHONE) as visitor:
            await visitor.page.get_by_role("button", name="Buy trail map").click()
            await visitor.card.get_by_label("Cinder Rim").check()
            await visitor.button("Choose").click()
            await expect(visitor.card.get_by_role("heading", level=3)).to_have_text("Pay 4.90 USD?")
            await expect(visitor.page.locator(".failure:visible")).to_have_count(0)
            assert await find_flaws(visitor.page) == []
            await visitor.followed()
            await visitor.page.reload()
            await expect(visitor.button("Pay")).to_be_visible()
            await expect(visitor.turns).to_have_count(2)
            await pay(visitor, credit.code)
            await expect(visitor.turn.locator(".receipt")).to_contain_text("Paid: 4.90 USD.")
            await expect(visitor.said).to_contain_text("Quarry, 43.9125")
            await visitor.page.reload()
            await expect(visitor.turn.locator(".receipt")).to_contain_text("Paid: 4.90 USD.")
            await expect(visitor.page.locator(".card:not(.closed):not(.receipt)")).to_have_count(0)


async def test_arguments_by_program_that_have_to_be_paid_are_a_card_too(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with shopping(tmp_path, *PAYING) as (shopper, _):
        credit = await store_credit(tmp_path / "data", "10")
        async with at_page(browser, shopper.talker.desk) as visitor:
            await visitor.box.fill('{"trail": "Cinder Rim"}')
            await visitor.page.get_by_role("button", name="Buy trail map").click()
            await expect(visitor.button("Pay")).to_be_visible()
            await pay(visitor, credit.code)
            await expect(visitor.turn.locator(".receipt")).to_contain_text("Paid: 4.90 USD.")


async def test_what_is_declined_costs_nothing(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with shopping(tmp_path, *PAYING) as (shopper, _):
        async with at_page(browser, shopper.talker.desk) as visitor:
            await begin(visitor)
            await visitor.button("Decline").click()
            await expect(visitor.page.locator(".card:not(.closed)")).to_have_count(0)
            await expect(visitor.page.locator(".receipt")).to_have_count(0)
        _, told, _ = await run("ledger", "verify", "--data", tmp_path / "data")
        assert "0 payments" in told[0]


async def test_a_quote_that_has_had_its_time_is_not_paid(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with shopping(tmp_path, *PAYING) as (shopper, clock):
        credit = await store_credit(tmp_path / "data", "10")
        async with at_page(browser, shopper.talker.desk) as visitor:
            await visitor.page.clock.set_fixed_time(clock.now)
            await begin(visitor)
            await expect(visitor.button("Pay")).to_be_visible()
            clock.advance(6 * 60)
            await visitor.page.clock.set_fixed_time(clock.now)
            await pay(visitor, credit.code)
            await expect(visitor.turn).to_contain_text("I pay 4.90 USD.")
            await expect(visitor.card).to_contain_text("Not answered in time.")
            await expect(visitor.page.locator(".card:not(.closed)")).to_have_count(0)
            await expect(visitor.page.locator(".receipt")).to_have_count(0)
        _, told, _ = await run("ledger", "statement", credit.account, "--data", tmp_path / "data")
        assert told[-1] == f"{credit.account} holds 10.00 USD."


async def test_what_is_too_little_is_added_to_and_pays_then(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with shopping(tmp_path, *PAYING) as (shopper, _):
        credit = await store_credit(tmp_path / "data", "1.50")
        async with at_page(browser, shopper.talker.desk, viewport=PHONE) as visitor:
            await begin(visitor)
            await pay(visitor, credit.code)
            await expect(visitor.card).to_contain_text("3.40 USD are missing")
            await expect(visitor.turn).to_contain_text("Ask the site to top up the balance")
            assert await find_flaws(visitor.page) == []
            await top_up(tmp_path / "data", credit, "3.40")
            await pay(visitor, credit.code)
            await expect(visitor.turn.locator(".receipt")).to_contain_text("Paid: 4.90 USD.")
