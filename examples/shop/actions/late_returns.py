"""Late returns: store credit as a goodwill gesture; people decide about expensive items."""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta
from decimal import Decimal

from aitp_desk.actions import Context, Example, PreconditionFailed, action

from .database import changing, reading
from .orders import Email, OrderId, find_order
from .pricing import Line, Sku, total_of
from .returning import (
    Condition,
    PaidAs,
    Return,
    announce,
    announced_by,
    item_of,
    overdue,
    tell_return,
    why_never_back,
)
from .rules import rule

CONDITION: Condition = "unused"
PAID_AS: PaidAs = "store_credit"


def is_dear(order_id: OrderId, sku: Sku, email: Email | None, context: Context) -> bool:
    with reading(context.now) as shop:
        line = item_of(shop, find_order(shop, order_id, email, context), sku)
        return total_of([line]).amount > Decimal(rule(shop, "late_return_dollars"))


@action(
    kind="async",
    mutability="reversible",
    blast_radius="self",
    idempotent=True,
    approval=is_dear,
    says=tell_return,
    examples=[
        Example(
            "Can the pack of TH10481150 still come back? ines@customer.example, TO-3107, unused.",
            {"order_id": "TH10481150", "sku": "TO-3107", "email": "ines@customer.example"},
        )
    ],
)
def late_return(
    order_id: OrderId, sku: Sku, context: Context, email: Email | None = None
) -> Return:
    """Announces a late return of an unused item, for store credit.

    A person of the shop decides about expensive items.

    Args:
        order_id: the number of the order.
        sku: the article number of what is returned.
        email: the mail address that it was placed with; needed for orders of other callers.
    """
    with changing(context.now) as shop:
        row = find_order(shop, order_id, email, context)
        line = item_of(shop, row, sku)
        if announced_by(shop, context.call_id) is None:
            if why := why_not_late(shop, row, line, context.now):
                raise PreconditionFailed(why, param="is_little_late")
            announce(shop, context.call_id, row, line, PAID_AS)
        return Return.of(announced_by(shop, context.call_id), row["store"])


@late_return.requires(
    "is_little_late",
    "The return period of the item is over, but only for a short time.",
    recovery="Use return_order within the period. For a faulty item, ask about the warranty.",
    actions=["return_order"],
)
def is_little_late(
    order_id: OrderId, sku: Sku, email: Email | None, context: Context
) -> str | None:
    with reading(context.now) as shop:
        row = find_order(shop, order_id, email, context)
        return why_not_late(shop, row, item_of(shop, row, sku), context.now)


def why_not_late(
    shop: sqlite3.Connection, row: sqlite3.Row, line: Line, now: datetime
) -> str | None:
    """Return why an item cannot be returned late; None if it can."""
    if why := why_never_back(shop, row, line, CONDITION):
        return why
    late = overdue(shop, row, line, CONDITION, now)
    if late <= timedelta():
        return f"{line.sku} can still be returned in time."
    days = int(rule(shop, "late_return_days"))
    return f"{line.sku} is more than {days} days late." if late > timedelta(days=days) else None
