"""Returning what was bought, within the terms that the shop has for its kind."""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Literal

from msgspec import Struct

from aitp_desk.actions import (
    Context,
    Example,
    InvalidRequest,
    Money,
    PreconditionFailed,
    action,
)

from .database import changing, reading
from .order_lines import lines_of
from .orders import Email, OrderId, find_order
from .pricing import Line, Sku, Store, dollars, in_words, is_final_sale, total_of

Condition = Literal["unused", "used"]
PaidAs = Literal["refund", "store_credit"]


class Return(Struct, frozen=True):
    """A return that was announced.

    Parameters:
        id: the number to name when the item is brought.
        amount: what is paid once the item was checked, with its sales tax.
        paid_as: ``refund`` as it was paid, or ``store_credit``.
    """

    id: str
    order_id: str
    sku: str
    store: Store
    amount: Money
    paid_as: PaidAs


def tell_return(announced: Return) -> str:
    paid = "refund" if announced.paid_as == "refund" else "give store credit for"
    return (
        f"Bring {announced.sku} to our store in {announced.store} with the number {announced.id}."
        f" We check it and {paid} {in_words(announced.amount)}."
    )


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    idempotent=True,
    says=tell_return,
    examples=[
        Example(
            "I want to return the unused filters of TH10482201, ruth@customer.example.",
            {"order_id": "TH10482201", "sku": "TO-5308", "email": "ruth@customer.example"},
        )
    ],
)
def return_order(
    order_id: OrderId,
    sku: Sku,
    context: Context,
    condition: Condition = "unused",
    email: Email | None = None,
) -> Return:
    """Announces the return of an item of an order, all pieces of it, to the store of the order.

    The money is paid once the store has checked the item. Who does not bring it keeps it.

    Args:
        order_id: the number of the order.
        sku: the article number of what is returned.
        condition: boots may come back after they were worn; of all else nothing that was used.
        email: the mail address that it was placed with; needed for orders of other callers.
    """
    with changing(context.now) as shop:
        row = find_order(shop, order_id, email, context)
        line = _line(shop, order_id, sku)
        if _return_of_call(shop, context.call_id) is None:
            # it may have been announced by another call since it was looked at
            if why := why_not_return(shop, row, line, condition, context.now):
                raise PreconditionFailed(why, param="can_be_returned")
            shop.execute(
                "INSERT INTO returns (call_id, order_id, sku, amount, paid_as)"
                " SELECT ?, ?, ?, ?, paid_as FROM products JOIN return_terms USING (kind)"
                " WHERE sku = ? AND condition = ?",
                (
                    context.call_id,
                    order_id,
                    sku,
                    str(total_of([line]).amount),
                    sku,
                    condition,
                ),
            )
        known = _return_of_call(shop, context.call_id)
    return Return(
        f"R{known['id']:06}",
        order_id,
        sku,
        row["store"],
        dollars(Decimal(known["amount"])),
        known["paid_as"],
    )


@return_order.requires(
    "can_be_returned",
    "The item was collected, is one that comes back in this condition, and its time is not over.",
    recovery="A faulty item is another matter: ask about the warranty.",
)
def can_be_returned(
    order_id: OrderId, sku: Sku, condition: Condition, email: Email | None, context: Context
) -> str | None:
    with reading(context.now) as shop:
        row = find_order(shop, order_id, email, context)
        return why_not_return(shop, row, _line(shop, order_id, sku), condition, context.now)


def why_not_return(
    shop: sqlite3.Connection, row: sqlite3.Row, line: Line, condition: Condition, now: datetime
) -> str | None:
    """What keeps an item from being returned; None where nothing does."""
    if row["state"] != "collected":
        return f"Order {row['id']} was not collected."
    if is_final_sale(shop, line.unit_price.amount):
        return f"{line.sku} was sold at {in_words(line.unit_price)}, which is a final sale."
    terms = shop.execute(
        "SELECT days FROM return_terms JOIN products USING (kind) WHERE sku = ? AND condition = ?",
        (line.sku, condition),
    ).fetchone()
    if terms is None:
        return f"{line.sku} does not come back once it was used."
    if now - datetime.fromisoformat(row["collected_at"]) > timedelta(days=terms["days"]):
        return f"{line.sku} was collected more than {terms['days']} days ago."
    if shop.execute(
        "SELECT 1 FROM returns WHERE order_id = ? AND sku = ?", (row["id"], line.sku)
    ).fetchone():
        return f"The return of {line.sku} was announced before."
    return None


def _line(shop: sqlite3.Connection, order_id: str, sku: str) -> Line:
    for line in lines_of(shop, order_id):
        if line.sku == sku:
            return line
    raise InvalidRequest(f"There is no {sku} in order {order_id}.", param="sku")


def _return_of_call(shop: sqlite3.Connection, call_id: str) -> Any:
    return shop.execute("SELECT * FROM returns WHERE call_id = ?", (call_id,)).fetchone()
