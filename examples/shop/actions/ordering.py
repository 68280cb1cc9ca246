"""Placing orders: items are set aside in a store, where they are collected and paid."""

from __future__ import annotations

import sqlite3
from typing import Any

from aitp_desk.actions import Context, Example, Money, PreconditionFailed, action

from .database import changing, reading
from .order_lines import keep_lines
from .orders import Email, Order, order_of, tell_order
from .pricing import CustomerType, Store, price_items, quantities, total_of
from .quotes import Items


def order_price(items: Items, store: Store, customer_type: CustomerType, context: Context) -> Money:
    with reading(context.now) as shop:
        return total_of(price_items(shop, items, customer_type, store))


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    reversible_within="P30D",
    confirmation_recommended=True,
    cost=order_price,
    idempotent=True,
    says=tell_order,
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

    It can be cancelled until it is packed, and for 30 days at most. Sizes and colors are chosen in
    the store. It is refused where the store has too few of an item.

    Args:
        items: what is ordered; pieces of one item count together.
        store: where it is collected.
        email: a mail address of who collects it; with the order's number it opens the order.
        customer_type: for the discount; a proof is shown at the till.
    """
    with changing(context.now) as shop:
        if _order_of_call(shop, context.call_id) is None:
            for sku, count in quantities(shop, items).items():
                _take(shop, sku, store, count)
            order_id = _next_number(shop)
            shop.execute(
                "INSERT INTO orders (id, call_id, caller, email, store, state, placed_at)"
                " VALUES (?, ?, ?, ?, ?, 'placed', ?)",
                (
                    order_id,
                    context.call_id,
                    context.caller.id,
                    email,
                    store,
                    context.now.isoformat(),
                ),
            )
            keep_lines(shop, order_id, price_items(shop, items, customer_type, store))
        context.note("stock", f"The items are set aside in {store}.")
        return order_of(shop, _order_of_call(shop, context.call_id), context.now)


@place_order.requires(
    "in_stock",
    "The store has all items.",
    recovery="Ask how many there are in which store, and order no more.",
    actions=["inventory_check"],
)
def in_stock(items: Items, store: Store, context: Context) -> str | None:
    with reading(context.now) as shop:
        short = [
            f"{there} of {sku}"
            for sku, count in quantities(shop, items).items()
            if (there := _count(shop, sku, store)) < count
        ]
    return f"There are only {', '.join(short)} in {store}." if short else None


def _count(shop: sqlite3.Connection, sku: str, store: Store) -> int:
    row = shop.execute(
        "SELECT count FROM stock WHERE sku = ? AND store = ?", (sku, store)
    ).fetchone()
    return 0 if row is None else int(row["count"])


def _take(shop: sqlite3.Connection, sku: str, store: Store, count: int) -> None:
    """Take pieces from a store's stock; another may have been faster since it was looked at."""
    taken = shop.execute(
        "UPDATE stock SET count = count - :count"
        " WHERE sku = :sku AND store = :store AND count >= :count",
        {"sku": sku, "store": store, "count": count},
    )
    if not taken.rowcount:
        left = _count(shop, sku, store)
        raise PreconditionFailed(f"There are only {left} of {sku} in {store}.", param="in_stock")


def _order_of_call(shop: sqlite3.Connection, call_id: str) -> Any:
    return shop.execute("SELECT * FROM orders WHERE call_id = ?", (call_id,)).fetchone()


def _next_number(shop: sqlite3.Connection) -> str:
    last: str = shop.execute("SELECT max(id) AS id FROM orders").fetchone()["id"]
    return f"TH{int(last.removeprefix('TH')) + 1:08}"
