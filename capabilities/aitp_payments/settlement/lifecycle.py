"""The way of a payment: begun, pending, settled or refused, and given back.

Every function is pure: it reads books, and returns the effects that are to be applied in one
commit. All records are written over the version that was read, so of two payments of one quote at
once the second is judged anew, and finds it paid.

Moves of a quote: open → paying → paid, paying → open where the payment is refused, open → declined.
Moves of a payment: pending → settled or refused; refused → settled where money comes late; settled
→ refunded or refund_due.
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
"""The job that gives a payment back."""


class NotPayable(Exception):
    """A quote cannot be paid.

    Parameters:
        reason: a sentence for whoever wants to pay it.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class SettlementService(RefundService):
    """Has quotes paid, for every method; see also :class:`RefundService`."""

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
        """Begin to pay a quote.

        What is done next in the same commit is decided by the books
        :class:`~aitp_payments.records.After` these effects.

        Parameters:
            method: its name.
            reference: what tells this payment from every other of the method.
            terms, details: as of :class:`PaymentRecord`.

        Raises:
            NotPayable: the quote is not open, or its time is over.
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
        """Tell that a payment is under way; once."""
        if payment.state != "pending" or payment.confirmation is not None:
            return ()
        words = message or f"The payment of {told(payment.price)} is under way."
        return self._told(books, payment, "pending", words)

    def settle(
        self,
        books: Books,
        payment: PaymentRecord,
        legs: Sequence[Leg],
        *,
        is_late: bool = False,
    ) -> tuple[Effect, ...]:
        """The money is here: book it, share it, confirm it, and have the call made.

        Where the quote is paid by another payment, or was declined, the money goes back.

        Parameters:
            legs: how it has come to the merchant; :func:`received` for what comes from outside.
            is_late: whether it goes back also where nothing else has paid the quote.
        """
        if payment.state not in {"pending", "refused"}:
            return ()
        quote = find_quote(books, payment.quote_id)
        settled = replace(payment, state="settled")
        back = Start(REFUND, ref=payment.payment_id, outlives=True)
        if quote is None or is_late or not _may_settle(quote, payment):
            entry = post(booked(payment), legs, kind="payment", at=books.now, memo=payment.quote_id)
            words = "This was paid before, or is not for sale any more. The money goes back."
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
        """No money has moved: the quote can be paid by other means, until it expires.

        Parameters:
            reason: a sentence for whoever wanted to pay.
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
        """A payment was sent again: say what was answered, and nothing else."""
        if payment.confirmation is None:
            return self.pend(books, payment)
        return (say(payment.confirmation, payment.terms),)

    def went_back(self, books: Books, payment: PaymentRecord) -> tuple[Effect, ...]:
        """All of a payment went back, and that is booked: tell it."""
        back = replace(payment, state="refunded")
        words = f"{told(payment.price)} went back to whoever paid."
        return (*self._told(books, back, "failure", words), Audit("refunded"))

    def came_again(self, books: Books, payment: PaymentRecord, words: str) -> tuple[Effect, ...]:
        """What was given back has come again: it is due, and people of the site see to it."""
        due = replace(payment, state="refund_due")
        watched = self.watched(books, payment.payment_id, after=0)
        return (*self._told(books, due, "failure", words), Audit("refund_failed"), watched)

    def decline(self, books: Books, quote: QuoteRecord) -> tuple[Effect, ...]:
        """Nobody pays this. What is under way goes on, and its money goes back if it comes.

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
    """Refuse to have a quote paid that is not open.

    Raises:
        NotPayable: why.
    """
    match quote.state:
        case "paid":
            raise NotPayable("This quote was paid before.")
        case "paying":
            raise NotPayable("A payment of this quote is under way: wait for what comes of it.")
        case "declined":
            raise NotPayable("This quote was declined. Please ask for it again.")
        case "open":
            if quote.expires_at <= now:
                raise NotPayable("The time of this quote is over. Please ask for a new one.")


def payment_id(quote_id: str, method: str, reference: str) -> str:
    """What a payment is called: the same for the same."""
    whole = msgspec.json.encode((quote_id, method, reference))
    return f"pay_{hashlib.sha256(whole).hexdigest()[:32]}"


def received(payment: PaymentRecord, source: str) -> tuple[Leg, Leg]:
    """The legs by which the whole price comes to the merchant.

    Parameters:
        source: the account that it comes from, such as ``outside:stripe``.
    """
    return move(source, MERCHANT, payment.price.currency, millionths(payment.price.amount))


def share_legs(quote: QuoteRecord) -> tuple[Leg, ...]:
    """How affiliates get their shares from the merchant."""
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
    """The question on the quote's thread waits no more."""
    return _reask(books, quote, None)


def reopen(books: Books, quote: QuoteRecord) -> tuple[Effect, ...]:
    """The question waits again, unless its time is over."""
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
    """Whether money that has come is for this quote: none has paid it, and it was not declined."""
    if quote.state == "paying":
        return quote.payment_id == payment.payment_id
    return quote.state == "open"
