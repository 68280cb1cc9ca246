"""What the shop sells, and where it is in stock."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, NamedTuple, get_args

from msgspec import Meta, Struct

from aitp_desk.actions import Context, Example, InvalidRequest, Money, action, resource

from .database import reading
from .pricing import Sku, Store, dollars, in_words

_SKU = re.compile(r"\bTO-\d{4}\b", re.ASCII | re.IGNORECASE)
_WORD = re.compile(r"[a-z0-9-]+")
_SMALL = {"a", "an", "and", "for", "in", "of", "the", "with"}
"""What titles and questions have in common without meaning anything."""
_ENOUGH = 2
"""So many words of a title tell which product is meant, where no other has as many."""


class Product(Struct, frozen=True):
    """Something that the shop sells.

    Parameters:
        sku: its article number.
        price: of one piece, without sales tax.
        page: the page of this site that tells about it.
    """

    sku: str
    title: str
    price: Money
    page: str | None


class Products(Struct, frozen=True):
    """What was found, what fits best first."""

    products: list[Product]


class Place(Struct, frozen=True):
    """How many pieces lie in a store."""

    store: Store
    count: int


class Stock(Struct, frozen=True):
    """Where an item is in stock.

    Parameters:
        total: in all the stores that were asked about.
    """

    sku: str
    title: str
    stores: list[Place]
    total: int


def tell_products(found: Products) -> str:
    if not found.products:
        return "We sell nothing that is called so."
    return "\n".join(f"{one.sku} {one.title}: {in_words(one.price)}" for one in found.products)


def tell_stock(stock: Stock) -> str:
    there = ", ".join(f"{place.count} in {place.store}" for place in stock.stores if place.count)
    return f"{stock.title} ({stock.sku}): {there or 'none in stock'}."


def read_question(text: str) -> Mapping[str, str] | None:
    """The product that a question names by words of its title, and the store.

    Whoever writes an article number is understood by the desk itself.
    """
    if _SKU.search(text):
        return None
    with reading(datetime.now(UTC)) as shop:
        first, second = (*_ranked(shop, text), _NOTHING, _NOTHING)[:2]
    if first.hits < _ENOUGH or first[:-1] == second[:-1]:
        return None
    named = [store for store in get_args(Store) if store.casefold() in text.casefold()]
    return {"sku": first.sku, **({"store": named[0]} if len(named) == 1 else {})}


def product_of(row: sqlite3.Row) -> Product:
    """A product as it is told."""
    return Product(row["sku"], row["title"], dollars(Decimal(row["price"])), row["page"])


@action(
    open_to="anyone",
    says=tell_products,
    from_text=lambda text: {"words": text},
    examples=[Example("Which tents do you sell?", {"words": "tent"})],
)
def product_search(
    words: Annotated[str, Meta(min_length=1, max_length=200)], context: Context
) -> Products:
    """Finds products with their article numbers and prices by words of their names.

    Args:
        words: such as "rain jacket", or an article number.
    """
    with reading(context.now) as shop:
        named = _SKU.findall(words)
        skus = [sku.upper() for sku in named] or [fit.sku for fit in _ranked(shop, words)]
        rows = [
            shop.execute("SELECT * FROM products WHERE sku = ?", (sku,)).fetchone() for sku in skus
        ]
    return Products([product_of(row) for row in rows if row is not None])


@resource("/catalog/{sku}", open_to="anyone")
def product(sku: Sku, context: Context) -> Product | None:
    """A product of the shop, with its price before sales tax."""
    with reading(context.now) as shop:
        row = shop.execute("SELECT * FROM products WHERE sku = ?", (sku,)).fetchone()
    return None if row is None else product_of(row)


@product.affords("inventory_check")
def is_counted(_product: Product) -> bool:
    return True


@product.affords("get_quote")
@product.affords("place_order")
def can_be_bought(product: Product) -> Mapping[str, object]:
    return {"items": [{"sku": product.sku, "quantity": 1}]}


@action(
    says=tell_stock,
    from_text=read_question,
    examples=[Example("Is the Larkspur 2 tent in stock in Bend?", {"sku": "TO-2201"})],
)
def inventory_check(sku: Sku, context: Context, store: Store | None = None) -> Stock:
    """Says how many pieces of an item are in stock in the stores, this minute.

    Nothing is set aside by asking: who wants to be sure places an order.

    Args:
        sku: the article number; product_search finds it.
        store: only this store; all three where it is left out.
    """
    with reading(context.now) as shop:
        found = shop.execute("SELECT title FROM products WHERE sku = ?", (sku,)).fetchone()
        if found is None:
            raise InvalidRequest(f"We sell no {sku}.", param="sku")
        rows = shop.execute(
            "SELECT store, count FROM stock WHERE sku = :sku AND :store IN (store, '')"
            " ORDER BY store",
            {"sku": sku, "store": store or ""},
        ).fetchall()
    places = [Place(row["store"], row["count"]) for row in rows]
    return Stock(sku, found["title"], places, sum(place.count for place in places))


class _Fit(NamedTuple):
    """How well a title fits a text: the words that both have, and those that only the title has.

    Parameters:
        is_named: whether one of the words is of what it is, and not only of what that is for.
    """

    is_named: bool
    hits: int
    missing: int
    sku: str


_NOTHING = _Fit(False, 0, 0, "")


def _ranked(shop: sqlite3.Connection, text: str) -> list[_Fit]:
    """The products of whose title a text has words, what fits best first."""
    words = _words(text)
    fits = []
    for row in shop.execute("SELECT sku, title FROM products"):
        title = _words(row["title"])
        if hits := len(title & words):
            name, _, _ = row["title"].partition(" for ")
            is_named = not words.isdisjoint(_words(name))
            fits.append(_Fit(is_named, hits, len(title - words), row["sku"]))
    return sorted(fits, key=lambda fit: (not fit.is_named, -fit.hits, fit.missing, fit.sku))


def _words(text: str) -> set[str]:
    return {word.removesuffix("s") for word in _WORD.findall(text.casefold())} - _SMALL
