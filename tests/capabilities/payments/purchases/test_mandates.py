"""The desk as buyer: it pays what its owner has named, up to the ceilings, and each quote once."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aitp_desk.capability import Forbidden, Party, Start
from aitp_payments.messages.aitp01 import PUBLISHED
from aitp_payments.messages.signatures import verifies, write_signature
from aitp_payments.money import millionths
from aitp_payments.quotes.wrappers import wrapped_bytes
from tests.support.payments.books import Look, Moved
from tests.support.payments.checkout import AFFILIATE_KEY, public_of, results
from tests.support.payments.purchases import (
    BAKER,
    BAKERY,
    STRANGER,
    Bakery,
    Site,
    payment_of,
    trade,
)


@pytest.fixture
def bakery() -> Bakery:
    return Bakery()


@pytest.fixture
def site(bakery: Bakery) -> Site:
    buyer = Site(bakery)
    bakery.know(buyer)
    return buyer


def test_a_quote_is_paid_confirmed_and_booked_on_both_sides(site: Site, bakery: Bakery) -> None:
    quote = bakery.quote("9.99", version=0)
    (said,) = site.hear({"quote": quote})
    assert said["$schema"] == PUBLISHED
    assert site.holds("pending-at:bakery") == Decimal("9.99")
    (confirmed,) = bakery.say("payment", said["payment"], version=0)
    assert site.hear(confirmed) == []
    assert site.state() == ["confirmed"]
    assert site.holds("spent-at:bakery") == bakery.holds("merchant") == Decimal("9.99")
    assert site.holds("channel-at:bakery") == Decimal("-9.99")
    assert site.holds("pending-at:bakery") == site.total() == 0
    (key,) = site.payments.documents()["payer-jwks.json"]["keys"]
    assert verifies(key["x"], said["payment"], "payer_signature")


def test_a_quote_that_comes_again_is_answered_by_the_very_same_payment(
    site: Site, bakery: Bakery
) -> None:
    quote = bakery.quote("5", version=0)
    first = site.hear({"quote": quote})
    site.now += 60
    assert site.hear({"quote": quote}) == first
    assert site.holds("pending-at:bakery") == 5
    for _ in range(2):
        (confirmed,) = bakery.say("payment", payment_of(first), version=0)
        site.hear(confirmed)
    assert site.hear({"quote": quote}) == first
    assert site.holds("spent-at:bakery") == bakery.holds("merchant") == 5


def test_nothing_that_another_participant_says_has_anything_paid(
    site: Site, bakery: Bakery
) -> None:
    quote = {"quote": bakery.quote("5", version=0)}
    before = dict(site.records), dict(site.counters)
    for who in (STRANGER, None, "key:anna", "agent:bakery.example.evil"):
        assert site.hear(quote, who) == []
    assert site.hear(quote, None, actor="https://shop.example") == []
    assert (site.records, site.counters) == before


def test_where_another_participant_takes_part_a_person_decides(site: Site, bakery: Bakery) -> None:
    site.beside = (Party(id="visitor", version=None),)
    quote = bakery.quote("5", version=0)
    (said,) = site.hear({"quote": quote})
    assert "site's people decide" in said
    assert site.state() == ["wanted"]
    assert payment_of(site.decide(quote_id=quote["quote_id"], pay=True))["quote_id"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"description": "Something else"}, "not signed"),
        ({"merchant_signature": "ed25519:AAAA"}, "not signed"),
        ({"expiration": "2020-01-01T00:00:00Z"}, "This quote has expired"),
        ({"next_recipient": "somebody.example"}, "for another site"),
        ({"payment_options": []}, "pays only from payment channels"),
    ],
)
def test_a_quote_that_was_changed_is_over_or_is_for_others_is_not_paid(
    site: Site, bakery: Bakery, change: dict[str, Any], words: str
) -> None:
    quote = bakery.quote("5", version=0) | change
    if words != "not signed":
        del quote["merchant_signature"]
        quote = bakery.payments.merchant.sign(quote)
    (said,) = site.hear({"quote": quote})
    assert words in said
    assert site.state() == []


def test_another_quote_under_the_same_id_is_not_paid(site: Site, bakery: Bakery) -> None:
    quote = bakery.quote("5", version=0)
    site.hear({"quote": quote})
    dearer = bakery.payments.merchant.sign({**quote, "description": "More of it"})
    (said,) = site.hear({"quote": dearer})
    assert "not paid" in said
    assert site.holds("pending-at:bakery") == 5


@pytest.mark.parametrize("prices", [("10.01",), ("10", "10", "0.01")], ids=["payment", "payee"])
def test_beyond_a_ceiling_one_of_the_sites_people_decides(
    site: Site, bakery: Bakery, prices: tuple[str, ...]
) -> None:
    *within, beyond = prices
    for price in within:
        assert payment_of(trade(site, bakery, price))
    quote = bakery.quote(beyond, version=0)
    (said,) = site.hear({"quote": quote})
    assert "site's people decide" in said
    for who, actor in ((BAKER, "https://bakery.example"), (None, "https://shop.example")):
        decision = {"merchant_id": BAKERY, "quote_id": quote["quote_id"], "pay": True}
        with pytest.raises(Forbidden):
            site.hear({"decide_payment": decision}, who, actor=actor, version=1)
    (record,) = site.records_open()
    waits = site.payments.waiting(record)
    assert waits is not None
    assert (waits.of, waits.message) == (
        "https://shop.example",
        {"quote": {**quote, "description": ""}},
    )
    answer = site.payments.answer(record, {"answer": "pay"})["decide_payment"]
    paid = payment_of(site.decide(**{k: v for k, v in answer.items() if k != "merchant_id"}))
    assert paid["payment_method"]["amount"] == beyond
    assert site.decide(quote_id=quote["quote_id"], pay=False) == ["This decision was already made."]


def test_the_next_day_the_ceilings_are_whole_again(site: Site, bakery: Bakery) -> None:
    for _ in range(2):
        trade(site, bakery, "10")
    site.now = bakery.now = site.now + 24 * 60 * 60
    assert payment_of(trade(site, bakery, "10"))


def test_what_people_decline_or_let_pass_is_not_paid(site: Site, bakery: Bakery) -> None:
    declined, passed = (bakery.quote("15", version=0, seconds=10**6) for _ in range(2))
    site.hear({"quote": declined})
    assert site.decide(quote_id=declined["quote_id"], pay=False) == ["The site does not pay this."]
    assert site.hear({"quote": declined}) == ["The site does not pay this."]
    site.hear({"quote": passed})
    site.now += 24 * 60 * 60
    (late,) = site.decide(quote_id=passed["quote_id"], pay=True)
    assert "This quote has expired" in late
    assert site.stored["rejected_payment_decision"]["reason"] == "expired"
    assert site.total() == site.holds("pending-at:bakery") == 0


def test_where_nobody_decides_what_is_beyond_is_not_paid(bakery: Bakery) -> None:
    site = Site(bakery, otherwise="nobody")
    assert site.hear({"quote": bakery.quote("15", version=0)}) == ["The site does not pay this."]
    assert site.records_open() == []


def test_a_confirmation_counts_only_with_the_merchants_signature(
    site: Site, bakery: Bakery
) -> None:
    paid = payment_of(site.hear({"quote": bakery.quote("10", version=0)}))
    (confirmed,) = bakery.say("payment", paid, version=0)
    told = confirmed["payment_confirmation"]
    (said,) = site.hear({"payment_confirmation": {**told, "result": "failure"}})
    assert "not signed" in said
    assert site.hear(confirmed, STRANGER) == []
    assert site.state() == ["pending"]


def test_a_channel_that_is_too_small_is_topped_up_within_the_mandate(
    site: Site, bakery: Bakery
) -> None:
    small = Bakery()
    small.know(site, "1")
    quote = small.quote("9", version=0)
    paid = payment_of(site.hear({"quote": quote}))
    failure, request = small.say("payment", paid, version=0)
    site.hear(failure)
    (response,) = site.hear(request)
    assert site.hear(request) == [response]
    assert site.holds("channel-at:bakery") == 8
    small.say("top_up_response", response["top_up_response"], version=0)
    assert payment_of(site.hear({"quote": quote})) == paid
    assert results(small.say("payment", paid, version=0)) == ["success"]


def test_a_top_up_beyond_the_mandate_is_decided_by_people(site: Site, bakery: Bakery) -> None:
    asked = {
        "channel_id": "ch_site",
        "amount": "30.01",
        "currency": "EUR",
        "merchant_id": BAKERY,
        "timestamp": "2027-01-15T08:00:00Z",
    }
    signed = bakery.payments.merchant.sign(asked)
    assert site.hear({"top_up_request": {**signed, "amount": "1"}})[0].startswith(
        "The quote is not signed"
    )
    other = bakery.payments.merchant.sign({**asked, "channel_id": "ch_other"})
    assert "no such channel" in site.hear({"top_up_request": other})[0]
    stale = bakery.payments.merchant.sign({**asked, "timestamp": "2027-01-15T07:00:00Z"})
    assert "This request is too old" in site.hear({"top_up_request": stale})[0]
    assert "site's people" in site.hear({"top_up_request": signed})[0]
    assert site.holds("channel-at:bakery") == 0
    (response,) = site.decide(channel_id="ch_site", amount="30.01", pay=True)
    assert response["top_up_response"]["amount"] == "30.01"
    assert site.holds("channel-at:bakery") == Decimal("30.01")


async def test_what_is_never_confirmed_stays_pending_and_is_reported(
    site: Site, bakery: Bakery
) -> None:
    site.hear({"quote": bakery.quote("5", version=0)})
    ref = next(iter(site.started))[1]
    (again,) = await site.look()
    assert isinstance(again, Start)
    assert again.ref != ref
    (health,) = site.payments.watched().values()
    assert health is not None
    assert site.state() == ["pending"]
    (bought,) = (one for key, one in site.records.items() if key.startswith("bought:"))
    assert bought.value["payment"]


def test_a_quote_that_others_pass_on_is_paid_where_the_chain_holds_and_ends_here(
    bakery: Bakery,
) -> None:
    site = Site(bakery, affiliates={"guide.example": public_of(AFFILIATE_KEY)})

    def passed_on(to: str) -> dict[str, Any]:
        quote = bakery.quote("5", version=0)
        wrapper = {
            "affiliate_id": "guide.example",
            "role": "service",
            "next_recipient": to,
            "timestamp": "2027-01-15T08:00:00Z",
        }
        data = wrapped_bytes(quote, (), wrapper)
        signed = {**wrapper, "signature": write_signature(AFFILIATE_KEY, data)}
        return {"wrapped_quote": {"original_quote": quote, "wrappers": [signed]}}

    assert "for another site" in str(site.hear(passed_on("https://other.example")))
    changed = passed_on("https://shop.example")
    changed["wrapped_quote"]["wrappers"][0]["role"] = "discovery"
    assert "is not signed by guide.example" in str(site.hear(changed))
    assert site.state() == []
    assert payment_of(site.hear(passed_on("https://shop.example")))


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(
    prices=st.lists(st.integers(1, 1_200), min_size=1, max_size=8),
    order=st.randoms(use_true_random=False),
)
def test_no_ceiling_is_passed_whatever_comes_at_once_again_or_fails(
    prices: list[int], order: Any
) -> None:
    """Quotes are judged by what was there before others were written, as at once."""
    bakery = Bakery()
    site = Site(bakery, otherwise="nobody")
    quotes = [bakery.quote(f"{price // 100}.{price % 100:02}", version=0) for price in prices]
    parts = [site.part("quote", quote, 0) for quote in quotes * 2]
    order.shuffle(parts)
    stale: list[tuple[Look, Any]] = []
    for part in parts:
        look = Look(site)
        stale.append((look, site.weigh(part)))
    for part, (look, verdict) in zip(parts, stale, strict=True):
        try:
            site.commit(look, ())
            site.effects(verdict.effects)
        except Moved:
            site.hear({"quote": part.given["quote"]})
        if order.random() < 0.3 and site.said and isinstance(site.said[-1], dict):
            told = {
                "quote_id": site.said[-1]["payment"]["quote_id"],
                "payment_id": "p",
                "result": order.choice(["failure", "success", "pending"]),
                "timestamp": f"2027-01-15T08:00:{order.randrange(60):02}Z",
            }
            site.hear({"payment_confirmation": bakery.payments.merchant.sign(told)})
        out = site.holds("pending-at:bakery") + site.holds("spent-at:bakery")
        assert out <= 20
        assert site.total() == 0
        counted = [count for name, count in site.counters.items() if name.startswith("bought-on")]
        assert all(-millionths(Decimal(25)) <= count <= 0 for count in counted)
