"""Refunds by Stripe, from the desk or its dashboard, and refunds that fail later.

Stripe accepts a refund, and may learn days later that the bank rejects it: then the money is on the
site's account again, and is still due. Each refund is booked once by its own id, in any order of
events.
"""

from __future__ import annotations

from collections import Counter

from msgspec.structs import replace

from aitp_desk.capability import Audit, Effect, Keep
from aitp_payments.ledger.journal import NotBooked, is_booked, move, post
from aitp_payments.ledger.names import MERCHANT, outside
from aitp_payments.ledger.refunds import (
    Returned,
    refund,
    refundable,
    returned,
    returned_key,
)
from aitp_payments.money import millionths
from aitp_payments.record_reads import Books
from aitp_payments.records import After, PaymentRecord, find_payment
from aitp_payments.refunds.due_parts import close_part, owe_part
from aitp_payments.refunds.service import WHOLE, booked
from aitp_payments.settlement.lifecycle import SettlementService
from aitp_payments.stripe.amounts import price_of
from aitp_payments.stripe.objects import Refund

FAILED = "failed_refund"
"""The entry of a payment's details with its last failed refund."""
NOT_SENT = "The refund to the card failed. People of the site will handle it."
_OVER = frozenset({"failed", "canceled"})


def given_back(
    settlement: SettlementService, books: Books, payment: PaymentRecord, back: Refund
) -> tuple[Effect, ...]:
    """Return the effects of a refund's present state."""
    payment = find_payment(books, payment.payment_id) or payment
    if books.record(_failed_key(back.id)) is not None:
        return ()
    if back.status in _OVER:
        return _failed(settlement, books, payment, back)
    paid, count = booked(payment), _count(back)
    is_open = payment.state in {"settled", "refunding", "refund_due"}
    if not is_open or _was_booked(books, paid, back):
        return ()
    left = refundable(books, paid)
    if count > left:  # all of that is booked already
        return ()
    try:
        entry = refund(books, paid, count, reference=back.id)
    except NotBooked:
        # the ledger cannot cover it: the site has paid out too much
        if count == left:
            return settlement.refunded(books, payment)
        return owe_part(books, payment, count, back.id)
    if count < left:
        return (*entry, Audit("refunded_in_part"))
    return (*entry, *settlement.went_back(After(books, entry), payment))


def _failed(
    settlement: SettlementService, books: Books, payment: PaymentRecord, back: Refund
) -> tuple[Effect, ...]:
    """Return the effects of a failed refund: the money is the site's, and due again."""
    paid, count = booked(payment), _count(back)
    known = Keep(_failed_key(back.id), payment.payment_id, 0, outlives=True)
    effects: tuple[Effect, ...] = (known, *close_part(books, back.id))
    if _was_booked(books, paid, back) or is_booked(books, f"refund:{WHOLE}:{paid}"):
        before = returned(books, paid)
        parts = Counter(before.parts)
        parts[MERCHANT] -= count  # recipients have returned their shares
        key = returned_key(paid)
        record = books.record(key)
        version = 0 if record is None else record.version
        legs = move(outside("stripe"), MERCHANT, payment.price.currency, count)
        effects += (
            Keep(key, Returned(before.count - count, dict(parts)), version, outlives=True),
            *post(f"again:{back.id}", legs, kind="refund", at=books.now, memo=payment.quote_id),
        )
    if payment.state == "settled" and not (back.metadata or {}).get("payment_id"):
        # people made this refund, and see its failure there
        return (*effects, Audit("refund_failed"))
    due = replace(payment, details={**payment.details, FAILED: back.id})
    return (*effects, *settlement.came_again(After(books, effects), due, NOT_SENT))


def _was_booked(books: Books, paid: str, back: Refund) -> bool:
    return is_booked(books, f"refund:{back.id}:{paid}")


def _count(back: Refund) -> int:
    return millionths(price_of(back.amount, back.currency).amount)


def _failed_key(refund: str) -> str:
    """Return the record key of a failed refund."""
    return f"stripe:failed:{refund}"
