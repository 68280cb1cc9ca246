"""Calls that are paid by a payment method of a card, and what a shop needs to be paid by cards."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from aitp_desk.config import ConfigError
from tests.support.payments.card_shop import Till, card, selling_by_card
from tests.support.payments.till_plugin import sold

pytestmark = pytest.mark.asyncio(loop_scope="module")

DUE = {"merchant": 5_000_000, "outside:stripe": -5_000_000}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shop(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Till]:
    async with selling_by_card(tmp_path_factory.mktemp("shop")) as one:
        yield one


@pytest.fixture
def till(shop: Till) -> Till:
    shop.renew()
    return shop


async def test_a_program_pays_by_card_and_the_call_is_made(till: Till) -> None:
    payment = await till.ask()
    await till.buyer.post(payment["thread_id"], [card(payment)])
    assert (await till.ended(payment))["status"] == "success"
    assert sold(till.site) == [f"{payment['call_id']} Ada"]
    assert till.balances() == DUE
    (intent,) = till.account.intents.values()
    assert intent["metadata"]["quote_id"] == payment["quote_id"]
    (event,) = (one for one in till.account.events if one["data"]["object"]["id"] == intent["id"])
    assert (await till.hear(event)).status == 200
    assert till.balances() == DUE


async def test_a_card_that_is_sent_twice_is_charged_once(till: Till) -> None:
    payment = await till.ask()
    thread = payment["thread_id"]
    await asyncio.gather(*(till.buyer.post(thread, [card(payment)]) for _ in range(3)))
    await till.ended(payment)
    await till.buyer.post(thread, [card(payment)])
    assert till.balances() == DUE
    assert len(till.account.intents) == 1
    assert len(sold(till.site)) == 1


async def test_a_card_that_is_declined_leaves_the_quote_to_another(till: Till) -> None:
    payment = await till.ask()
    thread = payment["thread_id"]
    await till.buyer.post(thread, [card(payment, "pm_card_chargeDeclined")])
    await till.until(payment, "Your card was declined.")
    assert sold(till.site) == []
    await till.buyer.post(thread, [card(payment, "pm_card_chargeDeclined")])  # it may have more now
    await till.until_true(lambda: len(till.account.intents) == 2)
    await till.until_true(lambda: till.audited("refused") == 2)
    await till.buyer.post(thread, [card(payment)])
    assert (await till.ended(payment))["status"] == "success"
    assert till.balances() == DUE


async def test_a_card_that_stripe_does_not_know_is_refused_without_telling_why(till: Till) -> None:
    payment = await till.ask()
    await till.buyer.post(payment["thread_id"], [card(payment, "pm_nobodys")])
    said = await till.until(payment, "The card could not be charged.")
    assert not any("No such PaymentMethod" in one for one in said)


@pytest.mark.parametrize("broken", [["before"], ["after"], ["error"], ["after", "before"]])
async def test_whatever_is_broken_off_a_card_is_charged_once(
    till: Till, broken: list[object]
) -> None:
    payment = await till.ask()
    till.account.breaks = list(broken)  # type: ignore[arg-type]
    await till.buyer.post(payment["thread_id"], [card(payment)])
    await till.until(payment, "is pending")
    while not sold(till.site):
        till.clock.advance(20)
        link = payment["links"][0]["url"]
        await till.follow(f"{link}.paid")
        await till.look_what_is_due()
    await till.ended(payment)
    assert [one["status"] for one in till.account.intents.values()] == ["succeeded"]
    assert till.balances() == DUE


async def test_a_buyer_whom_the_bank_authenticates_goes_there_and_has_paid(till: Till) -> None:
    payment = await till.ask()
    await till.buyer.post(payment["thread_id"], [card(payment, "pm_card_authenticationRequired")])
    said = await till.until(payment, "The bank requires a check of the payer.")
    assert any(f"{till.account.url}/3ds/" in one for one in said)
    (intent,) = till.account.intents
    await till.hear(till.account.authenticate(intent))
    assert (await till.ended(payment))["status"] == "success"
    assert till.balances() == DUE


async def test_a_failed_authentication_at_the_bank_does_not_pay(till: Till) -> None:
    payment = await till.ask()
    await till.buyer.post(payment["thread_id"], [card(payment, "pm_card_authenticationRequired")])
    await till.until(payment, "The bank requires a check of the payer.")
    (intent,) = till.account.intents
    failed = till.account.authenticate(intent, succeeds=False)
    for _ in range(2):
        assert (await till.hear(failed)).status == 200
    await till.until(payment, "The card was not charged.")
    await till.buyer.post(payment["thread_id"], [card(payment)])
    assert (await till.ended(payment))["status"] == "success"


async def test_a_buyer_who_never_goes_to_the_bank_has_not_paid_in_the_end(till: Till) -> None:
    payment = await till.ask()
    await till.buyer.post(payment["thread_id"], [card(payment, "pm_card_authenticationRequired")])
    await till.until(payment, "The bank requires a check of the payer.")
    (intent,) = till.account.intents
    await till.pass_time(700)
    await till.until_true(lambda: till.account.intents[intent]["status"] == "canceled")
    assert till.balances() == {}


async def test_a_card_whose_holder_has_to_be_there_is_paid_on_the_page(till: Till) -> None:
    payment = await till.ask()
    method = "pm_card_authenticationRequiredInApp"
    await till.buyer.post(payment["thread_id"], [card(payment, method)])
    await till.until(payment, "Please pay on the page instead.")
    assert [one["status"] for one in till.account.intents.values()] == ["canceled"]
    await till.hear(till.account.pay(await till.open_page(payment)))
    assert (await till.ended(payment))["status"] == "success"


async def test_of_a_page_and_a_card_at_once_one_pays_and_the_other_goes_back(till: Till) -> None:
    payment = await till.ask()
    page = till.account.pay(await till.open_page(payment))
    await asyncio.gather(till.hear(page), till.buyer.post(payment["thread_id"], [card(payment)]))
    await till.ended(payment)
    await till.hear(page)
    await till.until_true(lambda: till.balances() == DUE)
    paid = [one for one in till.account.intents.values() if one["status"] == "succeeded"]
    await till.until_true(lambda: len(till.account.refunds) == len(paid) - 1)
    assert len(sold(till.site)) == 1


@pytest.mark.parametrize("method", ["tok_visa", "pm_", "pm_" + "x" * 81, "pm_a b"])
async def test_what_is_no_payment_method_is_refused(till: Till, method: str) -> None:
    payment = await till.ask()
    assert (await till.buyer.post(payment["thread_id"], [card(payment, method)])).status == 400


async def test_a_quote_of_another_thread_is_none_here(till: Till) -> None:
    payment, other = await till.ask(), await till.ask()
    await till.buyer.post(other["thread_id"], [card(payment)])
    await till.until(other, "This quote does not exist here.")
    assert till.account.intents == {}


# --- what a shop needs ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "settings", "why"),
    [
        ("", (), "payments by Stripe need a secret or restricted key in STRIPE_API_KEY"),
        ("pk_test_51Public", (), "payments by Stripe need a secret or restricted key"),
        ("sk_live_51Key", (), "must both be live keys, or both test keys"),
    ],
)
async def test_without_the_right_key_the_desk_does_not_start(
    tmp_path: Path, key: str, settings: tuple[str, ...], why: str
) -> None:
    with pytest.raises(ConfigError, match=why) as refused:
        async with selling_by_card(tmp_path, *settings, key=key):
            pass
    assert "51Key" not in str(refused.value)


async def test_what_costs_too_little_for_cards_cannot_be_sold_by_cards_alone(
    tmp_path: Path,
) -> None:
    with pytest.raises(ConfigError, match=r"no capability accepts payments of 0\.01 EUR"):
        async with selling_by_card(tmp_path, sells_all=True):
            pass


async def test_without_the_secret_of_the_webhook_nothing_is_heard_and_the_desk_says_so(
    tmp_path: Path,
) -> None:
    async with selling_by_card(tmp_path, secret="") as till:
        ready = (await till.desk.send("GET", "/ready")).ok
        assert any(
            "Payments by card are noticed late: set STRIPE_WEBHOOK_SECRET" in note
            for note in ready["notes"]
        )
        payment = await till.ask()
        event = till.account.pay(await till.open_page(payment))
        assert (await till.hear(event)).status == 401
        await till.follow(f"{payment['links'][0]['url']}.paid")
        assert (await till.ended(payment))["status"] == "success"


async def test_no_secret_stands_on_any_thread_or_in_the_database(till: Till) -> None:
    payment = await till.ask()
    await till.buyer.post(payment["thread_id"], [card(payment)])
    await till.ended(payment)
    kept = json.dumps(
        [
            till.desk.rows("SELECT * FROM capability_records"),
            till.desk.rows("SELECT payload FROM jobs"),
            await till.buyer.texts(payment["thread_id"]),
        ],
        default=str,
    )
    assert "sk_test_" not in kept
    assert "whsec_" not in kept


async def test_money_of_a_card_is_found_out_about_when_its_thread_is_gone(till: Till) -> None:
    payment = await till.ask()
    till.account.breaks = ["after"]
    await till.buyer.post(payment["thread_id"], [card(payment)])
    await till.until(payment, "is pending")
    await till.until_true(lambda: len(till.account.intents) == 1)
    assert (await till.buyer.send("DELETE", f"/v1/threads/{payment['thread_id']}")).status == 200
    while not till.account.refunds:
        await till.pass_time(10)
    await till.until_refunded()
    assert sold(till.site) == []


async def test_a_page_that_was_paid_is_found_when_its_thread_is_gone(till: Till) -> None:
    payment = await till.ask()
    till.account.pay(await till.open_page(payment))
    assert (await till.buyer.send("DELETE", f"/v1/threads/{payment['thread_id']}")).status == 200
    await till.pass_time(601)
    await till.until_refunded()
    assert sold(till.site) == []
