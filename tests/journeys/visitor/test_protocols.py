"""The same visit to a desk by every protocol, and to the SDKs' own servers."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from aitp_desk.model.money import Money
from aitp_desk.visitor import (
    Choice,
    CredentialNeeded,
    NotConfirmed,
    NotOffered,
    Policy,
    SiteRefused,
)
from aitp_desk.visitor.base import EndpointKind
from tests.support.clients.a2a import Binding
from tests.support.desk.server import serving
from tests.support.doubles.mcp_server import serving_tools
from tests.support.protocols.a2a_agent import serving_agent
from tests.support.protocols.visitor import Person, endpoint, visiting
from tests.support.sites.shop import STOVE, shopping

each_protocol = pytest.mark.parametrize("kind", ["ahp", "aitp", "a2a", "mcp"])
each_calling = pytest.mark.parametrize("kind", ["ahp", "a2a", "mcp"])


@each_protocol
async def test_a_desk_answers_with_its_sources_and_keeps_the_conversation(
    tmp_path: Path, kind: EndpointKind
) -> None:
    async with serving(tmp_path / "data") as desk, visiting(desk.url, kind) as site:
        answer = await site.ask("What is your return policy?")
        again = await site.ask("How long does shipping take?")
    assert answer.kind == "answer"
    assert "return" in answer.text.casefold()
    assert answer.sources
    assert answer.sources[0].url.startswith(f"{desk.url}/policies/returns")
    assert answer.sources[0].url not in answer.text
    assert "ship" in again.text.casefold()


@each_calling
async def test_a_desk_is_called_by_arguments(tmp_path: Path, kind: EndpointKind) -> None:
    policy = Policy(confirm=Person(True).confirm)
    async with shopping(tmp_path) as (shopper, _):
        desk = shopper.talker.desk
        async with visiting(desk.url, kind, policy=policy, key=shopper.talker.key) as site:
            names = {one.name for one in await site.actions()}
            found = await site.call("product_search", {"words": "stove"})
            with pytest.raises(NotOffered):
                await site.call("fly_to_the_moon")
            with pytest.raises(SiteRefused):
                await site.call("product_search", {"wrong": 1})
    assert {"product_search", "place_order", "cancel_order"} <= names
    assert found.result["products"][0]["sku"] == STOVE


@each_calling
async def test_the_shop_takes_an_order_at_the_confirmed_price(
    tmp_path: Path, kind: EndpointKind
) -> None:
    person = Person(True)
    policy = Policy(confirm=person.confirm, budget=Money(Decimal(200), "USD"))
    order = {"items": [{"sku": STOVE}], "store": "Portland", "email": "a@b.example"}
    async with shopping(tmp_path) as (shopper, _):
        desk = shopper.talker.desk
        async with visiting(desk.url, kind, policy=policy, key=shopper.talker.key) as site:
            bought = await site.call("place_order", order, key="one-wish-of-a-person")
            again = await site.call("place_order", order, key="one-wish-of-a-person")
        count = shopper.rows("SELECT count(*) FROM orders WHERE store = 'Portland'")
        before = shopper.rows("SELECT count(*) FROM orders WHERE store = 'Portland' "
                              f"AND id <> '{bought.result['id']}'")  # fmt: skip
    assert bought.result["state"] == "placed"
    assert again == bought
    assert count[0][0] - before[0][0] == 1
    assert person.reasons[-1] == "It costs 64.00 USD."


@each_protocol
async def test_a_desk_that_wants_a_credential_says_so(tmp_path: Path, kind: EndpointKind) -> None:
    async with (
        serving(tmp_path / "data") as desk,
        visiting(desk.url, kind, key="desk_1234_wrong") as site,
    ):
        with pytest.raises(CredentialNeeded):
            await site.ask("What is your return policy?")


@pytest.mark.parametrize(
    ("binding", "version"), [("JSONRPC", "1.0"), ("JSONRPC", "0.3"), ("HTTP+JSON", "1.0")]
)
async def test_an_agent_of_the_a2a_sdk(binding: Binding, version: str) -> None:
    async with serving_agent(binding, version) as url, visiting(url, "a2a") as site:
        hello = await site.ask("Hello")
        question = await site.ask("What do flowers cost?")
        answer = await site.choose(Choice("Roses", "Roses"))
        with pytest.raises(SiteRefused, match="No weeds here"):
            await site.ask("weeds")
        with pytest.raises(CredentialNeeded, match="Who asks"):
            await site.ask("the secret ones")
        skills = [one.name for one in await site.actions()]
    assert (hello.kind, hello.text) == ("answer", "Good day.")
    assert (question.kind, question.text) == ("question", "Which?")
    assert (answer.kind, answer.text) == ("answer", "Roses cost 3 euros.")
    assert skills == ["prices"]


async def test_a_server_of_the_mcp_sdk() -> None:
    called: list[str] = []
    person = Person(False)
    async with serving_tools(called) as url:
        origin = url.removesuffix("/mcp")
        policy = Policy(confirm=person.confirm)
        async with visiting(origin, endpoints=[endpoint("mcp", origin)], policy=policy) as site:
            actions = {one.name: one for one in await site.actions()}
            stock = await site.call("get_stock", {"sku": "TO-7"})
            hello = await site.call("greet", {"name": "Ada"})
            with pytest.raises(NotOffered, match="no tool that answers questions"):
                await site.ask("What is there?")
            with pytest.raises(NotConfirmed):
                await site.call("place_order", {"sku": "TO-7"})
    assert stock.result == {"sku": "TO-7", "count": 3}
    assert hello.text == "Hello, Ada, from nobody."
    assert called == ["stock of TO-7"]
    assert actions["greet"].idempotent
    assert actions["place_order"].safety is None
    assert person.reasons == ["The site does not say whether it can be undone."]
