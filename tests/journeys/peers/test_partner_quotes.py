"""A visitor buys in a conversation what a partner offers in another, by any protocol."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from aitp_desk.visitor.proof.signatures import DIRECTORY_PATH
from tests.journeys.peers.test_late_answers import tell_of_end
from tests.journeys.peers.test_long_calls import read_until
from tests.journeys.visitor.test_purchase import owner
from tests.support.clients.threads import THREADS, Talker
from tests.support.doubles.agent import Clock
from tests.support.protocols.scripted_site import ScriptedSite, scripted_site
from tests.support.sites import orders
from tests.support.sites.partners import LIBRARY, peer, serving_site, write_site

WISH = "Place an order: 2 of LMP-01"
BUYS: dict[str, Any] = {"budget": "20.00 EUR", "buyers": "actions", "topics": ["orders"]}
PAYMENTS = "https://moth.example/capabilities/payments/v1/schema.json"


def make_quote(amount: str = "19.00", currency: str = "EUR") -> str:
    """Return the message of a partner that wants to be paid first."""
    option = {"amount": amount, "currency": currency, "payment_methods": [{"type": "ledger"}]}
    quote = {
        "quote_id": "q-1",
        "merchant_id": "moth.example",
        "description": "Two lamps.",
        "payment_options": [option],
    }
    return json.dumps({"$schema": PAYMENTS, "quote": quote})


KINDS = ("aitp", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("ahp", "a2a", "mcp")))


@asynccontextmanager
async def library(
    folder: Path, protocol: str = "aitp", **settings: Any
) -> AsyncIterator[tuple[Talker, orders.Caller]]:
    """Serve a library whose partner is a shop, to a buyer with a key; also the shop's book."""
    shop = orders.write_site(folder)
    async with serving_site(shop) as seller:
        token = (await seller.with_key("actions", "threads")).key or ""
        given = {"bearer_env": "TOKEN", "title": "Moth", "protocol": protocol, **BUYS, **settings}
        toml = peer(seller.desk.url, "moth", **given) + "[capabilities.payments]\n"
        site = write_site(folder / "library", LIBRARY, toml)
        async with serving_site(site, environment={"TOKEN": token}) as talker:
            yield await talker.with_key("actions", "threads"), orders.Caller(seller, shop)


async def say(talker: Talker, thread: str, words: str) -> str:
    """Post words; return the newest reply."""
    told = (await talker.post(thread, words, wait=20)).ok["replies"][-1]["content"]
    return "\n".join(told)


@pytest.mark.parametrize("protocol", KINDS)
async def test_the_partners_price_is_agreed_to_here_and_it_is_bought_there(
    tmp_path: Path, protocol: str
) -> None:
    async with library(tmp_path, protocol) as (buyer, shop):
        opened = await buyer.open(WISH, wait=20)
        asked = "\n".join(opened.ok["replies"][-1]["content"])
        assert asked.startswith("**Moth**: ")
        assert "you pay this site, which pays Moth" in asked
        assert "It costs 19.00 EUR." in asked
        assert shop.booked == []
        told = await say(buyer, opened.id, "yes")
        assert told.startswith("Moth: "), told
        assert shop.booked == ["2 of LMP-01"]
        spent = "SELECT state FROM calls WHERE action = 'buy_moth'"
        assert buyer.rows(spent) == [("succeeded",)]


@pytest.mark.parametrize("words", ["no", "No, thank you."])
async def test_nothing_is_bought_for_a_visitor_who_declines(tmp_path: Path, words: str) -> None:
    async with library(tmp_path) as (buyer, shop):
        opened = await buyer.open(WISH, wait=20)
        await say(buyer, opened.id, words)
        await say(buyer, opened.id, "yes")
        assert shop.booked == []


