"""The lifecycle of a payment: begun, pending, settled or refused, and refunded.

Every function is pure: it reads records and returns the effects of one commit. Each record is
written over the version that was read, so the second of two concurrent payments of a quote is
judged again, and finds it paid.

Transitions of a quote: open → paying → paid, paying → open if the payment is refused, open →
declined. Transitions of a payment: pending → settled or refused; refused → settled for late money;
settled → refunded or refund_due.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from aitp_desk.capability import Audit, Effect, Keep, Paid, Start
from aitp_payments.ledger import shares
from aitp_payments.ledger.journal import Leg, move, post
from aitp_payments.ledger.names import MERCHANT
from aitp_payments.ledger.shares import RevenueSplit
from aitp_payments.money import millionths
from aitp_payments.quotes.thread_records import AskedPayment
from aitp_payments.record_reads import Books
from aitp_payments.records import (
    NOTHING,
    RECEIPT,
    PaymentRecord,
    QuoteRecord,
    Terms,
    asked_key,
    find_quote,
    keep,
    payment_key,
    quote_key,
    seen_key,
)
from aitp_payments.refunds.service import RefundService, booked
from aitp_payments.settlement.confirmations import say, told

REFUND = "refund"
"""The job that refunds a payment."""


class NotPayable(Exception):
    """A quote cannot be paid.

    Parameters:
        reason: a sentence for the payer.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


_DECLINED = "This quote was declined."
_NOT_FOR_SALE = "This was already paid, or is no longer for sale."


class SettlementService(RefundService):
    """Settles payments of all methods; see also :class:`RefundService`."""

    def begin(
        self,
        books: Books,
        quote: QuoteRecord,
        method: str,
        reference: str,
        *,
        terms: Terms = "own",
        details: Mapping[str, Any] = NOTHING,
    ) -> tuple[PaymentRecord, tuple[Effect, ...]]:
        """Begin the payment of a quote.

        Further decisions of the same commit must read :class:`~aitp_payments.records.After` these
        effects.

        Parameters:
            method: its name.
            reference: the payment's unique id within the method.
            terms, details: as of :class:`PaymentRecord`.

        Raises:
            NotPayable: the quote is not open, or has expired.
        """
        check_payable(quote, books.now)
        payment = PaymentRecord(
            payment_id=payment_id(quote.quote_id, method, reference),
            quote_id=quote.quote_id,
            method=method,
            price=quote.price,
            state="pending",
            reference=reference,
            call_id=quote.call_id,
            thread_id=quote.thread_id,
            terms=terms,
            details=details,
        )
        paying = replace(quote, state="paying", payment_id=payment.payment_id)
        return payment, (
            keep(books, quote_key(quote.quote_id), paying),
            keep(books, payment_key(payment.payment_id), payment),
            keep(books, seen_key(method, reference), payment.payment_id),
            *close(books, paying),
        )

    def pend(self, books: Books, payment: PaymentRecord, message: str = "") -> tuple[Effect, ...]:
        """Report once that a payment is pending."""
        if payment.state != "pending" or payment.confirmation is not None:
            return ()
        words = message or f"The payment of {told(payment.price)} is pending."
        return self._told(books, payment, "pending", words)

    def settle(
        self,
        books: Books,
        payment: PaymentRecord,
        legs: Sequence[Leg],
        *,
        is_late: bool = False,
    ) -> tuple[Effect, ...]:
        """Settle a received payment: book, share and confirm it, and run the waiting call.

        If the quote is paid by another payment, or was declined, the money is refunded.

        Parameters:
            legs: how the merchant received it; :func:`received` for money from outside.
            is_late: whether to refund it even if nothing else has paid the quote.
        """
        if payment.state not in {"pending", "refused"}:
            return ()
        quote = find_quote(books, payment.quote_id)
        settled = replace(payment, state="settled")
        back = Start(REFUND, ref=payment.payment_id, outlives=True)
        if quote is None or is_late or not _may_settle(quote, payment):
            entry = post(booked(payment), legs, kind="payment", at=books.now, memo=payment.quote_id)
            is_declined = quote is not None and quote.state == "declined"
            words = f"{_DECLINED if is_declined else _NOT_FOR_SALE} The money is refunded."
            return (*entry, *self._told(books, settled, "failure", words), back)
        shared = (*legs, *share_legs(quote))
        paid = replace(quote, state="paid", payment_id=payment.payment_id)
        receipt = payment.details.get(RECEIPT, NOTHING)
        made = Paid(quote.call_id or "", payment.payment_id, back, receipt)
        call = () if quote.call_id is None else (made,)
        return (
            *post(booked(payment), shared, kind="payment", at=books.now, memo=payment.quote_id),
            keep(books, quote_key(quote.quote_id), paid),
            *close(books, paid),
            *self._told(books, settled, "success", f"Paid: {told(payment.price)}. Thank you."),
            Audit("settled"),
            *call,
        )

    def refuse(self, books: Books, payment: PaymentRecord, reason: str) -> tuple[Effect, ...]:
        """Refuse a payment without money; until the quote expires it can be paid again.

        Parameters:
            reason: a sentence for the payer.
        """
        if payment.state != "pending":
            return ()
        refused = replace(payment, state="refused")
        quote = find_quote(books, payment.quote_id)
        freed: tuple[Effect, ...] = ()
        if quote is not None and quote.payment_id == payment.payment_id:
            again = replace(quote, state="open", payment_id=None)
            freed = (keep(books, quote_key(quote.quote_id), again), *reopen(books, again))
        return (*freed, *self._told(books, refused, "failure", reason), Audit("refused"))

    def again(self, books: Books, payment: PaymentRecord) -> tuple[Effect, ...]:
        """Repeat the answer to a repeated payment."""
        if payment.confirmation is None:
            return self.pend(books, payment)
        return (say(payment.confirmation, payment.terms),)

    def went_back(self, books: Books, payment: PaymentRecord) -> tuple[Effect, ...]:
        """Report a booked full refund."""
        back = replace(payment, state="refunded")
        words = f"{told(payment.price)} were refunded to the payer."
        return (*self._told(books, back, "failure", words), Audit("refunded"))

    def came_again(self, books: Books, payment: PaymentRecord, words: str) -> tuple[Effect, ...]:
        """Mark a returned refund as due again; people of the site handle it."""
        due = replace(payment, state="refund_due")
        watched = self.watched(books, payment.payment_id, after=0)
        return (*self._told(books, due, "failure", words), Audit("refund_failed"), watched)

    def decline(self, books: Books, quote: QuoteRecord) -> tuple[Effect, ...]:
        """Decline a quote. A payment under way goes on, and is refunded if it arrives.

        Raises:
            NotPayable: it is paid, or being paid.
        """
        check_payable(quote, books.now)
        declined = replace(quote, state="declined")
        return (
            keep(books, quote_key(quote.quote_id), declined),
            *close(books, declined),
            Audit("declined"),
        )


