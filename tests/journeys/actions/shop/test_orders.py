"""The example shop takes orders once, and has them cancelled and returned by its rules."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.actions.base import Caller, Context
from aitp_desk.actions.loader.loader import load_actions
from aitp_desk.config import load_config
from aitp_desk.model.errors import InvalidRequest, PreconditionFailed, ResourceNotFound
from tests.support.clients.resources import reader, reading_as
from tests.support.doubles.agent import Clock
from tests.support.sites.shop import (
    BOOT,
    DAY,
    FILTER,
    ON_SALE,
    RUTH,
    SAM,
    STOVE,
    TENT,
    make_shop,
    perform,
    shopping,
)


@pytest.mark.requirement("AHPW-4.1-13")
async def test_an_order_is_placed_once_its_price_was_agreed_to(tmp_path: Path) -> None:
    order = {
        "items": [{"sku": STOVE, "quantity": 2}],
        "store": "Boise",
        "email": "kai@customer.example",
        "customer_type": "student",
    }
    async with shopping(tmp_path) as (shopper, _):
        asked = (await shopper.call("place_order", **order)).ok
        assert asked["status"] == "clarification_needed"
        assert "It costs 122.11 USD." in asked["clarification"]["question"]
        assert "It can be undone within 30 days." in asked["clarification"]["question"]
        low = {"amount": "122.10", "currency": "USD"}
        again = (await shopper.call("place_order", **order, _confirm=low)).ok
        assert again["status"] == "clarification_needed"
        assert shopper.count(STOVE, "Boise") == 7

        body = (
            await shopper.call(
                "place_order", **order, _confirm={"amount": "122.11", "currency": "USD"}
            )
        ).ok
        payload = body["response"]["payload"]
        assert payload["side_effects"] == [
            {"type": "stock", "description": "The items are set aside in Boise."}
        ]
        placed = payload["result"]
        assert (placed["id"], placed["state"]) == ("TH10482318", "placed")
        assert shopper.count(STOVE, "Boise") == 5

        assert await shopper.do("order_lookup", order_id=placed["id"]) == placed
        other = await shopper.with_key("actions")
        email = "KAI@customer.example"
        assert await other.do("order_lookup", order_id=placed["id"], email=email) == placed
        messages = {
            (await other.refused("order_lookup", order_id=id_, **more))[1].replace(id_, "…")
            for id_, more in (
                (placed["id"], {}),
                (placed["id"], {"email": "sam@customer.example"}),
                ("TH99999999", {"email": email}),
            )
        }
        assert len(messages) == 1

        session = asked["session_id"]
        by_words = (await shopper.ask("place_order", "yes", session_id=session)).ok
        assert by_words["response"]["answer"].startswith("Order TH10482319 in Boise is placed.")


async def test_quotes_and_orders_can_be_asked_for_in_words(tmp_path: Path) -> None:
    async with shopping(tmp_path) as (shopper, _):
        quote = (await shopper.ask("get_quote", "What do 2x TO-2201 and 3x TO-5103 cost?")).ok
        assert quote["response"]["answer"].endswith("Total: $890.00")
        for words, question in (
            (
                " and ".join(f"2x TO-{5000 + number}" for number in range(21)),
                "The items may have at most 20 entries. Which items, and how many of each?",
            ),
            ("2.5x TO-5103", "The quantity must be a whole number. How many of TO-5103?"),
            ("2x TO-५१०३", "Which items, and how many of each?"),  # no digits of the schema's
        ):
            asked = (await shopper.ask("get_quote", words)).ok
            assert asked["clarification"]["question"] == question
        one = {"items": [{"sku": STOVE}], "store": "Portland", "email": "kai@customer.example"}
        asked = (await shopper.call("place_order", **one)).ok
        assert "items 1 × TO-5103;" in asked["clarification"]["question"]
        words = "2x TO-5103 in Portland please, I am kai@customer.example"
        asked = (await shopper.ask("place_order", words)).ok
        assert "It costs 128.00 USD." in asked["clarification"]["question"]
        assert shopper.count(STOVE, "Portland") == 13
        done = (await shopper.ask("place_order", "yes", session_id=asked["session_id"])).ok
        assert done["response"]["answer"].startswith("Order TH10482318 in Portland is placed.")
        assert shopper.count(STOVE, "Portland") == 11
        asked = (await shopper.ask("cancel_order", "Please cancel my order TH10482318")).ok
        assert "It cannot be undone." in asked["clarification"]["question"]
        done = (await shopper.ask("cancel_order", "yes", session_id=asked["session_id"])).ok
        assert done["response"]["answer"].startswith("Order TH10482318 in Portland is cancelled.")
        assert shopper.count(STOVE, "Portland") == 13


async def test_an_order_that_the_store_cannot_fill_is_refused_with_what_helps(
    tmp_path: Path,
) -> None:
    async with shopping(tmp_path) as (shopper, _):
        told = await shopper.call(
            "place_order",
            items=[{"sku": TENT}, {"sku": STOVE, "quantity": 8}],
            store="Boise",
            email="kai@customer.example",
        )
        assert told.status == 409
        assert told.body["message"] == "There are only 0 of TO-2201, 7 of TO-5103 in Boise."
        assert told.body["param"] == "in_stock"
        assert shopper.rows("SELECT id FROM orders WHERE call_id IS NOT NULL") == []


@pytest.mark.slow
async def test_of_many_at_once_as_many_get_a_stove_as_there_are(tmp_path: Path) -> None:
    async with shopping(tmp_path) as (shopper, _):
        agreed = {"amount": "67.84", "currency": "USD"}
        told = await asyncio.gather(
            *(
                shopper.call(
                    "place_order",
                    items=[{"sku": STOVE}],
                    store="Boise",
                    email=f"{name}@customer.example",
                    _confirm=agreed,
                )
                for name in "abcdefghijkl"
            )
        )
        assert sorted(one.status for one in told) == [200] * 7 + [409] * 5
        assert shopper.count(STOVE, "Boise") == 0
        placed = shopper.rows("SELECT DISTINCT id FROM orders WHERE call_id IS NOT NULL")
        assert len(placed) == 7


def test_a_call_that_is_made_again_does_nothing_again(tmp_path: Path) -> None:
    site = make_shop(tmp_path)
    shop = load_actions(load_config(site))
    caller = Caller("key:1", ("actions",))
    items = [{"sku": STOVE, "quantity": 2}]
    for call_id, name, arguments in (
        ("call_1", "place_order", {"items": items, "store": "Bend", "email": "k@c.example"}),
        ("call_2", "cancel_order", {"order_id": "TH10482318"}),
        ("call_3", "return_order", {**RUTH, "sku": FILTER}),
        (
            "call_4",
            "book_visit",
            {"store": "Bend", "day": "2027-01-19", "time": "10:00", "email": "k@c.example"},
        ),
    ):
        first, second = (
            perform(shop, name, Context(call_id, caller, clock=Clock()), **arguments)
            for _ in range(2)
        )
        assert first == second, name
    with closing(sqlite3.connect(site / "shop.db")) as database:
        for table, count in (("orders", 8), ("returns", 1), ("visits", 1)):
            ((there,),) = database.execute(f"SELECT count(*) FROM {table}")
            assert there == count, table
        ((stoves,),) = database.execute(
            f"SELECT count FROM stock WHERE sku = '{STOVE}' AND store = 'Bend'"
        )
        assert stoves == 10


def test_what_is_not_so_any_more_when_it_is_carried_out_is_refused_then(tmp_path: Path) -> None:
    shop = load_actions(load_config(make_shop(tmp_path)))
    packed = {"order_id": "TH10482290", "email": "leah@customer.example"}
    visit = {"store": "Bend", "day": "2027-01-19", "time": "10:00", "email": "k@c.example"}
    perform(shop, "book_visit", Context("call_1", Caller("key:1"), clock=Clock()), **visit)
    tent = {"items": [{"sku": TENT}], "store": "Boise", "email": "k@c.example"}
    refused: tuple[tuple[str, dict[str, Any]], ...] = (
        ("place_order", tent),
        ("cancel_order", packed),
        ("return_order", {**SAM, "sku": STOVE}),
        ("book_visit", visit),
    )
    for name, arguments in refused:
        with pytest.raises(PreconditionFailed) as refusal:
            perform(shop, name, Context("call_2", Caller("key:2"), clock=Clock()), **arguments)
        assert refusal.value.recovery is not None, name  # as where it was looked at before


async def test_an_order_is_cancelled_until_it_is_packed_and_for_thirty_days(
    tmp_path: Path,
) -> None:
    async with shopping(tmp_path) as (shopper, clock):
        assert (await shopper.do("order_lookup", **SAM))["can_be_cancelled"]
        cancelled = await shopper.do("cancel_order", **SAM)
        assert (cancelled["state"], cancelled["can_be_cancelled"]) == ("cancelled", False)
        assert (shopper.count(STOVE, "Portland"), shopper.count("TO-5119", "Portland")) == (14, 27)
        for order, why in (
            (SAM, "Order TH10482317 was already cancelled."),
            (
                {"order_id": "TH10482290", "email": "leah@customer.example"},
                "Order TH10482290 is packed: it cannot be cancelled, only returned.",
            ),
            (
                {"order_id": "TH10482005", "email": "priya@customer.example"},
                "Order TH10482005 was placed more than 30 days ago.",
            ),
        ):
            assert await shopper.refused("cancel_order", **order) == (409, why)

        one: dict[str, Any] = {"items": [{"sku": FILTER}], "store": "Bend", "email": "k@c.example"}
        first, second = [await shopper.buy(total="42.00", **one) for _ in range(2)]
        clock.advance(30 * DAY)
        assert (await shopper.do("cancel_order", order_id=first["id"]))["state"] == "cancelled"
        clock.advance(1)
        assert (await shopper.refused("cancel_order", order_id=second["id"]))[0] == 409
        assert shopper.count(FILTER, "Bend") == 14


async def test_things_come_back_by_the_terms_of_their_kind(tmp_path: Path) -> None:
    boots, filters = ({**RUTH, "sku": sku} for sku in (BOOT, FILTER))
    async with shopping(tmp_path) as (shopper, clock):
        for order, why in (
            (SAM | {"sku": STOVE}, "Order TH10482317 was not collected."),
            (
                {"order_id": "TH10482264", "email": "omar@customer.example", "sku": ON_SALE},
                "TO-4097 was sold at $179.97, which is a final sale.",
            ),
            (
                filters | {"condition": "used"},
                "TO-5308 cannot be returned once it was used.",
            ),
            (
                {"order_id": "TH10481150", "email": "ines@customer.example", "sku": "TO-3107"},
                "TO-3107 was collected more than 60 days ago.",
            ),
        ):
            assert await shopper.refused("return_order", **order) == (409, why)
        status, why = await shopper.refused("return_order", **RUTH, sku=TENT)
        assert (status, why) == (400, "There is no TO-2201 in order TH10482201.")

        clock.advance(18 * DAY)  # thirty days after they were collected
        worn = await shopper.call("return_order", **boots, condition="used")
        assert worn.ok["response"]["payload"]["result"] == {
            "id": "R000001",
            "order_id": "TH10482201",
            "sku": BOOT,
            "store": "Boise",
            "amount": {"amount": "180.31", "currency": "USD"},
            "paid_as": "store_credit",
        }
        assert await shopper.refused("return_order", **boots) == (
            409,
            "The return of TO-1104 was already announced.",
        )
        jonas = {"order_id": "TH10481988", "email": "jonas@customer.example", "sku": BOOT}
        assert (await shopper.refused("return_order", **jonas, condition="used"))[0] == 409
        clock.advance(30 * DAY)
        assert (await shopper.do("return_order", **filters))["paid_as"] == "refund"
        clock.advance(1)


async def test_what_can_be_done_with_an_order_follows_its_state_and_its_age(
    tmp_path: Path,
) -> None:
    async with shopping(tmp_path) as (shopper, clock):
        buyer = await reading_as(shopper.talker, "actions")
        items = {"items": [{"sku": STOVE}], "store": "Bend", "email": "kai@customer.example"}
        first, second = [await shopper.buy(total="64.00", **items) for _ in range(2)]
        path = f"/orders/{first['id']}"
        view = await buyer.read(path)
        assert view.data == first
        assert [link.href for link in view.related] == ["/policies/returns"]
        (cancel,) = view.actions
        assert (cancel.action.name, dict(cancel.arguments), cancel.cost) == (
            *("cancel_order", {"order_id": first["id"]}, None),
        )
        assert cancel.action.safety.mutability == "irreversible"

        stranger = await reader(shopper.talker, "actions")
        for id_ in (first["id"], "TH10482201"):
            with pytest.raises(ResourceNotFound):
                await stranger.read(f"/orders/{id_}")
        with pytest.raises(InvalidRequest, match="must be text that matches"):
            await buyer.read("/orders/TH1")

        await shopper.do("cancel_order", order_id=first["id"])
        assert await buyer.actions(path) == {}
        path = f"/orders/{second['id']}"
        clock.advance(30 * DAY)
        assert list(await buyer.actions(path)) == ["cancel_order"]
        clock.advance(1)
        assert await buyer.actions(path) == {}
        shopper.change(f"UPDATE orders SET state = 'packed' WHERE id = '{second['id']}'")
        assert await buyer.actions(path) == {}
        shopper.change(
            "UPDATE orders SET state = 'collected', collected_at = placed_at"
            f" WHERE id = '{second['id']}'"
        )
        assert await buyer.actions(path) == {"return_order": {"order_id": second["id"]}}


async def test_a_product_is_there_for_everybody_and_its_sale_for_those_who_may_buy(
    tmp_path: Path,
) -> None:
    async with shopping(tmp_path) as (shopper, _):
        nobody, buyer = await reader(shopper.talker), await reader(shopper.talker, "actions")
        view = await nobody.read(f"/catalog/{STOVE}")
        assert view.data["price"] == {"amount": "64.00", "currency": "USD"}
        assert [one.action.name for one in view.actions] == ["inventory_check"]
        one = {"items": [{"sku": STOVE, "quantity": 1}]}
        assert await buyer.actions(f"/catalog/{STOVE}") == {
            "inventory_check": {"sku": STOVE},
            "get_quote": one,
            "place_order": one,
        }
        with pytest.raises(ResourceNotFound):
            await buyer.read("/catalog/TO-0000")
