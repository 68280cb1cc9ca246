"""Payments of x402 that people find out about, or give back, and say so at the terminal."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aitp_desk.auth.keys.master_key import open_master_key
from aitp_desk.capability import Delivery, Keep
from aitp_desk.cli.extension import have_done, look
from aitp_desk.desk.plugins.outside.requests import make_sender
from aitp_desk.egress import Egress
from aitp_desk.store.engine.sqlite import SqliteStore
from aitp_payments.x402.manual_settlement import came, missing, returned
from aitp_payments.x402.settlement import GRACE
from tests.support.desk.command import run_here
from tests.support.desk.terminal import command
from tests.support.payments.facilitator import Wallet, facilitator
from tests.support.payments.x402_merchant import MERCHANT, OUTSIDE, Shop

NOW = 1_800_000_000
TRANSACTION = "0x" + "9F" * 32


@pytest.fixture
async def shop() -> AsyncIterator[Shop]:
    async with facilitator(NOW) as fake, Egress(allow_loopback=True) as egress:
        yield Shop(fake, make_sender(egress))


async def unresolved(shop: Shop) -> str:
    """A payment of which nobody could say what came."""
    payer = Wallet()
    shop.facilitator.chain.holds[payer.address.lower()] = 250_000
    asked = shop.quote()
    shop.facilitator.moods.append("lost")
    shop.pay(payer.sign(asked, shop.now))
    await shop.work(asked["maxTimeoutSeconds"] + GRACE + 120)
    return shop.payment_id()


async def test_coins_that_people_have_found_pay_what_they_were_for(shop: Shop) -> None:
    payment_id = await unresolved(shop)
    assert payment_id in str(shop.payments.watched())
    shop.restart()
    assert shop.payments.watched() == {}
    await shop.work(15 * 60)
    assert payment_id in str(shop.payments.watched())
    shop.decide(lambda books: came(books, payment_id, TRANSACTION))
    await shop.work()
    assert shop.results() == ["pending", "success"]
    assert TRANSACTION.lower() in str(shop.said[-1])
    assert shop.counters[MERCHANT] == 250_000
    assert shop.payments.watched() == {}
    with pytest.raises(ValueError, match="is settled"):
        shop.decide(lambda books: missing(books, payment_id))


async def test_coins_that_have_not_come_leave_the_quote_to_be_paid_again(shop: Shop) -> None:
    payment_id = await unresolved(shop)
    shop.decide(lambda books: missing(books, payment_id))
    await shop.work()
    assert shop.results() == ["pending", "failure"]
    assert "You can pay again" in shop.words()
    assert shop.paid == []
    with pytest.raises(ValueError, match="is refused"):
        shop.decide(lambda books: came(books, payment_id, TRANSACTION))


async def test_what_is_owed_is_booked_back_once_it_was_sent(shop: Shop) -> None:
    payer = Wallet()
    shop.facilitator.chain.holds[payer.address.lower()] = 250_000
    shop.pay(payer.sign(shop.quote(), NOW))
    await shop.work()
    payment_id = shop.payment_id()
    with pytest.raises(ValueError, match="is settled"):
        shop.decide(lambda books: returned(books, payment_id, TRANSACTION))
    shop.begin(shop.paid[0].failing)
    await shop.work()
    assert payment_id in str(shop.payments.watched())
    shop.decide(lambda books: returned(books, payment_id, TRANSACTION))
    shop.decide(lambda books: returned(books, payment_id, TRANSACTION))
    await shop.work()
    assert shop.results() == ["success", "failure", "failure"]
    assert TRANSACTION.lower() in shop.words()
    assert (shop.counters[MERCHANT], shop.counters[OUTSIDE]) == (0, 0)


async def test_what_is_still_asked_about_is_found_out_only_once_it_was_sent(shop: Shop) -> None:
    payer = Wallet()
    shop.pay(payer.sign(shop.quote(), NOW))
    with pytest.raises(ValueError, match="Wait until"):
        shop.decide(lambda books: missing(books, shop.payment_id()))
    with pytest.raises(ValueError, match="not the hash of a transaction"):
        shop.decide(lambda books: came(books, shop.payment_id(), "0x12"))
    with pytest.raises(ValueError, match="is not known"):
        shop.decide(lambda books: missing(books, "pay_9"))


def test_the_terminal_lists_them_and_takes_what_people_say(tmp_path: Path) -> None:
    data = tmp_path / "data"
    store = f"sqlite:{data / 'desk.db'}"
    open_master_key(data)

    async def begin() -> tuple[Shop, str]:
        async with (
            SqliteStore.open(data / "desk.db"),
            facilitator(NOW) as fake,
            Egress(allow_loopback=True) as egress,
        ):
            shop = Shop(fake, make_sender(egress))
            return shop, await unresolved(shop)

    shop, payment_id = asyncio.run(begin())
    kept = tuple(
        Keep(key, record.value, 0, outlives=True)
        for key, record in shop.records.items()
        if key.startswith(("x402:", "payment:", "quote:"))
    )

    def keep(_books: Delivery) -> tuple[Keep, ...]:
        return kept

    have_done(data, store, "payments", keep)
    (line,) = command("ledger", "coins", "list", "--data", data)
    assert line.startswith(f"{payment_id}  unresolved  0.25 USD  0x")
    assert line.endswith("  base-sepolia")
    (told,) = command("ledger", "coins", "list", "--json", "--data", data)
    assert json.loads(told)["payment"] == payment_id
    for wrong in (
        ("mark-received", payment_id, "0x12"),
        ("mark-missing", "pay_9"),
        ("mark-returned", payment_id, TRANSACTION),
    ):
        done = run_here("ledger", "coins", *wrong, "--data", data)
        assert (done.code, "Traceback" in done.err) == (1, False)
    command("ledger", "coins", "mark-received", payment_id, TRANSACTION, "--data", data)
    with look(data, store, "payments") as looking:
        (way,) = looking.records("x402:")
    assert way.value["state"] == "settled"
    assert "question" not in way.value or way.value["question"] is None
