"""Money that goes back by Stripe, by the desk or from its dashboard, and what of that comes again.

Stripe takes a refund on, and may find out days later that a bank does not take it: then the money
is on the site's account again, and still has to go back. Each refund is booked once by its own id,
in whichever order it is told of.
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
"""The one of a payment's details that names the refund of it which has failed last."""
NOT_SENT = "The money could not be sent back to the card. Somebody of the site will see to it."
_OVER = frozenset({"failed", "canceled"})


def given_back(
    settling: SettlementService, books: Books, payment: PaymentRecord, back: Refund
) -> tuple[Effect, ...]:
    """What becomes of a payment by one of its refunds, as that is by now."""
    payment = find_payment(books, payment.payment_id) or payment
    if books.record(_failed_key(back.id)) is not None:
        return ()
    if back.status in _OVER:
        return _failed(settling, books, payment, back)
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
        # the books cannot give it back: the site has paid out so much meanwhile
        if count == left:
            return settling.refunded(books, payment)
        return owe_part(books, payment, count, back.id)
    if count < left:
        return (*entry, Audit("refunded_in_part"))
    return (*entry, *settling.went_back(After(books, entry), payment))


def _failed(
    settling: SettlementService, books: Books, payment: PaymentRecord, back: Refund
) -> tuple[Effect, ...]:
    """The bank has not taken it: the money is the site's again, until it goes back otherwise."""
    paid, count = booked(payment), _count(back)
    known = Keep(_failed_key(back.id), payment.payment_id, 0, outlives=True)
    effects: tuple[Effect, ...] = (known, *close_part(books, back.id))
    if _was_booked(books, paid, back) or is_booked(books, f"refund:{WHOLE}:{paid}"):
        before = returned(books, paid)
        parts = Counter(before.parts)
        parts[MERCHANT] -= count  # who gave a share back has done so
        key = returned_key(paid)
        record = books.record(key)
        version = 0 if record is None else record.version
        legs = move(outside("stripe"), MERCHANT, payment.price.currency, count)
        effects += (
            Keep(key, Returned(before.count - count, dict(parts)), version, outlives=True),
            *post(f"again:{back.id}", legs, kind="refund", at=books.now, memo=payment.quote_id),
        )
    if payment.state == "settled" and not (back.metadata or {}).get("payment_id"):
        return (*effects, Audit("refund_failed"))  # people wanted that, and read it there
    due = replace(payment, details={**payment.details, FAILED: back.id})
    return (*effects, *settling.came_again(After(books, effects), due, NOT_SENT))


def _was_booked(books: Books, paid: str, back: Refund) -> bool:
    return is_booked(books, f"refund:{back.id}:{paid}")


def _count(back: Refund) -> int:
    return millionths(price_of(back.amount, back.currency).amount)


def _failed_key(refund: str) -> str:
    """What the record is called that says that a refund has failed."""
    return f"stripe:failed:{refund}"
