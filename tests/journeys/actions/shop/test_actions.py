"""The example shop offers its actions to those who may call them."""

from __future__ import annotations

from pathlib import Path

import pytest
from aiohttp import ClientSession

from tests.support.clients.threads import Talker
from tests.support.desk.server import SHOP, serving
from tests.support.sites.shop import DAY, SAM, TENT, Shopper, shopping
from tests.support.specs.ahp_schemas import AhpSchemas

ACTING = (
    "get_quote",
    "order_lookup",
    "place_order",
    "cancel_order",
    "return_order",
    "late_return",
    "book_visit",
)


@pytest.mark.requirement("AHPW-4.1-17")
async def test_without_a_key_products_and_stock_can_be_looked_up_and_nothing_else(
    tmp_path: Path,
) -> None:
    async with shopping(tmp_path) as (shopper, _):
        anybody = Shopper(Talker(shopper.talker.desk, tmp_path, shopper.talker.http), tmp_path)
        found = await anybody.do("product_search", words="Larkspur tent")
        assert found["products"][0] == {
            "sku": TENT,
            "title": "Tarn Larkspur 2 Tent",
            "price": {"amount": "349.00", "currency": "USD"},
            "page": "/products/larkspur-2-tent",
        }
        assert (await anybody.do("inventory_check", sku=TENT))["total"] > 0
        threads = await shopper.with_key("threads")
        for name in ACTING:
            assert (await anybody.call(name, **SAM)).status == 401, name
            assert (await threads.call(name, **SAM)).status == 403, name


@pytest.mark.slow
async def test_the_manifest_says_what_each_does_and_what_it_takes(
    tmp_path: Path, shared_folder: Path
) -> None:
    async with (
        serving(tmp_path / "data", folder=SHOP) as desk,
        ClientSession(desk.url) as http,
        http.get("/.well-known/agent.json") as response,
    ):
        manifest = await response.json()
    AhpSchemas(shared_folder).check_manifest(manifest)
    assert manifest["modes"] == ["MODE1", "MODE2", "MODE3"]
    assert manifest["authentication"] == "bearer"
    kinds = {one["name"]: one.get("action_type") for one in manifest["capabilities"]}
    assert {name: kinds[name] for name in ("product_search", "inventory_check", *ACTING)} == {
        "product_search": "query",
        "inventory_check": "query",
        "get_quote": "query",
        "order_lookup": "query",
        "place_order": "action",
        "cancel_order": "action",
        "return_order": "action",
        "late_return": "async",
        "book_visit": "action",
    }


async def test_what_is_sold_for_a_product_is_meant_only_where_it_is_named(tmp_path: Path) -> None:
    questions = {
        "Is the Larkspur 2 in stock in Bend?": "Tarn Larkspur 2 Tent (TO-2201): 12 in Bend.",
        "Is the footprint for the Larkspur 2 in Bend?": "Footprint for the Larkspur 2 (TO-2209)",
        "How many of the Pika stove are there in Boise?": "Lomond Pika Stove (TO-5103): 7 in",
    }
    async with shopping(tmp_path) as (shopper, _):
        for question, answer in questions.items():
            told = await shopper.ask("inventory_check", question)
            assert told.body["response"]["answer"].startswith(answer), question


@pytest.mark.slow
async def test_visits_are_booked_within_the_opening_hours(tmp_path: Path) -> None:
    async with shopping(tmp_path) as (shopper, clock):  # Friday, January 15, 2027

        async def book(store: str, day: str, starts: str) -> str:
            told = await shopper.call(
                "book_visit", store=store, day=day, time=starts, email="kai@customer.example"
            )
            if told.status == 200:
                visit: dict[str, str] = told.body["response"]["payload"]["result"]
                return f"until {visit['ends']}"
            assert told.status == 409, told.body
            message: str = told.body["message"]
            return message

        weekday = "On Monday, 2027-01-25, Bend is open from 10:00 to 19:00."
        monday = "On Monday, 2027-01-18, Bend is open from 10:00 to 17:00."
        ahead = "Visits can be booked from tomorrow on, for 60 days."
        for store, day, starts, expected in (
            ("Bend", "2027-01-25", "10:00", "until 10:30"),
            (
                "Bend",
                "2027-01-25",
                "10:00",
                "The fitter in Bend has a visit at 10:00 on 2027-01-25.",
            ),
            (
                "Bend",
                "2027-01-25",
                "10:29",
                "The fitter in Bend has a visit at 10:00 on 2027-01-25.",
            ),
            ("Bend", "2027-01-25", "10:30", "until 11:00"),
            ("Portland", "2027-01-25", "10:00", "until 10:30"),
            ("Bend", "2027-01-25", "09:59", weekday),
            ("Bend", "2027-01-25", "18:30", "until 19:00"),
            ("Bend", "2027-01-25", "18:31", weekday),
            ("Bend", "2027-01-18", "17:00", monday),  # a federal holiday
            ("Boise", "2027-01-18", "12:00", "Boise is closed on Monday, 2027-01-18."),
            ("Boise", "2027-01-17", "12:00", "Boise is closed on Sunday, 2027-01-17."),
            ("Bend", "2027-01-15", "12:00", ahead),
            ("Bend", "2027-03-16", "12:00", "until 12:30"),
            ("Bend", "2027-03-17", "12:00", ahead),
        ):
            assert await book(store, day, starts) == expected
        words = "A boot fitting in Boise on January 26 at 4:30pm, I am kai@customer.example"
        body = (await shopper.ask("book_visit", words)).ok
        assert body["response"]["answer"] == (
            "Visit V000006: Boise, Tuesday 2027-01-26, 16:30 to 17:00. To call it off, ring"
            " +1 208 555 0173."
        )
        clock.advance(14 * 60 * 60)  # a day further in UTC, and still Friday evening in the stores
        assert await book("Bend", "2027-01-15", "18:30") == ahead
        assert await book("Bend", "2027-01-16", "10:00") == "until 10:30"
        clock.advance(306 * DAY)  # November 17
        for store, day, starts, expected in (
            ("Bend", "2027-11-25", "12:00", "Bend is closed on Thursday, 2027-11-25."),
            ("Bend", "2027-12-24", "15:30", "until 16:00"),
            (
                "Bend",
                "2027-12-24",
                "16:00",
                "On Friday, 2027-12-24, Bend is open from 10:00 to 16:00.",
            ),
            ("Portland", "2027-12-25", "12:00", "Portland is closed on Saturday, 2027-12-25."),
        ):
            assert await book(store, day, starts) == expected
