"""The example shop looks up, quotes, takes and changes orders, and books visits, as its pages say."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aitp_desk.actions.base import Caller, Context
from aitp_desk.actions.loading import Actions, load_actions
from aitp_desk.config import load_config
from aitp_desk.model.errors import InvalidRequest, PreconditionFailed
from aitp_desk.model.resource import Affordance
from tests.doubles import NOON, Clock
from tests.serving import SHOP
from tests.talking import Talker, Told, talking

DAY = 24 * 60 * 60
STOVE, TENT, BOOT, FILTER = "TO-5103", "TO-2201", "TO-1104", "TO-5308"
ON_SALE = "TO-4097"
PRICES = {STOVE: "64.00", TENT: "349.00", BOOT: "189.00", FILTER: "42.00", ON_SALE: "179.97"}
SAM = {"order_id": "TH10482317", "email": "sam@customer.example"}
ACTING = (
    "inventory_check",
    "get_quote",
    "order_lookup",
    "place_order",
    "cancel_order",
    "return_order",
    "book_visit",
)


def make_shop(folder: Path) -> Path:
    """A shop with the example's actions, a database of its own and one page."""
    site = folder / "shop"
    shutil.copytree(SHOP / "actions", site / "actions")
    (site / "content").mkdir()
    (site / "content" / "about.md").write_text("# About\n\nWe sell gear.\n", "utf-8")
    (site / "desk.toml").write_text('[content]\nfolder = "content"\n', "utf-8")
    return site


class Shopper:
    """Somebody's agent, who calls the shop's actions by arguments."""

    def __init__(self, talker: Talker, site: Path) -> None:
        self.talker = talker
        self._site = site

    async def with_key(self, *scopes: str) -> Shopper:
        """Another agent."""
        return Shopper(await self.talker.with_key(*scopes), self._site)

    async def ask(self, capability: str, query: str, **more: Any) -> Told:
        body = {"capability": capability, "query": query, **more}
        return await self.talker.send("POST", "/agent/converse", body)

    async def call(self, capability: str, **arguments: Any) -> Told:
        """Call an action by arguments."""
        accepts = ["application/data", "application/action-result"]
        return await self.ask(capability, json.dumps(arguments), context={"accept_types": accepts})

    async def do(self, capability: str, **arguments: Any) -> Any:
        """What a call gives that has to succeed."""
        body = (await self.call(capability, **arguments)).ok
        assert body["status"] == "success", body
        payload = body["response"]["payload"]
        return payload["data"] if "data" in payload else payload["result"]

    async def refused(self, capability: str, **arguments: Any) -> tuple[int, str]:
        """Status and message of a call that has to be refused."""
        told = await self.call(capability, **arguments)
        assert told.body["status"] == "error", told.body
        return told.status, told.body["message"]

    async def buy(self, *, total: str, **arguments: Any) -> Any:
        """Place an order, and agree to what it costs."""
        agreed = {"amount": total, "currency": "USD"}
        return await self.do("place_order", **arguments, _confirm=agreed)

    def rows(self, statement: str) -> list[Any]:
        """What stands in the shop's own database."""
        with closing(sqlite3.connect(self._site / "shop.db")) as shop:
            return shop.execute(statement).fetchall()

    def count(self, sku: str, store: str) -> int:
        """How many pieces are in stock."""
        ((count,),) = self.rows(
            f"SELECT count FROM stock WHERE sku = '{sku}' AND store = '{store}'"
        )
        return int(count)


@asynccontextmanager
async def shopping(folder: Path, *, now: float = NOON) -> AsyncIterator[tuple[Shopper, Clock]]:
    """The shop, an agent with a key for its actions, and the clock of both."""
    site, clock = make_shop(folder), Clock(now)
    async with talking(folder, site=site, clock=clock) as talker:
        yield await Shopper(talker, site).with_key("actions"), clock


