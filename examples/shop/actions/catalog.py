"""The shop's products, and where they are in stock."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, NamedTuple, get_args

from msgspec import Meta, Struct
from msgspec.structs import replace

from aitp_desk.actions import Context, Example, InvalidRequest, Money, action, resource

from .database import reading
from .pricing import Sku, Store, dollars, in_words

SKU = re.compile(r"\bTO-\d{4}(?:-[A-Z]{1,8})?(?:-[A-Z0-9]{1,3})?\b", re.ASCII | re.IGNORECASE)
_MODEL = re.compile(r"\b([a-z]+) (\d+)\b")
_NUMBER = re.compile(r"\b\d+\b")
_WORD = re.compile(r"[a-z0-9-]+")
_SMALL = {"a", "an", "and", "for", "in", "of", "the", "with"}
"""Words that titles and questions share without any meaning."""
_ENOUGH = 2
"""So many words of a title identify a product, if no other title has as many."""


class Variant(Struct, frozen=True):
    """A color and size of a product.

    Parameters:
        sku: its article number, for orders.
        size: null if there is only one size.
    """

    sku: str
    color: str
    size: str | None


class Product(Struct, frozen=True, omit_defaults=True):
    """A product of the shop.

    Parameters:
        sku: its article number.
        price: of one piece, without sales tax.
        page: its page on this site.
        variants: its variants; only in the description of one product.
    """

    sku: str
    title: str
    price: Money
    page: str | None
    variants: tuple[Variant, ...] = ()


class Products(Struct, frozen=True):
    """The found products, the best match first."""

    products: list[Product]


class Place(Struct, frozen=True):
    """The number of pieces in a store."""

    store: Store
    count: int


class Stock(Struct, frozen=True):
    """Where an item is in stock.

    Parameters:
        total: in all requested stores.
    """

    sku: str
    title: str
    stores: list[Place]
    total: int


def tell_products(found: Products) -> str:
    if not found.products:
        return "We have no product of this name."
    return "\n".join(f"{one.sku} {one.title}: {in_words(one.price)}" for one in found.products)


def tell_stock(stock: Stock) -> str:
    there = ", ".join(f"{place.count} in {place.store}" for place in stock.stores if place.count)
    return f"{stock.title} ({stock.sku}): {there or 'none in stock'}."


def read_question(text: str) -> Mapping[str, str] | None:
    """Find the product that a question names by words of its title, and the store.

    The desk itself recognises article numbers.
    """
    if SKU.search(text):
        return None
    with reading(datetime.now(UTC)) as shop:
        first, second = (*_ranked(shop, text), _NOTHING, _NOTHING)[:2]
    is_only_one = first.is_named and not second.is_named
    if not is_only_one and (first.hits < _ENOUGH or first[:-1] == second[:-1]):
        return None
    named = [store for store in get_args(Store) if store.casefold() in text.casefold()]
    return {"sku": first.sku, **({"store": named[0]} if len(named) == 1 else {})}


def product_of(row: sqlite3.Row) -> Product:
    """Build a product from its row."""
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
        named = SKU.findall(words)
        skus = [sku.upper() for sku in named] or [fit.sku for fit in _ranked(shop, words)]
        rows = [
            shop.execute("SELECT * FROM articles WHERE sku = ?", (sku,)).fetchone() for sku in skus
        ]
    return Products([product_of(row) for row in rows if row is not None])


@resource("/catalog/{sku}", open_to="anyone")
def product(sku: Sku, context: Context) -> Product | None:
    """A product of the shop, with its price before sales tax and the colors and sizes of it."""
    with reading(context.now) as shop:
        row = shop.execute("SELECT * FROM articles WHERE sku = ?", (sku,)).fetchone()
        rows = shop.execute("SELECT sku, color, size FROM variants WHERE product = ?", (sku,))
        variants = tuple(Variant(*one) for one in rows)
    return None if row is None else replace(product_of(row), variants=variants)


@product.affords("inventory_check")
def is_counted(_product: Product) -> bool:
    return True


@product.affords("get_quote")
@product.affords("place_order")
def can_be_bought(product: Product) -> Mapping[str, object]:
    return {"items": [{"sku": product.sku, "quantity": 1}]}


@action(
    open_to="anyone",
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
        found = shop.execute("SELECT title FROM articles WHERE sku = ?", (sku,)).fetchone()
        if found is None:
            raise InvalidRequest(f"We sell no {sku}.", param="sku")
        rows = shop.execute(
            "SELECT store, count FROM stock WHERE sku = :sku AND :store IN (store, '')"
            " AND store <> 'warehouse' ORDER BY store",
            {"sku": sku, "store": store or ""},
        ).fetchall()
    places = [Place(row["store"], row["count"]) for row in rows]
    return Stock(sku, found["title"], places, sum(place.count for place in places))


class _Fit(NamedTuple):
    """Measures how well a title fits a text: shared words, and words of the title alone.

    Parameters:
        is_named: whether a shared word names the thing itself, not only its use.
    """

    is_named: bool
    hits: int
    missing: int
    sku: str


_NOTHING = _Fit(False, 0, 0, "")


def without_models(shop: sqlite3.Connection, text: str) -> str:
    """Remove the model numbers from a lowercase text: a Larkspur 2 is not two tents."""
    text = text.casefold()
    for row in shop.execute("SELECT title FROM products"):
        for name, number in _MODEL.findall(row["title"].casefold()):
            text = re.sub(rf"\b{name} {number}\b", name, text)
    return text


def article_called(shop: sqlite3.Connection, text: str) -> str | None:
    """Return the number of the one product that a text names, with a colour if it has one.

    Parameters:
        text: as of :func:`without_models`; its numbers are not part of a name.
    """
    text = _NUMBER.sub("", text)
    products = _ranked(shop, text)
    first, second = (*products, _NOTHING, _NOTHING)[:2]
    is_clear = first.hits > second.hits or (
        first.hits >= _ENOUGH and first.missing < second.missing
    )
    if not first.is_named or (second.is_named and not is_clear):
        return None
    row = shop.execute("SELECT title FROM products WHERE sku = ?", (first.sku,)).fetchone()
    words = _words(text) - _words(row["title"])
    colors = {
        row["sku"] if row["size"] is None else row["sku"].rpartition("-")[0]
        for row in shop.execute("SELECT * FROM variants WHERE product = ?", (first.sku,))
        if not words.isdisjoint(_words(row["color"]))
    }
    return colors.pop() if len(colors) == 1 else first.sku


def _ranked(shop: sqlite3.Connection, text: str) -> list[_Fit]:
    """Return the products whose titles share words with a text, the best match first."""
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
