"""A shop that takes coins, without a desk: its records and jobs are kept as a desk keeps them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import msgspec

from aitp_desk.capability import (
    Add,
    Asking,
    Context,
    Effect,
    Job,
    Keep,
    Money,
    Own,
    Paid,
    Part,
    Pay,
    Record,
    Replace,
    Retry,
    Say,
    Send,
    Start,
    Take,
)
from aitp_payments import Payments
from aitp_payments.settings import PaymentsSettings
from aitp_payments.x402.settings import X402Settings
from tests.support.payments.facilitator import Facilitator

PAY_TO = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C"
OWN = "https://desk.example/shop"
THREAD = "thread_1"
OUTSIDE, MERCHANT = "balance:USD:outside:x402", "balance:USD:merchant"


class Due(msgspec.Struct):
    """A job that waits.

    Parameters:
        attempts: how often it was taken up.
    """

    start: Start
    at: int
    attempts: int = 0


class Shop:
    """The shop.

    Attributes:
        said: what the desk has said, in order: messages by their key.
        paid: the calls that were paid for, in order.
        kept: the last message of the thread.
        breaks: whether the next job is broken off before its end is written.
        thread_id: where what is said next is said.
    """

    def __init__(self, facilitator: Facilitator, send: Send) -> None:
        self.facilitator = facilitator
        self.now = int(facilitator.now)
        self.records: dict[str, Record] = {}
        self.counters: dict[str, int] = {}
        self.said: list[Any] = []
        self.paid: list[Paid] = []
        self.kept: Any = None
        self.breaks = False
        self.thread_id = THREAD
        self._send = send
        self._due: list[Due] = []
        self._begun: set[tuple[str, str]] = set()
        self._quotes = 0
        self.restart()

    def restart(self) -> None:
        """Start again with what is kept."""
        coins = X402Settings(
            pay_to=PAY_TO, networks=("base-sepolia",), facilitator=self.facilitator.url
        )
        self.payments = Payments(PaymentsSettings(x402=coins))
        self.payments.use(Own(OWN, lambda purpose: purpose.encode().ljust(32, b".")[:32]))

    def quote(self, amount: str = "0.25", currency: str = "USD") -> dict[str, Any]:
        """Ask for money, and return what x402 says of it."""
        self._quotes += 1
        price = Money(Decimal(amount), currency)
        asking = Asking(
            id=f"quote_{self._quotes}",
            question=Pay(title="A stamp", price=price),
            call_id=f"call_{self._quotes}",
            until=self.now + 3600,
        )
        phrased = self.payments.phrase(asking)
        assert phrased is not None
        self._say("quote", phrased["quote"], asking)
        (option,) = self.kept["quote"]["payment_options"]
        methods = {one["type"]: one for one in option["payment_methods"]}
        return dict(methods["x402"]["requirements"][0]) if "x402" in methods else {}

    def pay(self, payload: Mapping[str, Any], **named: str) -> None:
        """Pay by a message."""
        self._say("x402_payment", {"payload": payload, **named})

    def decide(self, judge: Callable[[Context], Sequence[Effect]]) -> None:
        """Have something done by people of the site."""
        self._write(tuple(judge(self._context())))

    def payment_id(self) -> str:
        """What the only payment is called."""
        (key,) = (key for key in self.records if key.startswith("payment:"))
        return key.removeprefix("payment:")

    def results(self) -> list[str]:
        """How the confirmations say that payments stand, in order."""
        confirmed = (one.get("payment_confirmation") for one in self.said if isinstance(one, dict))
        return [str(one["result"]) for one in confirmed if one]

    def words(self) -> str:
        """What was said last of a payment."""
        return next(
            str(one["payment_confirmation"]["message"]) if isinstance(one, dict) else str(one)
            for one in reversed(self.said)
        )

    def begin(self, start: Start) -> None:
        """Have a job done, unless it was begun before."""
        if (start.job, start.ref) not in self._begun:
            self._begun.add((start.job, start.ref))
            self._due.append(Due(start, self.now + start.after))

    async def work(self, seconds: int = 0) -> None:
        """Do what is due, and what becomes due within so many seconds."""
        end = self.now + seconds
        while due := min(
            (one for one in self._due if one.at <= end), key=lambda one: one.at, default=None
        ):
            self._move(max(self.now, due.at))
            await self._do(due)
        self._move(end)

    def _move(self, now: int) -> None:
        self.now = now
        self.facilitator.now = now

    async def _do(self, due: Due) -> None:
        due.attempts += 1
        start = due.start
        work = self.payments.jobs()[start.job]

        async def read(key: str) -> Record | None:
            return self.records.get(key)

        job = Job(
            ref=start.ref,
            payload=msgspec.to_builtins(start.payload),
            now=self.now,
            thread_id=THREAD,
            read=read,
            attempt=due.attempts,
            send=self._send,
        )
        try:
            wanted = await work.do(job)
        except Retry:
            due.at = self.now + work.delays[due.attempts - 1]
            return
        if self.breaks:
            self.breaks = False
            return
        self._due.remove(due)
        self._write(tuple(wanted(self._context()) if callable(wanted) else wanted))

    def _say(self, key: str, content: Mapping[str, Any], asking: Asking | None = None) -> None:
        schema = self.payments.schemas()[1]
        part = Part(
            version=1,
            key=key,
            content=msgspec.convert(content, schema.messages[key]),
            given={"$schema": schema.url, key: content},
        )
        verdict = self.payments.judge(part, self._context(asking))
        assert isinstance(verdict, Take)
        self.kept = part.given
        self._write(verdict.effects)

    def _context(self, asking: Asking | None = None) -> Context:
        return Context(
            now=self.now,
            thread_id=self.thread_id,
            own=OWN,
            actor=OWN if asking else "guest",
            asking=asking,
            records=dict(self.records),
            counters=dict(self.counters),
        )

    def _write(self, effects: tuple[Effect, ...]) -> None:
        for effect in effects:
            match effect:
                case Keep(key, value, expected_version, open_until):
                    before = self.records.get(key)
                    assert expected_version == (0 if before is None else before.version), key
                    plain = json.loads(msgspec.json.encode(value))
                    self.records[key] = Record(
                        key=key, version=expected_version + 1, value=plain, open_until=open_until
                    )
                case Add(counter, delta, minimum):
                    self.counters[counter] = self.counters.get(counter, 0) + delta
                    assert minimum is None or self.counters[counter] >= minimum
                case Say(content):
                    self.said.append(content)
                case Start():
                    self.begin(effect)
                case Paid():
                    self.paid.append(effect)
                case Replace(given):
                    self.kept = given
                case _:
                    pass
