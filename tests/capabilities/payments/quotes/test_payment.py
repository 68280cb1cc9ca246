"""Quotes that are paid from accounts and channels: once, for what they ask, by callers who may."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.capability import InvalidRequest, Resume
from aitp_payments.ledger.journal import move, post
from aitp_payments.messages.signatures import sign, verifies
from tests.support.payments.checkout import (
    ADA,
    CODE,
    KEY,
    OTHER_KEY,
    Counter,
    payment,
    reason,
    results,
)


@pytest.fixture
def counter() -> Counter:
    one = Counter()
    one.open_account()
    one.open_channel()
    return one


def test_a_quote_says_what_is_paid_for_how_and_until_when_and_is_signed(counter: Counter) -> None:
    quote = counter.quote("9.99")
    assert quote["merchant_id"] == "https://shop.example"
    assert quote["description"] == "A map of the trail"
    assert quote["expiration"] == "2027-01-15T08:10:00Z"
    (option,) = quote["payment_options"]
    assert (option["amount"], option["currency"]) == ("9.99", "EUR")
    assert [one["type"] for one in option["payment_methods"]] == ["ledger", "near_payment_channel"]
    key = counter.payments.merchant.key
    assert not verifies(key, quote | {"description": "A map"}, "merchant_signature")
    (published,) = counter.payments.documents()["jwks.json"]["keys"]
    assert (published["crv"], published["alg"]) == ("Ed25519", "EdDSA")


def test_who_knows_aitp_alone_is_quoted_in_its_own_words(counter: Counter) -> None:
    counter.quote(version=0)
    (option,) = counter.stored["quote"]["payment_options"]
    (method,) = option["payment_methods"]
    assert method == {
        "type": "near_payment_channel",
        "token": "ledger:EUR",
        "recipient": "https://shop.example",
    }


def test_a_signed_payment_from_a_channel_is_booked_and_confirmed_and_has_the_call_made(
    counter: Counter,
) -> None:
    quote = counter.quote("9.99", version=0)
    said = counter.pay(quote)
    assert results(said) == ["success"]
    assert said[0]["$schema"].endswith("aitp-01-payments/v1.0.0/schema.json")
    assert counter.holds("merchant") == Decimal("9.99")
    assert counter.holds("channel:ch_1") == Decimal("40.01")
    (paid,) = counter.paid
    assert (paid.call_id, paid.failing.job, paid.failing.ref) == (
        "call_1",
        "refund",
        said[0]["payment_confirmation"]["payment_id"],
    )
    assert counter.records_open() == []


def test_the_same_payment_again_returns_the_same_and_pays_nothing(counter: Counter) -> None:
    quote = counter.quote()
    first, again = counter.pay(quote), counter.pay(quote)
    assert first == again
    assert counter.holds("merchant") == Decimal("9.99")
    assert len(counter.paid) == 1


def test_another_payment_of_a_paid_quote_fails(counter: Counter) -> None:
    quote = counter.quote()
    counter.pay(quote)
    said = counter.pay(quote, timestamp="2027-01-15T08:00:01Z")
    assert results(said) == ["failure"]
    assert reason(said) == "This quote was already paid."
    assert counter.holds("merchant") == Decimal("9.99")


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"amount": "9.98"}, "The payment must be exactly 9.99 EUR, as in the quote."),
    ({"amount": "10"}, "The payment must be exactly 9.99 EUR, as in the quote."),
    ({"amount": "9.9900000"}, "An amount must have only digits"),
    ({"currency": "USD"}, "This channel holds EUR."),
    ({"token": "usdc.near"}, "This quote cannot be paid in this way"),
    ({"channel": "ch_2"}, "This channel does not exist, or the signature is by none of its keys."),
    ({"key": OTHER_KEY}, "This channel does not exist, or the signature is by none of its keys."),
]


@pytest.mark.parametrize(("changed", "told"), WRONG, ids=lambda one: str(one)[:30])
def test_what_does_not_fit_the_quote_or_is_not_signed_by_its_payer_fails_and_moves_nothing(
    counter: Counter, changed: dict[str, Any], told: str
) -> None:
    quote = counter.quote("9.99")
    said = counter.pay(quote, **changed)
    assert results(said) == ["failure"]
    assert reason(said).startswith(told)
    assert counter.holds("merchant") == 0
    assert results(counter.pay(quote)) == ["success"]


def test_an_amount_may_be_left_out_or_written_longer(counter: Counter) -> None:
    whole = payment(counter.quote("9.5"), amount="9.500000")
    assert results(counter.say("payment", whole, version=0)) == ["success"]
    short = payment(counter.quote("9.5"))
    del short["payment_method"]["amount"]
    signed = sign(KEY, short, "payer_signature")
    assert results(counter.say("payment", signed, version=0)) == ["success"]


@given(st.data())
def test_whatever_is_changed_in_a_payment_is_not_signed(data: st.DataObject) -> None:
    one = Counter()
    one.open_account()
    one.open_channel()
    paid = payment(one.quote())
    where = data.draw(st.sampled_from(["quote_id", "payer_id", "timestamp", "method"]))
    if where == "method":
        name = data.draw(st.sampled_from(["token", "channel_id", "amount", "currency"]))
        paid["payment_method"][name] += data.draw(st.sampled_from(["1", "0"]))
    elif where == "timestamp":
        paid[where] = "2027-01-15T08:00:02Z"
    else:
        paid[where] += data.draw(st.text("abc_.", min_size=1))
    assert results(one.say("payment", paid, version=0)) == ["failure"]
    assert one.holds("merchant") == 0


def test_an_expired_quote_is_not_paid(counter: Counter) -> None:
    quote = counter.quote(seconds=600)
    counter.now += 600
    said = counter.pay(quote)
    assert reason(said) == "This quote has expired. Please ask for a new one."
    assert counter.holds("merchant") == 0


def test_an_unknown_quote_is_not_paid(counter: Counter) -> None:
    said = counter.pay(counter.quote() | {"quote_id": "question_99"})
    assert reason(said) == "This quote does not exist."


def test_too_little_in_a_channel_is_reported_with_the_difference_and_topped_up_it_pays(
    counter: Counter,
) -> None:
    quote = counter.quote("60", version=0)
    failed, request = counter.pay(quote)
    assert results([failed]) == ["failure"]
    asked = request["top_up_request"]
    assert (asked["channel_id"], asked["amount"], asked["currency"]) == ("ch_1", "10.00", "EUR")
    response = {
        "channel_id": "ch_1",
        "amount": "10.00",
        "currency": "EUR",
        "payer_id": "user.near",
        "timestamp": "2027-01-15T08:01:00Z",
    }
    signed = sign(KEY, response, "payer_signature")
    told = "10.00 EUR were added to the channel ch_1."
    assert counter.say("top_up_response", signed, version=0) == [told]
    assert counter.say("top_up_response", signed, version=0) == [told]
    assert counter.holds("channel:ch_1") == 60
    assert results(counter.pay(quote)) == ["success"]


def respelled(signature: str) -> list[str]:
    """The same signature as base64 writes it in other ways."""
    plain = signature.removeprefix("ed25519:")
    bare = plain.rstrip("=")
    signs = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    spare = signs[signs.index(bare[-1]) + 1]  # bits that are cut off
    return [
        plain,
        f"ed25519:{bare}",
        f"ed25519:{plain.replace('+', '-').replace('/', '_')}",
        f"ed25519:{bare[:-1]}{spare}==",
    ]


def test_what_was_signed_once_is_done_once_however_the_signature_is_spelled(
    counter: Counter,
) -> None:
    response = {
        "channel_id": "ch_1",
        "amount": "10.00",
        "currency": "EUR",
        "payer_id": "user.near",
        "timestamp": "2027-01-15T08:01:00Z",
    }
    signed = sign(KEY, response, "payer_signature")
    counter.say("top_up_response", signed, version=0)
    quote = counter.quote(version=0)
    paid = payment(quote)
    (first,) = counter.say("payment", paid, version=0)
    for signature in respelled(signed["payer_signature"]):
        again = {**signed, "payer_signature": signature}
        counter.say("top_up_response", again, version=0)
    for signature in respelled(paid["payer_signature"]):
        again = {**paid, "payer_signature": signature}
        assert counter.say("payment", again, version=0) == [first]
    assert counter.holds("channel:ch_1") == 60 - Decimal("9.99")


@pytest.mark.parametrize(
    ("changed", "key", "told"),
    [
        ({"amount": "1000"}, KEY, "Nothing was added to the channel."),
        ({"amount": "0.0000001"}, KEY, "Nothing was added to the channel."),
        ({"amount": "0"}, KEY, "Nothing was added to the channel."),
        ({"currency": "USD"}, KEY, "This channel holds EUR"),
        ({}, OTHER_KEY, "This channel does not exist"),
    ],
)
def test_a_channel_is_topped_up_by_its_payer_from_what_is_there(
    counter: Counter, changed: dict[str, str], key: Ed25519PrivateKey, told: str
) -> None:
    response = {
        "channel_id": "ch_1",
        "amount": "10",
        "currency": "EUR",
        "payer_id": "user.near",
        "timestamp": "2027-01-15T08:01:00Z",
        **changed,
    }
    (said,) = counter.say("top_up_response", sign(key, response, "payer_signature"), version=0)
    assert said.startswith(told)
    assert counter.holds("channel:ch_1") == 50


def test_an_account_pays_by_a_signature_as_well(counter: Counter) -> None:
    quote = counter.quote()
    paid = {
        "quote_id": quote["quote_id"],
        "payment_method": {"type": "ledger", "account": "acct_ada", "currency": "EUR"},
        "payer_id": "acct_ada",
        "timestamp": "2027-01-15T08:00:00Z",
    }
    forged = sign(OTHER_KEY, paid, "payer_signature")
    assert results(counter.say("payment", forged)) == ["failure"]
    signed = sign(KEY, paid, "payer_signature")
    first = counter.say("payment", signed)
    assert results(first) == ["success"]
    assert counter.say("payment", signed) == first
    assert counter.holds("acct_ada") == Decimal("40.01")


def test_the_owner_of_an_account_approves(counter: Counter) -> None:
    approval = {"quote_id": counter.quote()["quote_id"]}
    assert reason(counter.say("approve_quote", approval)).startswith("You have no account here")
    said = counter.say("approve_quote", approval, principal="agent:bob")
    assert reason(said).startswith("You have no account here")
    named = approval | {"account": "acct_ada"}
    said = counter.say("approve_quote", named, principal="agent:bob")
    assert reason(said) == "This is not your account."
    first = counter.say("approve_quote", approval, principal=ADA)
    assert results(first) == ["success"]
    assert counter.say("approve_quote", named, principal=ADA) == first
    assert counter.holds("merchant") == Decimal("9.99")


def test_store_credit_pays_by_its_code_which_is_not_kept(counter: Counter) -> None:
    counter.open_credit("20")
    quote = counter.quote("12")
    wrong = counter.say("approve_quote", {"quote_id": quote["quote_id"], "code": "SC-1-2-3-4"})
    assert reason(wrong) == "This store-credit code is not valid."
    assert "code" not in counter.stored["approve_quote"]
    said = counter.say("approve_quote", {"quote_id": quote["quote_id"], "code": CODE.lower()})
    assert results(said) == ["success"]
    assert counter.stored == {"approve_quote": {"quote_id": quote["quote_id"]}}
    assert counter.hides_words
    assert counter.holds("acct_gift") == 8
    short = counter.say(
        "approve_quote", {"quote_id": counter.quote("12")["quote_id"], "code": CODE}
    )
    assert results(short) == ["failure"]
    assert short[1]["top_up_request"]["amount"] == "4.00"
    assert CODE not in repr(counter.records) + repr(counter.said)


def test_a_way_that_only_the_method_itself_knows_is_reported(counter: Counter) -> None:
    approval = {"quote_id": counter.quote()["quote_id"], "method": "gold"}
    (said,) = counter.say("approve_quote", approval, principal=ADA)
    assert said == (
        "The quote question_1 cannot be paid by gold in this way. Use one of its payment_options."
    )


def test_a_declined_quote_is_not_paid_and_its_call_is_notified(counter: Counter) -> None:
    quote = counter.quote()
    assert counter.say("decline_quote", {"quote_id": quote["quote_id"]}) == []
    assert counter.resumed == [Resume("call_1", False)]
    assert counter.records_open() == []
    assert reason(counter.pay(quote)) == "This quote was declined. Please request it again."
    again = counter.say("decline_quote", {"quote_id": quote["quote_id"]})
    assert reason(again) == "This quote was declined. Please request it again."


def test_a_quote_is_declined_where_it_stands_alone(counter: Counter) -> None:
    decline = {"quote_id": counter.quote()["quote_id"]}
    assert counter.say("decline_quote", decline, thread_id="thread_2") == [
        "This quote does not exist."
    ]
    assert counter.resumed == []


def test_a_paid_quote_is_not_declined(counter: Counter) -> None:
    quote = counter.quote()
    counter.pay(quote)
    said = counter.say("decline_quote", {"quote_id": quote["quote_id"]})
    assert (said, counter.resumed) == (["This quote was already paid."], [])


def test_what_a_call_did_not_deliver_goes_back_to_where_it_came_from(counter: Counter) -> None:
    quote = counter.quote()
    counter.pay(quote)
    counter.started["refund", counter.paid[0].payment_id] = counter.paid[0].failing
    counter.work()
    assert counter.holds("merchant") == 0
    assert counter.holds("channel:ch_1") == 50
    assert reason(counter.said[-1:]) == "9.99 EUR were refunded to the payer."
    counter.started["refund", counter.paid[0].payment_id] = counter.paid[0].failing
    counter.work()
    assert counter.holds("channel:ch_1") == 50
    assert results(counter.pay(quote)) == ["failure"]


def test_what_the_site_has_paid_out_it_gives_back_once_it_has_it_again(counter: Counter) -> None:
    quote = counter.quote()
    counter.pay(quote)
    out = move("merchant", "outside:cash", "EUR", 9_990_000)
    counter.apply(post("payout:1", out, kind="payout", at=counter.now))
    counter.started["refund", counter.paid[0].payment_id] = counter.paid[0].failing
    for _ in range(2):
        counter.work()
        counter.pass_time()
    assert reason(counter.said[-1:]) == "9.99 EUR must be refunded. The site will do that later."
    assert (counter.holds("channel:ch_1"), len(counter.started)) == (Decimal("40.01"), 1)
    back = move("outside:cash", "merchant", "EUR", 9_990_000)
    counter.apply(post("credit:1", back, kind="credit", at=counter.now))
    counter.work()
    assert counter.holds("channel:ch_1") == 50
    assert reason(counter.said[-1:]) == "9.99 EUR were refunded to the payer."
    assert not counter.started


def test_what_nobody_could_sign_is_refused(counter: Counter) -> None:
    paid = payment(counter.quote())
    with pytest.raises(InvalidRequest):
        counter.say("payment", paid | {"note": 2**60}, version=1)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("quote"), st.sampled_from(["0.01", "7.77", "30"])),
        st.tuples(st.just("pay"), st.integers(0, 5)),
        st.tuples(st.just("approve"), st.integers(0, 5)),
        st.tuples(st.just("decline"), st.integers(0, 5)),
        st.tuples(st.just("refund"), st.integers(0, 5)),
        st.tuples(st.just("wait"), st.integers(1, 400)),
    ),
    max_size=30,
)


@given(STEPS)
def test_in_any_order_however_often_repeated_no_quote_is_paid_twice(
    steps: list[tuple[str, Any]],
) -> None:
    one = Counter(revenue_share_bps=250)
    one.open_account()
    one.open_channel()
    quotes: list[dict[str, Any]] = []
    for step, what in steps:
        if step == "quote":
            quotes.append(one.quote(what))
        elif step == "wait":
            one.now += what
        elif step == "refund":
            for paid in one.paid[what : what + 1]:
                one.started["refund", paid.payment_id] = paid.failing
                one.work()
        elif quotes:
            quote = quotes[what % len(quotes)]
            named = {"quote_id": quote["quote_id"]}
            match step:
                case "pay":
                    one.pay(quote)
                case "approve":
                    one.say("approve_quote", named, principal=ADA)
                case _:
                    one.say("decline_quote", named)
        assert one.total() == 0
        paid_for = [paid.call_id for paid in one.paid]
        assert len(set(paid_for)) == len(paid_for)
        assert not {paid.call_id for paid in one.paid} & {told.call_id for told in one.resumed}
        held = one.holds("merchant") + one.holds("acct_ada") + one.holds("channel:ch_1")
        assert held == 100
        assert min(one.holds("merchant"), one.holds("acct_ada"), one.holds("channel:ch_1")) >= 0
