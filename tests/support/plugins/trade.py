"""Two real desks: one buys at the other, and a courier with a key of each carries what they say."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aitp_payments.messages.aitp01 import PUBLISHED
from tests.support.clients.threads import Talker
from tests.support.payments.buyer import terminal
from tests.support.payments.till_plugin import make_site, selling

MERCHANT = "tickets.example"
SELLING = f'[capabilities.payments]\nmerchant_id = "{MERCHANT}"\n'
CEILINGS = {"per_payment": "20", "per_day": "100", "per_payee": "50", "top_up": "20"}
OWN = "/capabilities/payments/v1/schema.json"
CHANNEL = "ch-site"


class Trade:
    """The two desks and who goes between them.

    Attributes:
        seller, buyer: the courier at each desk, with a key of their own there.
        shop: the folder of the seller's site.
        data: the buyer's data folder.
        asked: how what was asked for last is paid, as the seller has told it.
        thread: where its quotes are brought at the buyer's.
    """

    def __init__(self, shop: Path, data: Path, seller: Talker, buyer: Talker) -> None:
        self.shop = shop
        self.data = data
        self.seller = seller
        self.buyer = buyer
        self.asked: dict[str, Any] = {}
        self.thread = ""

    async def open(self, funds: str) -> None:
        """Open the buyer's account and channel at the seller, and a thread to bring quotes on."""
        owner = ("--owner", principal_of(self.seller.key or ""))
        await terminal(self.seller, "open", "acct_site", "--key", await self.payer(), *owner)
        await terminal(self.seller, "credit", "acct_site", "100.00", "EUR")
        await self.open_channel(funds)
        await terminal(self.buyer, "credit", "channel-at:tickets", funds, "EUR")
        self.thread = await self.arrive()

    async def payer(self) -> str:
        """The key by which the buyer signs what it pays."""
        told = (await self.buyer.send("GET", "/capabilities/payments/payer-jwks.json")).ok
        (key,) = told["keys"]
        return str(key["x"])

    async def open_channel(self, funds: str) -> None:
        """Put money of the buyer's account at the seller into a channel."""
        channel = {
            "channel_id": CHANNEL,
            "account": "acct_site",
            "amount": funds,
            "currency": "EUR",
            "merchant_id": MERCHANT,
        }
        message = {"$schema": f"{self.seller.desk.url}{OWN}", "open_channel": channel}
        await said_to(self.seller, (await self.seller.open()).id, message)

    async def arrive(self, *actors: Mapping[str, Any]) -> str:
        """Open a thread at the buyer's as the seller, with others where they are named."""
        own = {"id": self.seller.desk.url, "capabilities": [{"schema": PUBLISHED}]}
        return (await self.buyer.open(metadata={"actors": [own, *actors]})).id

    async def ask(self, action: str = "buy_ticket", **arguments: str) -> dict[str, Any]:
        """Ask the seller for something that is paid first; its quote, as the buyer reads it."""
        told = await self.seller.send("POST", f"/capabilities/{action}", arguments)
        assert told.status == 402, told.body
        self.asked = told.body["payment"]
        own = {"id": self.buyer.desk.url, "capabilities": [{"schema": PUBLISHED}]}
        await self.seller.send("POST", f"/v1/threads/{self.asked['thread_id']}/actors", own)
        return for_desk(self.buyer, self.asked["message"])

    async def bring(self, message: Mapping[str, Any], thread: str = "") -> list[dict[str, Any]]:
        """Bring the buyer a message; what the desk says to it, as the seller reads it."""
        answers = await said_to(self.buyer, thread or self.thread, for_desk(self.buyer, message))
        return [for_desk(self.seller, one) for one in answers]

    async def pay(self, payment: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Take a payment to the seller; what that says to it."""
        message = for_desk(self.seller, payment)
        return await said_to(self.seller, self.asked["thread_id"], message)

    async def said_by_buyer(self) -> list[dict[str, Any]]:
        """All structured messages on the thread for quotes, as the seller reads them."""
        texts = await self.buyer.texts(self.thread)
        return [for_desk(self.seller, json.loads(one)) for one in texts if one[:1] == "{"]

    async def bought(self, *arguments: str) -> list[dict[str, Any]]:
        """What the buyer's owner reads at a terminal."""
        listed = await terminal(self.buyer, "purchases", "--json", *arguments)
        return [json.loads(line) for line in listed]

    async def holds(self, account: str) -> str:
        """What an account of the buyer holds, as its owner reads it."""
        lines = await terminal(self.buyer, "accounts")
        (held,) = (line.split("  ")[1] for line in lines if line.startswith(f"{account}  "))
        return held


@asynccontextmanager
async def trading(
    folder: Path,
    *,
    funds: str | None = "60.00",
    clock: Callable[[], float] = time.time,
    **buying: Any,
) -> AsyncIterator[Trade]:
    """A desk that sells tickets and another that may buy there, from a channel that is open.

    Parameters:
        funds: what is in the channel, in EUR; None for no channel.
        clock: the buyer's; Unix seconds.
        buying: settings of the buyer's in place of the usual ones.
    """
    sold, bought = folder / "seller", folder / "buyer"
    sold.mkdir()
    bought.mkdir()
    shop = make_site(sold, settings=SELLING)
    home = make_site(bought, settings="")
    (home / "actions.py").unlink()
    async with selling(bought, home) as begun:
        key = (await begun.with_key("threads")).key or ""
    async with selling(sold, shop) as market:
        seller = await market.with_key("threads", "actions")
        (merchant,) = (await seller.send("GET", "/capabilities/payments/jwks.json")).ok["keys"]
        payee = {
            "merchant_id": MERCHANT,
            "key": merchant["x"],
            "principals": [principal_of(key)],
            "channels": {"EUR": CHANNEL},
        }
        chosen = {"payees": {"tickets": payee}, "ceilings": {"EUR": CEILINGS}, **buying}
        (home / "desk.toml").write_text(
            f"[capabilities.payments]\nbuying = {in_toml(chosen)}\n", encoding="utf-8"
        )
        async with selling(bought, home, clock=clock) as office:
            buyer = Talker(office.desk, bought / "data", office.http, key)
            trade = Trade(shop, bought / "data", seller, buyer)
            if funds is not None:
                await trade.open(funds)
            yield trade


def principal_of(key: str) -> str:
    """What a caller is called whom an API key proves."""
    return f"key:{key.split('_')[1]}"


def for_desk(desk: Talker, message: Mapping[str, Any]) -> dict[str, Any]:
    """A message in another desk's own schema, which is the same but for its address."""
    schema = str(message["$schema"])
    return {**message, "$schema": f"{desk.desk.url}{OWN}" if schema.endswith(OWN) else schema}


async def said_to(desk: Talker, thread: str, message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Say a message on a thread; the messages of capabilities that the desk says to it at once."""
    told = await desk.post(thread, json.dumps(message))
    listed = (await desk.messages(thread, f"?order=asc&limit=100&after={told.id}")).ok["data"]
    texts = [text for one in listed for text in one["content"]]
    return [json.loads(text) for text in texts if text.startswith("{")]


def in_toml(value: Any) -> str:
    """A value as TOML has it, in one line."""
    if isinstance(value, Mapping):
        inside = ", ".join(f"{json.dumps(key)} = {in_toml(one)}" for key, one in value.items())
        return f"{{{inside}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(in_toml, value))}]"
    return json.dumps(value)