@pytest.mark.requirement("AHPW-4.1-17")
async def test_without_a_key_products_can_be_looked_up_and_nothing_else(tmp_path: Path) -> None:
    async with shopping(tmp_path) as (shopper, _):
        anybody = Shopper(Talker(shopper.talker.desk, tmp_path, shopper.talker.http), tmp_path)
        found = await anybody.do("product_search", words="Larkspur tent")
        assert found["products"][0] == {
            "sku": TENT,
            "title": "Tarn Larkspur 2 Tent",
            "price": {"amount": "349.00", "currency": "USD"},
            "page": "/products/larkspur-2-tent",
        }
        threads = await shopper.with_key("threads")
        for name in ACTING:
            assert (await anybody.call(name, **SAM)).status == 401, name
            assert (await threads.call(name, **SAM)).status == 403, name


@pytest.mark.requirement("AHPW-4.1-11")
async def test_stock_is_told_of_one_store_or_of_all(tmp_path: Path) -> None:
    async with shopping(tmp_path) as (shopper, _):
        everywhere = await shopper.do("inventory_check", sku=TENT)
        assert everywhere["stores"] == [
            {"store": "Bend", "count": 12},
            {"store": "Boise", "count": 0},
            {"store": "Portland", "count": 5},
        ]
        assert everywhere["total"] == 17
        assert (await shopper.do("inventory_check", sku=TENT, store="Boise"))["total"] == 0
        assert await shopper.refused("inventory_check", sku="TO-9999") == (
            400,
            "We sell no TO-9999.",
        )
        said = (await shopper.ask("inventory_check", "Are Pika stoves in stock?")).ok
        assert said["response"]["answer"] == (
            "Lomond Pika Stove (TO-5103): 10 in Bend, 7 in Boise, 13 in Portland."
        )
        assert said["meta"]["tools_used"] == ["inventory_check"]


async def test_what_is_missing_is_asked_for(tmp_path: Path) -> None:
    async with shopping(tmp_path) as (shopper, _):
        asked = (await shopper.ask("inventory_check", "How many do you have?")).ok
        assert asked["status"] == "clarification_needed"
        told = await shopper.ask(
            "inventory_check",
            "How many do you have?",
            session_id=asked["session_id"],
            clarification=STOVE,
        )
        assert told.ok["response"]["answer"].startswith("Lomond Pika Stove (TO-5103): 10 in Bend")


@pytest.mark.requirement("AHPW-4.1-12")
async def test_quotes_have_the_discounts_and_the_tax_that_the_pages_name(tmp_path: Path) -> None:
    async with shopping(tmp_path) as (shopper, _):
        for items, more, percents, total in (
            ({TENT: 9}, {}, [0], "3141.00"),
            ({TENT: 10}, {}, [12], "3071.20"),
            ({TENT: 9}, {"customer_type": "student"}, [10], "2826.90"),
            ({TENT: 10}, {"customer_type": "rescue"}, [12], "3071.20"),
            ({STOVE: 1, ON_SALE: 1}, {"customer_type": "military"}, [10, 0], "237.57"),
            ({STOVE: 1, FILTER: 1}, {"store": "Bend"}, [0, 0], "106.00"),
            ({STOVE: 1, FILTER: 1}, {"store": "Boise"}, [0, 0], "112.36"),
        ):
            listed = [{"sku": sku, "quantity": quantity} for sku, quantity in items.items()]
            quote = await shopper.do("get_quote", items=listed, **more)
            assert [line["discount_percent"] for line in quote["lines"]] == percents, quote
            assert quote["total"] == {"amount": total, "currency": "USD"}
        split = [{"sku": TENT, "quantity": 4}, {"sku": TENT, "quantity": 6}]
        assert (await shopper.do("get_quote", items=split))["total"]["amount"] == "3071.20"

        body = (await shopper.ask("get_quote", json.dumps({"items": [{"sku": TENT}]}))).ok
        assert body["response"]["answer"].endswith("Total: $349.00")
        assert await shopper.refused("get_quote", items=[]) == (
            400,
            "'items' takes at least 1 member.",
        )
        wrong = await shopper.call("get_quote", items=[{"sku": TENT}, {"sku": "TO-0000"}])
        assert (wrong.status, wrong.body["param"]) == (400, "items[1].sku")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Actions:
    """The shop's actions, by themselves."""
    return load_actions(load_config(make_shop(tmp_path_factory.mktemp("shop"))))


def perform(shop: Actions, name: str, context: Context, **arguments: Any) -> Any:
    """Carry out an action whose preconditions were looked at."""
    (offered,) = (one for one in shop.offered if one.action.name == name)
    return asyncio.run(offered.perform(offered.read(arguments), context)).result


