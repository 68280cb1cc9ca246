"""The example shop sends orders: what that costs, what it refuses, and what it asks."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.actions.base import Caller, Context, OfferedAction
from aitp_desk.actions.loader.loader import load_actions
from aitp_desk.config import load_config
from aitp_desk.desk.dialogue.next_question import merge_answer, next_question
from aitp_desk.model.calls.question import Choose, Fill
from aitp_desk.model.errors import PreconditionFailed
from tests.support.sites.shop import STOVE, TENT, make_shop, shopping

CONTEXT = Context("call_1", Caller("key:1"))
EMAIL = "kai@customer.example"
BOISE = {
    "name": "Kai Moss",
    "street": "12 Elm Street",
    "city": "Boise",
    "state": "ID",
    "postal_code": "83702",
}
BEND = {**BOISE, "city": "Bend", "state": "OR", "postal_code": "97701"}
JUNEAU = {**BOISE, "city": "Juneau", "state": "AK", "postal_code": "99801"}
SAGE, LAKE = f"{TENT}-SAGE", f"{TENT}-LAKE"


async def test_an_order_is_sent_once_its_price_was_agreed_to(tmp_path: Path) -> None:
    order = {"items": [{"sku": SAGE, "quantity": 2}], "address": BEND, "email": EMAIL}
    async with shopping(tmp_path) as (shopper, _):
        asked = (await shopper.call("ship_order", **order)).ok
        assert "It costs 698.00 USD." in asked["clarification"]["question"]
        agreed = {"amount": "698.00", "currency": "USD"}
        body = (await shopper.call("ship_order", **order, _confirm=agreed)).ok
        payload = body["response"]["payload"]
        placed = payload["result"]
        assert (placed["state"], placed["store"]) == ("placed", None)
        assert placed["parcel"] == {
            "destination": "Bend, OR",
            "service": "standard",
            "price": {"amount": "0.00", "currency": "USD"},
        }
        assert payload["side_effects"] == [
            {"type": "stock", "description": "The items are set aside in the warehouse."},
            {"type": "parcel", "description": "An adult has to sign for it at the door."},
        ]
        assert [shopper.count(sku, "warehouse") for sku in (SAGE, LAKE, TENT)] == [8, 10, 18]
        assert await shopper.do("order_lookup", order_id=placed["id"]) == placed
        text = (await shopper.ask("order_lookup", placed["id"])).ok["response"]["answer"]
        assert text == (
            f"Order {placed['id']} to Bend, OR is placed.\n"
            "2 × Tarn Larkspur 2 Tent, Sage (TO-2201-SAGE) at $349.00: $698.00\n"
            "Shipping, standard: free\n"
            "Total with tax: $698.00"
        )
        await shopper.do("cancel_order", order_id=placed["id"])
        assert [shopper.count(sku, "warehouse") for sku in (SAGE, LAKE, TENT)] == [10, 10, 20]


COSTS = {
    "with tax of the state": (STOVE, 1, BOISE, "standard", "74.79"),
    "below what is free": (STOVE, 1, BEND, "standard", "70.95"),
    "free": (STOVE, 2, BEND, "standard", "128.00"),
    "express is never free": (STOVE, 2, BEND, "express", "142.95"),
    "overnight": (STOVE, 1, BEND, "overnight", "93.95"),
    "far away it is never free": (STOVE, 2, JUNEAU, "standard", "140.95"),
    "a group in two colors": ([(SAGE, 5), (LAKE, 5)], 0, BEND, "standard", "3071.20"),
}


@pytest.fixture(scope="module")
def ship_order(tmp_path_factory: pytest.TempPathFactory) -> OfferedAction:
    """The action."""
    return offered_by(make_shop(tmp_path_factory.mktemp("parcels")))["ship_order"]


def offered_by(site: Path) -> dict[str, OfferedAction]:
    """The shop's actions by their names."""
    return {one.action.name: one for one in load_actions(load_config(site)).offered}


@pytest.mark.parametrize(
    ("item", "count", "address", "service", "price"), COSTS.values(), ids=COSTS.keys()
)
async def test_what_it_costs(
    ship_order: OfferedAction, item: Any, count: int, address: Any, service: str, price: str
) -> None:
    pairs = [(item, count)] if isinstance(item, str) else item
    items = [{"sku": sku, "quantity": quantity} for sku, quantity in pairs]
    given = {"items": items, "address": address, "email": EMAIL, "service": service}
    assert str(await ship_order.price(ship_order.read(given), CONTEXT)) == f"{price} USD"


