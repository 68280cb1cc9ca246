"""Questions about an order: the product, its color and size, and the quantity."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Literal, get_args

from msgspec.structs import replace

from aitp_desk.actions import Choice, Choose, PreconditionFailed

from .catalog import SKU, article_called, without_models
from .database import reading
from .pricing import Item, Store, dollars
from .stock import WAREHOUSE, count

STORES: tuple[str, ...] = get_args(Store)
_COUNTS = {word: count for count, word in enumerate("two three four five six".split(), 2)}
_COUNT = re.compile(rf"\b(?:[1-9][0-9]?|{'|'.join(_COUNTS)})\b", re.ASCII)
_EMAIL = re.compile(r"[^@\s,;<>]+@[^@\s,;<>]+\.[a-z]{2,}", re.ASCII | re.IGNORECASE)


def choose_items(
    shop: sqlite3.Connection, items: Sequence[Item] | None, places: Sequence[str]
) -> Choose | None:
    """Ask for the ordered items, then for their colors and sizes.

    Parameters:
        items: the known items; None for none.
        places: the places that they would be taken from.

    Returns:
        None if all is chosen.
    """
    if not items:
        products = shop.execute("SELECT sku, title, price FROM products ORDER BY title").fetchall()
        choices = [
            Choice(
                id=row["sku"],
                name=row["title"],
                description=stock,
                price=dollars(Decimal(row["price"])),
            )
            for row in products
            if (stock := _stock(shop, row["sku"], places))
        ]
        return Choose(title="What would you like?", choices=tuple(choices), many="counted")
    for number, item in enumerate(items):
        rows = variants_of(shop, item.sku)
        if rows:
            return _choose_variant(shop, items, number, rows, places)
    return None


def variants_of(shop: sqlite3.Connection, sku: str) -> list[sqlite3.Row]:
    """Return the variants of an article; none if its number has color and size."""
    return shop.execute(
        "SELECT variants.*, title, price FROM variants JOIN products ON products.sku = product"
        " WHERE variants.sku LIKE ? || '-%' ORDER BY variants.rowid",
        (sku,),
    ).fetchall()


def choose_store(shop: sqlite3.Connection, items: Sequence[Item] | None) -> Choose | None:
    """Ask for the store of collection; None if no store has all items."""
    having = [
        store
        for store in STORES
        if all(count(shop, item.sku, store) >= item.quantity for item in items or ())
    ]
    choices = tuple(Choice(id=store, name=store) for store in having)
    return Choose(title="In which store do you collect it?", choices=choices) if choices else None


def read_order(text: str) -> Mapping[str, Any] | None:
    """Parse an order by product names: ``I'd like the blue tent``.

    The desk itself recognises article numbers.
    """
    if SKU.search(text):
        return None
    with reading(datetime.now(UTC)) as shop:
        words = without_models(shop, _EMAIL.sub("", text))
        sku = article_called(shop, words)
    counts = [_COUNTS.get(word) or int(word) for word in _COUNT.findall(words)]
    if sku is None or len(counts) > 1:
        return None
    item = {"sku": sku, "quantity": counts[0]} if counts else {"sku": sku}
    read: dict[str, Any] = {"items": [item]}
    stores = [store for store in STORES if store.casefold() in text.casefold()]
    if len(stores) == 1:
        read["store"] = stores[0]
    if len(emails := _EMAIL.findall(text)) == 1:
        read["email"] = emails[0]
    return read


def read_parcel(text: str) -> Mapping[str, Any] | None:
    """Parse the same for an order that is shipped: it has no store."""
    read = read_order(text)
    return None if read is None else {name: read[name] for name in read if name != "store"}


def _choose_variant(
    shop: sqlite3.Connection,
    items: Sequence[Item],
    number: int,
    rows: Sequence[sqlite3.Row],
    places: Sequence[str],
) -> Choose:
    """Ask for the color and the size of one of the items.

    Raises:
        PreconditionFailed: it is sold out.
    """
    item, title = items[number], rows[0]["title"]
    is_alone = len(items) == 1 and item.quantity == 1

    def ordered(sku: str) -> Any:
        """Return the ordered items after this choice."""
        if is_alone:
            return {"sku": sku}
        chosen = [*items[:number], Item(sku, item.quantity), *items[number + 1 :]]
        return [{"sku": one.sku, "quantity": one.quantity} for one in chosen]

    colors: dict[str, list[Choice]] = {}
    for row in rows:
        if stock := _stock(shop, row["sku"], places):
            colors.setdefault(row["color"], []).append(
                Choice(
                    id=row["sku"],
                    name=", ".join(filter(None, (row["color"], row["size"]))),
                    description=stock,
                    image_url=row["image"] or "",
                    price=dollars(Decimal(row["price"])),
                    value=ordered(row["sku"]),
                )
            )
    if not colors:
        raise PreconditionFailed(f"{title} is sold out.", param="in_stock")
    choices = [choice for sizes in colors.values() for choice in sizes]
    if rows[0]["size"] is not None and len(colors) > 1:
        # the size is asked by the number without the size
        numbers = {row["color"]: row["sku"].rpartition("-")[0] for row in rows}
        choices = [
            Choice(
                id=numbers[color], name=color, variants=tuple(sizes), value=ordered(numbers[color])
            )
            for color, sizes in colors.items()
        ]
    elif rows[0]["size"] is not None:
        title = f"size of {title}, {rows[0]['color']}"
        names = {row["sku"]: row["size"] for row in rows}
        choices = [replace(choice, name=names[choice.id]) for choice in choices]
    many: Literal["counted", "one"] = "counted" if is_alone else "one"
    return Choose(title=f"Which {title}?", choices=tuple(choices), many=many)


def _stock(shop: sqlite3.Connection, sku: str, places: Sequence[str]) -> str:
    """Return the stock of an article by place; empty if it is sold out."""
    counts = {place: count(shop, sku, place) for place in places}
    return ", ".join(
        f"{pieces} in {'the warehouse' if place == WAREHOUSE else place}"
        for place, pieces in counts.items()
        if pieces
    )
