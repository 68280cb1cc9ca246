"""Tools of a real MCP server as actions of a desk, over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from structlog.testing import capture_logs

from aitp_desk.actions.base import OfferedAction
from aitp_desk.actions.mcp import connection
from aitp_desk.actions.registry import SiteOffers, open_sources
from aitp_desk.config import Config, Mcp, ToolTerms
from aitp_desk.desk.calls.registry import OWN_NAMES
from aitp_desk.model.calls.action import Safety
from aitp_desk.model.errors import InvalidRequest, PreconditionFailed, Unavailable
from tests.support.desk.server import serving
from tests.support.doubles.mcp_server import serving_tools
from tests.support.doubles.openapi_service import call, serving_api

SECRET = "s3cret-of-the-desk"
DOWN = "The MCP server shop cannot be reached; its tools are unavailable."
UNKNOWN = "The MCP server shop has not listed its tools yet; restart the desk once it responds."


@asynccontextmanager
async def offered_at(
    folder: Path, url: str, environment: Mapping[str, str] | None = None, **settings: Any
) -> AsyncIterator[SiteOffers]:
    """What a site offers of a server; all of it by default."""
    server = Mcp(name="shop", url=url, **{"tools": ("*",), **settings})
    config = Config(folder=folder, data=folder / ".desk", mcp=(server,))
    async with open_sources(config, environment or {}, OWN_NAMES) as offers:
        yield offers


def by_name(offers: SiteOffers) -> dict[str, OfferedAction]:
    return {one.action.name: one for one in offers.offered}


async def test_tools_are_actions_of_what_their_server_says_of_them(tmp_path: Path) -> None:
    called: list[str] = []
    async with serving_tools(called) as url, offered_at(tmp_path, url, prefix="shop_") as offers:
        found = by_name(offers)
        assert {name: one.action.safety.mutability for name, one in found.items()} == {
            "shop_get_stock": "read_only",
            "shop_greet": "reversible",
            "shop_place_order": "irreversible",
            "shop_leave": "irreversible",
            "shop_process": "irreversible",
        }
        assert {one.action.kind for one in found.values()} == {"async"}
        assert {one.action.open_to for one in found.values()} == {"actions"}
        repeatable = [name for name, one in found.items() if one.action.is_repeatable]
        assert repeatable == ["shop_get_stock", "shop_greet"]
        stock = found["shop_get_stock"]
        assert stock.action.summary == "How many of an item there are."
        assert stock.action.input_schema["required"] == ["sku"]
        assert await call(stock, sku="AB-1") == {"sku": "AB-1", "count": 3}
        with pytest.raises(InvalidRequest, match="must be text that matches") as refused:
            stock.read({"sku": "x"})
        assert refused.value.param == "sku"
        with pytest.raises(InvalidRequest, match="There is no member 'all'"):
            stock.read({"sku": "AB-1", "all": True})
        assert await call(found["shop_place_order"], sku="AB-1") == "Ordered AB-1."
        with pytest.raises(PreconditionFailed, match="It is sold out"):
            await call(found["shop_place_order"], sku="SOLD-1")
        assert called == ["stock of AB-1", "order of AB-1", "order of SOLD-1"]


async def test_the_owner_chooses_tools_and_says_otherwise_of_them(tmp_path: Path) -> None:
    terms = ToolTerms(
        tool="place_order",
        name="order",
        kind="action",
        mutability="reversible",
        blast_radius="self",
        reversible_within="P1D",
        idempotent="yes",
    )
    async with (
        serving_tools() as url,
        offered_at(tmp_path, url, tools=("place_order", "nothing"), terms=(terms,)) as offers,
    ):
        (order,) = offers.offered
        assert (order.action.name, order.action.kind) == ("order", "action")
        assert order.action.safety == Safety("reversible", "self", "P1D")
        assert order.action.is_idempotent
        assert offers.notes() == ("The MCP server shop has no tool nothing.",)


@pytest.mark.slow
async def test_a_server_that_is_down_keeps_its_tools_and_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "LONGEST_PAUSE", 0)
    async with serving_tools() as url, offered_at(tmp_path, url) as offers:
        known = [one.action for one in offers.offered]
        assert offers.notes() == ()
    async with offered_at(tmp_path, url) as offers:
        assert [one.action for one in offers.offered] == known
        assert offers.notes() == (DOWN,)
        stock = by_name(offers)["get_stock"]
        with pytest.raises(Unavailable, match="cannot be reached now"):
            await call(stock, sku="AB-1")
        async with serving_tools(port=int(url.split(":")[2].partition("/")[0])):
            assert await call(stock, sku="AB-1") == {"sku": "AB-1", "count": 3}
            assert offers.notes() == ()


async def test_a_desk_starts_without_a_server_and_says_so(tmp_path: Path) -> None:
    async with serving_api() as gone:
        pass
    site = tmp_path / "site"
    site.mkdir()
    (site / "page.md").write_text("# Page\n\nHello.\n", "utf-8")
    (site / "desk.toml").write_text(
        f'[[mcp]]\nname = "shop"\nurl = "{gone.url}/mcp"\ntools = ["get_stock"]\n', "utf-8"
    )
    async with serving(tmp_path / "data", folder=site) as desk:
        assert (await desk.desk.readiness.check()).notes == (DOWN, UNKNOWN)
        told = [line for line in desk.report if "problem" in line]
        assert told == [f"  problem    {DOWN}", f"  problem    {UNKNOWN}"]


async def test_the_desk_shows_its_token_to_the_server_and_to_nobody_else(tmp_path: Path) -> None:
    async with serving_api() as service:
        service.answers({"error": "who?"}, 401)
        with capture_logs() as logs:
            async with offered_at(
                tmp_path, service.url, {"SHOP_TOKEN": SECRET}, bearer_env="SHOP_TOKEN"
            ) as offers:
                assert offers.notes() == (DOWN, UNKNOWN)
    assert {got.headers["Authorization"] for got in service.got} == {f"Bearer {SECRET}"}
    assert [log["event"] for log in logs] == ["tools_down"]
    assert SECRET not in json.dumps([logs, offers.notes()])


async def test_a_server_that_says_nothing_is_waited_for_no_longer_than_is_bearable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def say_nothing(_request: web.Request) -> web.StreamResponse:
        await asyncio.get_running_loop().create_future()
        return web.Response()

    monkeypatch.setattr(connection, "CONNECT_SECONDS", 0.1)
    async with serving_api() as service:
        service.handler = say_nothing
        async with offered_at(tmp_path, service.url) as offers:
            assert offers.notes() == (DOWN, UNKNOWN)


async def test_many_calls_go_over_one_connection_at_once(tmp_path: Path) -> None:
    async with serving_tools() as url, offered_at(tmp_path, url) as offers:
        stock = by_name(offers)["get_stock"]
        skus = [f"AB-{number}" for number in range(20)]
        results = await asyncio.gather(*(call(stock, sku=sku) for sku in skus))
    assert [result["sku"] for result in results] == skus