@pytest.mark.parametrize(
    "settings", [{"budget": "18.99 EUR"}, {"budget": "20.00 USD"}, {"buyers": "operators"}]
)
async def test_a_price_beyond_the_settings_is_shown_and_not_to_be_agreed_to(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    async with library(tmp_path, **settings) as (buyer, shop):
        opened = await buyer.open(WISH, wait=20)
        asked = "\n".join(opened.ok["replies"][-1]["content"])
        assert "nothing was paid or agreed to" in asked
        await say(buyer, opened.id, "yes")
        assert shop.booked == []


async def test_a_prepaid_offer_is_paid_here_before_the_partner_is_told(
    tmp_path: Path,
) -> None:
    async with library(tmp_path, prepaid=True) as (buyer, shop):
        data = tmp_path / "library" / "data"
        code = (await owner(data, "open", "acct_ruth", "--code")).split("code ")[1].split()[0]
        await owner(data, "credit", "acct_ruth", "40.00", "EUR")
        opened = await buyer.open(WISH, wait=20)
        asked = "\n".join(opened.ok["replies"][-1]["content"])
        assert "19.00 EUR" in asked
        assert shop.booked == []
        told = await say(buyer, opened.id, f"pay {code}")
        assert "Moth: " in told, told
        assert shop.booked == ["2 of LMP-01"]
        assert "acct_ruth  21.00 EUR" in await owner(data, "accounts")


class Seller:
    """A partner by AITP that wants to be paid first, and answers a payment as a test says."""

    def __init__(self, site: ScriptedSite, quote: str = "") -> None:
        self.site = site
        self.paid: list[dict[str, Any]] = []
        self.replies: list[str] = []
        self.is_done, self.is_broken = True, False
        site.will(THREADS, {**self._posted("m-1", [quote or make_quote()]), "id": "thread_1"})
        site.will(f"{THREADS}/thread_1/messages", self._take)
        site.will(f"{THREADS}/thread_1/runs/run_1", lambda _: self._run(), method="GET")
        site.will(f"{THREADS}/thread_1/messages", lambda _: self._list(), method="GET")

    def _take(self, body: Any) -> dict[str, Any]:
        self.paid.append(json.loads(body["content"])["payment"])
        if self.is_broken:
            raise web.HTTPInternalServerError
        return self._posted("m-3", self.replies if self.is_done else [])

    def _run(self) -> dict[str, Any]:
        return {"id": "run_1", "status": "completed" if self.is_done else "in_progress"}

    def _list(self) -> dict[str, Any]:
        return {"data": self._say(self.replies) if self.is_done else []}

    def _posted(self, name: str, texts: list[str]) -> dict[str, Any]:
        return {"id": name, "run": self._run(), "replies": self._say(texts)}

    def _say(self, texts: list[str]) -> list[dict[str, Any]]:
        return [{"id": "m-9", "thread_id": "thread_1", "role": "assistant", "content": texts}]


def confirm(result: str, message: str) -> str:
    said = {"quote_id": "q-1", "result": result, "message": message}
    return json.dumps({"$schema": PAYMENTS, "payment_confirmation": said})


@asynccontextmanager
async def paying(
    folder: Path, clock: Clock | None = None, quote: str = "", **settings: Any
) -> AsyncIterator[tuple[Talker, Seller]]:
    """Serve a library with an account at a partner that wants to be paid first."""
    async with scripted_site() as site:
        seller = Seller(site, quote)
        given = {"title": "Moth", "protocol": "aitp", "account": "acct_site", "seconds": 2, **BUYS}
        toml = peer(site.url, "moth", **given, **settings) + "[capabilities.payments]\n"
        written = write_site(folder / "library", LIBRARY, toml)
        own = "site.url=https://library.example"
        async with serving_site(written, own, clock=clock or time.time) as talker:
            yield await talker.with_key("actions", "threads"), seller


async def test_a_signed_quote_is_paid_from_the_account_there_once(tmp_path: Path) -> None:
    async with paying(tmp_path) as (buyer, seller):
        seller.replies = [confirm("success", "Paid."), "Two lamps are on their way."]
        opened = await buyer.open(WISH, wait=20)
        assert "It costs 19.00 EUR." in "\n".join(opened.ok["replies"][-1]["content"])
        assert seller.paid == []
        told = await say(buyer, opened.id, "yes")
        assert told.startswith("Moth: Two lamps are on their way.\n\nThis site sent Moth 19.00 EUR")
        await say(buyer, opened.id, "yes")
        (payment,) = seller.paid
        assert payment["quote_id"] == "q-1"
        assert payment["payment_method"]["account"] == "acct_site"
        assert payment["payer_id"] == "https://library.example"
        async with buyer.http.get(DIRECTORY_PATH) as response:
            (listed,) = json.loads(await response.read())["keys"]
        assert listed["x"]


async def test_a_payment_that_the_partner_refuses_is_told_as_a_failure(tmp_path: Path) -> None:
    async with paying(tmp_path) as (buyer, seller):
        seller.replies = [confirm("failure", "The quote has expired.")]
        opened = await buyer.open(WISH, wait=20)
        assert "The quote has expired." in await say(buyer, opened.id, "yes")
        assert buyer.rows("SELECT state FROM calls WHERE action = 'buy_moth'") == [("failed",)]


@pytest.mark.parametrize("words", ["Sorry, no lamp is left.", ""])
async def test_a_buyer_reads_what_was_paid_to_a_partner_that_fails_in_words(
    tmp_path: Path, words: str
) -> None:
    async with paying(tmp_path) as (buyer, seller):
        seller.replies = [confirm("success", "Paid."), *([words] if words else [])]
        opened = await buyer.open(WISH, wait=20)
        told = await say(buyer, opened.id, "yes")
        assert told.startswith(f"Moth: {words}")
        assert "This site sent Moth 19.00 EUR (quote q-1, call " in told
        assert (
            "If Moth does not deliver, ask it or this site for the money with this reference"
            in told
        )
        assert "bought" not in told


async def test_a_buyer_reads_what_was_paid_to_a_partner_that_breaks_off(tmp_path: Path) -> None:
    async with paying(tmp_path) as (buyer, seller):
        opened = await buyer.open(WISH, wait=20)
        seller.is_broken = True
        told = await say(buyer, opened.id, "yes")
        assert "This site sent Moth 19.00 EUR (quote q-1, call " in told


async def test_what_was_paid_here_goes_back_if_the_partner_refuses_the_payment(
    tmp_path: Path,
) -> None:
    async with paying(tmp_path, prepaid=True) as (buyer, seller):
        data = tmp_path / "library" / "data"
        code = (await owner(data, "open", "acct_ruth", "--code")).split("code ")[1].split()[0]
        await owner(data, "credit", "acct_ruth", "40.00", "EUR")
        seller.replies = [confirm("failure", "The quote has expired.")]
        opened = await buyer.open(WISH, wait=20)
        assert seller.paid == []
        assert "The quote has expired." in await say(buyer, opened.id, f"pay {code}")
        assert len(seller.paid) == 1

        async def read() -> str | None:
            listed = await owner(data, "accounts")
            return listed if "acct_ruth  40.00 EUR" in listed else None

        await read_until(buyer, read)


async def test_a_receipt_that_comes_later_is_told_on_the_thread(tmp_path: Path) -> None:
    clock = Clock(time.time())
    async with paying(tmp_path, clock) as (buyer, seller):
        seller.replies = [confirm("success", "Paid."), "Two lamps are on their way."]
        opened = await buyer.open(WISH, wait=20)
        seller.is_done = False
        await say(buyer, opened.id, "yes")
        seller.is_done = True
        told = await tell_of_end(buyer, clock, opened.id, "on their way")
        assert told.startswith("Moth: Two lamps are on their way.\n\nThis site sent Moth 19.00 EUR")
        assert len(seller.paid) == 1


async def test_a_price_too_fine_to_be_paid_here_is_shown_alone(tmp_path: Path) -> None:
    quote = make_quote("1.0000001")
    async with paying(tmp_path, quote=quote, prepaid=True) as (buyer, seller):
        opened = await buyer.open(WISH, wait=20)
        told = "\n".join(opened.ok["replies"][-1]["content"])
        assert "1.0000001 EUR; nothing was paid or agreed to" in told
        await say(buyer, opened.id, "yes")
        assert seller.paid == []


@pytest.mark.parametrize("amount", ["-0", " 19.00", "1_9", "\u0661\u0669", "0" * 30 + "19.00"])
async def test_an_amount_that_others_read_otherwise_is_no_price(
    tmp_path: Path, amount: str
) -> None:
    async with paying(tmp_path, quote=make_quote(amount)) as (buyer, seller):
        opened = await buyer.open(WISH, wait=20)
        assert "EUR" not in "\n".join(opened.ok["replies"][-1]["content"])
        await say(buyer, opened.id, "yes")
        assert seller.paid == []


async def test_a_currency_is_three_letters_and_no_line_end(tmp_path: Path) -> None:
    async with paying(tmp_path, quote=make_quote("19.00", "EUR\n")) as (buyer, _):
        opened = await buyer.open(WISH, wait=20)
        assert "EUR" not in "\n".join(opened.ok["replies"][-1]["content"])
