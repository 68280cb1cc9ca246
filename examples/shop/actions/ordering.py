"""Placing orders that are collected and paid in a store."""

from __future__ import annotations

from aitp_desk.actions import Choose, Context, Example, Money, action

from .choosing import STORES, choose_items, choose_store, read_order
from .database import changing, reading
from .order_lines import keep_lines
from .orders import Email, Order, add_order, order_of, order_of_call, tell_order
from .pricing import (
    CustomerType,
    Item,
    Store,
    price_items,
    quantities,
    sales_tax_in,
    total_of,
)
from .quotes import Items
from .stock import take, why_short


def order_price(items: Items, store: Store, customer_type: CustomerType, context: Context) -> Money:
    with reading(context.now) as shop:
        return total_of(price_items(shop, items, customer_type, sales_tax_in(shop, store)))


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    reversible_within="P30D",
    confirmation_recommended=True,
    cost=order_price,
    idempotent=True,
    says=tell_order,
    from_text=read_order,
    examples=[
        Example(
            "Two Pika stoves for me in Portland, I am kai@customer.example.",
            {
                "items": [{"sku": "TO-5103", "quantity": 2}],
                "store": "Portland",
                "email": "kai@customer.example",
            },
        )
    ],
)
def place_order(
    items: Items,
    store: Store,
    email: Email,
    context: Context,
    customer_type: CustomerType = "standard",
) -> Order:
    """Places an order, which is set aside in a store, collected there and paid at the till.

    It can be cancelled until it is packed, and for 30 days at most. If an item's number leaves its
    color or size open, all variants are set aside and you choose at the till. It is refused where
    the store has too few of an item. ship_order has things sent instead.

    Args:
        items: what is ordered; pieces of one item count together.
        store: where it is collected.
        email: a mail address of who collects it; with the order's number it opens the order.
        customer_type: for the discount; a proof is shown at the till.
    """
    with changing(context.now) as shop:
        if order_of_call(shop, context.call_id) is None:
            for sku, count in quantities(shop, items).items():
                take(shop, sku, store, count)
            number = add_order(shop, context, email, store)
            tax = sales_tax_in(shop, store)
            keep_lines(shop, number, price_items(shop, items, customer_type, tax))
        context.note("stock", f"The items are set aside in {store}.")
        return order_of(shop, order_of_call(shop, context.call_id), context.now)


@place_order.requires(
    "in_stock",
    "The store has all items.",
    recovery="Ask for the stock of each store, and order no more.",
    actions=["inventory_check"],
)
def in_stock(items: Items, store: Store, context: Context) -> str | None:
    with reading(context.now) as shop:
        return why_short(shop, quantities(shop, items), store)


@place_order.asks("items")
def which_items(items: list[Item] | None, store: Store | None, context: Context) -> Choose | None:
    with reading(context.now) as shop:
        return choose_items(shop, items, STORES if store is None else (store,))


@place_order.asks("store")
def which_store(items: list[Item] | None, context: Context) -> Choose | None:
    with reading(context.now) as shop:
        return choose_store(shop, items)
