"""The records of quotes and payments.

All of them outlive their thread: erasing a conversation does not undo an invoice and its payment.
None contains text of people.
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
"""Methods whose names other modules need: from an account, and from a channel."""
Terms = Literal["own", "aitp", "draft"]
"""The schema of a message: the site's own, AITP-01 1.0.0, or its earlier draft."""
NOTHING: Mapping[str, Any] = MappingProxyType({})
RECEIPT = "receipt"
"""The entry of a payment's details that the payer receives with the call's outcome: an object of
its method."""
PAYMENT = "payment:"
"""Prefix of keys of payments; the payment's id follows."""
_LONGEST_REFERENCE = 120


class Share(msgspec.Struct, frozen=True, omit_defaults=True):
    """An affiliate of a quote.

    Parameters:
        weight: its part of the affiliates' share, relative to the sum of all weights.
    """

    id: str
    role: str
    weight: int = 1


class QuoteRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A quote, stored as ``quote:{quote_id}``.

    Parameters:
        expires_at: Unix seconds from which it cannot be paid.
        call_id: the action call that waits for it; None for none.
        thread_id: the thread of the quote.
        state: ``paying`` while a payment is under way; ``payment_id`` is set only then, or once it
            is paid.
        share_bps: the affiliates' part together, in hundredths of a percent.
        shares: the affiliates.
        wrappers: the last chain of wrappers.
        quote: as signed and sent. Its description may hold personal data: it is stored on the
            thread alone (``AskedPayment``), and is erased with it.
        digest: of the whole quote.
        published: digest of its AITP-01 form; empty if it has none.
        terms: the schema in which it was sent.
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
        """The part that is kept when its thread is erased."""
        left = {name: value for name, value in self.quote.items() if name != "description"}
        return replace(self, quote=left)


class PaymentRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A payment, stored as ``payment:{payment_id}``.

    Parameters:
        method: the name of its method.
        state: ``refund_due`` if only people can make the refund.
        reference: the method's id of it; the same reference is the same payment.
        call_id, thread_id: as of its quote.
        terms: the schema of answers to the payer.
        confirmation: the last answer, for repeated requests.
        details: data of the method.
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
    """Records and counters as they will be after pending effects."""

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
        """Return a record by its key."""
        return self._kept.get(key) or self._books.record(key)

    def counter(self, key: str) -> int:
        """Return a counter's value."""
        return self._books.counter(key) + self._added.get(key, 0)

    def has(self, key: str, least: int) -> bool:
        """Return whether a counter holds at least so much."""
        return self._books.has(key, least - self._added.get(key, 0))


def quote_key(quote_id: str) -> str:
    """Return the record key of a quote."""
    return f"quote:{_short(quote_id)}"


def asked_key(quote_id: str) -> str:
    """Return the record key of an open quote's question."""
    return f"asked:{_short(quote_id)}"


def payment_key(payment_id: str) -> str:
    """Return the record key of a payment."""
    return f"{PAYMENT}{_short(payment_id)}"


def seen_key(method: str, reference: str) -> str:
    """Return the record key that maps a reference to its payment."""
    return f"seen:{method}:{_short(reference)}"


def find_quote(books: Books, quote_id: str) -> QuoteRecord | None:
    """Return a quote by its id; None if there is none."""
    return _read(books.record(quote_key(quote_id)), QuoteRecord)


def find_payment(books: Books, payment_id: str) -> PaymentRecord | None:
    """Return a payment by its id; None if there is none."""
    return _read(books.record(payment_key(payment_id)), PaymentRecord)


def find_seen(books: Books, method: str, reference: str) -> PaymentRecord | None:
    """Return the payment of a reference; None if it is new."""
    record = books.record(seen_key(method, reference))
    return None if record is None else find_payment(books, str(record.value))


async def read_quote(job: Job, quote_id: str) -> QuoteRecord | None:
    """Return a quote in a job; None if there is none."""
    return _read(await job.read(quote_key(quote_id)), QuoteRecord)


async def read_payment(job: Job, payment_id: str) -> PaymentRecord | None:
    """Return a payment in a job; None if there is none."""
    return _read(await job.read(payment_key(payment_id)), PaymentRecord)


def keep(
    books: Books, key: str, value: QuoteRecord | PaymentRecord | str, until: int | None = None
) -> Keep:
    """Return the effect that writes a record over the present one.

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
    """Return a short key of an external id. The id may be long or contain personal data."""
    plain = text.isascii() and text.replace("_", "").replace("-", "").isalnum()
    if plain and len(text) <= _LONGEST_REFERENCE:
        return text
    return "sha256-" + hashlib.sha256(text.encode()).hexdigest()
