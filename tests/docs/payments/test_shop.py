"""What the example shop charges, and by which rules, is what its pages say."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from aitp_desk.actions.base import Caller, Context
from aitp_desk.actions.loader.loader import load_actions
from aitp_desk.config import load_config
from tests.support.desk.server import SHOP
from tests.support.sites.shop import make_shop, perform

PAGES = SHOP / "content"
_NUMBERED = re.compile(r"\$(\d+(?:\.\d\d)?)[^$()]*\((?:[^()]*, )?(TO-\d{4})\)")
_BRACKETED = re.compile(r"\(\$(\d+), (TO-\d{4})\)")
_SEPARATE = re.compile(r"\((TO-\d{4})\) is sold separately for \$(\d+)")
"""A price next to the number of an article that has no page of its own."""
DAYS = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    """The shop's database, as it is made at first use."""
    site = make_shop(tmp_path_factory.mktemp("shop"))
    actions = load_actions(load_config(site))
    perform(actions, "product_search", Context("call_1", Caller()), words="tent")
    with closing(sqlite3.connect(site / "shop.db")) as database:
        yield database


def text_of(page: str) -> str:
    """A page's text, in one line."""
    return " ".join((PAGES / f"{page}.md").read_text("utf-8").split())


def front_matter(page: Path) -> Any:
    """What a page says of itself."""
    return yaml.safe_load(page.read_text("utf-8").split("---")[1])


def test_every_price_of_a_page_is_the_databases(shop: sqlite3.Connection) -> None:
    known = {
        sku: (float(price), page)
        for sku, price, page in shop.execute("SELECT sku, price, page FROM products")
    }
    told = {}
    for path in sorted((PAGES / "products").glob("*.md")):
        page, product = f"/products/{path.stem}", front_matter(path)
        told[product["sku"]] = (product["price"], page)
        text = text_of(page[1:])
        for price, sku in (*_NUMBERED.findall(text), *_BRACKETED.findall(text)):
            told[sku] = (float(price), page)
        for sku, price in _SEPARATE.findall(text):
            told[sku] = (float(price), page)
    without_page = {sku: found for sku, found in known.items() if found[1] is None}
    assert known == told | without_page
    ((ending,),) = shop.execute("SELECT value FROM rules WHERE name = 'final_sale_ending'")
    assert all(f"{price:.2f}".endswith(ending) for price, _ in without_page.values())
    assert f"Prices ending in {ending} are final sale." in text_of("faq")


def test_stores_open_when_their_page_says(shop: sqlite3.Connection) -> None:
    told = {}
    for store in json.loads((PAGES / "stores.json").read_text("utf-8")):
        for line in store["openingHours"]:
            days, hours = line.split()
            first, _, last = days.partition("-")
            for day in range(DAYS.index(first), DAYS.index(last or first) + 1):
                told[store["name"], day] = tuple(hours.split("-"))
    rows = shop.execute("SELECT store, weekday, opens, closes FROM opening_hours")
    assert told == {(store, day): (opens, closes) for store, day, opens, closes in rows}
    phones = dict(shop.execute("SELECT name, telephone FROM stores"))
    assert all(f"| {phone} |" in text_of("stores") for phone in phones.values())

    of_hours: dict[str, set[str]] = {}
    for name, hours in shop.execute("SELECT name, hours FROM holidays"):
        of_hours.setdefault(hours, set()).add(name)
    assert of_hours["closed"] == {"Thanksgiving", "Christmas Day", "New Year's Day"}
    assert of_hours["16:00"] == {"Christmas Eve", "New Year's Eve"}
    assert (
        "All stores are closed on Thanksgiving, Christmas Day and New Year's Day. On December 24"
        " and 31 they close at 4 p.m. On other federal holidays they keep Sunday hours"
    ) in text_of("stores")
    assert len(of_hours["sunday"]) == 8


def test_the_rules_are_those_of_the_pages(shop: sqlite3.Connection) -> None:
    faq, returns = text_of("faq"), text_of("policies/returns")
    rules = dict(shop.execute("SELECT name, value FROM rules"))
    assert f"until it is packed, and for {rules['cancel_days']} days at most" in faq

    discounts = shop.execute("SELECT * FROM discounts ORDER BY customer_type").fetchall()
    ((_, pieces, group, _), *others) = discounts
    assert f"From {pieces} pieces of the same item you get {group}% off" in faq
    assert "of two discounts the higher counts" in faq
    ((percent, on_sale),) = {(percent, on_sale) for _, _, percent, on_sale in others}
    assert [kind for kind, *_ in others] == ["military", "rescue", "student"]
    assert f"search and rescue teams get {percent}% off regular prices" in faq
    assert not on_sale

    terms = {
        (kind, condition): (days, paid_as)
        for kind, condition, days, paid_as in shop.execute("SELECT * FROM return_terms")
    }
    for kind in ("gear", "filter", "footwear"):
        days, paid_as = terms.pop((kind, "unused"))
        assert (
            f"You have {days} days from the day of delivery to return an item that is unused"
            in (returns)
        )
        assert paid_as == "refund"
    ((key, (days, paid_as)),) = terms.items()
    assert (key, paid_as) == (("footwear", "used"), "store_credit")
    assert f"within {days} days of delivery and we exchange them or give store credit" in returns


def test_parcels_cost_what_their_page_says(shop: sqlite3.Connection) -> None:
    page = text_of("policies/shipping")
    rules = dict(shop.execute("SELECT name, value FROM rules"))
    assert f"is free on orders of ${rules['shipping_free_from']} or more, after discounts" in page
    assert f"Orders above ${rules['signature_above']} need the signature of an adult" in page
    rates = shop.execute("SELECT zone, service, price FROM shipping_rates").fetchall()
    places = {"lower 48": "Lower 48 states", "far": "Alaska and Hawaii"}
    told = re.findall(
        r"\| (Standard|Express|Overnight) \| ([^|]+) \| [^|]+ \| \$([0-9.]+) \|", page
    )
    assert {(service.lower(), place, price) for service, place, price in told} == {
        (service, places[zone], price) for zone, service, price in rates
    }


def test_what_there_is_of_a_product_is_what_its_page_says(shop: sqlite3.Connection) -> None:
    rows = shop.execute(
        "SELECT page, color, variants.sku FROM variants JOIN products ON product = products.sku"
    ).fetchall()
    assert {page for page, *_ in rows} >= {"/products/larkspur-2-tent", "/products/divide-55-pack"}
    for page, color, sku in rows:
        text = text_of(page[1:]).casefold()
        assert color.casefold() in text
        for place in ("Bend", "Portland", "Boise", "warehouse"):
            assert shop.execute(
                "SELECT (SELECT sum(count) FROM stock JOIN variants USING (sku)"
                " WHERE product = :product AND store = :place)"
                " = (SELECT count FROM stock WHERE sku = :product AND store = :place)",
                {"product": sku[:7], "place": place},
            ).fetchone() == (1,)


def test_what_an_order_says_of_its_being_undone_is_the_rule(shop: sqlite3.Connection) -> None:
    (placing,) = (
        one.action
        for one in load_actions(load_config(SHOP)).offered
        if one.action.name == "place_order"
    )
    ((days,),) = shop.execute("SELECT value FROM rules WHERE name = 'cancel_days'")
    assert placing.safety.reversible_within == f"P{days}D"
