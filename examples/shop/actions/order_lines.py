"""The lines of orders in the database."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from decimal import Decimal

from .pricing import Line, dollars


def keep_lines(shop: sqlite3.Connection, order_id: str, lines: Iterable[Line]) -> None:
    """Store the lines of an order; later prices do not change them."""
    shop.executemany(
        "INSERT INTO order_lines VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (
                order_id,
                line.sku,
                line.quantity,
                str(line.unit_price.amount),
                line.discount_percent,
                str(line.amount.amount),
                str(line.sales_tax.amount),
            )
            for line in lines
        ],
    )


def lines_of(shop: sqlite3.Connection, order_id: str) -> list[Line]:
    """Return the stored lines of an order."""
    rows = shop.execute(
        "SELECT order_lines.*, title FROM order_lines JOIN articles USING (sku)"
        " WHERE order_id = ? ORDER BY order_lines.rowid",
        (order_id,),
    )
    return [
        Line(
            row["sku"],
            row["title"],
            row["quantity"],
            dollars(Decimal(row["unit_price"])),
            row["discount_percent"],
            dollars(Decimal(row["amount"])),
            dollars(Decimal(row["sales_tax"])),
        )
        for row in rows
    ]
