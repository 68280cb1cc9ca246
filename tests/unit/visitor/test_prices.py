"""A price in a question's words holds the visit back, in whatever language it is asked."""

from __future__ import annotations

from decimal import Decimal

import pytest

from aitp_desk.model.money import Money
from aitp_desk.visitor.base import Choice
from aitp_desk.visitor.clients.prices import find_price


def find(text: str, *labels: str) -> Money | None:
    quote = find_price(text, [Choice(str(n), label) for n, label in enumerate(labels)])
    return None if quote is None else quote.money


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("Buy it for 20.00 EUR?", "20.00", "EUR"),
        ("It costs $20.", "20", "USD"),
        ("Das kostet 20,00 €.", "20.00", "EUR"),
        ("1,299.50 USD", "1299.50", "USD"),
        ("1.299,50 €", "1299.50", "EUR"),
        ("1.299 € or 0.5 ETH", "1299", "EUR"),
    ],
)
def test_a_price_is_read_as_any_country_writes_it(text: str, amount: str, currency: str) -> None:
    assert find(text, "Yes", "No") == Money(Decimal(amount), currency)


@pytest.mark.parametrize("label", ["Yes", "yes, please", "Ja, kaufen", "Oui", "Buy it", "はい"])
def test_a_label_agrees_in_many_languages(label: str) -> None:
    assert find("20.00 EUR?", label, "?") == Money(Decimal("20.00"), "EUR")


@pytest.mark.parametrize("text", ["In 20 days?", "SKU 12?", "Version 3.11?", ""])
def test_other_figures_are_no_prices(text: str) -> None:
    assert find(text, "Yes", "No") is None


def test_a_choice_between_things_agrees_to_nothing() -> None:
    assert find("The small one for 20.00 EUR?", "Small", "Large") is None
