"""A capability that takes payments, as far as tests of what is paid before it is done need one.

It asks by a ``quote`` and takes what its tokens say: ``good`` pays, ``later`` pays once its job has
looked, ``unsure`` once its hook is called, ``bad`` is refused, and ``lost`` by its job.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from aitp_desk.agent.base import Agent
from aitp_desk.app.server import open_server
from aitp_desk.capability import (
    Accept,
    Asking,
    Capability,
    Context,
    Delivery,
    Effect,
    Job,
    Keep,
    Leave,
    Money,
    Paid,
    Part,
    Pay,
    PaymentTerms,
    Record,
    Refuse,
    Resume,
    Say,
    Schema,
    Start,
    Take,
    Then,
    Verdict,
    Waiting,
    Work,
    document_of,
)
from aitp_desk.config import load_config
from tests.support.clients.threads import Talker
from tests.support.desk.first_start import begin_desk
from tests.support.desk.server import UNLIMITED

NAME = "till.example/money"
OPEN_SECONDS = 600
SECONDS = 60


class Quote(msgspec.Struct, frozen=True):
    quote_id: str
    amount: Decimal
    currency: str
    what: str = ""


class Payment(msgspec.Struct, frozen=True):
    quote_id: str
    token: str
    number: str = ""


class X402Payment(msgspec.Struct, frozen=True):
    payload: dict[str, Any]


class Decline(msgspec.Struct, frozen=True):
    quote_id: str


class Receipt(msgspec.Struct, frozen=True):
    quote_id: str
    result: str


MESSAGES: Mapping[str, type[msgspec.Struct]] = {
    "quote": Quote,
    "payment": Payment,
    "x402_payment": X402Payment,
    "decline": Decline,
    "receipt": Receipt,
}


class Till(Capability):
    """Takes payments; what went back is in :attr:`refunded`."""

    slug = "till"
    names = (NAME,)
    refunded: list[str]

    def __init__(self, chosen: Any) -> None:
        super().__init__(chosen)
        self.refunded = []
        self._gone_back = asyncio.Condition()

    async def given_back(self, count: int) -> list[str]:
        """What was given back, once it is so much."""
        async with asyncio.timeout(SECONDS), self._gone_back:
            await self._gone_back.wait_for(lambda: len(self.refunded) >= count)
        return self.refunded

    def schemas(self) -> Sequence[Schema]:
        return (Schema(version=1, messages=MESSAGES, document=document_of(MESSAGES, "A till")),)

    def phrase(self, asking: Asking) -> Mapping[str, Any] | None:
        asked = asking.question
        if not isinstance(asked, Pay) or asked.price.currency == "XTS":
            return None
        price = asked.price
        return {"quote": Quote(asking.id, price.amount, price.currency, asked.title)}

    def judge(self, part: Part, context: Context) -> Verdict:
        match part.content:
            case Quote(quote_id, amount, currency) if context.asking is not None:
                until = min(context.now + OPEN_SECONDS, context.asking.until or context.now)
                kept = {
                    "quote_id": quote_id,
                    "call_id": context.asking.call_id,
                    "amount": str(amount),
                    "currency": currency,
                    "until": until,
                    "state": "open",
                }
                return Take((Keep(f"quote:{quote_id}", kept, 0, until, outlives=True),))
            case Payment(quote_id, token, number):
                return self._take(quote_id, token, number, context)
            case X402Payment(payload):
                accepted = payload.get("accepted", {})
                quote_id = accepted.get("extra", {}).get("quote_id", "")
                record = context.record(f"used:{payload['nonce']}")
                quote_id = quote_id or (record.value if record else self._newest)
                return self._take(quote_id, payload["token"], payload["nonce"], context)
            case Decline(quote_id):
                record = context.record(f"quote:{quote_id}")
                if record is None:
                    return Take((Say("There is no such quote."),))
                return Take((), then=Resume(record.value["call_id"], False))
            case _:
                return Leave()

    _newest = ""

    def _take(self, quote_id: str, token: str, number: str, context: Context) -> Verdict:
        record = context.record(f"quote:{quote_id}")
        if record is None:
            return Take((Say({"receipt": Receipt(quote_id, "unknown quote")}),))
        state = record.value["state"]
        if number and context.record(f"used:{number}") is not None:
            return Take((Say({"receipt": Receipt(quote_id, f"known, {state}")}),))
        if state != "open" and token != "again":
            return Take((Say({"receipt": Receipt(quote_id, f"is {state}")}),))
        used = [Keep(f"used:{number}", quote_id, 0, outlives=True)] if number else []
        match token:
            case "good" | "again":
                return Take((*used, *_paid(record, number or token)), then=Then.NOBODY)
            case "later" | "lost":
                job = Start("look", ref=quote_id, payload=token)
                return Take((*used, _moved(record, "paying"), job))
            case "unsure":
                return Take((*used, _moved(record, "paying")))
            case _:
                return Take((Say({"receipt": Receipt(quote_id, "refused: no such money")}),))

    async def verify_payment(self, part: Part, job: Job) -> str | None:
        return None  # what its jobs refuse, they refuse later

    def jobs(self) -> Mapping[str, Work]:
        return {"look": Work(self._look), "refund": Work(self._refund)}

    async def _look(self, job: Job) -> Sequence[Effect]:
        record = await job.read(f"quote:{job.ref}")
        assert record is not None
        if job.payload == "later":
            return _paid(record, "later")
        reopened = _moved(record, "open", until=record.value["until"])
        return (reopened, Say({"receipt": Receipt(job.ref, "refused: it was lost")}))

    async def _refund(self, job: Job) -> Sequence[Effect]:
        async with self._gone_back:
            self.refunded.append(job.ref)
            self._gone_back.notify_all()
        return (Say({"receipt": Receipt(job.ref, "given back")}),) if job.thread_id else ()

    def hooks(self) -> Mapping[str, Any]:
        return {"bank": self._told}

    def _told(self, delivery: Delivery) -> Accept | Refuse:
        told = json.loads(delivery.body)
        record = delivery.record(f"quote:{told['quote_id']}")
        if record is None:
            return Accept()
        return Accept(_paid(record, told["number"]), told["thread_id"])

    def as_text(self, part: Part) -> str:
        match part.content:
            case Quote(_, amount, currency, what):
                return f"{what} {amount} {currency}. Pay at the till, or say no."
            case Receipt(_, result):
                return f"The till says: {result}."
            case _:
                return f"A {part.key} for the till."

    def from_text(self, text: str, waiting: Sequence[Record]) -> Mapping[str, Any] | None:
        if text.strip(" .!").lower() == "no":
            return {"decline": Decline(waiting[0].value["quote_id"])}
        return None

    def waiting(self, record: Record) -> Waiting | None:
        asked = record.value
        if "state" not in asked or asked["state"] != "open":
            return None
        quote = {"quote_id": asked["quote_id"], "amount": asked["amount"]}
        message = {"quote": {**quote, "currency": asked["currency"]}}
        return Waiting(
            id=asked["quote_id"],
            message=message,
            form={"type": "object", "properties": {"token": {"type": "string"}}},
            call_id=asked["call_id"],
            terms=PaymentTerms(
                quote_id=asked["quote_id"],
                price=Money(Decimal(asked["amount"]), asked["currency"]),
                expires_at=asked["until"],
                message=message,
            ),
        )

    def answer(self, record: Record, given: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"payment": Payment(record.value["quote_id"], str(given.get("token")))}


def _moved(record: Record, state: str, until: int | None = None) -> Keep:
    value = {**record.value, "state": state}
    return Keep(record.key, value, record.version, until, outlives=True)


def _paid(record: Record, number: str) -> tuple[Effect, ...]:
    quote_id = record.value["quote_id"]
    payment_id = f"pay-{quote_id}-{number}"
    return (
        _moved(record, "paid"),
        Say({"receipt": Receipt(quote_id, "paid")}),
        Paid(record.value["call_id"], payment_id, failing=Start("refund", ref=payment_id)),
    )


ACTIONS = '''
"""What is sold here."""

import asyncio
from pathlib import Path

from aitp_desk.actions import Context, action

LEDGER = Path(__file__).parent / "sold.txt"


def write(line: str) -> None:
    with LEDGER.open("a") as file:
        file.write(line + "\\n")


@action(
    kind="action", mutability="irreversible", blast_radius="self", cost="5.00 EUR", prepaid=True
)
def buy_ticket(name: str, context: Context) -> str:
    """Sells a ticket.

    Args:
        name: for whom it is.
    """
    if name == "Nobody":
        raise ValueError("it is broken")
    write(f"{context.call_id} {name}")
    return f"A ticket for {name}."


def price_of_badge(name: str) -> str | None:
    return "2.00 EUR" if name != "Staff" else None


@action(
    kind="action", mutability="irreversible", blast_radius="self", cost=price_of_badge,
    prepaid=True, open_to="anyone",
)
def buy_badge(name: str) -> str:
    """Sells a badge.

    Args:
        name: on it.
    """
    write(f"badge {name}")
    return f"A badge for {name}."


@buy_ticket.requires("on_sale", "Tickets are on sale.")
def on_sale() -> str | None:
    return "Tickets are sold out." if LEDGER.with_name("closed").exists() else None


@action(
    kind="async", mutability="irreversible", blast_radius="self", cost="50.00 EUR", prepaid=True,
    approval=True,
)
def book_hall(day: str) -> str:
    """Books the hall.

    Args:
        day: which.
    """
    write(f"hall {day}")
    return f"The hall is yours on {day}."


@action(open_to="anyone", cost="0.02 EUR", prepaid=True)
async def look_at(picture: str) -> str:
    """Looks at a picture, once there is light.

    Args:
        picture: which.
    """
    while not LEDGER.with_name("light").exists():
        await asyncio.sleep(0.01)
    write(f"looked at {picture}")
    return f"{picture} is blue."


@action(open_to="anyone", cost="0.01 EUR", prepaid=True)
def look_up(word: str) -> str:
    """Looks a word up.

    Args:
        word: which.
    """
    write(f"looked up {word}")
    return f"{word} is a word."
'''


def make_site(folder: Path, *, settings: str = "[capabilities.till]\n") -> Path:
    """Write a site that sells things, and return its folder."""
    site = folder / "site"
    site.mkdir()
    (site / "index.md").write_text("# Tickets\n\nWe sell tickets.\n", "utf-8")
    (site / "actions.py").write_text(ACTIONS, "utf-8")
    (site / "desk.toml").write_text(settings, "utf-8")
    return site


def sold(site: Path) -> list[str]:
    """What was done, a line each."""
    ledger = site / "sold.txt"
    return ledger.read_text().splitlines() if ledger.exists() else []


@asynccontextmanager
async def selling(
    folder: Path, site: Path, *settings: str, agent: Agent | None = None, **more: Any
) -> AsyncIterator[Talker]:
    """A desk that takes payments at a till, and a caller without a credential."""
    data = folder / "data"
    config = load_config(site, (*UNLIMITED, *settings), port=0, data=data)
    begin_desk(config)
    beside: dict[str, type[Capability]] = {"till": Till}
    async with (
        open_server(config, agent=agent, capabilities_beside=beside, **more) as desk,
        aiohttp.ClientSession(desk.url) as http,
    ):
        yield Talker(desk, data, http)


def till_of(talker: Talker) -> Till:
    """The till of a desk."""
    till = talker.desk.desk.judge.capabilities["till"].capability
    assert isinstance(till, Till)
    return till
