"""The outcome of payments that the desk has sent: in any order, late, or as its owner says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from aitp_desk.capability import Party
from aitp_payments.buyer.purchases import BOUGHT, bought_id, find_bought, settled_by_owner
from aitp_payments.buyer.reconciliation import verify_bought
from aitp_payments.messages.signatures import sign
from aitp_payments.records import find_payment
from tests.support.payments.checkout import OTHER_KEY, results
from tests.support.payments.purchases import BAKERY, Bakery, Site, payment_of, trade

DAY = 24 * 60 * 60


@pytest.fixture
def bakery() -> Bakery:
    return Bakery()


@pytest.fixture
def site(bakery: Bakery) -> Site:
    buyer = Site(bakery)
    bakery.know(buyer)
    return buyer


def told(
    bakery: Bakery,
    quote: dict[str, Any],
    result: str,
    at: str = "2027-01-15T08:00:00Z",
) -> dict[str, Any]:
    """What the bakery confirms of a quote, at a moment."""
    said = {"quote_id": quote["quote_id"], "payment_id": "pay_1", "result": result, "timestamp": at}
    return {"payment_confirmation": bakery.payments.merchant.sign(said)}


def long_open(bakery: Bakery, price: str) -> dict[str, Any]:
    """A quote that is open for days."""
    quote = bakery.quote(price, version=0) | {"expiration": "2027-01-20T08:00:00Z"}
    del quote["merchant_signature"]
    return bakery.payments.merchant.sign(quote)


def problems(site: Site) -> list[str]:
    """What the owner learns of the books."""
    return list(verify_bought(site.records.values(), site.counters.items()))


def test_a_failed_payment_counts_on_and_may_be_sent_again(site: Site, bakery: Bakery) -> None:
    quote = bakery.quote("10", version=0)
    paid = payment_of(site.hear({"quote": quote}))
    (failure,) = bakery.say("payment", sign(OTHER_KEY, paid, "payer_signature"), version=0)
    site.hear(failure)
    assert site.state() == ["failed"]
    assert site.holds("pending-at:bakery") == site.holds("channel-at:bakery") == 0
    assert payment_of(site.hear({"quote": quote})) == paid
    (success,) = bakery.say("payment", paid, version=0)
    site.hear(success)
    site.hear(failure)
    assert site.state() == ["confirmed"]
    assert payment_of(trade(site, bakery, "10"))
    assert "decide" in str(trade(site, bakery, "0.01"))
    assert problems(site) == []


def test_a_merchant_that_calls_everything_failed_gets_no_more_than_the_ceilings(
    site: Site, bakery: Bakery
) -> None:
    quotes = [bakery.quote("10", version=0) for _ in range(5)]
    for quote in quotes:
        site.hear({"quote": quote})
        site.hear(told(bakery, quote, "failure"))
    for quote in quotes:
        site.hear(told(bakery, quote, "success", "2027-01-15T09:00:00Z"))
    assert sorted(site.state()) == ["confirmed", "confirmed", "wanted", "wanted", "wanted"]
    assert site.holds("spent-at:bakery") == 20
    assert problems(site) == []


def test_what_is_sent_again_on_another_day_counts_on_that_day_and_no_other(
    site: Site, bakery: Bakery
) -> None:
    first, other = (long_open(bakery, "10") for _ in range(2))
    for quote in (first, other):
        site.hear({"quote": quote})
        site.hear(told(bakery, quote, "failure"))
    site.now = bakery.now = site.now + DAY
    trade(site, bakery, "10")
    assert payment_of(site.hear({"quote": first}))
    assert "site's people decide" in str(site.hear({"quote": other}))
    assert site.holds("pending-at:bakery") == 10
    assert problems(site) == []


def test_a_restarted_desk_pays_nothing_twice_and_counts_on(site: Site, bakery: Bakery) -> None:
    quote = bakery.quote("10", version=0)
    paid = payment_of(site.hear({"quote": quote}))
    trade(site, bakery, "9")
    reopened = Site(bakery)
    reopened.records, reopened.counters = site.records, site.counters
    assert payment_of(reopened.hear({"quote": quote})) == paid
    assert "site's people decide" in str(trade(reopened, bakery, "1.01"))
    assert payment_of(trade(reopened, bakery, "1"))
    (success,) = bakery.say("payment", paid, version=0)
    reopened.hear(success)
    assert sorted(reopened.state()) == ["confirmed", "confirmed", "confirmed", "wanted"]
    assert problems(reopened) == []


def test_money_that_was_taken_after_all_is_booked_also_while_people_are_asked(
    site: Site, bakery: Bakery
) -> None:
    quote = bakery.quote("10", version=0)
    site.hear({"quote": quote})
    site.hear(told(bakery, quote, "failure"))
    site.beside = (Party(id="visitor", version=None),)
    assert "site's people decide" in str(site.hear({"quote": quote}))
    site.hear(told(bakery, quote, "pending", "2027-01-15T08:00:01Z"))
    assert len(site.records_open()) == 1
    site.hear(told(bakery, quote, "success", "2027-01-15T08:00:02Z"))
    assert site.state() == ["confirmed"]
    assert site.records_open() == []
    assert site.holds("spent-at:bakery") == 10
    assert site.decide(quote_id=quote["quote_id"], pay=True) == ["This decision was already made."]


@pytest.mark.parametrize("order", list(permutations(("failure", "pending", "success"))))
def test_a_try_that_failed_and_one_that_did_not_within_a_second_are_no_refund(
    site: Site, bakery: Bakery, order: Sequence[str]
) -> None:
    quote = bakery.quote("10", version=0)
    site.hear({"quote": quote})
    for result in order:
        site.hear(told(bakery, quote, result))
    assert site.state() == ["confirmed"]
    assert site.holds("spent-at:bakery") == 10


@pytest.mark.parametrize("is_turned", [False, True], ids=["in-order", "turned"])
def test_moments_within_a_second_tell_a_refund(
    site: Site, bakery: Bakery, *, is_turned: bool
) -> None:
    quote = bakery.quote("10", version=0)
    site.hear({"quote": quote})
    said = [
        told(bakery, quote, "success", "2027-01-15T08:00:00.250Z"),
        told(bakery, quote, "failure", "2027-01-15T08:00:00.750Z"),
    ]
    for one in reversed(said) if is_turned else said:
        site.hear(one)
    assert site.state() == ["failed" if is_turned else "refunded"]
    assert site.holds("spent-at:bakery") == site.holds("channel-at:bakery") == 0


def test_what_goes_back_in_the_second_in_which_it_came_is_heard_to_have_gone_back(
    site: Site, bakery: Bakery
) -> None:
    quote = bakery.quote("10", version=0)
    paid = payment_of(site.hear({"quote": quote}))
    (success,) = bakery.say("payment", paid, version=0)
    site.hear(success)
    settled = find_payment(bakery, success["payment_confirmation"]["payment_id"])
    assert settled is not None
    bakery.effects(bakery.payments.settlement.refunded(bakery, settled))
    back = bakery.said[-1]
    assert results([back]) == ["failure"]
    site.hear(back)
    assert site.state() == ["refunded"]
    assert site.holds("spent-at:bakery") == site.holds("channel-at:bakery") == 0
    site.hear(success)
    assert site.state() == ["refunded"]
    assert "decide" in str(trade(site, bakery, "10.01"))
    assert payment_of(trade(site, bakery, "10"))
    assert "decide" in str(trade(site, bakery, "0.01"))


@pytest.mark.parametrize("is_paid", [True, False], ids=["paid", "unpaid"])
def test_what_is_never_confirmed_is_settled_by_the_owner_and_the_merchant_may_say_otherwise(
    site: Site, bakery: Bakery, *, is_paid: bool
) -> None:
    quote = bakery.quote("10", version=0)
    site.hear({"quote": quote})
    bought = find_bought(site, bought_id("bakery", quote["quote_id"]))
    assert bought is not None
    site.effects(settled_by_owner(site, bought, "confirmed" if is_paid else "failed"))
    assert site.holds("pending-at:bakery") == 0
    assert site.holds("spent-at:bakery") == (10 if is_paid else 0)
    assert problems(site) == []
    if not is_paid:
        assert "site's people decide" in str(site.hear({"quote": quote}))
    site.hear(told(bakery, quote, "success"))
    assert site.holds("spent-at:bakery") == 10
    site.hear(told(bakery, quote, "failure", "2027-01-15T08:00:01Z"))
    assert site.state() == ["refunded"]
    assert problems(site) == []


def test_a_top_up_that_became_another_is_not_decided_by_who_saw_the_first(
    site: Site, bakery: Bakery
) -> None:
    def asked(amount: str, at: str) -> dict[str, Any]:
        request = {
            "channel_id": "ch_site",
            "amount": amount,
            "currency": "EUR",
            "merchant_id": BAKERY,
            "timestamp": at,
        }
        return {"top_up_request": bakery.payments.merchant.sign(request)}

    site.hear(asked("31", "2027-01-15T08:00:00Z"))
    (seen,) = site.records_open()
    answer = dict(site.payments.answer(seen, {"answer": "pay"})["decide_payment"])
    del answer["merchant_id"]
    site.hear(asked("9000", "2027-01-15T08:00:01Z"))
    (said,) = site.decide(**answer)
    assert said.startswith("The merchant now asks for 9000 EUR")
    assert site.stored["rejected_payment_decision"]["reason"] == "other_amount"
    assert site.holds("channel-at:bakery") == 0
    (response,) = site.decide(**answer | {"amount": "9000"})
    assert response["top_up_response"]["amount"] == "9000"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"state": "confirmed"}, "pending-at:bakery: it holds 10.00 EUR"),
        ({"state": "failed"}, "pending-at:bakery: it holds 10.00 EUR"),
        ({"moves": 2}, "the journal lacks move 2 of its money"),
        ({"day": "20270114"}, "bought-on:EUR:20270114: it counts 0.00 EUR"),
    ],
)
def test_what_was_bought_and_is_booked_otherwise_is_reported(
    site: Site, bakery: Bakery, change: dict[str, Any], problem: str
) -> None:
    site.hear({"quote": bakery.quote("10", version=0)})
    assert problems(site) == []
    ((key, record),) = ((k, one) for k, one in site.records.items() if k.startswith(BOUGHT))
    site.records[key] = structs.replace(record, value={**record.value, **change})
    assert problem in " ".join(problems(site))


def test_a_payment_that_bought_nothing_is_reported(site: Site, bakery: Bakery) -> None:
    site.hear({"quote": bakery.quote("10", version=0)})
    (key,) = (key for key in site.records if key.startswith(BOUGHT))
    del site.records[key]
    told_of = " ".join(problems(site))
    assert "pending-at:bakery: it holds 10.00 EUR, but the purchases add up to 0.00." in told_of
    assert "it counts 10.00 EUR, but the purchases add up to 0.00." in told_of


def test_what_waits_for_people_is_not_signed_before_they_pay_it(site: Site, bakery: Bakery) -> None:
    quotes = [bakery.quote("15", version=0) for _ in range(2)]
    for quote in quotes:
        site.hear({"quote": quote})
    site.now += 60
    assert "payer_signature" not in str(site.records)
    site.decide(quote_id=quotes[0]["quote_id"], pay=False)
    assert "payer_signature" not in str(site.records)
    paid = payment_of(site.decide(quote_id=quotes[1]["quote_id"], pay=True))
    assert paid["timestamp"] == "2027-01-15T08:01:00Z"
    assert results(bakery.say("payment", paid, version=0)) == ["success"]


Step = tuple[str, int, int]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["quote", "again", "failure", "success", "pending", "clock"]),
        st.integers(1, 12),
        st.integers(0, 5),
    ),
    min_size=1,
    max_size=14,
)


@given(steps=STEPS)
def test_no_day_has_more_signed_than_its_ceilings_whatever_the_clock_and_the_merchant_say(
    steps: list[Step],
) -> None:
    """Quotes of 1 to 12 EUR, said again, failed, gone back, come after all; clocks set at will."""
    bakery = Bakery()
    site = Site(bakery, otherwise="nobody")
    quotes: list[dict[str, Any]] = []
    for at, (what, price, which) in enumerate(steps):
        quote = quotes[which % len(quotes)] if quotes else None
        if what == "clock":
            site.now += (which - 2) * DAY // 2
        elif what == "quote" or quote is None:
            quotes.append(long_open(bakery, str(price)))
            site.hear({"quote": quotes[-1]})
        elif what == "again":
            site.hear({"quote": quote})
        else:
            site.hear(told(bakery, quote, what, f"2027-01-15T08:00:{at:02}Z"))
        payments = [one["payment"] for one in site.said if isinstance(one, dict)]
        signed = {json.dumps(one, sort_keys=True) for one in payments}
        days = {name: -count for name, count in site.counters.items() if "bought-on" in name}
        assert all(0 <= count <= 20_000_000 for name, count in days.items() if "bakery" in name)
        assert problems(site) == []
        sums = sum(count for name, count in days.items() if "bakery" in name)
        asked = {quote["quote_id"]: quote for quote in quotes}
        paid = [json.loads(one)["quote_id"] for one in signed]
        assert len(paid) == len(set(paid)), "a quote has one payment"
        prices = [asked[one]["payment_options"][0]["amount"] for one in paid]
        assert sums == sum(int(Decimal(price) * 1_000_000) for price in prices)
