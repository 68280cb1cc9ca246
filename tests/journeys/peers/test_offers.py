"""A partner's actions are actions of this desk: with its rules, for its callers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.actions.base import ActionResult, Context, OfferedAction, OutcomeUnknown
from aitp_desk.model.calls.action import Action, Safety
from tests.support.clients.threads import Talker, Told, talking
from tests.support.sites import orders
from tests.support.sites.orders import Caller
from tests.support.sites.partners import (
    BOOKSHOP,
    LIBRARY,
    PROTOCOLS,
    peer,
    serving_site,
    write_site,
)

ORDER = {"sku": "LMP-01", "quantity": 2}
ACTIONS = ["check_stock", "place_order"]
TERMS = '[[peers.terms]]\naction = "place_order"\nmutability = "reversible"\n'


@asynccontextmanager
async def desks(folder: Path, **settings: Any) -> AsyncIterator[tuple[Talker, Caller]]:
    """Serve a shop and a library that offers the shop's actions, with a key for the shop."""
    site = orders.write_site(folder)
    async with talking(folder, site=site) as shop:
        seller = await shop.with_key("actions")
        given = {"bearer_env": "SHOP_TOKEN", "actions": ACTIONS, "prefix": "shop_", **settings}
        toml = peer(shop.desk.url, "shop", title="Moth", **given) + TERMS
        library = write_site(folder / "library", LIBRARY, toml)
        environment = {"SHOP_TOKEN": seller.key or ""}
        async with serving_site(library, environment=environment) as talker:
            yield talker, Caller(seller, site)


async def call(talker: Talker, name: str, arguments: dict[str, Any]) -> Told:
    return await talker.send("POST", f"/capabilities/{name}", arguments)


async def test_what_a_partner_only_reads_is_a_query_here(tmp_path: Path) -> None:
    async with desks(tmp_path) as (talker, _):
        buyer = await talker.with_key("actions")
        told = await call(buyer, "shop_check_stock", {"sku": "LMP-01"})
        assert "Moth" in json.dumps(told.ok)
        assert "7" in json.dumps(told.ok)


async def test_a_caller_has_no_more_rights_through_the_desks_token(tmp_path: Path) -> None:
    async with desks(tmp_path, budget="20.00 EUR") as (talker, shop):
        told = await call(talker, "shop_place_order", ORDER)
        assert told.status == 401
        reader = await talker.with_key("threads")
        assert (await call(reader, "shop_place_order", ORDER)).status == 403
        assert shop.booked == []


@pytest.mark.parametrize("protocol", [one for one in PROTOCOLS if one != "aitp"])
async def test_an_order_within_the_budget_is_placed_once(tmp_path: Path, protocol: str) -> None:
    async with desks(tmp_path, budget="20.00 EUR", protocol=protocol) as (talker, shop):
        buyer = await talker.with_key("actions")
        told = await call(buyer, "shop_place_order", ORDER)
        assert told.status == 200, told.body
        assert shop.booked == ["2 of LMP-01"]


@pytest.mark.parametrize("budget", ["", "18.99 EUR", "50.00 USD"])
async def test_nothing_is_bought_without_a_budget_that_covers_it(
    tmp_path: Path, budget: str
) -> None:
    async with desks(tmp_path, budget=budget) as (talker, shop):
        buyer = await talker.with_key("actions")
        told = await call(buyer, "shop_place_order", ORDER)
        assert "19.00 EUR" in json.dumps(told.body)
        assert "Nothing was done at Moth" in json.dumps(told.body)
        assert shop.booked == []


async def test_the_partners_refusal_is_told(tmp_path: Path) -> None:
    async with desks(tmp_path, budget="200.00 EUR") as (talker, shop):
        buyer = await talker.with_key("actions")
        told = await call(buyer, "shop_place_order", {"sku": "LMP-01", "quantity": 8})
        assert "There are only 7 left." in json.dumps(told.body)
        assert shop.booked == []


async def test_the_last_list_serves_while_the_partner_is_down(tmp_path: Path) -> None:
    async with desks(tmp_path):
        pass
    library = tmp_path / "library"
    async with serving_site(library, environment={"SHOP_TOKEN": "unused"}) as talker:
        buyer = await talker.with_key("actions")
        told = await call(buyer, "shop_check_stock", {"sku": "LMP-01"})
        assert told.status == 503
        assert "Moth cannot be reached now" in json.dumps(told.body)


async def lose(_arguments: dict[str, Any], _context: Context) -> ActionResult:
    raise OutcomeUnknown("The line was cut.")


@pytest.mark.parametrize("protocol", [one for one in PROTOCOLS if one != "aitp"])
async def test_what_the_partner_does_not_know_is_unknown_here_as_well(
    tmp_path: Path, protocol: str
) -> None:
    schema = {"type": "object", "properties": {}}
    books = Action(
        "book_room",
        "Books a room.",
        "action",
        accept_fallback=True,
        input_schema=schema,
        output_schema=schema,
        safety=Safety("reversible"),
    )
    hotel = write_site(tmp_path / "hotel", BOOKSHOP)
    async with serving_site(hotel, actions=(OfferedAction(books, dict, lose),)) as partner:
        guest = await partner.with_key("actions")
        given: dict[str, Any] = {"bearer_env": "HOTEL_TOKEN", "actions": ["book_room"]}
        toml = peer(partner.desk.url, title="Moth", protocol=protocol, **given)
        library = write_site(tmp_path / "library", LIBRARY, toml)
        async with serving_site(library, environment={"HOTEL_TOKEN": guest.key or ""}) as talker:
            buyer = await talker.with_key("actions")
            told = await call(buyer, "book_room", {})
            assert told.status == 503
            assert "The outcome is unknown." in told.body["detail"]
            assert partner.rows("SELECT state FROM calls") == [("unknown",)]
            assert talker.rows("SELECT state FROM calls") == [("unknown",)]


@pytest.mark.parametrize("scopes", [(), ("threads",)])
@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_words_of_who_may_call_nothing_here_have_nothing_done_there(
    tmp_path: Path, protocol: str, scopes: tuple[str, ...]
) -> None:
    site = orders.write_site(tmp_path)
    async with talking(tmp_path, site=site) as shop:
        seller = await shop.with_key("actions", "threads")
        toml = peer(shop.desk.url, "shop", bearer_env="SHOP_TOKEN", protocol=protocol)
        library = write_site(tmp_path / "library", LIBRARY, toml)
        environment = {"SHOP_TOKEN": seller.key or ""}
        async with serving_site(library, environment=environment) as stranger:
            talker = await stranger.with_key(*scopes) if scopes else stranger
            asked = await talker.open("Please close my account", wait=20)
            assert asked.ok["replies"]
            for word in ("yes", "Yes, go ahead.", "1"):
                assert (await talker.post(asked.id, word, wait=20)).ok
        assert Caller(seller, site).booked == []
