"""Prices, counted as Stripe counts them; see ``tests/support/payments/stripe_rules.py``."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.capability import Money
from aitp_payments.stripe.amounts import NotChargeable, price_of, units
from tests.support.payments.stripe_rules import LEAST, SERVED, check_amount


@pytest.mark.parametrize(
    ("amount", "currency", "count"),
    [
        ("29.99", "EUR", 2999),
        ("0.5", "USD", 50),
        ("500", "JPY", 500),
        ("5.12", "KWD", 5120),
        ("5", "ISK", 500),
        ("999999.99", "USD", 99_999_999),
        ("700", "MGA", 700),
    ],
)
def test_amounts_are_counted_as_stripe_counts_them(amount: str, currency: str, count: int) -> None:
    price = Money(Decimal(amount), currency)
    assert units(price) == count
    assert price_of(count, currency.lower()).is_same(price)


@pytest.mark.parametrize(
    ("amount", "currency", "why"),
    [
        ("0.49", "EUR", "Stripe charges at least 0.50 EUR."),
        ("49", "JPY", "Stripe charges at least 50 JPY."),
        ("0", "TRY", "Stripe charges at least something TRY."),
        ("29.995", "EUR", "29.995 EUR has too many decimals for a card."),
        ("500.5", "JPY", "500.5 JPY has too many decimals for a card."),
        ("5.124", "KWD", "5.124 KWD has too many decimals for a card."),
        ("5.5", "ISK", "5.5 ISK has too many decimals for a card."),
        ("1000000", "USD", "1000000 USD is above Stripe's maximum for one payment."),
        ("5", "IRR", "Stripe does not charge IRR."),
    ],
)
def test_what_cannot_be_charged_is_reported(amount: str, currency: str, why: str) -> None:
    with pytest.raises(NotChargeable) as refused:
        units(Money(Decimal(amount), currency))
    assert str(refused.value) == why


@given(
    st.decimals("0.000001", "9999999", places=6, allow_nan=False, allow_infinity=False),
    st.sampled_from(sorted(SERVED)),
)
def test_what_is_counted_is_exactly_the_price_and_what_the_api_takes(
    amount: Decimal, currency: str
) -> None:
    price = Money(amount, currency.upper())
    try:
        count = units(price)
    except NotChargeable:
        return
    assert price_of(count, currency).is_same(price)
    if count >= LEAST.get(currency, 1):  # of the others' least Stripe alone knows on the day
        check_amount(count, currency)