REFUSED = {
    "a color that is open": (
        TENT,
        BOISE,
        "standard",
        "TO-2201 has several variants: TO-2201-SAGE, TO-2201-LAKE.",
    ),
    "too many": (f"{SAGE}*11", BOISE, "standard", "only 10 of TO-2201-SAGE in the warehouse"),
    "far and fast": (STOVE, JUNEAU, "express", "We do not ship to AK by express shipping."),
    "a box and fast": (
        STOVE,
        {**BOISE, "street": "P.O. Box 12"},
        "overnight",
        "We do not ship to PO boxes by overnight shipping.",
    ),
}


@pytest.mark.parametrize(
    ("item", "address", "service", "why"), REFUSED.values(), ids=REFUSED.keys()
)
async def test_what_is_not_sent(
    ship_order: OfferedAction, item: str, address: Any, service: str, why: str
) -> None:
    sku, _, count = item.partition("*")
    items = [{"sku": sku, "quantity": int(count or 1)}]
    given = {"items": items, "address": address, "email": EMAIL, "service": service}
    with pytest.raises(PreconditionFailed, match=why):
        await ship_order.check(ship_order.read(given), CONTEXT)
    in_box = {**BOISE, "street": "P.O. Box 12"}
    fine = {**given, "items": [{"sku": STOVE}], "address": in_box, "service": "standard"}
    await ship_order.check(ship_order.read(fine), CONTEXT)


READ = {
    "I'd like the blue tent": [{"sku": LAKE}],
    "I'd like the Larkspur 2 tent": [{"sku": TENT}],
    "Two Ember jackets, please": [{"sku": "TO-4215", "quantity": 2}],
    "the moss Stormline jacket": [{"sku": "TO-4102-MOSS"}],
    "2 blue tents": [{"sku": LAKE, "quantity": 2}],
    "20 Larkspur 2 tents in lake blue": [{"sku": LAKE, "quantity": 20}],
    "3 Pika stoves": [{"sku": STOVE, "quantity": 3}],
    "a jacket": None,
    "2 or 3 Pika stoves": None,
    "2x TO-5103": None,
    "something": None,
}


@pytest.mark.parametrize("words", READ)
def test_what_is_called_by_its_name(ship_order: OfferedAction, words: str) -> None:
    assert ship_order.from_text is not None
    read = ship_order.from_text(words)
    assert (None if read is None else read["items"]) == READ[words]


async def test_the_numbers_of_colors_and_sizes_can_be_read(tmp_path: Path) -> None:
    async with shopping(tmp_path) as (shopper, _):
        tent = (await shopper.talker.send("GET", f"/catalog/{TENT}")).ok
        assert tent["variants"] == [
            {"sku": SAGE, "color": "Sage", "size": None},
            {"sku": LAKE, "color": "Lake blue", "size": None},
        ]
        sage = (await shopper.talker.send("GET", f"/catalog/{SAGE}")).ok
        assert (sage["title"], "variants" in sage) == ("Tarn Larkspur 2 Tent, Sage", False)
        boot = (await shopper.talker.send("GET", "/catalog/TO-1104")).ok
        sizes = {one["sku"]: one["size"] for one in boot["variants"]}
        assert (len(sizes), sizes["TO-1104-SLATE-385"]) == (38, "38.5")


async def test_an_index_of_an_earlier_version_is_built_again(tmp_path: Path) -> None:
    async with shopping(tmp_path) as (shopper, _):
        with closing(sqlite3.connect(tmp_path / "shop" / "shop.db")) as before:
            before.execute("CREATE TABLE products (sku TEXT PRIMARY KEY, title TEXT)")
            before.execute("CREATE VIEW titles AS SELECT title FROM products")
            before.execute("PRAGMA user_version = 1")
        assert (await shopper.do("inventory_check", sku=SAGE))["total"] == 9
        assert shopper.rows("SELECT name FROM sqlite_schema WHERE name = 'titles'") == []


