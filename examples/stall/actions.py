"""A honey stall: its stock, orders that are paid first, and what has to be packed."""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct

from aitp_desk.actions import Context, Money, PreconditionFailed, action

FOLDER = Path(__file__).parent
Name = Literal["linden", "heather", "candle"]


class Item(Struct):
    """An item of the stall, with the price of one piece."""

    name: str
    price: Money
    left: int


@contextmanager
def opened() -> Iterator[sqlite3.Connection]:
    """Open the orders in one transaction; an exception undoes it."""
    with closing(sqlite3.connect(FOLDER / "orders.db", isolation_level=None)) as orders:
        orders.execute("CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, item, count)")
        orders.execute("BEGIN IMMEDIATE")
        with orders:
            yield orders


def find(item: str, orders: sqlite3.Connection) -> Item:
    """Read the line of an item in goods.csv; what was ordered is not left."""
    with (FOLDER / "goods.csv").open(newline="", encoding="utf-8") as file:
        row = next(row for row in csv.DictReader(file) if row["item"] == item)
    ((ordered,),) = orders.execute("SELECT total(count) FROM orders WHERE item = ?", (item,))
    price = Money(Decimal(row["price"]), "EUR")
    return Item(row["name"], price, int(row["count"]) - int(ordered))


@action(
    open_to="anyone",
    says=lambda item: f"{item.name}: {item.left} left, {item.price} each.",
    examples=["How many jars of linden honey are left?", "How much is heather honey?"],
)
def stock(item: Name) -> Item:
    """How many pieces of an item are left, and what one costs.

    Args:
        item: which one.
    """
    with opened() as orders:
        return find(item, orders)


Count = Annotated[int, Meta(ge=1, le=12)]


class Order(Struct):
    """An order to be packed."""

    id: str
    item: str
    count: int


def price(item: Name, count: Count) -> Money:
    each = stock(item).price
    return Money(each.amount * count, each.currency)


@action(
    open_to="anyone",
    kind="action",
    mutability="irreversible",
    blast_radius="self",
    cost=price,
    prepaid=True,
    idempotent=True,
    says=lambda order: f"Order {order.id}: {order.count} of {order.item}.",
    examples=["I would like to order two jars of linden honey."],
)
def order(item: Name, context: Context, count: Count = 1) -> Order:
    """Sells pieces of an item, which are packed on the next Monday or Thursday.

    Args:
        item: which one.
        count: how many.
    """
    with opened() as orders:
        known = orders.execute("SELECT 1 FROM orders WHERE id = ?", (context.call_id,))
        if known.fetchone() is None:
            if (left := find(item, orders).left) < count:
                raise PreconditionFailed(f"The stall has {left} left.", param="in_stock")
            orders.execute("INSERT INTO orders VALUES (?, ?, ?)", (context.call_id, item, count))
    return Order(context.call_id, item, count)


@order.requires("in_stock", "There are as many as are ordered.", recovery="Order fewer.")
def in_stock(item: Name, count: Count) -> str | None:
    left = stock(item).left
    return None if left >= count else f"The stall has {left} left."


@action(open_to="operators")
def to_pack() -> list[Order]:
    """Lists what was paid and has to be packed, the oldest first."""
    with opened() as orders:
        return [Order(*row) for row in orders.execute("SELECT * FROM orders ORDER BY rowid")]
