"""Purchases of a visitor: the example shop's map in each protocol, and wishes made once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aitp_desk.model.money import Money
from aitp_desk.visitor import (
    Identity,
    NotConfirmed,
    Outcome,
    Payer,
    Policy,
    PolicyRefused,
    SiteFailed,
    SiteRefused,
    visit,
)
from aitp_desk.visitor.base import EndpointKind
from tests.support.access.transcript_signer import base64url
from tests.support.desk.command import run
from tests.support.protocols.scripted_site import ScriptedSite, scripted_site
from tests.support.protocols.visitor import Person, visiting
from tests.support.sites.shop import Shopper, shopping

MAP = {"trail": "Cinder Rim"}
PRICE = Money(Decimal("4.90"), "USD")
BUDGET = Money(Decimal("5.00"), "USD")
PROTOCOLS = ("ahp", "a2a", "mcp")
each_protocol = pytest.mark.parametrize("kind", PROTOCOLS)
CONVERSE = "/agent/converse"
DONE = {"status": "success", "response": {"answer": "Ordered.", "payload": {"result": {"id": 3}}}}
PRICED = {
    "status": "error",
    "code": "forbidden",
    "message": "It costs 9.00 EUR.",
    "price": {"amount": "9.00", "currency": "EUR"},
}


async def owner(data: Path, *arguments: str) -> str:
    """What the shop's owner does at a terminal, while the desk serves."""
    code, told, wrong = await run("ledger", *arguments, "--data", data)
    assert code == 0, wrong
    return "\n".join(told)


class Merchant:
    """A site that speaks AHP and knows no keys; it answers as a test says, in order."""

    def __init__(self, site: ScriptedSite, folder: Path) -> None:
        self.site = site
        self.journal = folder / "calls"
        order = {"name": "order", "mode": "MODE3", "action_type": "action", "input_schema": {}}
        manifest = {"ahp": "0.1", "modes": ["MODE3"], "capabilities": [order]}
        site.will("/.well-known/agent.json", manifest, method="GET")

    def answer(self, body: Any, status: int = 200) -> None:
        self.site.will(CONVERSE, body, status=status)

    async def order(self, **more: Any) -> Outcome:
        """Order under the same key, in a visit that knows nothing of others but the journal."""
        policy = Policy(confirm=Person(True).confirm, budget=Money(Decimal(20), "EUR"))
        async with visit(
            self.site.url, protocol="ahp", policy=policy, journal=self.journal
        ) as site:
            return await site.call("order", {"n": 1}, key="a-wish", **more)

    @property
    def sent(self) -> int:
        return len(self.site.bodies(CONVERSE))


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


@pytest_asyncio.fixture
async def merchant(tmp_path: Path) -> AsyncIterator[Merchant]:
    async with scripted_site() as site:
        yield Merchant(site, tmp_path)


async def test_a_later_visit_sends_no_call_whose_response_was_lost(merchant: Merchant) -> None:
    merchant.answer(b"half of a resp")
    merchant.answer(DONE)
    with pytest.raises(SiteFailed, match="form of AHP"):
        await merchant.order()
    with pytest.raises(SiteFailed, match="unknown"):
        await merchant.order()
    assert merchant.sent == 1


async def test_a_later_visit_has_the_outcome_of_a_call_that_was_made(merchant: Merchant) -> None:
    merchant.answer(DONE)
    first, again = await merchant.order(), await merchant.order()
    assert (first.result, again, merchant.sent) == ({"id": 3}, first, 1)
    (kept,) = merchant.journal.iterdir()
    assert kept.stat().st_mode & 0o077 == 0


async def test_a_price_that_was_seen_in_one_visit_is_agreed_to_once_in_others(
    merchant: Merchant,
) -> None:
    for told, status in ((PRICED, 402), (PRICED, 402), (b"half of a resp", 200), (DONE, 200)):
        merchant.answer(told, status)
    assert (await merchant.order(pays=False)).kind == "payable"
    with pytest.raises(SiteFailed, match="form of AHP"):
        await merchant.order()
    with pytest.raises(SiteFailed, match="unknown"):
        await merchant.order()
    assert merchant.sent == 3


async def test_a_call_that_was_refused_may_be_corrected_in_a_later_visit(
    merchant: Merchant,
) -> None:
    merchant.answer({"status": "error", "code": "invalid_request", "message": "No."}, 400)
    merchant.answer(DONE)
    with pytest.raises(SiteRefused):
        await merchant.order()
    assert (await merchant.order()).text == "Ordered."


async def test_two_visits_at_once_make_one_call(merchant: Merchant) -> None:
    merchant.answer(DONE)
    ended = await asyncio.gather(*(merchant.order() for _ in range(4)), return_exceptions=True)
    assert merchant.sent == 1
    assert all(isinstance(one, (Outcome, SiteFailed)) for one in ended)


async def test_nothing_is_sent_that_cannot_be_noted(merchant: Merchant) -> None:
    merchant.answer(DONE)
    merchant.journal.write_text("no folder")
    with pytest.raises(PolicyRefused, match="Nothing was sent"):
        await merchant.order()
    assert merchant.sent == 0
