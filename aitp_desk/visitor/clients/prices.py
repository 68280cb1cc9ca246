"""Prices that stand in a site's words alone: read to hold back, never to permit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from aitp_desk.model.money import Money
from aitp_desk.visitor.base import Choice, Quote

_PRICE = re.compile(r"(?<![\d.,])(\d{1,12}(?:\.\d{1,6})?) ([A-Z]{3})\b")
_LONGEST = 20_000
_ENDING = 200
"""The last characters of a question, where it asks for agreement."""


def find_price(text: str, choices: Sequence[Choice]) -> Quote | None:
    """Return the highest price in a question that a yes would answer.

    Without it, agreeing in words would spend money past the visit's limit.
    """
    agrees = any(one.label.casefold().startswith("yes") for one in choices)
    agrees = agrees or (not choices and "go ahead" in text[-_ENDING:].casefold())
    found = _PRICE.findall(text[:_LONGEST]) if agrees else []
    if not found:
        return None
    money = max((Money(Decimal(amount), currency) for amount, currency in found), key=_amount)
    return Quote(money, "", "agree to a question of the site's")


def _amount(money: Money) -> Decimal:
    return money.amount
