"""A buyer with an account and a channel at a shop, and the shop's owner at a terminal."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aitp_payments.messages.signatures import sign
from aitp_payments.quotes.merchant import moment
from tests.support.clients.threads import Talker
from tests.support.desk.command import run_here
from tests.support.desk.terminal import command
from tests.support.payments.till_plugin import sold

BUYER = "https://buyer.example"
PRIVATE = Ed25519PrivateKey.from_private_bytes(b"k" * 32)
KEY = base64.urlsafe_b64encode(PRIVATE.public_key().public_bytes_raw()).rstrip(b"=").decode()
SETTINGS = "[capabilities.payments]\n"


class Buyer:
    """An agent with an own key, which has declared payments on a thread."""

    def __init__(self, who: Talker, site: str, thread: str) -> None:
        self.who = who
        self.site = site
        self.thread = thread

    @classmethod
    async def arriving(cls, desk: Talker) -> Buyer:
        who = await desk.with_key("threads", "actions")
        site = desk.desk.url
        schema = f"{site}/capabilities/payments/v1/schema.json"
        declared = {"id": BUYER, "capabilities": [{"schema": schema}]}
        opened = await who.open(metadata={"actors": [declared]})
        return cls(who, site, opened.id)

    async def say(self, by: Talker | None = None, /, **message: dict[str, Any]) -> dict[str, Any]:
        """Say a message of the site's own schema, signed where nobody else says it; the answer."""
        ((key, given),) = message.items()
        if by is None:
            given = sign(PRIVATE, {**given, "merchant_id": self.site}, "payer_signature")
        schema = f"{self.site}/capabilities/payments/v1/schema.json"
        content = json.dumps({"$schema": schema, key: given})
        metadata = {"actor": BUYER} if by is None else {}
        told = await (by or self.who).post(self.thread, content, wait=5, metadata=metadata)
        listed = (await self.who.messages(self.thread, "?order=asc&limit=100")).ok["data"]
        place = [one["id"] for one in listed].index(told.ok["id"])
        answer: dict[str, Any] = json.loads(listed[place + 1]["content"][0])
        del answer["$schema"]
        ((name, stands),) = answer.items()
        return {"key": name, **stands}


async def terminal(desk: Talker, what: str, *arguments: object) -> list[str]:
    """Return what a command of the ledger prints while the desk serves."""
    printed = await asyncio.to_thread(
        command, "ledger", what, "--data", desk_data(desk), *arguments
    )
    # the desk is in this process, and logs meanwhile where the command prints
    return [line for line in printed if "\x1b" not in line]


def desk_data(desk: Talker) -> Path:
    return desk._data  # noqa: SLF001


async def funded(desk: Talker, amount: str = "10.00") -> None:
    await terminal(desk, "open", "acct_buyer", "--key", KEY)
    await terminal(desk, "credit", "acct_buyer", amount, "EUR")


async def bought(buyer: Buyer, site: Path, desk: Talker) -> str:
    """Buy a ticket from the channel; the thread on which it was paid."""
    waiting = await paid_for(buyer, desk, "buy_ticket", name="Ada")
    while not sold(site):
        await buyer.who.read(waiting["thread_id"])
    assert sold(site) == [f"{waiting['call_id']} Ada"]
    return str(waiting["thread_id"])


async def paid_for(buyer: Buyer, desk: Talker, action: str, **arguments: str) -> dict[str, Any]:
    """Call an action and pay for it from the channel ch-1; what was said of how to pay."""
    asked = await buyer.who.send("POST", f"/capabilities/{action}", arguments)
    assert asked.status == 402
    waiting: dict[str, Any] = asked.body["payment"]
    (option,) = waiting["message"]["quote"]["payment_options"]
    method = {
        "type": "near_payment_channel",
        "token": "ledger:EUR",
        "channel_id": "ch-1",
        "amount": option["amount"],
        "currency": "EUR",
    }
    payment = {
        "quote_id": waiting["quote_id"],
        "payment_method": method,
        "payer_id": BUYER,
        "timestamp": moment(int(time.time())),
    }
    signed = sign(PRIVATE, payment, "payer_signature")
    content = json.dumps({"$schema": opened_schema(desk), "payment": signed})
    await buyer.who.post(waiting["thread_id"], content, wait=5)
    return waiting


async def payment_id(desk: Talker) -> str:
    """The only payment."""
    (row,) = (
        row
        for row in map(json.loads, await terminal(desk, "export", "--format", "jsonl"))
        if row["kind"] == "payment"
    )
    return str(row["transaction"].removeprefix("pay:"))


def opened_schema(desk: Talker) -> str:
    return f"{desk.desk.url}/capabilities/payments/v1/schema.json"


async def refused(desk: Talker, what: str, *arguments: object) -> str:
    """What a command of the ledger says that does nothing."""
    done = await asyncio.to_thread(run_here, "ledger", what, "--data", desk_data(desk), *arguments)
    assert done.code == 1
    return done.err
