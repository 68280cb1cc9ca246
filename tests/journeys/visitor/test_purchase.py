"""The example shop's map, bought by a visitor in each protocol, from an account at the shop."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aitp_desk.model.money import Money
from aitp_desk.visitor import Identity, NotConfirmed, Outcome, Payer, Policy, PolicyRefused, visit
from aitp_desk.visitor.base import EndpointKind
from tests.support.access.transcript_signer import base64url
from tests.support.desk.command import run
from tests.support.protocols.visitor import Person, visiting
from tests.support.sites.shop import Shopper, shopping

MAP = {"trail": "Cinder Rim"}
PRICE = Money(Decimal("4.90"), "USD")
BUDGET = Money(Decimal("5.00"), "USD")
PROTOCOLS = ("ahp", "a2a", "mcp")
each_protocol = pytest.mark.parametrize("kind", PROTOCOLS)


async def owner(data: Path, *arguments: str) -> str:
    """What the shop's owner does at a terminal, while the desk serves."""
    code, told, wrong = await run("ledger", *arguments, "--data", data)
    assert code == 0, wrong
    return "\n".join(told)


@asynccontextmanager
async def paying(folder: Path) -> AsyncIterator[tuple[Shopper, Payer]]:
    """The shop, and a visitor with ten dollars there."""
    key = Ed25519PrivateKey.generate()
    public = base64url(key.public_key().public_bytes_raw())
    async with shopping(folder) as (shopper, _):
        await owner(folder / "data", "open", "acct_visitor", "--key", public)
        await owner(folder / "data", "credit", "acct_visitor", "10.00", "USD")
        yield shopper, Payer(key, "https://visitor.example", account="acct_visitor")


async def balance(folder: Path) -> str:
    return await owner(folder / "data", "accounts")


def sold(outcome: Outcome) -> bool:
    return outcome.kind == "done" and outcome.result["kilometres"] == 13.2


@each_protocol
async def test_a_map_is_paid_once_for_the_price_that_was_confirmed(
    tmp_path: Path, kind: EndpointKind
) -> None:
    person = Person(True)
    policy = Policy(confirm=person.confirm, budget=BUDGET)
    async with paying(tmp_path) as (shopper, payer):
        async with visiting(
            shopper.talker.desk.url, kind, policy=policy, identity=Identity(payer=payer)
        ) as site:
            bought = await site.call("buy_trail_map", MAP, key="one-wish-of-a-person")
            again = await site.call("buy_trail_map", MAP, key="one-wish-of-a-person")
            spent = site.spent
        left = await balance(tmp_path)
    assert sold(bought), bought
    assert again == bought
    assert spent == PRICE
    assert person.reasons[-1] == "It costs 4.90 USD."
    assert "5.10" in left


@pytest.mark.parametrize("protocol", ["hac", "openapi"])
async def test_a_map_is_paid_by_its_quote_over_plain_http(tmp_path: Path, protocol: str) -> None:
    person = Person(True)
    policy = Policy(confirm=person.confirm, budget=BUDGET)
    async with paying(tmp_path) as (shopper, payer):
        url, key = str(shopper.talker.desk.url), str(shopper.talker.key)
        opened: dict[str, Any] = {"protocol": protocol, "credential": key, "policy": policy}
        name = "buy-trail-map" if protocol == "hac" else "buy_trail_map"
        async with visit(url, **opened) as site:
            with pytest.raises(PolicyRefused, match="paid before it is done"):
                await site.call(name, MAP)
        async with visit(url, **opened, identity=Identity(payer=payer)) as site:
            bought = await site.call(name, MAP, key="one-wish-of-a-person")
            spent = site.spent
        left = await balance(tmp_path)
    assert sold(bought), bought
    assert spent == PRICE
    assert "5.10" in left


@pytest.mark.parametrize("kind", ["ahp", "a2a", "mcp"])
async def test_a_price_is_seen_before_anything_is_paid(tmp_path: Path, kind: EndpointKind) -> None:
    agreeing = Policy(confirm=Person(True).confirm)
    spending = Policy(confirm=Person(True).confirm, budget=BUDGET)
    async with paying(tmp_path) as (shopper, payer):
        url, who = shopper.talker.desk.url, Identity(payer=payer)
        async with visiting(url, kind, policy=agreeing, identity=who) as site:
            seen = await site.call("buy_trail_map", MAP, pays=False)
            assert (seen.kind, seen.quote and seen.quote.money) == ("payable", PRICE)
        async with visiting(url, kind, policy=spending, identity=who) as site:
            seen = await site.call("buy_trail_map", MAP, key="one-wish-of-a-person", pays=False)
            assert site.spent == Money(Decimal(0), "USD")
            assert "10.00" in await balance(tmp_path)
            assert sold(await site.call("buy_trail_map", MAP, key="one-wish-of-a-person"))
            assert site.spent == PRICE
        assert "5.10" in await balance(tmp_path)


async def test_an_announced_price_is_seen_without_a_call(tmp_path: Path) -> None:
    async with paying(tmp_path) as (shopper, _):
        url, key = str(shopper.talker.desk.url), str(shopper.talker.key)
        async with visit(url, protocol="hac", credential=key) as site:
            seen = await site.call("buy-trail-map", MAP, pays=False)
            assert (seen.kind, seen.quote and seen.quote.money) == ("payable", PRICE)
        assert "0 quotes" in await owner(tmp_path / "data", "verify")


@each_protocol
async def test_nothing_is_paid_that_nobody_confirmed_or_that_exceeds_the_budget(
    tmp_path: Path, kind: EndpointKind
) -> None:
    async with paying(tmp_path) as (shopper, payer):
        for policy, identity, error in (
            (Policy(budget=BUDGET), Identity(payer=payer), NotConfirmed),
            (Policy(confirm=Person(True).confirm), Identity(payer=payer), PolicyRefused),
            (
                Policy(confirm=Person(True).confirm, budget=Money(Decimal(4), "USD")),
                Identity(payer=payer),
                PolicyRefused,
            ),
            (Policy(confirm=Person(True).confirm, budget=BUDGET), Identity(), PolicyRefused),
        ):
            async with visiting(
                shopper.talker.desk.url, kind, policy=policy, identity=identity
            ) as site:
                with pytest.raises(error):
                    await site.call("buy_trail_map", MAP)
        assert "10.00" in await balance(tmp_path)


@pytest.mark.parametrize("kind", ["ahp", "aitp", "a2a", "mcp"])
async def test_a_map_is_bought_in_words(tmp_path: Path, kind: EndpointKind) -> None:
    person = Person(True)
    policy = Policy(confirm=person.confirm, budget=BUDGET)
    async with paying(tmp_path) as (shopper, payer):
        async with visiting(
            shopper.talker.desk.url, kind, policy=policy, identity=Identity(payer=payer)
        ) as site:
            asked = await site.ask("I would like to buy the trail map of the Cinder Rim, please.")
            assert asked.quote is not None, asked
            assert asked.quote.money == PRICE
            bought = await site.agree(asked)
            spent = site.spent
        left = await balance(tmp_path)
    assert bought.kind == "done", bought
    assert "Quarry" in bought.text
    assert spent == PRICE
    assert person.reasons == ["It costs 4.90 USD."]
    assert "5.10" in left
