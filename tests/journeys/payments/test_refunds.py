"""Payments from the ledger that go back: a part, all, and what there is not enough for."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from aitp_payments.quotes.merchant import moment
from tests.support.clients.threads import Talker
from tests.support.payments.buyer import (
    SETTINGS,
    Buyer,
    bought,
    funded,
    paid_for,
    payment_id,
    refused,
    terminal,
)
from tests.support.payments.card_shop import SECONDS
from tests.support.payments.till_plugin import make_site, selling


async def arriving(desk: Talker, amount: str) -> Buyer:
    """A buyer with so much in the channel ch-1, and 10 EUR more."""
    await funded(desk, f"{int(amount) + 10}")
    buyer = await Buyer.arriving(desk)
    channel = {"channel_id": "ch-1", "account": "acct_buyer", "currency": "EUR"}
    await buyer.say(open_channel={**channel, "amount": amount})
    return buyer


@pytest.mark.slow
async def test_a_part_of_a_payment_goes_back_once_and_then_the_rest(tmp_path: Path) -> None:
    site = make_site(tmp_path, settings=SETTINGS)
    async with selling(tmp_path, site) as desk:
        buyer = await arriving(desk, "6")
        thread = await bought(buyer, site, desk)
        paid = await payment_id(desk)
        await terminal(desk, "refund", paid, "--amount", "1.50", "--id", "dents")
        while "channel:ch-1  2.50 EUR" not in await terminal(desk, "accounts"):
            await buyer.who.read(thread)
        assert "Of 5.00 EUR, 1.50 EUR were refunded" in (await buyer.who.texts(thread))[-1]
        for wrong, why in (
            (["--amount", "1.50", "--id", "dents"], "was already refunded"),
            (["--amount", "3.51"], "At most 3.50 EUR"),
            (["--amount", "0"], "or the amount is 0"),
            (["--amount", "1e0"], "such as 29.99"),
        ):
            assert why in await refused(desk, "refund", paid, *wrong)
        await terminal(desk, "refund", paid)
        while "channel:ch-1  6.00 EUR" not in await terminal(desk, "accounts"):
            await buyer.who.read(thread)
        assert (await terminal(desk, "verify"))[0].startswith("The ledger is correct")
        assert "is refunded" in await refused(desk, "refund", paid, "--amount", "0.01")


@pytest.mark.slow
@pytest.mark.parametrize("how", ["by hand", "by itself"])
async def test_what_the_site_has_not_enough_for_goes_back_once_it_has(
    tmp_path: Path, how: str
) -> None:
    site = make_site(tmp_path, settings=SETTINGS)
    passed = 0.0
    async with selling(tmp_path, site, clock=lambda: time.time() + passed) as desk:
        buyer = await arriving(desk, "50")
        waiting = await paid_for(buyer, desk, "book_hall", day="Monday")
        await terminal(desk, "payout", "merchant", "45", "EUR")
        # what waits for the site's people goes back when it is erased; and it is erased
        await buyer.who.send("DELETE", f"/v1/threads/{waiting['thread_id']}")
        while not (due := await terminal(desk, "due-refunds")):
            await buyer.who.read(buyer.thread)
        paid = await payment_id(desk)
        assert due == [f"{paid}  50.00 EUR  near_payment_channel  {waiting['quote_id']}"]
        assert "45.00 EUR are missing" in await refused(desk, "refund", paid)
        assert "is due to be refunded" in await refused(desk, "refund", paid, "--amount", "1")
        assert (await terminal(desk, "verify"))[0].startswith("The ledger is correct")
        await terminal(desk, "credit", "merchant", "45", "EUR")
        if how == "by hand":
            await terminal(desk, "refund", paid)
        else:
            passed = 301.0
            await hold(buyer, int(time.time() + passed))
        while await terminal(desk, "due-refunds"):
            await buyer.who.read(buyer.thread)
        accounts = await terminal(desk, "accounts")
        assert {"channel:ch-1  50.00 EUR", "merchant  0.00 EUR"} <= set(accounts)
        assert (await terminal(desk, "verify"))[0].startswith("The ledger is correct")


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "due"), [((), "5.00"), (("--amount", "1.50"), "1.50")])
async def test_a_refund_that_the_site_has_not_enough_for_becomes_due(
    tmp_path: Path, arguments: tuple[str, ...], due: str
) -> None:
    site = make_site(tmp_path, settings=SETTINGS)
    passed = 0.0
    async with selling(tmp_path, site, clock=lambda: time.time() + passed) as desk:
        buyer = await arriving(desk, "6")
        thread = await bought(buyer, site, desk)
        paid = await payment_id(desk)
        await terminal(desk, "payout", "merchant", "4", "EUR")
        (told,) = await terminal(desk, "refund", paid, "--id", "torn", *arguments)
        assert "is due" in told
        async with asyncio.timeout(SECONDS):
            while not (listed := await terminal(desk, "due-refunds")):
                await buyer.who.read(thread)
            while paid not in await ready(desk):
                await buyer.who.read(thread)
        assert listed[0].startswith(f"{paid}  {due} EUR  near_payment_channel")
        last = (await buyer.who.texts(thread))[-1]
        assert f"{due} EUR must be refunded" in last
        assert (await terminal(desk, "verify"))[0].startswith("The ledger is correct")
        await terminal(desk, "credit", "merchant", "4", "EUR")
        passed = 301.0
        await hold(buyer, int(time.time() + passed))
        async with asyncio.timeout(SECONDS):
            while await terminal(desk, "due-refunds"):
                await buyer.who.read(thread)
            while paid in await ready(desk):
                await buyer.who.read(thread)
        assert f"merchant  {5 - float(due):.2f} EUR" in await terminal(desk, "accounts")
        assert f"{due} EUR were refunded" in (await buyer.who.texts(thread))[-1]
        assert (await terminal(desk, "verify"))[0].startswith("The ledger is correct")


async def ready(desk: Talker) -> str:
    """What everyone learns of how the desk is."""
    async with desk.http.get("/ready") as response:
        return await response.text()


async def hold(buyer: Buyer, now: int) -> None:
    """Have a job begin: with it those are taken up whose time has come."""
    held = {"authorization_id": "au-1", "account": "acct_buyer", "amount": "1", "currency": "EUR"}
    await buyer.say(authorize={**held, "expiration": moment(now + 3600)})
