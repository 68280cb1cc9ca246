"""Returns of items, within the shop's terms for their kind."""

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
        amount: the refund after the item was checked, with its sales tax.
        paid_as: ``refund`` as it was paid, or ``store_credit``.
    """

    id: str
    order_id: str
    sku: str
    store: Store
    amount: Money
    paid_as: PaidAs

    @classmethod
    def of(cls, row: sqlite3.Row, store: Store) -> Return:
        """Build a return from its row."""
        amount = dollars(Decimal(row["amount"]))
        return cls(f"R{row['id']:06}", row["order_id"], row["sku"], store, amount, row["paid_as"])


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
        line = item_of(shop, row, sku)
        if announced_by(shop, context.call_id) is None:
            # another call may have announced it in the meantime
            if why := why_not_return(shop, row, line, condition, context.now):
                raise PreconditionFailed(why, param="can_be_returned")
            announce(shop, context.call_id, row, line, _terms(shop, line, condition)["paid_as"])
        return Return.of(announced_by(shop, context.call_id), row["store"])


@return_order.requires(
    "can_be_returned",
    "The item was collected, can be returned in this condition, and its return period is not over.",
    recovery="For a faulty item, ask about the warranty.",
    actions=["late_return"],
)
def can_be_returned(
    order_id: OrderId, sku: Sku, condition: Condition, email: Email | None, context: Context
) -> str | None:
    with reading(context.now) as shop:
        row = find_order(shop, order_id, email, context)
        return why_not_return(shop, row, item_of(shop, row, sku), condition, context.now)


def why_not_return(
    shop: sqlite3.Connection, row: sqlite3.Row, line: Line, condition: Condition, now: datetime
) -> str | None:
    """Return why an item cannot be returned; None if it can."""
    if why := why_never_back(shop, row, line, condition):
        return why
    if overdue(shop, row, line, condition, now) > timedelta():
        days = _terms(shop, line, condition)["days"]
        return f"{line.sku} was collected more than {days} days ago."
    return None


def why_never_back(
    shop: sqlite3.Connection, row: sqlite3.Row, line: Line, condition: Condition
) -> str | None:
    """Return why an item can never be returned; None if it can."""
    if row["state"] != "collected":
        return f"Order {row['id']} was not collected."
    if is_final_sale(shop, line.unit_price.amount):
        return f"{line.sku} was sold at {in_words(line.unit_price)}, which is a final sale."
    if _terms(shop, line, condition) is None:
        return f"{line.sku} cannot be returned once it was used."
    if shop.execute(
        "SELECT 1 FROM returns WHERE order_id = ? AND sku = ?", (row["id"], line.sku)
    ).fetchone():
        return f"The return of {line.sku} was already announced."
    return None


def overdue(
    shop: sqlite3.Connection, row: sqlite3.Row, line: Line, condition: Condition, now: datetime
) -> timedelta:
    """Return the days since the end of the return period; negative before its end."""
    days = timedelta(days=_terms(shop, line, condition)["days"])
    return now - datetime.fromisoformat(row["collected_at"]) - days


def item_of(shop: sqlite3.Connection, row: sqlite3.Row, sku: str) -> Line:
    """Return an item of an order.

    Raises:
        InvalidRequest: there is no such item in it.
    """
    for line in lines_of(shop, row["id"]):
        if line.sku == sku:
            return line
    raise InvalidRequest(f"There is no {sku} in order {row['id']}.", param="sku")


def announce(
    shop: sqlite3.Connection, call_id: str, row: sqlite3.Row, line: Line, paid_as: PaidAs
) -> None:
    """Store a return."""
    shop.execute(
        "INSERT INTO returns (call_id, order_id, sku, amount, paid_as) VALUES (?, ?, ?, ?, ?)",
        (call_id, row["id"], line.sku, str(total_of([line]).amount), paid_as),
    )


def _terms(shop: sqlite3.Connection, line: Line, condition: Condition) -> Any:
    return shop.execute(
        "SELECT days, paid_as FROM return_terms JOIN articles USING (kind)"
        " WHERE sku = ? AND condition = ?",
        (line.sku, condition),
    ).fetchone()


def announced_by(shop: sqlite3.Connection, call_id: str) -> Any:
    """Return the return that a call has announced; None if it has not."""
    return shop.execute("SELECT * FROM returns WHERE call_id = ?", (call_id,)).fetchone()
