"""The stock of articles in stores and in the warehouse."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping
from typing import Final

from aitp_desk.actions import PreconditionFailed

from .pricing import product_number

WAREHOUSE: Final = "warehouse"
"""The place from which orders are shipped."""


def count(shop: sqlite3.Connection, sku: str, place: str) -> int:
    """Return the number of pieces; a variant never has more than its product."""
    row = shop.execute(
        "SELECT min(count) AS count FROM stock WHERE sku IN (?, ?) AND store = ?",
        (sku, product_number(sku), place),
    ).fetchone()
    return int(row["count"] or 0)


def why_short(shop: sqlite3.Connection, wanted: Mapping[str, int], place: str) -> str | None:
    """Return which articles a place has too few of, as a sentence; None if it has all.

    Parameters:
        wanted: pieces by articles.
    """
    products = Counter[str]()
    for sku, pieces in wanted.items():
        products[product_number(sku)] += pieces
    short: dict[str, int] = {}
    for sku, pieces in (*wanted.items(), *products.items()):
        is_told = any(product_number(one) == sku for one in short)
        if not is_told and (there := count(shop, sku, place)) < pieces:
            short[sku] = there
    told = ", ".join(f"{there} of {sku}" for sku, there in short.items())
    return f"There are only {told} in {_called(place)}." if short else None


def take(shop: sqlite3.Connection, sku: str, place: str, pieces: int) -> None:
    """Take pieces from the stock, unless another call was faster."""
    for number in {sku, product_number(sku)}:
        taken = shop.execute(
            "UPDATE stock SET count = count - :pieces"
            " WHERE sku = :sku AND store = :place AND count >= :pieces",
            {"sku": number, "place": place, "pieces": pieces},
        )
        if not taken.rowcount:
            left = count(shop, number, place)
            raise PreconditionFailed(
                f"There are only {left} of {number} in {_called(place)}.", param="in_stock"
            )


def put_back(shop: sqlite3.Connection, sku: str, place: str, pieces: int) -> None:
    """Put pieces back into the stock."""
    shop.execute(
        "UPDATE stock SET count = count + ? WHERE sku IN (?, ?) AND store = ?",
        (pieces, sku, product_number(sku), place),
    )


def _called(place: str) -> str:
    return f"the {place}" if place == WAREHOUSE else place
