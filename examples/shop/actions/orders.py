"""Orders, for the customers who placed them."""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from aitp_desk.actions import Context, Example, InvalidRequest, Money, Related, action, resource

from .database import reading
from .order_lines import lines_of
from .pricing import Line, Store, dollars, in_words, total, total_of
from .quotes import tell_line
from .rules import rule

OrderId = Annotated[
    str, Meta(title="order number", pattern=r"^TH\d{8}$", description="TH and eight digits.")
]
Email = Annotated[
    str,
    Meta(
        pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$",
        max_length=254,
        # this format is found in a visitor's text
        extra_json_schema={"format": "email", "autocomplete": "email"},
    ),
]
Service = Literal["standard", "express", "overnight"]
State = Literal["placed", "packed", "collected", "cancelled"]


class Parcel(Struct, frozen=True):
    """How an order is sent.

    Parameters:
        destination: the city; an order number and a mail address do not open the whole address.
    """

    destination: str
    service: Service
    price: Money


class Order(Struct, frozen=True):
    """An order, which is collected in a store and paid there, or sent.

    Parameters:
        id: its number.
        store: where it is collected; null if it is shipped.
        placed_at, collected_at: Unix seconds.
        total: with sales tax and shipping.
        parcel: how it is shipped; null if it is collected.
        can_be_cancelled: whether cancel_order is possible now.
    """

    id: str
    store: Store | None
    state: State
    lines: list[Line]
    total: Money
    placed_at: int
    collected_at: int | None
    can_be_cancelled: bool
    parcel: Parcel | None = None


def tell_order(order: Order) -> str:
    where = f"in {order.store}" if order.parcel is None else f"to {order.parcel.destination}"
    head = f"Order {order.id} {where} is {order.state}."
    lines = [tell_line(line) for line in order.lines]
    if order.parcel is not None:
        shipping = in_words(order.parcel.price) if order.parcel.price.amount else "free"
        lines.append(f"Shipping, {order.parcel.service}: {shipping}")
    return "\n".join([head, *lines, f"Total with tax: {in_words(order.total)}"])


def find_order(
    shop: sqlite3.Connection, order_id: str, email: str | None, context: Context
) -> sqlite3.Row:
    """Return an order for the caller who placed it, or who knows its mail address.

    Raises:
        InvalidRequest: there is none, or it belongs to another customer; both get the same message.
    """
    row: sqlite3.Row | None = shop.execute(
        "SELECT * FROM orders WHERE id = ?", (order_id,)
    ).fetchone()
    if row is not None and (
        (row["caller"] is not None and row["caller"] == context.caller.id)
        or (email is not None and row["email"].casefold() == email.casefold())
    ):
        return row
    raise InvalidRequest(
        f"You have no order {order_id} here. Check the number, and name the email address that the"
        " order was placed with.",
        param="order_id",
    )


def order_of(shop: sqlite3.Connection, row: sqlite3.Row, now: datetime) -> Order:
    """Build an order from its row."""
    lines = lines_of(shop, row["id"])
    collected = row["collected_at"]
    parcel = _parcel_of(shop, row["id"])
    sums = [total_of(lines)] if parcel is None else [total_of(lines), parcel.price]
    return Order(
        row["id"],
        row["store"],
        row["state"],
        lines,
        total(sums),
        seconds(row["placed_at"]),
        None if collected is None else seconds(collected),
        why_not_cancel(shop, row, now) is None,
        parcel,
    )


def _parcel_of(shop: sqlite3.Connection, order_id: str) -> Parcel | None:
    row = shop.execute("SELECT * FROM parcels WHERE order_id = ?", (order_id,)).fetchone()
    if row is None:
        return None
    destination = f"{row['city']}, {row['state']}"
    return Parcel(destination, row["service"], dollars(Decimal(row["price"])))


def order_of_call(shop: sqlite3.Connection, call_id: str) -> Any:
    """Return the order that a call has placed; None if it has not."""
    return shop.execute("SELECT * FROM orders WHERE call_id = ?", (call_id,)).fetchone()


def add_order(shop: sqlite3.Connection, context: Context, email: str, store: Store | None) -> str:
    """Store a new order.

    Parameters:
        store: where it is collected; None if it is shipped.

    Returns:
        Its number.
    """
    last: str = shop.execute("SELECT max(id) AS id FROM orders").fetchone()["id"]
    number = f"TH{int(last.removeprefix('TH')) + 1:08}"
    shop.execute(
        "INSERT INTO orders (id, call_id, caller, email, store, state, placed_at)"
        " VALUES (?, ?, ?, ?, ?, 'placed', ?)",
        (number, context.call_id, context.caller.id, email, store, context.now.isoformat()),
    )
    return number


def why_not_cancel(shop: sqlite3.Connection, row: sqlite3.Row, now: datetime) -> str | None:
    """Return why an order cannot be cancelled; None if it can."""
    if row["state"] == "cancelled":
        return f"Order {row['id']} was already cancelled."
    if row["state"] != "placed":
        return f"Order {row['id']} is {row['state']}: it cannot be cancelled, only returned."
    days = int(rule(shop, "cancel_days"))
    if now - datetime.fromisoformat(row["placed_at"]) > timedelta(days=days):
        return f"Order {row['id']} was placed more than {days} days ago."
    return None


def seconds(text: str) -> int:
    """Convert a time of the database to Unix seconds."""
    return int(datetime.fromisoformat(text).timestamp())


@action(
    says=tell_order,
    examples=[
        Example(
            "Where is my order TH10482201? I ordered as ruth@customer.example.",
            {"order_id": "TH10482201", "email": "ruth@customer.example"},
        )
    ],
)
def order_lookup(order_id: OrderId, context: Context, email: Email | None = None) -> Order:
    """Returns the state of an order.

    Args:
        order_id: the order's number.
        email: the mail address that it was placed with; needed for orders of other callers.
    """
    with reading(context.now) as shop:
        return order_of(shop, find_order(shop, order_id, email, context), context.now)


@resource(
    "/orders/{order_id}",
    related=[Related("help", "/policies/returns", "What comes back, and until when.")],
)
def order(order_id: OrderId, context: Context) -> Order | None:
    """An order that the caller has placed.

    It can be cancelled until it is packed, and for 30 days at most; what was collected can be
    returned.
    """
    with reading(context.now) as shop:
        try:
            row = find_order(shop, order_id, None, context)
        except InvalidRequest:
            return None
        return order_of(shop, row, context.now)


@order.affords("cancel_order")
def can_be_cancelled(order: Order) -> bool:
    return order.can_be_cancelled


@order.affords("return_order")
def can_come_back(order: Order) -> bool:
    return order.state == "collected"
