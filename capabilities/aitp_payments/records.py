"""What is kept of quotes and payments, and how it is read.

All of it outlives the thread on which it was said: an invoice and its payment are not taken back by
erasing a conversation. None of it holds the words of people.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeVar

import msgspec
from msgspec.structs import replace

from aitp_desk.capability import Add, Effect, Job, Keep, Money, Record
from aitp_payments.record_reads import Books

QuoteState = Literal["open", "paying", "paid", "declined"]
PaymentState = Literal["pending", "settled", "refused", "refunding", "refunded", "refund_due"]
LEDGER = "ledger"
NEAR = "near_payment_channel"
"""The methods whose names others have to know: from an account, and from a channel."""
Terms = Literal["own", "aitp", "draft"]
"""In which schema somebody speaks: the site's own, AITP-01 1.0.0, or its earlier draft."""
NOTHING: Mapping[str, Any] = MappingProxyType({})
RECEIPT = "receipt"
"""The one of a payment's details that whoever paid is told with the end of what was paid for: an
object that its method has for that."""
PAYMENT = "payment:"
"""Keys of payments begin so; the payment's id follows."""
_LONGEST_REFERENCE = 120


class Share(msgspec.Struct, frozen=True, omit_defaults=True):
    """One affiliate of a quote.

    Parameters:
        weight: its part of what all affiliates get together, by the sum of all weights.
    """

    id: str
    role: str
    weight: int = 1


class QuoteRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A quote, as it is kept below ``quote:{quote_id}``.

    Parameters:
        expires_at: Unix seconds; from then on it is not paid any more.
        call_id: the action's call that waits for it; None where none does.
        thread_id: where it was said.
        state: ``paying`` while a payment of it is under way, and only then ``payment_id`` is set,
            or once it is paid.
        share_bps: what all affiliates get of it together, in hundredths of a percent.
        shares: who they are.
        wrappers: the chain by which they came, as it was said last.
        quote: as it was signed and said. What it describes may tell of a person: that stands on the
            thread alone (``AskedPayment``), and goes
            with it.
        digest: of all of it.
        published: digest of the same as AITP-01 publishes it; empty where it has no such form.
        terms: in whose terms it was said.
    """

    quote_id: str
    price: Money
    expires_at: int
    call_id: str | None = None
    thread_id: str = ""
    state: QuoteState = "open"
    payment_id: str | None = None
    share_bps: int = 0
    shares: tuple[Share, ...] = ()
    wrappers: tuple[Mapping[str, Any], ...] = ()
    quote: Mapping[str, Any] = NOTHING
    digest: str = ""
    published: str = ""
    terms: Terms = "own"

    @property
    def outliving(self) -> QuoteRecord:
        """What stays of it when its thread is erased."""
        left = {name: value for name, value in self.quote.items() if name != "description"}
        return replace(self, quote=left)


class PaymentRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A payment, as it is kept below ``payment:{payment_id}``.

    Parameters:
        method: the name of the method by which it is made.
        state: ``refund_due`` where it has to be given back, and only people can.
        reference: what the method calls it; the same reference is the same payment.
        call_id, thread_id: as of its quote.
        terms: in whose terms whoever pays is answered.
        confirmation: what was answered last, for whoever asks again.
        details: the method's own, that it needs later.
    """

    payment_id: str
    quote_id: str
    method: str
    price: Money
    state: PaymentState
    reference: str
    call_id: str | None = None
    thread_id: str = ""
    terms: Terms = "own"
    confirmation: Mapping[str, Any] | None = None
    details: Mapping[str, Any] = NOTHING


T = TypeVar("T", QuoteRecord, PaymentRecord)


class After:
    """Books as they will be once effects are applied that are wanted already."""

    def __init__(self, books: Books, effects: Iterable[Effect]) -> None:
        self._books = books
        self._kept: dict[str, Record] = {}
        self._added: dict[str, int] = {}
        for effect in effects:
            match effect:
                case Keep(key, value, expected_version):
                    plain = msgspec.to_builtins(value)
                    self._kept[key] = Record(key=key, version=expected_version + 1, value=plain)
                case Add(counter, delta):
                    self._added[counter] = self._added.get(counter, 0) + delta
                case _:
                    pass

    @property
    def now(self) -> int:
        """Unix seconds."""
        return self._books.now

    def record(self, key: str) -> Record | None:
        """A record by its key."""
        return self._kept.get(key) or self._books.record(key)

    def counter(self, key: str) -> int:
        """What a counter holds."""
        return self._books.counter(key) + self._added.get(key, 0)

    def has(self, key: str, least: int) -> bool:
        """Whether a counter holds so much."""
        return self._books.has(key, least - self._added.get(key, 0))


def quote_key(quote_id: str) -> str:
    """What the record of a quote is called."""
    return f"quote:{_short(quote_id)}"


def asked_key(quote_id: str) -> str:
    """What the record of the question is called that has a quote paid."""
    return f"asked:{_short(quote_id)}"


def payment_key(payment_id: str) -> str:
    """What the record of a payment is called."""
    return f"{PAYMENT}{_short(payment_id)}"


def seen_key(method: str, reference: str) -> str:
    """What the record is called that says which payment a reference is."""
    return f"seen:{method}:{_short(reference)}"


def find_quote(books: Books, quote_id: str) -> QuoteRecord | None:
    """A quote by its id; None where there is none."""
    return _read(books.record(quote_key(quote_id)), QuoteRecord)


def find_payment(books: Books, payment_id: str) -> PaymentRecord | None:
    """A payment by its id; None where there is none."""
    return _read(books.record(payment_key(payment_id)), PaymentRecord)


def find_seen(books: Books, method: str, reference: str) -> PaymentRecord | None:
    """The payment that a reference is of; None where it was never seen."""
    record = books.record(seen_key(method, reference))
    return None if record is None else find_payment(books, str(record.value))


async def read_quote(job: Job, quote_id: str) -> QuoteRecord | None:
    """A quote as it stands when a job begins; None where there is none."""
    return _read(await job.read(quote_key(quote_id)), QuoteRecord)


async def read_payment(job: Job, payment_id: str) -> PaymentRecord | None:
    """A payment as it stands when a job begins; None where there is none."""
    return _read(await job.read(payment_key(payment_id)), PaymentRecord)


def keep(
    books: Books, key: str, value: QuoteRecord | PaymentRecord | str, until: int | None = None
) -> Keep:
    """Write a record in place of what stands there.

    Parameters:
        until: as ``open_until`` of :class:`Keep`.
    """
    before = books.record(key)
    return Keep(key, value, 0 if before is None else before.version, until, outlives=True)


def _read(record: Record | None, kind: type[T]) -> T | None:
    if record is None or record.value is None:
        return None
    return msgspec.convert(record.value, kind)


def _short(text: str) -> str:
    """What comes from outside may hold anything; a key is short, and holds no words of people."""
    plain = text.isascii() and text.replace("_", "").replace("-", "").isalnum()
    if plain and len(text) <= _LONGEST_REFERENCE:
        return text
    return "sha256-" + hashlib.sha256(text.encode()).hexdigest()
