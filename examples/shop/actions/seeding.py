"""Filling the shop's database from ``seed.toml``."""

from __future__ import annotations

import sqlite3
import tomllib
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from .order_lines import keep_lines
from .pricing import Item, price_items

SEED = Path(__file__).with_name("seed.toml")
WEEKDAYS, SATURDAY, SUNDAY = range(5), 5, 6


def fill(shop: sqlite3.Connection, now: datetime) -> None:
    """Write down all that the shop begins with."""
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
            [(sku, store, count) for store, count in product["stock"].items()],
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


def _week(store: Mapping[str, Any]) -> Iterator[tuple[str, int, str, str]]:
    """When a store is open, day by day; a day without a row is one on which it is closed."""
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
    keep_lines(shop, id_, price_items(shop, items, of_type, order["store"]))
