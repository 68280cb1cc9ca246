"""Cancelling orders: their items are put back on the shelf."""

from __future__ import annotations

from aitp_desk.actions import Choice, Choose, Context, Example, PreconditionFailed, action

from .database import changing, reading
from .order_lines import lines_of
from .orders import Email, Order, OrderId, find_order, order_of, tell_order, why_not_cancel
from .stock import WAREHOUSE, put_back


@action(
    kind="action",
    mutability="irreversible",
    blast_radius="self",
    idempotent=True,
    says=tell_order,
    examples=[
        Example(
            "Please cancel TH10482317, sam@customer.example.",
            {"order_id": "TH10482317", "email": "sam@customer.example"},
        )
    ],
)
def cancel_order(order_id: OrderId, context: Context, email: Email | None = None) -> Order:
    """Cancels an order, whole. Its items may be sold to others from then on.

    Args:
        order_id: the order's number.
        email: the mail address that it was placed with; needed for orders of other callers.
    """
    with changing(context.now) as shop:
        row = find_order(shop, order_id, email, context)
        if row["cancelled_by"] != context.call_id:
            # the state may have changed in the meantime
            if why := why_not_cancel(shop, row, context.now):
                raise PreconditionFailed(why, param="can_be_cancelled")
            shop.execute(
                "UPDATE orders SET state = 'cancelled', cancelled_by = ? WHERE id = ?",
                (context.call_id, order_id),
            )
            for line in lines_of(shop, order_id):
                put_back(shop, line.sku, row["store"] or WAREHOUSE, line.quantity)
        place = "in the warehouse" if row["store"] is None else f"in {row['store']}"
        context.note("stock", f"The items are back on the shelf {place}.")
        return order_of(shop, find_order(shop, order_id, email, context), context.now)


@cancel_order.requires(
    "can_be_cancelled",
    "The order is not packed yet, and was placed at most 30 days ago.",
    recovery="Collect the order, and return the unwanted items.",
    actions=["return_order"],
)
def can_be_cancelled(order_id: OrderId, context: Context, email: Email | None) -> str | None:
    with reading(context.now) as shop:
        row = find_order(shop, order_id, email, context)
        return why_not_cancel(shop, row, context.now)


@cancel_order.asks("order_id")
def which_order(context: Context) -> Choose | None:
    """Ask for one of the caller's orders that can still be cancelled."""
    if context.caller.is_anonymous:
        return None
    with reading(context.now) as shop:
        rows = shop.execute(
            "SELECT * FROM orders WHERE caller = ? AND state = 'placed' ORDER BY id DESC LIMIT 20",
            (context.caller.id,),
        ).fetchall()
        orders = [order_of(shop, row, context.now) for row in rows]
    choices = tuple(
        Choice(
            id=order.id,
            description=", ".join(line.title for line in order.lines),
            price=order.total,
        )
        for order in orders
        if order.can_be_cancelled
    )
    return Choose(title="Which order?", choices=choices) if choices else None
