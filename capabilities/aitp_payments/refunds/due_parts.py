"""Partial refunds that the ledger cannot cover yet. Pure.

A part refunded by card is already gone: its booking is due. A part paid from an account is refunded
when it is booked. Both are booked once ``merchant`` holds enough.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from aitp_desk.capability import Audit, Effect, Keep, Retry, Start
from aitp_payments.ledger.journal import NotBooked
from aitp_payments.ledger.refunds import is_refunded, refund, refundable
from aitp_payments.record_reads import Books
from aitp_payments.records import LEDGER, NEAR, After, PaymentRecord, find_payment
from aitp_payments.refunds.service import DUE_SECONDS, Part, booked
from aitp_payments.settlement.lifecycle import SettlementService

DUE_PART = "due:"
"""Prefix of keys of due parts; the refund's id follows."""
BOOK_PART = "due_part"
"""The job that books a part once it is covered."""


class DuePart(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A partial refund to be booked.

    Parameters:
        reference: the refund's id.
        count: in millionths.
        is_open: whether it is still to be booked.
    """

    reference: str
    payment_id: str
    count: int
    is_open: bool = True


def find_due_part(books: Books, reference: str) -> DuePart | None:
    """Return a part by its refund's id; None if it was never due."""
    record = books.record(f"{DUE_PART}{reference}")
    return None if record is None else msgspec.convert(record.value, DuePart)


def return_part(
    settlement: SettlementService, books: Books, payment: PaymentRecord, part: Part
) -> tuple[Effect, ...]:
    """Refund a part that was paid from an account. If the balance is too low, the refund waits.

    Raises:
        Retry: it cannot be refunded for another reason.
    """
    try:
        return settlement.refunded_in_part(books, payment, part)
    except NotBooked as error:
        if error.lacking is None:
            why = f"{payment.payment_id} cannot be refunded in part. {error}"
            raise Retry(why) from None
    owed = _owe(books, payment, part.count, part.reference)
    return (*owed, *settlement.short_in_part(books, payment, part)) if owed else ()


def owe_part(
    books: Books, payment: PaymentRecord, count: int, reference: str
) -> tuple[Effect, ...]:
    """Return the effects that book a part refunded by card once it is covered."""
    owed = _owe(books, payment, count, reference)
    return (*owed, Audit("stripe_unbooked")) if owed else ()


def _owe(books: Books, payment: PaymentRecord, count: int, reference: str) -> tuple[Effect, ...]:
    """Return the effects that make a part due; none if it is due already."""
    if find_due_part(books, reference) is not None:
        return ()
    part = DuePart(reference=reference, payment_id=payment.payment_id, count=count)
    return (
        _kept(books, part),
        Start(BOOK_PART, ref=reference, payload=reference, outlives=True),
    )


def close_part(books: Books, reference: str) -> tuple[Effect, ...]:
    """Return the effects that end a due part: its refund failed, or it is booked."""
    part = find_due_part(books, reference)
    if part is None or not part.is_open:
        return ()
    return (_kept(books, replace(part, is_open=False)),)


def book_part(settlement: SettlementService, books: Books, reference: str) -> tuple[Effect, ...]:
    """Return the effects that book a part, or retry later."""
    part = find_due_part(books, reference)
    payment = None if part is None else find_payment(books, part.payment_id)
    if part is None or payment is None or not part.is_open:
        return ()
    paid, closed = booked(payment), close_part(books, reference)
    if is_refunded(books, paid, reference):
        return closed
    try:
        entry = refund(books, paid, part.count, reference=reference)
    except NotBooked as error:
        if error.lacking is None:  # the whole refundable amount is booked under other ids
            return closed
        again = f"{reference}:{books.now}"
        return (Start(BOOK_PART, ref=again, payload=reference, after=DUE_SECONDS, outlives=True),)
    if payment.method in {LEDGER, NEAR} and payment.state == "settled":
        went = Part(part.count, reference)
        return (*closed, *settlement.refunded_in_part(books, payment, went))
    after = After(books, entry)
    if refundable(after, paid):
        return (*closed, *entry, Audit("refunded_in_part"))
    return (*closed, *entry, *settlement.went_back(after, payment))


def _kept(books: Books, part: DuePart) -> Keep:
    key = f"{DUE_PART}{part.reference}"
    record = books.record(key)
    return Keep(key, part, 0 if record is None else record.version, outlives=True)
