"""Quotes paid by x402: settled once, refused, or found out about for as long as it takes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from aitp_desk.capability import InvalidRequest, Send
from aitp_desk.desk.plugins.outside.requests import make_sender
from aitp_desk.egress import Egress
from aitp_payments.x402.facilitator import SETTLE_SECONDS, VERIFY_SECONDS
from aitp_payments.x402.payload import MOST_LEFT
from aitp_payments.x402.settlement import GRACE
from tests.support.payments.facilitator import Mood, Wallet, before, facilitator
from tests.support.payments.x402_merchant import MERCHANT, OUTSIDE, PAY_TO, Shop

NOW = 1_800_000_000


@pytest.fixture
async def send() -> AsyncIterator[Send]:
    async with Egress(allow_loopback=True) as egress:
        yield make_sender(egress)


@pytest.fixture
async def shop(send: Send) -> AsyncIterator[Shop]:
    async with facilitator(NOW) as fake:
        yield Shop(fake, send)


@pytest.fixture
async def remembering(send: Send) -> AsyncIterator[Shop]:
    """A shop whose facilitator knows what it has settled before."""
    async with facilitator(NOW, remembers=True) as fake:
        yield Shop(fake, send)


def wallet(shop: Shop, coins: int = 1_000_000) -> Wallet:
    one = Wallet()
    shop.facilitator.chain.holds[one.address.lower()] = coins
    return one


def assert_paid_once(shop: Shop, units: int = 250_000) -> None:
    assert shop.facilitator.chain.holds[PAY_TO.lower()] == units
    assert (shop.counters[MERCHANT], shop.counters[OUTSIDE]) == (units, -units)
    (paid,) = shop.paid
    assert paid.failing.job == "refund"


def assert_unpaid(shop: Shop) -> None:
    assert shop.paid == []
    assert MERCHANT not in shop.counters


async def test_a_quote_is_paid_by_one_signature(shop: Shop) -> None:
    asked = shop.quote()
    payload = wallet(shop).sign(asked, NOW)
    shop.pay(payload)
    assert shop.results() == []
    await shop.work()
    assert shop.results() == ["success"]
    (transaction,) = shop.facilitator.chain.used.values()
    assert {"label": "Transaction", "value": transaction} in shop.said[-1]["payment_confirmation"][
        "details"
    ]
    assert_paid_once(shop)
    assert [path for path, _ in shop.facilitator.asked] == ["/verify", "/settle"]


async def test_of_a_payment_that_has_ended_no_signature_is_kept(shop: Shop) -> None:
    payload = wallet(shop).sign(shop.quote(), NOW)
    shop.pay(payload)
    signature = payload["payload"]["signature"]
    assert signature in str(shop.records)  # the facilitator still has to be asked
    await shop.work()
    assert signature not in str(shop.records)
    assert signature not in str(shop.said)


async def test_a_payment_of_version_1_names_its_quote_itself(shop: Shop) -> None:
    payload = before(wallet(shop).sign(shop.quote(), NOW), "base-sepolia")
    with pytest.raises(InvalidRequest, match="must name its quote"):
        shop.pay(payload)
    shop.pay(payload, quote_id="quote_1")
    await shop.work()
    assert_paid_once(shop)


async def test_a_payment_that_comes_again_gets_the_stored_answer(shop: Shop) -> None:
    payload = wallet(shop).sign(shop.quote(), NOW)
    shop.pay(payload)
    shop.pay(payload)
    await shop.work()
    shop.restart()
    shop.pay(before(payload, "base-sepolia"), quote_id="quote_1")
    await shop.work()
    assert shop.results() == ["pending", "success", "success"]
    assert shop.said[-1] == shop.said[-2]
    assert_paid_once(shop)
    assert shop.facilitator.count("/settle") == 1


async def test_one_authorisation_pays_one_quote(shop: Shop) -> None:
    first, second = shop.quote(), shop.quote()
    payload = wallet(shop).sign(first, NOW)
    shop.pay(payload)
    shop.pay({**payload, "accepted": second})
    await shop.work()
    assert shop.results() == ["failure", "success"]
    assert "already presented" in shop.said[-2]["payment_confirmation"]["message"]
    assert_paid_once(shop)


async def test_a_quote_that_is_being_paid_is_not_paid_by_another(shop: Shop) -> None:
    asked = shop.quote()
    shop.pay(wallet(shop).sign(asked, NOW))
    shop.pay(wallet(shop).sign(asked, NOW))
    assert "is pending" in shop.words()
    await shop.work()
    shop.pay(wallet(shop).sign(asked, NOW))
    assert "already paid" in shop.words()
    await shop.work()
    assert_paid_once(shop)
    assert shop.facilitator.count("/settle") == 1


async def test_a_refused_payment_can_be_signed_and_paid_again(shop: Shop) -> None:
    asked, poor = shop.quote(), wallet(shop, 10)
    refused = poor.sign(asked, NOW)
    shop.pay(refused)
    await shop.work()
    assert shop.results() == ["failure"]
    assert shop.words() == "The wallet holds too few coins. Nothing was paid."
    assert_unpaid(shop)
    shop.facilitator.chain.holds[poor.address.lower()] = 250_000
    shop.pay(refused)  # the same gets the same answer
    await shop.work()
    assert shop.results() == ["failure", "failure"]
    assert shop.facilitator.count("/verify") == 1
    shop.pay(poor.sign(asked, NOW))
    await shop.work()
    assert_paid_once(shop)


async def test_a_forged_signature_stands_in_nobodys_way(shop: Shop) -> None:
    payer = wallet(shop)
    payload = payer.sign(shop.quote(), NOW)
    forged = payer.sign(payload["accepted"], NOW)["payload"]["signature"]
    shop.pay({**payload, "payload": {**payload["payload"], "signature": forged}})
    await shop.work()
    assert shop.results() == ["failure"]
    assert "signature is not by the paying wallet" in shop.words()
    shop.pay(payload)
    await shop.work()
    assert_paid_once(shop)


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"accepted": {"network": "eip155:8453"}}, "on: base-sepolia"),
        ({"accepted": {"amount": "1"}}, "other requirements"),
        ({"quote_id": "quote_9"}, "quote does not exist"),
        ({"signed": {"value": "1"}}, "exactly 250000"),
        ({"signed": {"validBefore": str(NOW + MOST_LEFT + 1)}}, "validBefore"),
    ],
)
async def test_what_cannot_pay_is_answered_before_the_facilitator_is_asked(
    shop: Shop, other: dict[str, Any], why: str
) -> None:
    asked = shop.quote()
    payload = wallet(shop).sign(asked, NOW, **other.get("signed", {}))
    named = {"quote_id": other["quote_id"]} if "quote_id" in other else {}
    shop.pay({**payload, "accepted": {**asked, **other.get("accepted", {})}}, **named)
    await shop.work()
    assert shop.results() == ["failure"]
    assert why in shop.words()
    assert shop.facilitator.asked == []
    assert_unpaid(shop)


async def test_a_payment_on_another_thread_keeps_nobody_from_paying_before_it_is_verified(
    shop: Shop,
) -> None:
    asked = shop.quote()
    payload, other = wallet(shop).sign(asked, NOW), wallet(shop).sign(asked, NOW)
    forged = {**payload["payload"], "signature": other["payload"]["signature"]}
    shop.thread_id = "thread_other"
    shop.pay({**payload, "payload": forged})
    assert shop.records["quote:quote_1"].value.get("state", "open") == "open"
    assert shop.records["asked:quote_1"].open_until is not None
    await shop.work()
    assert shop.results() == ["failure"]
    assert "signature is not by the paying wallet" in shop.words()
    shop.pay(payload)
    await shop.work()
    assert_paid_once(shop)


async def test_an_authorisation_pays_no_other_quote_than_the_first_that_it_was_presented_for(
    shop: Shop,
) -> None:
    payer = wallet(shop, 1)
    payload = payer.sign(shop.quote(), NOW)
    shop.pay(payload)
    await shop.work()
    assert shop.results() == ["failure"]
    shop.facilitator.chain.holds[payer.address.lower()] = 250_000
    other = shop.quote()
    shop.pay({**payload, "accepted": other})
    await shop.work()
    assert shop.results() == ["failure", "failure"]
    assert "was already presented" in shop.words()
    assert_unpaid(shop)


async def test_a_quote_in_another_currency_or_too_fine_is_not_paid_in_coins(shop: Shop) -> None:
    assert shop.quote("0.25", "EUR") == {}


@pytest.mark.parametrize("mood", ["lost", "unwell after", "garbled", "elsewhere", "pending"])
async def test_an_unknown_end_is_found_out_by_asking_again_with_the_same(
    remembering: Shop, mood: Mood
) -> None:
    shop = remembering
    asked = shop.quote()
    shop.facilitator.moods.append(mood)
    shop.pay(wallet(shop).sign(asked, NOW))
    await shop.work()
    assert shop.results() == ["pending"]
    assert "do not pay again" in shop.words()
    assert_unpaid(shop)
    shop.pay(wallet(shop).sign(asked, NOW))
    assert "is pending" in shop.words()
    await shop.work(60)
    assert shop.results() == ["pending", "failure", "success"]
    assert_paid_once(shop)
    bodies = [body for path, body in shop.facilitator.asked if path == "/settle"]
    assert len(bodies) == 2
    assert bodies[0] == bodies[1]


@pytest.mark.parametrize("mood", ["unwell", "vague", "reverted"])
async def test_a_transfer_that_was_not_made_after_all_is_made_once(shop: Shop, mood: Mood) -> None:
    shop.facilitator.moods.append(mood)
    shop.pay(wallet(shop).sign(shop.quote(), NOW))
    await shop.work(60)
    assert shop.results() == ["pending", "success"]
    assert_paid_once(shop)


async def test_a_no_that_our_own_settling_may_have_caused_is_none(shop: Shop) -> None:
    asked = shop.quote()
    shop.facilitator.moods.append("lost")
    shop.pay(wallet(shop, 250_000).sign(asked, NOW))
    await shop.work(60)
    assert shop.facilitator.count("/settle") > 3  # it says: used before, and the wallet is empty
    assert shop.results() == ["pending"]
    assert_unpaid(shop)
    await shop.work(asked["maxTimeoutSeconds"] + GRACE + 120)
    asked_for = shop.facilitator.count("/settle")
    assert "People of the site check it" in shop.words()
    assert "pay_" in str(shop.payments.watched())
    assert_unpaid(shop)
    await shop.work(24 * 3600)
    assert shop.facilitator.count("/settle") == asked_for


async def test_who_was_not_reached_before_the_end_has_taken_nothing(shop: Shop) -> None:
    asked = shop.quote()
    shop.facilitator.verifying.extend(["unwell", "busy"] * 100)
    shop.pay(wallet(shop).sign(asked, NOW))
    await shop.work(asked["maxTimeoutSeconds"] + 120)
    assert shop.facilitator.count("/settle") == 0
    assert shop.words() == "The facilitator did not respond in time. Nothing was paid."
    assert_unpaid(shop)


async def test_who_is_busy_is_asked_again(shop: Shop) -> None:
    shop.facilitator.verifying.append("busy")
    shop.facilitator.moods.append("busy")
    shop.pay(wallet(shop).sign(shop.quote(), NOW))
    await shop.work(60)
    assert shop.results() == ["success"]
    assert_paid_once(shop)


async def test_a_job_broken_off_after_settling_takes_no_for_unknown(remembering: Shop) -> None:
    shop = remembering
    shop.breaks = True
    shop.pay(wallet(shop, 250_000).sign(shop.quote(), NOW))
    await shop.work()
    await shop.work(60)
    assert shop.results()[-1] == "success"
    assert_paid_once(shop)


async def test_a_slow_facilitator_is_waited_for_as_long_as_the_job_may(shop: Shop) -> None:
    shop.facilitator.gate = asyncio.Event()
    shop.pay(wallet(shop).sign(shop.quote(), NOW))
    working = asyncio.create_task(shop.work())
    await shop.facilitator.came.wait()
    shop.facilitator.gate.set()
    await working
    assert_paid_once(shop)
    work = shop.payments.jobs()["x402_ask"]
    assert work.deadline > VERIFY_SECONDS + SETTLE_SECONDS


async def test_coins_that_come_for_what_was_declined_are_owed_to_their_payer(shop: Shop) -> None:
    shop.pay(wallet(shop).sign(shop.quote(), NOW))
    await shop.work()
    (paid,) = shop.paid
    shop.begin(paid.failing)
    await shop.work()
    assert shop.results() == ["success", "failure"]
    assert "must be refunded to 0x" in shop.words()
    (payment,) = (one for key, one in shop.records.items() if key.startswith("payment:"))
    assert payment.value["state"] == "refund_due"
    assert payment.value["details"].keys() == {"network", "payer", "receipt"}


async def test_a_facilitator_that_does_not_settle_what_is_offered_is_reported(
    shop: Shop, send: Send
) -> None:
    (round_,) = shop.payments.rounds().values()
    await round_.do(send)
    assert shop.payments.health() is None
    shop.facilitator.kinds = ["eip155:8453"]
    await round_.do(send)
    health = shop.payments.health()
    assert health is not None
    assert health.reason.endswith("does not support: base-sepolia.")
    assert shop.quote() == {}


async def test_the_settler_does_not_learn_what_is_bought(shop: Shop) -> None:
    shop.pay(wallet(shop).sign(shop.quote(), NOW))
    await shop.work()
    bodies = [body for _, body in shop.facilitator.asked]
    assert all(
        body.keys() == {"x402Version", "paymentPayload", "paymentRequirements"} for body in bodies
    )
    assert "A stamp" not in msgspec.json.encode(bodies).decode()
