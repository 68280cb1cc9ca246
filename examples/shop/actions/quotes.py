"""Quotes: the price of a purchase."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from aitp_desk.actions import Context, Example, Money, action

from .database import reading
from .pricing import (
    CustomerType,
    Item,
    Line,
    Store,
    in_words,
    price_items,
    sales_tax_in,
    total,
    total_of,
)

Items = Annotated[list[Item], Meta(min_length=1, max_length=20)]


class Quote(Struct, frozen=True):
    """The price of items.

    Parameters:
        subtotal: after discounts, before tax.
        sales_tax: in the state of the store; 0 without a store.
        total: with tax.
    """

    lines: list[Line]
    subtotal: Money
    sales_tax: Money
    total: Money


def tell_line(line: Line) -> str:
    less = f", {line.discount_percent}% off" if line.discount_percent else ""
    each = f"{line.quantity} × {line.title} ({line.sku}) at {in_words(line.unit_price)}"
    return f"{each}{less}: {in_words(line.amount)}"


def tell_quote(quote: Quote) -> str:
    told = [tell_line(line) for line in quote.lines]
    if quote.sales_tax.amount:
        told.append(f"Sales tax: {in_words(quote.sales_tax)}")
    return "\n".join([*told, f"Total: {in_words(quote.total)}"])


@action(
    says=tell_quote,
    examples=[
        Example(
            "What do twelve Larkspur 2 tents cost our school?",
            {"items": [{"sku": "TO-2201", "quantity": 12}]},
        )
    ],
)
def get_quote(
    items: Items,
    context: Context,
    customer_type: CustomerType = "standard",
    store: Store | None = None,
) -> Quote:
    """Quotes what items cost, with the discounts for quantity and customers.

    From ten pieces of an item there is a discount for groups; students, members and veterans of
    the armed forces and rescue volunteers have one off regular prices. Of two discounts the higher
    counts. Nothing is ordered.

    Args:
        items: what is asked for; pieces of one item count together.
        customer_type: who buys.
        store: where the items would be collected: its state may add a sales tax.
    """
    with reading(context.now) as shop:
        lines = price_items(shop, items, customer_type, sales_tax_in(shop, store))
    return Quote(
        lines,
        total(line.amount for line in lines),
        total(line.sales_tax for line in lines),
        total_of(lines),
    )
