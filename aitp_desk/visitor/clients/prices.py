"""Prices that stand in a site's words alone: read to hold back, never to permit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Literal

import msgspec

from aitp_desk.model.money import Money
from aitp_desk.visitor.base import Answer, Choice, Outcome, Quote
from aitp_desk.visitor.errors import SiteFailed
from aitp_desk.visitor.policy import is_agreement

_AMOUNT = r"\d{1,3}(?:[.,]\d{3}){1,3}(?:[.,]\d{1,2})?|\d{1,12}(?:[.,]\d{1,6})?"
_PREFIX = "EUR|USD|GBP|CHF|JPY|CNY|INR|BRL|CAD|AUD|SEK|NOK|DKK|PLN|CZK|[€$£¥]"
_PRICE = re.compile(
    rf"(?:(?P<before>{_PREFIX}) ?)?(?<![\d.,])(?P<amount>{_AMOUNT})"
    r"(?: ?(?P<after>[A-Z]{3}\b|[€$£¥]))?"
)
_SIGNS = {"€": "EUR", "$": "USD", "£": "GBP", "¥": "JPY"}
_LONGEST = 20_000
_ENDING = 200
"""The last characters of a question, where it asks for agreement."""


IN_WORDS = "agree to a question of the site's"
"""What a quote says that stands in words alone: a yes in words agrees to it."""
_YES = Choice("yes", "yes")


def add_price(answer: Answer) -> Answer:
    """Return a question with the price of its words, if it names no other."""
    if answer.kind != "question" or answer.quote is not None:
        return answer
    return msgspec.structs.replace(answer, quote=find_price(answer.text, answer.choices))


def find_yes(answer: Answer) -> Choice:
    """Return the reading of a question that agrees to it."""
    return next((one for one in answer.choices if is_agreement(one.label)), _YES)


def make_agreed(answer: Answer) -> Outcome:
    """Return what a yes came to.

    Raises:
        SiteFailed: the site has not said whether it was done.
    """
    if answer.kind == "answer" and not answer.is_conclusive:
        raise SiteFailed("The site has not said whether it was done.")
    kinds: Mapping[str, Literal["done", "waiting", "question"]]
    kinds = {"answer": "done", "waiting": "waiting", "question": "question"}
    return Outcome(kinds[answer.kind], answer.text, result=answer.data or None)


def find_price(text: str, choices: Sequence[Choice]) -> Quote | None:
    """Return the highest price in a question that a yes would answer.

    Without it, agreeing in words would spend money past the visit's limit.
    """
    agrees = any(is_agreement(one.label) for one in choices)
    agrees = agrees or (not choices and "go ahead" in text[-_ENDING:].casefold())
    found = list(_list_prices(text[:_LONGEST])) if agrees else []
    if not found:
        return None
    return Quote(max(found, key=_amount), "", IN_WORDS)


def _list_prices(text: str) -> Iterator[Money]:
    for match in _PRICE.finditer(text):
        unit = match["before"] or match["after"]
        if unit is not None:
            yield Money(_read_amount(match["amount"]), _SIGNS.get(unit, unit))


def _read_amount(text: str) -> Decimal:
    """Read an amount of any country; of two readings the higher one, such as 1.299."""
    whole, dot, part = text.replace(",", ".").rpartition(".")
    if not dot or len(part) == 3:
        return Decimal(text.replace(",", "").replace(".", ""))
    return Decimal(f"{whole.replace('.', '')}.{part}")


def _amount(money: Money) -> Decimal:
    return money.amount