async def asked(offered: OfferedAction, arguments: dict[str, Any]) -> Choose:
    """What is asked next, which is a choice."""
    found = await next_question(offered, arguments, CONTEXT)
    assert found is not None
    assert isinstance(found.question, Choose)
    return found.question


async def test_what_it_asks(ship_order: OfferedAction) -> None:
    """Which product, in which color and size, how many, and where it goes; each if it is open."""
    anything = await asked(ship_order, {})
    assert (anything.title, anything.many) == ("What would you like?", "counted")
    assert "TO-4097" not in [choice.id for choice in anything.choices]  # it is sold out

    tent = await asked(ship_order, {"items": [{"sku": TENT}]})
    assert tent.title == "Which Tarn Larkspur 2 Tent?"
    assert [(one.name, one.description, str(one.price)) for one in tent.choices] == [
        ("Sage", "10 in the warehouse", "349.00 USD"),
        ("Lake blue", "10 in the warehouse", "349.00 USD"),
    ]
    jacket = await asked(ship_order, {"items": [{"sku": "TO-4102"}]})
    assert [choice.name for choice in jacket.choices] == ["Moss", "Ink", "Signal orange"]
    sizes = [f"Moss, {size}" for size in ("XS", "S", "M", "L", "XL", "XXL")]
    assert [size.name for size in jacket.choices[0].variants] == sizes
    moss = await asked(ship_order, {"items": [{"sku": "TO-4102-MOSS"}]})
    assert moss.title == "Which size of Tarn Stormline Jacket, Moss?"
    assert [(size.id, size.name) for size in moss.choices][:2] == [
        ("TO-4102-MOSS-XS", "XS"),
        ("TO-4102-MOSS-S", "S"),
    ]

    found = await next_question(ship_order, {"items": [{"sku": SAGE}]}, CONTEXT)
    assert found is not None
    assert isinstance(found.question, Fill)
    assert found.question.title == "Address and email"
    tokens = {field.id: field.autocomplete for field in found.question.fields}
    assert tokens == {
        "address.name": "name",
        "address.street": "address-line1",
        "address.city": "address-level2",
        "address.state": "address-level1",
        "address.postal_code": "postal-code",
        "address.extra": "address-line2",
        "email": "email",
    }


async def test_one_open_color_among_other_things(ship_order: OfferedAction) -> None:
    """What is chosen keeps the others, and how many there are of it."""
    open_one = {"items": [{"sku": STOVE}, {"sku": TENT, "quantity": 3}]}
    found = await next_question(ship_order, open_one, CONTEXT)
    assert found is not None
    assert isinstance(found.question, Choose)
    assert found.question.many == "one"
    merged = merge_answer(ship_order, found, [{"id": LAKE}], open_one, CONTEXT.now)
    assert merged.arguments["items"] == [
        {"sku": STOVE, "quantity": 1},
        {"sku": LAKE, "quantity": 3},
    ]


async def test_the_stores_that_have_it(tmp_path: Path) -> None:
    """Of these it is chosen where an order is collected."""
    place_order = offered_by(make_shop(tmp_path))["place_order"]
    stores = await asked(place_order, {"items": [{"sku": SAGE, "quantity": 4}]})
    assert [choice.id for choice in stores.choices] == ["Bend"]


async def test_the_orders_that_can_be_cancelled(tmp_path: Path) -> None:
    """They are those of the caller."""
    async with shopping(tmp_path) as (shopper, clock):
        buy = {"items": [{"sku": STOVE}], "store": "Bend", "email": EMAIL}
        placed = await shopper.buy(total="64.00", **buy)
        ((owner,),) = shopper.rows(f"SELECT caller FROM orders WHERE id = '{placed['id']}'")
        cancel = offered_by(tmp_path / "shop")["cancel_order"]
        mine = Context("call_1", Caller(owner), clock=clock)
        found = await next_question(cancel, {}, mine)
        assert found is not None
        assert isinstance(found.question, Choose)
        assert [(one.id, one.description) for one in found.question.choices] == [
            (placed["id"], "Lomond Pika Stove")
        ]
        others = await next_question(cancel, {}, Context("call_1", Caller("key:2"), clock=clock))
        assert others is not None
        assert isinstance(others.question, Fill)
        await shopper.do("cancel_order", order_id=placed["id"])
        assert isinstance((await next_question(cancel, {}, mine)).question, Fill)  # type: ignore[union-attr]
