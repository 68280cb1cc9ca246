"""Filling the shop's database from ``seed.toml``."""

from __future__ import annotations

import sqlite3
import tomllib
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from .order_lines import keep_lines
from .pricing import Item, price_items, sales_tax_in

SEED = Path(__file__).with_name("seed.toml")
WEEKDAYS, SATURDAY, SUNDAY = range(5), 5, 6


def fill(shop: sqlite3.Connection, now: datetime) -> None:
    """Fill the database with the initial data."""
    seed = tomllib.loads(SEED.read_text("utf-8"))
    shop.executemany("INSERT INTO rules VALUES (?, ?)", seed["rules"].items())
    shop.executemany(
        "INSERT INTO stores VALUES (:name, :telephone, :timezone, :sales_tax)", seed["stores"]
    )
    for store in seed["stores"]:
        shop.executemany("INSERT INTO opening_hours VALUES (?, ?, ?, ?)", _week(store))
    nothing = {"day": None, "weekday": None, "nth": None}
    shop.executemany(
        "INSERT INTO holidays VALUES (:name, :month, :day, :weekday, :nth, :hours)",
        [{"name": name, **nothing, **day} for name, day in seed["holidays"].items()],
    )
    for sku, product in seed["products"].items():
        shop.execute(
            "INSERT INTO products VALUES (:sku, :title, :price, :kind, :page)",
            {"sku": sku, "page": None, **product},
        )
        shop.executemany(
            "INSERT INTO stock VALUES (?, ?, ?)",
            [(sku, place, count) for place, count in product["stock"].items()],
        )
    for sku, variants in seed["variants"].items():
        _add_variants(shop, sku, variants, seed["products"][sku]["stock"])
    shop.executemany(
        "INSERT INTO states VALUES (:code, :name, :zone, :sales_tax)",
        [{"code": code, "zone": "lower 48", **state} for code, state in seed["states"].items()],
    )
    for zone, rates in seed["shipping_rates"].items():
        shop.executemany(
            "INSERT INTO shipping_rates VALUES (?, ?, ?)",
            [(zone, service, price) for service, price in rates.items()],
        )
    shop.executemany(
        "INSERT INTO discounts VALUES (:customer_type, :from_quantity, :percent, :on_sale_items)",
        [{"customer_type": None, **discount} for discount in seed["discounts"]],
    )
    shop.executemany(
        "INSERT INTO return_terms VALUES (:kind, :condition, :days, :paid_as)",
        seed["return_terms"],
    )
    for id_, order in seed["orders"].items():
        _add_order(shop, id_, order, now)


def _add_variants(
    shop: sqlite3.Connection, sku: str, variants: Mapping[str, Any], stock: Mapping[str, int]
) -> None:
    """Add the variants of a product; its stock is spread evenly."""
    made = [(color, size) for color in variants["colors"] for size in variants.get("sizes", [None])]
    for number, (color, size) in enumerate(made):
        in_size = "" if size is None else f"-{size.replace('.', '')}"
        variant = f"{sku}-{color['code']}{in_size}"
        shop.execute(
            "INSERT INTO variants VALUES (?, ?, ?, ?, ?)",
            (variant, sku, color["name"], size, color.get("image")),
        )
        for place, count in stock.items():
            each, more = divmod(count, len(made))
            shop.execute(
                "INSERT INTO stock VALUES (?, ?, ?)", (variant, place, each + (number < more))
            )


def _week(store: Mapping[str, Any]) -> Iterator[tuple[str, int, str, str]]:
    """Yield a store's opening hours by day; closed days have no row."""
    days = {**dict.fromkeys(WEEKDAYS, "weekdays"), SATURDAY: "saturday", SUNDAY: "sunday"}
    for day, named in days.items():
        if named in store:
            opens, closes = store[named]
            yield store["name"], day, opens, closes


def _add_order(shop: sqlite3.Connection, id_: str, order: Mapping[str, Any], now: datetime) -> None:
    collected = order.get("collected_days_ago")
    shop.execute(
        "INSERT INTO orders (id, email, store, state, placed_at, collected_at)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (
            id_,
            order["email"],
            order["store"],
            order["state"],
            (now - timedelta(days=order["placed_days_ago"])).isoformat(),
            None if collected is None else (now - timedelta(days=collected)).isoformat(),
        ),
    )
    items = [Item(sku, quantity) for sku, quantity in order["items"].items()]
    of_type = order.get("customer_type", "standard")
    tax = sales_tax_in(shop, order["store"])
    keep_lines(shop, id_, price_items(shop, items, of_type, tax))
