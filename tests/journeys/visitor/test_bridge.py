"""Visited sites as tools of an assistant, over pipes, in both eras of MCP."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from yarl import URL

from aitp_desk.cli.commands.agents.visit import CREDENTIAL
from tests.support.clients.mcp import MODES, Mode
from tests.support.desk.command import run_here
from tests.support.protocols.bridge import assistant, read
from tests.support.sites.shop import STOVE, Shopper, shopping

if TYPE_CHECKING:
    from mcp_types import ElicitResult

pytestmark = pytest.mark.servers

ORDER = {"items": [{"sku": STOVE}], "store": "Portland", "email": "kai@customer.example"}
CALL = {"name": "place_order", "arguments": ORDER}
BUDGET = Decimal(100)
each_mode = pytest.mark.parametrize("mode", MODES)


class Elicited:
    """A person who is shown forms, and answers each in the same way."""

    def __init__(self, *, agrees: bool) -> None:
        self._agrees = agrees
        self.shown: list[str] = []

    async def __call__(self, _context: Any, params: Any) -> ElicitResult:
        from mcp_types import ElicitResult

        self.shown.append(params.message)
        return ElicitResult(action="accept", content={"confirm": self._agrees})


async def count_orders(shopper: Shopper) -> int:
    await shopper.do("product_search", words="stove")  # makes the database
    ((count,),) = shopper.rows("SELECT count(*) FROM orders")
    return int(count)


@each_mode
async def test_an_assistant_orders_what_its_person_confirms(tmp_path: Path, mode: Mode) -> None:
    person = Elicited(agrees=True)
    async with shopping(tmp_path) as (shopper, _):
        url, key = shopper.talker.desk.url, str(shopper.talker.key)
        name = URL(url).authority
        before = await count_orders(shopper)
        async with assistant(url, key, mode, budget=BUDGET, elicitation_callback=person) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            answer = read(await client.call_tool("ask_site", {"site": url, "question": "Gear?"}))
            unnamed = await client.call_tool(
                "call_action", {"site": name, "name": CALL["name"], "arguments": {}}
            )
            actions = read(await client.call_tool("list_actions", {"site": name}))["actions"]
            bought = await client.call_tool("call_action", {"site": name, **CALL})
            again = await client.call_tool("call_action", {"site": name, **CALL})
        after = await count_orders(shopper)
    assert tools == ["ask_site", "choose", "agree_to_price", "list_actions", "call_action"]
    assert answer["site"] == name
    assert read(unnamed)["error"] == "place_order needs items, store, email as well."
    assert "place_order" in {one["name"] for one in actions}
    assert not bought.is_error, read(bought)
    assert read(bought)["result"]["state"] == "placed"
    assert any("It costs 64.00 USD." in shown for shown in person.shown)
    assert again.is_error  # a second wish exceeds the budget
    assert read(again)["kind"] == "BudgetSpent"
    assert after - before == 1


@each_mode
async def test_nothing_is_ordered_that_the_person_declines(tmp_path: Path, mode: Mode) -> None:
    person = Elicited(agrees=False)
    async with shopping(tmp_path) as (shopper, _):
        url, key = shopper.talker.desk.url, str(shopper.talker.key)
        name = URL(url).authority
        before = await count_orders(shopper)
        async with assistant(url, key, mode, budget=BUDGET, elicitation_callback=person) as client:
            refused = await client.call_tool("call_action", {"site": name, **CALL})
        assert await count_orders(shopper) == before
    assert read(refused)["kind"] == "NotConfirmed"
    assert len(person.shown) == 1


@each_mode
async def test_a_client_that_cannot_ask_its_person_is_refused(tmp_path: Path, mode: Mode) -> None:
    async with shopping(tmp_path) as (shopper, _):
        url, key = shopper.talker.desk.url, str(shopper.talker.key)
        name = URL(url).authority
        before = await count_orders(shopper)
        async with assistant(url, key, mode, budget=BUDGET) as client:
            refused = await client.call_tool("call_action", {"site": name, **CALL})
            free = await client.call_tool(
                "call_action",
                {"site": name, "name": "product_search", "arguments": {"words": "stove"}},
            )
            unknown = await client.call_tool("ask_site", {"site": "x.example", "question": "?"})
        assert await count_orders(shopper) == before
    assert "cannot ask its person" in read(refused)["error"]
    assert read(free)["result"]["products"][0]["sku"] == STOVE
    assert read(unknown)["kind"] == "NotOffered"


@pytest.mark.parametrize(
    "arguments",
    [
        ("https://a.example", "--mcp", "--yes"),
        ("https://a.example", "--mcp", "--json"),
        ("https://a.example", "--mcp", "--endpoints"),
        ("https://a.example", "https://b.example", "--mcp"),  # with a credential
    ],
)
def test_only_urls_limits_and_one_sites_credential_go_with_mcp(
    arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CREDENTIAL, "a-secret")
    assert run_here("visit", *arguments).code == 2
