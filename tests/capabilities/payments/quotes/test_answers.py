"""Answers of people to quotes: by a form, in words, and how a quote stands."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.capability import Context, InvalidRequest, Standing
from tests.support.payments.checkout import ADA, CODE, GUEST, THREAD, Counter

JSON = st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text(), max_size=2)


@pytest.fixture
def counter() -> Counter:
    one = Counter()
    one.open_account()
    one.open_channel()
    return one


def standing(counter: Counter) -> Standing | None:
    part = counter.part("quote", counter.quoted)
    context = Context(now=counter.now, thread_id=THREAD, actor=GUEST, records=counter.records)
    return counter.payments.standing(part, context)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("pay", {"approve_quote": {"quote_id": "question_1"}}),
        ("Pay it.", {"approve_quote": {"quote_id": "question_1"}}),
        ("yes, I pay!", {"approve_quote": {"quote_id": "question_1"}}),
        (f"pay with {CODE.lower()}", {"approve_quote": {"quote_id": "question_1", "code": CODE}}),
        (f"Pay {CODE}.", {"approve_quote": {"quote_id": "question_1", "code": CODE}}),
        ("no", {"decline_quote": {"quote_id": "question_1"}}),
        ("Don’t pay.", {"decline_quote": {"quote_id": "question_1"}}),
        ("yes", None),
        ("pay later", None),
        ("Where can I pay?", None),
        ("pay my bill with card", None),
    ],
)
def test_words_that_pay_or_decline(
    counter: Counter, words: str, said: dict[str, Any] | None
) -> None:
    counter.quote()
    assert counter.payments.from_text(words, counter.records_open()) == said


def test_words_mean_nothing_where_two_quotes_wait(counter: Counter) -> None:
    counter.quote()
    counter.quote()
    assert counter.payments.from_text("pay", counter.records_open()) is None


def test_a_site_without_a_ledger_is_not_paid_by_a_word() -> None:
    one = Counter(
        ledger={"enabled": False}, x402={"pay_to": "0x" + "1" * 40, "networks": ["base-sepolia"]}
    )
    one.quote(currency="USD")
    (record,) = one.records_open()
    assert one.payments.from_text("pay", [record]) is None
    said = one.payments.from_text("no", [record])
    assert said == {"decline_quote": {"quote_id": "question_1"}}
    waits = one.payments.waiting(record)
    assert waits is not None
    assert waits.form["properties"]["answer"]["enum"] == ["no"]


def test_what_waits_says_how_it_is_paid_over_any_protocol(counter: Counter) -> None:
    quote = counter.quote("9.99")
    (record,) = counter.records_open()
    waits = counter.payments.waiting(record)
    assert waits is not None
    assert waits.terms is not None
    assert (waits.id, waits.call_id) == (quote["quote_id"], "call_1")
    assert waits.form["properties"]["answer"]["title"] == "Pay 9.99 EUR?"
    assert waits.terms.message["quote"] == quote
    assert waits.terms.message["$schema"].endswith("/capabilities/payments/v1/schema.json")
    assert str(waits.terms.price) == "9.99 EUR"
    assert waits.terms.expires_at == counter.now + 600


def test_a_filled_in_form_is_judged_as_a_message(counter: Counter) -> None:
    counter.open_credit()
    counter.quote("9.99")
    (record,) = counter.records_open()
    message = counter.payments.answer(record, {"answer": "pay", "code": f" {CODE} "})
    ((key, content),) = message.items()
    (said,) = counter.say(key, content)
    assert said["payment_confirmation"]["result"] == "success"


@given(st.dictionaries(st.sampled_from(["answer", "code", "more"]), JSON | st.just("pay")))
def test_whatever_is_filled_in_is_a_message_or_refused(filled: dict[str, Any]) -> None:
    one = Counter()
    one.quote()
    (record,) = one.records_open()
    waits = one.payments.waiting(record)
    assert waits is not None
    fits = jsonschema_rs.validator_for(dict(waits.form)).is_valid(filled) and "more" not in filled
    if not fits:
        with pytest.raises(InvalidRequest) as refused:
            one.payments.answer(record, filled)
        assert refused.value.param in {"answer", "code", "more"}
        return
    ((key, content),) = one.payments.answer(record, filled).items()
    one.part(key, content)


def test_only_the_addressee_answers_in_words(counter: Counter) -> None:
    counter.quote()
    (record,) = counter.records_open()
    assert counter.payments.awaits(record, GUEST)


def test_a_quote_stands_open_then_answered_or_expired(counter: Counter) -> None:
    quote = counter.quoted = counter.quote()
    until = counter.now + 600
    assert standing(counter) == Standing(state="open", until=until)
    counter.say("approve_quote", {"quote_id": quote["quote_id"]}, principal=ADA)
    answered = standing(counter)
    assert answered is not None
    assert answered.state == "answered"
    assert answered.answer is not None
    assert answered.answer["method"] == "ledger"
    assert answered.answer["state"] == "settled"
    counter.quoted = counter.quote()
    counter.say("decline_quote", {"quote_id": counter.quoted["quote_id"]})
    assert standing(counter) == Standing(state="answered", until=until)
    counter.quoted = counter.quote()
    counter.now = until
    assert standing(counter) == Standing(state="expired", since=until, until=until)
    counter.quoted = {**quote, "quote_id": "question_77"}
    assert standing(counter) is None


def test_a_quote_in_words_says_what_it_costs_until_when_and_how_to_pay(counter: Counter) -> None:
    quote = counter.quote("9.99")
    assert counter.payments.as_text(counter.part("quote", quote)) == (
        "A map of the trail: 9.99 EUR, to be paid first.\n"
        "Payment methods: an account or store credit here, a payment channel.\n"
        "This quote expires at 2027-01-15T08:10:00Z.\n"
        "Reply “pay”, or “pay” and a store-credit code; “no” declines."
    )
