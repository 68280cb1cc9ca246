"""A site where quotes are paid, over plain values: what is said is judged, and its effects applied.

It stands on a shelf of :mod:`.books`. Payers have an account and a channel, and keys that sign.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec.structs import replace

from aitp_desk.capability import (
    Asking,
    Context,
    Effect,
    Job,
    Money,
    Own,
    Paid,
    Part,
    Party,
    Pay,
    Record,
    Refuse,
    Replace,
    Resume,
    Say,
    Start,
    Take,
    Verdict,
)
from aitp_payments import Payments
from aitp_payments.ledger.accounts import Account, digest, open_account, plain_code
from aitp_payments.ledger.journal import move, post
from aitp_payments.ledger.purses import Purse, open_purse
from aitp_payments.messages.aitp01 import PUBLISHED
from aitp_payments.messages.draft import DRAFT
from aitp_payments.messages.signatures import sign, verifies
from aitp_payments.money import millionths
from aitp_payments.settings import PaymentsSettings
from tests.support.payments.books import Look, Moved, Shelf
from tests.support.payments.quotes import upstream_errors

SITE = "https://shop.example"
THREAD, GUEST = "thread_1", "https://guest.example"
ADA = "agent:ada"
CODE = "SC-7K2QX-00000-11111-22222"
KEY = Ed25519PrivateKey.from_private_bytes(b"a payer's private key, 32 bytes.")
OTHER_KEY = Ed25519PrivateKey.from_private_bytes(b"somebody else's key of 32 bytes.")
AFFILIATE_KEY = Ed25519PrivateKey.from_private_bytes(b"an affiliate's key, of 32 bytes.")
ATTEMPTS = 3


def public_of(key: Ed25519PrivateKey) -> str:
    """A public key as accounts and settings have it."""
    raw = key.public_key().public_bytes_raw()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


class Counter(Shelf):
    """The site.

    Parameters:
        settings: of the capability.

    Attributes:
        said: all that the desk has said, as it was given.
        paid: the calls that were paid for.
        resumed: the calls that were told something else.
        stored: the last message of its thread.
        quoted: a quote that a test looks at.
        hides_words: whether the words that it was understood from are not kept.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(now=1_800_000_000)
        self.payments = Payments(msgspec.convert(settings, PaymentsSettings))
        self.payments.use(Own(SITE, lambda purpose: purpose.encode().ljust(32, b".")[:32]))
        self.said: list[Any] = []
        self.paid: list[Paid] = []
        self.resumed: list[Resume] = []
        self.started: dict[tuple[str, str], Start] = {}
        self.stored: Mapping[str, Any] = {}
        self.quoted: Mapping[str, Any] = {}
        self.hides_words = False
        self._count = 0

    def open_account(
        self, id: str = "acct_ada", funds: str = "100", currency: str = "EUR", **more: Any
    ) -> None:
        """Have a payer with money on an account."""
        known = {"keys": (public_of(KEY),), "owner": digest(ADA), **more}
        self.apply(open_account(Account(id=id, opened_at=self.now, **known)))
        legs = move("outside:cash", id, currency, millionths(Decimal(funds)))
        self.apply(post(f"credit:{id}:{currency}", legs, kind="credit", at=self.now))

    def open_channel(
        self,
        id: str = "ch_1",
        funds: str = "50",
        account: str = "acct_ada",
        currency: str = "EUR",
    ) -> None:
        """Have a payer put money into a channel."""
        purse = Purse(id=id, kind="channel", account=account, currency=currency, opened_at=self.now)
        self.apply(open_purse(self, purse, millionths(Decimal(funds))))

    def open_credit(self, funds: str = "20", currency: str = "EUR") -> None:
        """Give a participant a code of store credit."""
        code = digest(plain_code(CODE) or "")
        self.open_account("acct_gift", funds, currency, keys=(), owner="", code=code)

    def quote(
        self,
        price: str = "9.99",
        currency: str = "EUR",
        *,
        version: int | None = 1,
        seconds: int = 600,
    ) -> dict[str, Any]:
        """Have the desk ask a client of a version for money, and return its quote."""
        self._count += 1
        asking = Asking(
            id=f"question_{self._count}",
            question=Pay(title="A map of the trail", price=Money(Decimal(price), currency)),
            call_id=f"call_{self._count}",
            until=self.now + seconds,
        )
        phrased = self.payments.phrase(asking)
        assert phrased is not None
        self._judge(
            "quote", phrased["quote"], 1, asking, parties=(Party(id=GUEST, version=version),)
        )
        quote: dict[str, Any] = self.stored["quote"]
        if self.stored.get("$schema") == PUBLISHED:
            assert upstream_errors(self.stored) == []
        assert verifies(self.payments.merchant.key, quote, "merchant_signature")
        return quote

    def say(
        self,
        key: str,
        content: Mapping[str, Any],
        *,
        version: int = 1,
        principal: str | None = None,
        thread_id: str = THREAD,
    ) -> list[Any]:
        """Send a message; return what the desk says to it, as plain values."""
        before = len(self.said)
        self._judge(key, content, version, None, principal=principal, thread_id=thread_id)
        return self.said[before:]

    def pay(self, quote: Mapping[str, Any], version: int = 0, **more: Any) -> list[Any]:
        """Pay a quote from the channel."""
        return self.say("payment", payment(quote, **more), version=version)

    def judge(self, part: Part, context: Context) -> Verdict:
        """As the capability does."""
        return self.payments.judge(part, context)

    def pass_time(self) -> None:
        """Let as much time pass as jobs wait for that were started."""
        self.now += max((start.after for start in self.started.values()), default=0)
        self.started = {name: replace(start, after=0) for name, start in self.started.items()}

    def work(self) -> None:
        """Do all jobs that were started and wait for nothing."""
        while ready := [name for name, start in self.started.items() if not start.after]:
            start = self.started.pop(ready[-1])
            job = Job(
                ref=start.ref,
                payload=start.payload,
                now=self.now,
                thread_id=THREAD,
                read=self._read,
            )
            wanted = asyncio.run(self._do(start, job))
            self.effects(wanted(self._context(None)) if callable(wanted) else wanted)

    def records_open(self) -> list[Record]:
        """What waits for an answer."""
        return [
            record
            for record in self.records.values()
            if record.open_until is not None and record.open_until > self.now
        ]

    def holds(self, account: str, currency: str = "EUR") -> Decimal:
        """What an account holds."""
        return Decimal(self.counter(f"balance:{currency}:{account}")) / 1_000_000

    def total(self, currency: str = "EUR") -> int:
        """What all accounts hold together, the world outside among them."""
        start = f"balance:{currency}:"
        return sum(count for name, count in self.counters.items() if name.startswith(start))

    def effects(self, effects: Sequence[Effect]) -> None:
        """Apply effects, and note what is no record."""
        self.others = []
        self.apply(effects)
        for effect in self.others:
            match effect:
                case Say(content):
                    self.said.append(self._told(content))
                case Paid():
                    self.paid.append(effect)
                case Start(job, ref):
                    self.started[job, ref] = effect
                case Replace(given, hides_words):
                    self.stored = json.loads(msgspec.json.encode(given))
                    self.hides_words = hides_words
                case _:
                    pass

    async def _do(self, start: Start, job: Job) -> Any:
        return await self.payments.jobs()[start.job].do(job)

    async def _read(self, key: str) -> Record | None:
        return self.records.get(key)

    def _judge(
        self,
        key: str,
        content: Mapping[str, Any],
        version: int,
        asking: Asking | None,
        **more: Any,
    ) -> None:
        part = self.part(key, content, version)
        self.stored = part.given
        for _ in range(ATTEMPTS):
            look = Look(self)
            verdict = self.judge(part, self._context(asking, **more))
            if isinstance(verdict, Refuse):
                raise verdict.error
            if not isinstance(verdict, Take):
                return
            try:
                self.commit(look, ())
                self.effects(verdict.effects)
            except Moved:
                continue
            if isinstance(verdict.then, Resume):
                self.resumed.append(verdict.then)
            return
        raise Moved

    def part(self, key: str, content: Mapping[str, Any], version: int = 1) -> Part:
        """A message, read as the desk reads it."""
        schema = next(one for one in self.payments.schemas() if one.version == version)
        plain = json.loads(msgspec.json.encode(content))
        return Part(
            version=version,
            key=key,
            content=msgspec.convert(plain, schema.messages[key]),
            given={"$schema": PUBLISHED if version == 0 else SITE, key: plain},
        )

    def _context(self, asking: Asking | None, **more: Any) -> Context:
        self._count += 1
        given = {
            "thread_id": THREAD,
            "actor": SITE if asking else GUEST,
            "parties": (Party(id=GUEST, version=1),),
        }
        return Context(
            now=self.now,
            own=SITE,
            message_id=f"msg_{self._count}",
            asking=asking,
            records=self.records,
            counters=self.counters,
            **(given | more),
        )

    def _told(self, content: Any) -> Any:
        """What the desk says; all of it has to be as it is published, and signed."""
        if isinstance(content, str):
            return content
        plain: dict[str, Any] = json.loads(msgspec.json.encode(content))
        schema = plain.get("$schema", PUBLISHED if "payment_result" not in plain else DRAFT)
        assert upstream_errors({**plain, "$schema": schema}) == []
        ((key, said),) = ((key, said) for key, said in plain.items() if key != "$schema")
        if key != "payment_result":
            assert verifies(self.payments.merchant.key, said, "merchant_signature")
        return plain


