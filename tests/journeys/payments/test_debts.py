"""What has to go back and has not yet, as the owner of a shop sees it and settles it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from tests.journeys.payments.test_stripe import paid, refund
from tests.support.desk.command import run_here
from tests.support.payments.card_shop import SECONDS, Till, selling_by_card

LOOKED_AT_SECONDS = 301
"""Until what is due is looked at again."""


async def ledger(folder: Path, what: str, *arguments: str) -> str:
    """What a command of the ledger prints, or says where it does nothing."""
    done = await asyncio.to_thread(run_here, "ledger", what, "--data", folder / "data", *arguments)
    assert "Traceback" not in done.err
    printed = done.out if done.code == 0 else done.err
    # the desk is in this process, and logs meanwhile where the command prints
    return "".join(line for line in printed.splitlines(keepends=True) if "\x1b" not in line)


async def until_health(till: Till, holds: Callable[[str], bool]) -> str:
    """What operators are told of payments, once that holds."""
    async with asyncio.timeout(SECONDS):
        while True:
            async with till.desk.http.get("/ready") as response:
                told = await response.text()
            if holds(told):
                return told
            await asyncio.sleep(0.05)


async def test_a_part_that_the_books_are_short_of_is_listed_and_booked_once_there_is_enough(
    tmp_path: Path,
) -> None:
    async with selling_by_card(tmp_path) as till:
        intent = await paid(till)
        await ledger(tmp_path, "payout", "merchant", "4.00", "EUR")
        event = refund(till, intent, 200)
        for _ in range(2):
            assert (await till.hear(event)).status == 200
        assert till.audited("stripe_unbooked") == 1
        await until_health(till, lambda told: "(re_1)" in told)
        (line,) = (await ledger(tmp_path, "due-refunds")).splitlines()
        assert line.startswith("pay_")
        assert "2.00 EUR  stripe" in line
        assert line.endswith("re_1")
        await ledger(tmp_path, "credit", "merchant", "4.00", "EUR")
        await till.pass_time(LOOKED_AT_SECONDS)
        left = {"merchant": 3_000_000, "outside:stripe": -3_000_000}
        await till.until_true(lambda: till.balances() == left)
        await until_health(till, lambda told: "(re_1)" not in told)
        assert await ledger(tmp_path, "due-refunds") == ""
        assert (await till.hear(event)).status == 200
        assert till.balances() == left
        assert (await ledger(tmp_path, "verify")).startswith("The ledger is correct")


async def test_what_a_card_did_not_take_back_is_settled_by_hand(tmp_path: Path) -> None:
    async with selling_by_card(tmp_path) as till:
        till.account.refunds_fail = True
        payment = await till.ask("Nobody")
        await till.hear(till.account.pay(await till.open_page(payment)))
        await till.until(payment, "The refund to the card failed")
        told = await until_health(till, lambda told: "People of the site must refund" in told)
        (line,) = (await ledger(tmp_path, "due-refunds")).splitlines()
        due = line.split()[0]
        assert due in told
        assert "'pay_none' is not due" in await ledger(
            tmp_path, "due-refunds", "--refunded", "pay_none"
        )
        await ledger(tmp_path, "payout", "merchant", "1.00", "EUR")
        short = await ledger(tmp_path, "due-refunds", "--refunded", due)
        assert "merchant lacks 1.00 EUR" in short
        assert "ledger credit merchant 1.00 EUR" in short
        await ledger(tmp_path, "credit", "merchant", "1.00", "EUR")
        assert f"The refund of {due} is booked" in await ledger(
            tmp_path, "due-refunds", "--refunded", due
        )
        left = {"outside:cash": 5_000_000, "outside:stripe": -5_000_000}
        await till.look_what_is_due()
        await till.until_true(lambda: till.balances() == left)
        await till.until(payment, "were refunded by people of the site")
        await until_health(till, lambda told: due not in told)
        assert await ledger(tmp_path, "due-refunds") == ""
        assert f"'{due}' is not due" in await ledger(tmp_path, "due-refunds", "--refunded", due)
        assert (await ledger(tmp_path, "verify")).startswith("The ledger is correct")
