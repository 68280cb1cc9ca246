"""Payments in the terms of AITP-01's earlier draft, and amounts that are numbers."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.capability import InvalidRequest, Resume
from aitp_payments.messages.draft import exact
from tests.support.payments.checkout import ADA, Counter, reason, results
from tests.support.payments.quotes import DRAFTED


@pytest.fixture
def counter() -> Counter:
    one = Counter()
    one.open_account(currency="USD")
    return one


def authorization(quote: dict[str, Any], amount: float = 2.5, **transfer: str) -> dict[str, Any]:
    """A caller says that they have paid."""
    return {
        "quote_id": quote["quote_id"],
        "result": "success",
        "timestamp": "2027-01-15T08:00:00Z",
        "details": [
            {
                "network": "NEAR",
                "token_type": "USDC",
                "amount": amount,
                "account_id": "acct_ada",
                "transaction_id": "t-1",
                **transfer,
            }
        ],
    }


def test_an_account_from_a_claim_pays_and_is_answered_in_the_drafts_words(
    counter: Counter,
) -> None:
    quote = counter.quote("2.50", "USD", version=0)
    said = counter.say("payment_authorization", authorization(quote), version=0, principal=ADA)
    assert results(said) == ["success"]
    assert said[0].keys() == {"$schema", "payment_result"}
    assert counter.holds("merchant", "USD") == Decimal("2.5")
    assert [paid.call_id for paid in counter.paid] == ["call_1"]
    again = counter.say("payment_authorization", authorization(quote), version=0, principal=ADA)
    assert again == said
    for stranger in (None, "agent:bob"):
        told = counter.say(
            "payment_authorization", authorization(quote), version=0, principal=stranger
        )
        assert results(told) == ["failure"]
        assert "Paid" not in reason(told)
    assert counter.holds("merchant", "USD") == Decimal("2.5")


@pytest.mark.parametrize(
    ("principal", "amount", "transfer", "told"),
    [
        (None, 2.5, {}, "account_id is not an account of the sender here."),
        ("agent:bob", 2.5, {}, "account_id is not an account of the sender here."),
        (ADA, 2.5, {"account_id": "ada.near"}, "account_id is not an account of the sender here"),
        (ADA, 2.49, {}, "The payment must be exactly 2.50 USD"),
        (ADA, 0.1234567890123456, {}, "A numeric amount must have at most 15 digits."),
    ],
)
def test_what_cannot_be_looked_at_here_pays_for_nothing(
    counter: Counter, principal: str | None, amount: float, transfer: dict[str, str], told: str
) -> None:
    quote = counter.quote("2.50", "USD", version=0)
    paid = authorization(quote, amount, **transfer)
    said = counter.say("payment_authorization", paid, version=0, principal=principal)
    assert results(said) == ["failure"]
    assert reason(said).startswith(told)
    assert counter.holds("merchant", "USD") == 0


def test_an_authorization_has_one_transfer(counter: Counter) -> None:
    quote = counter.quote("2.50", "USD", version=0)
    for times in (0, 2):
        paid = authorization(quote) | {"details": authorization(quote)["details"] * times}
        said = counter.say("payment_authorization", paid, version=0, principal=ADA)
        assert (
            reason(said) == "An authorization must have exactly one transfer, of the whole amount."
        )


def test_an_authorization_that_has_failed_declines(counter: Counter) -> None:
    quote = counter.quote("2.50", "USD", version=0)
    failed = authorization(quote) | {"result": "failure", "details": []}
    assert counter.say("payment_authorization", failed, version=0) == []
    assert counter.resumed == [Resume("call_1", False)]


def test_a_quote_of_the_draft_is_read_as_such_and_one_of_neither_is_refused(
    counter: Counter,
) -> None:
    assert counter.say("quote", DRAFTED[0]["quote"], version=0) == []
    with pytest.raises(InvalidRequest, match="payee_id"):
        counter.say("quote", {"quote_id": "q", "type": "Quote"}, version=0)
    with pytest.raises(InvalidRequest, match="unknown field"):
        counter.say("quote", counter.quote(version=0) | {"plan": 1}, version=0)


@given(st.integers(0, 10**15 - 1), st.integers(0, 6))
def test_a_number_of_fifteen_digits_is_read_as_it_was_written(digits: int, places: int) -> None:
    written = Decimal(digits).scaleb(-places)
    number = msgspec.json.decode(f"{written:f}".encode())
    assert exact(float(number)) == written