def payment(
    quote: Mapping[str, Any],
    *,
    channel: str = "ch_1",
    key: Ed25519PrivateKey = KEY,
    timestamp: str = "2027-01-15T08:00:00Z",
    **method: Any,
) -> dict[str, Any]:
    """A payment of a quote from a channel, signed."""
    (option,) = quote["payment_options"]
    currency = option["currency"]
    paid = {
        "quote_id": quote["quote_id"],
        "payment_method": {
            "type": "near_payment_channel",
            "token": f"ledger:{currency}",
            "channel_id": channel,
            "amount": option["amount"],
            "currency": currency,
            **method,
        },
        "payer_id": "user.near",
        "timestamp": timestamp,
    }
    return sign(key, paid, "payer_signature")


def results(said: Sequence[Any]) -> list[str]:
    """What confirmations and results say that payments came to."""
    told = [one for one in said if isinstance(one, Mapping)]
    keys = ("payment_confirmation", "payment_result")
    return [str(one[key]["result"]) for one in told for key in keys if key in one]


def reason(said: Sequence[Any]) -> str:
    """The words of the first of them."""
    (first, *_) = said
    if isinstance(first, str):
        return first
    ((_, told),) = ((key, told) for key, told in first.items() if key != "$schema")
    return str(told["message"])
