"""The example shop tells its stock, and quotes with the discounts of its pages."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.actions.base import Caller, Context
from aitp_desk.actions.loader.loader import Actions, load_actions
from aitp_desk.config import load_config
from tests.support.sites.shop import (
    BOOT,
    FILTER,
    ON_SALE,
    STOVE,
    TENT,
    make_shop,
    perform,
    shopping,
)

PRICES = {STOVE: "64.00", TENT: "349.00", BOOT: "189.00", FILTER: "42.00", ON_SALE: "179.97"}


@pytest.mark.requirement("AHPW-4.1-11")
async def test_stock_is_reported_for_one_store_or_for_all(tmp_path: Path) -> None:
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
        said = (await shopper.ask("inventory_check", "Any Nightfall bags in Boise?")).ok
        assert said["response"]["answer"].endswith("(TO-2305): 3 in Boise.")
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
            "'items' must be a list of 1 to 20 entries.",
        )
        wrong = await shopper.call("get_quote", items=[{"sku": TENT}, {"sku": "TO-0000"}])
        assert (wrong.status, wrong.body["param"]) == (400, "items[1].sku")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Actions:
    """The shop's actions, by themselves."""
    return load_actions(load_config(make_shop(tmp_path_factory.mktemp("shop"))))


@pytest.mark.slow
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

    # a caller who takes more of everything has no smaller discount on anything
    more_items = [{**item, "quantity": min(99, item["quantity"] + 5)} for item in items]
    dearer = perform(shop, "get_quote", context, items=more_items, **more)
    for line, other in zip(quote["lines"], dearer["lines"], strict=True):
        assert other["discount_percent"] >= line["discount_percent"]