@settings(max_examples=30)
@given(
    items=st.lists(
        st.fixed_dictionaries(
            {"sku": st.sampled_from(sorted(PRICES)), "quantity": st.integers(1, 99)}
        ),
        min_size=1,
        max_size=6,
    ),
    more=st.fixed_dictionaries(
        {},
        optional={
            "customer_type": st.sampled_from(["standard", "student", "military", "rescue"]),
            "store": st.sampled_from(["Bend", "Portland", "Boise"]),
        },
    ),
)
def test_any_quote_adds_up(shop: Actions, items: list[Any], more: dict[str, str]) -> None:
    context = Context("call_1", Caller())
    quote = perform(shop, "get_quote", context, items=items, **more)
    wanted: dict[str, int] = {}
    for item in items:
        wanted[item["sku"]] = wanted.get(item["sku"], 0) + item["quantity"]
    assert {line["sku"]: line["quantity"] for line in quote["lines"]} == wanted

    added = Decimal(0)
    for line in quote["lines"]:
        amount, tax = (Decimal(line[name]["amount"]) for name in ("amount", "sales_tax"))
        exact = Decimal(PRICES[line["sku"]]) * line["quantity"]
        exact *= Decimal(100 - line["discount_percent"]) / 100
        assert abs(amount - exact) <= Decimal("0.005")
        assert amount.as_tuple().exponent == tax.as_tuple().exponent == -2
        assert amount > 0
        assert 0 <= tax < amount / 10
        added += amount + tax
    assert Decimal(quote["total"]["amount"]) == added

    # whoever takes more of everything has no smaller discount on anything
    more_items = [{**item, "quantity": min(99, item["quantity"] + 5)} for item in items]
    dearer = perform(shop, "get_quote", context, items=more_items, **more)
    for line, other in zip(quote["lines"], dearer["lines"], strict=True):
        assert other["discount_percent"] >= line["discount_percent"]


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
        assert "It can be undone within P30D." in asked["clarification"]["question"]
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

        by_words = await shopper.ask("place_order", "yes", session_id=asked["session_id"])
        assert by_words.ok["response"]["payload"]["result"]["id"] == "TH10482319"


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
    ruth = {"order_id": "TH10482201", "email": "ruth@customer.example"}
    for call_id, name, arguments in (
        ("call_1", "place_order", {"items": items, "store": "Bend", "email": "k@c.example"}),
        ("call_2", "cancel_order", {"order_id": "TH10482318"}),
        ("call_3", "return_order", {**ruth, "sku": FILTER}),
        (
            "call_4",
            "book_visit",
            {"store": "Bend", "day": "2027-01-19", "starts": "10:00", "email": "k@c.example"},
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


def test_what_has_changed_since_it_was_looked_at_is_refused(shop: Actions) -> None:
    late = Context("call_late", Caller("key:1"), clock=Clock(NOON + 400 * DAY))
    for name, arguments in (
        ("place_order", {"items": [{"sku": TENT}], "store": "Boise", "email": "k@c.example"}),
        ("cancel_order", SAM),
        ("return_order", {**SAM, "sku": STOVE}),
    ):
        with pytest.raises(PreconditionFailed):
            perform(shop, name, late, **arguments)


async def test_an_order_is_cancelled_until_it_is_packed_and_for_thirty_days(
    tmp_path: Path,
) -> None:
    async with shopping(tmp_path) as (shopper, clock):
        assert (await shopper.do("order_lookup", **SAM))["can_be_cancelled"]
        cancelled = await shopper.do("cancel_order", **SAM)
        assert (cancelled["state"], cancelled["can_be_cancelled"]) == ("cancelled", False)
        assert (shopper.count(STOVE, "Portland"), shopper.count("TO-5119", "Portland")) == (14, 27)
        for order, why in (
            (SAM, "Order TH10482317 was cancelled before."),
            (
                {"order_id": "TH10482290", "email": "leah@customer.example"},
                "Order TH10482290 is packed: it can be returned, and not be cancelled.",
            ),
            (
                {"order_id": "TH10482005", "email": "priya@customer.example"},
                "Order TH10482005 was placed more than 30 days ago.",
            ),
        ):
            assert await shopper.refused("cancel_order", **order) == (409, why)

        order = {"items": [{"sku": FILTER}], "store": "Bend", "email": "kai@customer.example"}
        first, second = [await shopper.buy(total="42.00", **order) for _ in range(2)]
        clock.advance(30 * DAY)
        assert (await shopper.do("cancel_order", order_id=first["id"]))["state"] == "cancelled"
        clock.advance(1)
        assert (await shopper.refused("cancel_order", order_id=second["id"]))[0] == 409
        assert shopper.count(FILTER, "Bend") == 14


async def test_things_come_back_by_the_terms_of_their_kind(tmp_path: Path) -> None:
    ruth = {"order_id": "TH10482201", "email": "ruth@customer.example"}
    boots, filters = ({**ruth, "sku": sku} for sku in (BOOT, FILTER))
    async with shopping(tmp_path) as (shopper, clock):
        for order, why in (
            (SAM | {"sku": STOVE}, "Order TH10482317 was not collected."),
            (
                {"order_id": "TH10482264", "email": "omar@customer.example", "sku": ON_SALE},
                "Tarn Stormline Jacket, last year's colors was sold at $179.97, which is a final"
                " sale.",
            ),
            (
                filters | {"condition": "used"},
                "Clearbrook Squeeze Filter does not come back once it was used.",
            ),
            (
                {"order_id": "TH10481150", "email": "ines@customer.example", "sku": "TO-3107"},
                "Tarn Divide 55 Pack was collected more than 60 days ago.",
            ),
        ):
            assert await shopper.refused("return_order", **order) == (409, why)
        status, why = await shopper.refused("return_order", **ruth, sku=TENT)
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
            "The return of Corvane Cascade Mid Boot was announced before.",
        )
        jonas = {"order_id": "TH10481988", "email": "jonas@customer.example", "sku": BOOT}
        assert (await shopper.refused("return_order", **jonas, condition="used"))[0] == 409
        clock.advance(30 * DAY)
        assert (await shopper.do("return_order", **filters))["paid_as"] == "refund"
        clock.advance(1)


async def test_visits_are_booked_within_the_opening_hours(tmp_path: Path) -> None:
    async with shopping(tmp_path) as (shopper, clock):  # Friday, January 15, 2027

        async def book(store: str, day: str, starts: str) -> str:
            told = await shopper.call(
                "book_visit", store=store, day=day, starts=starts, email="kai@customer.example"
            )
            if told.status == 200:
                visit: dict[str, str] = told.body["response"]["payload"]["result"]
                return f"until {visit['ends']}"
            assert told.status == 409, told.body
            message: str = told.body["message"]
            return message

        weekday = "On Monday, 2027-01-25, Bend is open from 10:00 to 19:00."
        monday = "On Monday, 2027-01-18, Bend is open from 10:00 to 17:00."
        ahead = "Visits are booked from tomorrow on, for 60 days."
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


async def test_an_order_is_a_resource_of_whoever_placed_it(tmp_path: Path) -> None:
    shop = load_actions(load_config(make_shop(tmp_path)))
    (order,) = shop.resources
    mine, other = (Context("call_1", Caller(id_, ("actions",))) for id_ in ("key:1", "key:2"))
    (place,) = (one for one in shop.offered if one.action.name == "place_order")
    arguments = {"items": [{"sku": STOVE}], "store": "Bend", "email": "kai@customer.example"}
    placed = (await place.perform(place.read(arguments), mine)).result
    read = await order.read({"order_id": placed["id"]}, mine)
    assert read.data == placed
    assert read.affordances == (Affordance("cancel_order", {"order_id": placed["id"]}),)
    for id_ in (placed["id"], "TH10482201"):
        with pytest.raises(LookupError if id_ is None else Exception, match="There is no"):
            await order.read({"order_id": id_}, other)
    with pytest.raises(InvalidRequest):
        await order.read({"order_id": "TH1"}, mine)


def test_the_manifest_declares_them_with_their_schemas() -> None:
    names = [one.action.name for one in load_actions(load_config(SHOP)).offered]
    assert set(names) == {"product_search", *ACTING}
    assert not (SHOP / "content" / "shop.db").exists()
    assert msgspec.json.encode(names)
