"""The owner reads what partners were asked, when, and for how much."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.peers.test_offers import ORDER, TERMS, call
from tests.support.clients.threads import talking
from tests.support.desk.command import run
from tests.support.sites import orders
from tests.support.sites.orders import Caller
from tests.support.sites.partners import BOOKSHOP, LIBRARY, peer, serving_site, write_site

QUESTION = "How long do you lend e-readers?"
KEPT = ("at", "call")
"""The members that differ in each run."""


async def list_visits(folder: Path) -> list[dict[str, Any]]:
    """What the command prints while the desk serves, without what differs in each run."""
    code, told, wrong = await run("partners", folder, "--data", folder / "data")
    assert code == 0, wrong
    visits = [json.loads(line) for line in told]
    assert all(visit["at"].endswith("Z") and visit["call"].startswith("call_") for visit in visits)
    return [{name: visit[name] for name in visit if name not in KEPT} for visit in visits]


@pytest.mark.parametrize("actions", [["place_order"], ["*"]])
async def test_questions_and_purchases_are_listed_and_words_go_with_their_thread(
    tmp_path: Path, actions: list[str]
) -> None:
    site = orders.write_site(tmp_path)
    async with (
        serving_site(write_site(tmp_path / "books", BOOKSHOP)) as books,
        talking(tmp_path, site=site) as shop,
    ):
        seller = await shop.with_key("actions")
        terms = {"bearer_env": "SHOP", "actions": actions, "prefix": "shop_", "topics": ["lamps"]}
        toml = peer(shop.desk.url, "shop", budget="20.00 EUR", **terms) + TERMS
        folder = write_site(tmp_path / "library", LIBRARY, toml + peer(books.desk.url))
        async with serving_site(folder, environment={"SHOP": seller.key or ""}) as talker:
            opened = await talker.open(QUESTION, wait=20)
            buyer = await talker.with_key("actions")
            assert (await call(buyer, "shop_place_order", ORDER)).status == 200
            asked, bought = await list_visits(folder)
            await talker.send("DELETE", f"/v1/threads/{opened.ok['id']}")
            rest = await list_visits(folder)
    assert Caller(seller, site).booked == ["2 of LMP-01"]
    assert asked == {
        "partner": "books",
        "action": "ask_books",
        "state": "succeeded",
        "arguments": {"words": QUESTION},
        "price": None,
        "spent": None,
    }
    assert bought == {
        "partner": "shop",
        "action": "shop_place_order",
        "state": "succeeded",
        "arguments": ORDER,
        "price": None,
        "spent": {"amount": "19.00", "currency": "EUR"},
    }
    assert rest == [{**asked, "arguments": {}}, bought]
