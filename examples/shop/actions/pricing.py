"""Prices: lines, discounts, taxes, and rounding."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated, Literal

from msgspec import Meta, Struct

from aitp_desk.actions import InvalidRequest, Money

from .rules import rule

CURRENCY = "USD"

Sku = Annotated[
    str,
    Meta(
        title="article number",
        pattern=r"^TO-\d{4}(-[A-Z]{1,8})?(-[A-Z0-9]{1,3})?$",
        description="Such as TO-2201, or TO-2201-SAGE with its color and size.",
    ),
]
Store = Literal["Bend", "Portland", "Boise"]
CustomerType = Literal["standard", "student", "military", "rescue"]


class Item(Struct, frozen=True):
    """A number of pieces of an article.

    Parameters:
        sku: its article number.
    """

    sku: Sku
    quantity: Annotated[int, Meta(ge=1, le=99)] = 1


class Line(Struct, frozen=True):
    """The price of one item of a quote or an order.

    Parameters:
        unit_price: of one piece, before the discount.
        discount_percent: the discount.
        amount: for all pieces, after the discount and before tax.
        sales_tax: on the amount.
    """

    sku: str
    title: str
    quantity: int
    unit_price: Money
    discount_percent: int
    amount: Money
    sales_tax: Money


def round_cents(amount: Decimal) -> Decimal:
    """Round to cents, half a cent up."""
    return amount.quantize(Decimal("0.01"), ROUND_HALF_UP)


def dollars(amount: Decimal) -> Money:
    """Return an amount in the shop's currency."""
    return Money(amount, CURRENCY)


def total(amounts: Iterable[Money]) -> Money:
    """Return the sum of amounts."""
    return dollars(sum((one.amount for one in amounts), Decimal("0.00")))


def total_of(lines: Sequence[Line]) -> Money:
    """Return the sum of lines with their tax."""
    return total(amount for line in lines for amount in (line.amount, line.sales_tax))


def in_words(money: Money) -> str:
    """Format an amount as on the shop's pages."""
    return f"${money.amount:,.2f}"


def price_items(
    shop: sqlite3.Connection, items: Sequence[Item], of_type: CustomerType, tax: Decimal
) -> list[Line]:
    """Price items for a customer; pieces of one item count together in all colors and sizes.

    Parameters:
        tax: percentage of sales tax in the state of delivery or collection.

    Raises:
        InvalidRequest: the shop has no such item.
    """
    counted = quantities(shop, items)
    pieces = Counter[str]()
    for sku, quantity in counted.items():
        pieces[product_number(sku)] += quantity
    return [
        _line(shop, sku, quantity, _percent(shop, sku, pieces[product_number(sku)], of_type), tax)
        for sku, quantity in counted.items()
    ]


def product_number(sku: str) -> str:
    """Return the product number of an article, without color and size."""
    return sku[: len("TO-0000")]


def sales_tax_in(shop: sqlite3.Connection, store: Store | None) -> Decimal:
    """Return the percentage of sales tax in a store; 0 without a store."""
    found = shop.execute("SELECT sales_tax FROM stores WHERE name = ?", (store,)).fetchone()
    return Decimal(0 if found is None else found["sales_tax"])


def quantities(shop: sqlite3.Connection, items: Sequence[Item]) -> dict[str, int]:
    """Return the total number of pieces of each article.

    Raises:
        InvalidRequest: the shop has no such item.
    """
    counted: dict[str, int] = {}
    for at, item in enumerate(items):
        if shop.execute("SELECT 1 FROM articles WHERE sku = ?", (item.sku,)).fetchone() is None:
            raise InvalidRequest(f"We sell no {item.sku}.", param=f"items[{at}].sku")
        counted[item.sku] = counted.get(item.sku, 0) + item.quantity
    return counted


def is_final_sale(shop: sqlite3.Connection, price: Decimal) -> bool:
    """Return whether a price is a sale price: such items cannot be returned."""
    return str(price).endswith(rule(shop, "final_sale_ending"))


def _percent(shop: sqlite3.Connection, sku: str, quantity: int, of_type: CustomerType) -> int:
    """Return the discount for a number of pieces of an item."""
    row = shop.execute("SELECT price FROM articles WHERE sku = ?", (sku,)).fetchone()
    price = Decimal(row["price"])
    found = shop.execute(
        "SELECT max(percent) AS percent FROM discounts"
        " WHERE (customer_type IS NULL OR customer_type = :of_type)"
        " AND from_quantity <= :quantity AND (on_sale_items OR NOT :on_sale)",
        {"of_type": of_type, "quantity": quantity, "on_sale": is_final_sale(shop, price)},
    ).fetchone()
    return int(found["percent"] or 0)


def _line(shop: sqlite3.Connection, sku: str, quantity: int, percent: int, tax: Decimal) -> Line:
    row = shop.execute("SELECT title, price FROM articles WHERE sku = ?", (sku,)).fetchone()
    price = Decimal(row["price"])
    amount = round_cents(price * quantity * (100 - percent) / 100)
    return Line(
        sku,
        row["title"],
        quantity,
        dollars(price),
        percent,
        dollars(amount),
        dollars(round_cents(amount * tax / 100)),
    )