def check_payable(quote: QuoteRecord, now: int) -> None:
    """Check that a quote is open.

    Raises:
        NotPayable: it is not.
    """
    match quote.state:
        case "paid":
            raise NotPayable("This quote was already paid.")
        case "paying":
            raise NotPayable("A payment of this quote is pending. Wait for its result.")
        case "declined":
            raise NotPayable(f"{_DECLINED} Please request it again.")
        case "open":
            if quote.expires_at <= now:
                raise NotPayable("This quote has expired. Please ask for a new one.")


def payment_id(quote_id: str, method: str, reference: str) -> str:
    """Return a payment's id, derived from its quote, method and reference."""
    whole = msgspec.json.encode((quote_id, method, reference))
    return f"pay_{hashlib.sha256(whole).hexdigest()[:32]}"


def received(payment: PaymentRecord, source: str) -> tuple[Leg, Leg]:
    """Return the legs of the whole price to the merchant.

    Parameters:
        source: the paying account, such as ``outside:stripe``.
    """
    return move(source, MERCHANT, payment.price.currency, millionths(payment.price.amount))


def share_legs(quote: QuoteRecord) -> tuple[Leg, ...]:
    """Return the legs of affiliates' shares from the merchant."""
    price = quote.price
    weights = Counter[str]()
    for share in quote.shares:
        weights[share.id] += share.weight
    parts = shares.received(
        millionths(price.amount), price.currency, RevenueSplit(quote.share_bps, weights)
    )
    given = [leg for leg in parts if leg.account != MERCHANT and leg.millionths]
    together = sum(leg.millionths for leg in given)
    return (Leg(MERCHANT, price.currency, -together), *given) if given else ()


def close(books: Books, quote: QuoteRecord) -> tuple[Effect, ...]:
    """Return the effects that close the question on the quote's thread."""
    return _reask(books, quote, None)


def reopen(books: Books, quote: QuoteRecord) -> tuple[Effect, ...]:
    """Return the effects that reopen the question, unless the quote has expired."""
    return _reask(books, quote, quote.expires_at if quote.expires_at > books.now else None)


def _reask(books: Books, quote: QuoteRecord, until: int | None) -> tuple[Effect, ...]:
    key = asked_key(quote.quote_id)
    record = books.record(key)
    if record is None or record.value is None:
        return ()
    before = msgspec.convert(record.value, AskedPayment)
    asked = replace(before, quote=replace(quote, quote=before.quote.quote))
    return (Keep(key, asked, record.version, until),)


def _may_settle(quote: QuoteRecord, payment: PaymentRecord) -> bool:
    """Return whether received money is for this quote: neither paid otherwise nor declined."""
    if quote.state == "paying":
        return quote.payment_id == payment.payment_id
    return quote.state == "open"
