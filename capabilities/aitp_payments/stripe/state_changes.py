"""What becomes of payments by what is known of Stripe's objects: pure, whoever has told of them.

A webhook tells, or a job has asked; it comes early, late, twice or in another order. Each object is
taken for what it is now, and what is known already changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from aitp_desk.capability import Audit, Effect, Money
from aitp_payments.ledger.journal import is_booked, lacks, move, post
from aitp_payments.ledger.names import MERCHANT, outside
from aitp_payments.money import millionths
from aitp_payments.record_reads import Books
from aitp_payments.records import (
    After,
    PaymentRecord,
    QuoteRecord,
    find_payment,
    find_quote,
    find_seen,
    keep,
    payment_key,
    seen_key,
)
from aitp_payments.settlement.lifecycle import NotPayable, SettlementService, payment_id, received
from aitp_payments.stripe.amounts import NotChargeable, price_of, units
from aitp_payments.stripe.objects import Dispute, Intent, Refund, Session
from aitp_payments.stripe.refunds import given_back

NAME = "stripe"
OUTSIDE = outside(NAME)
_GRACE_SECONDS = 300
"""So long after the time of a quote what was paid in time may be told: then its page was closed."""
UNMATCHED = (Audit("stripe_unmatched"),)
"""Money has come for something that is not known here: people look at it."""


class StripeEvents:
    """Holds what Stripe has against what is known here.

    Parameters:
        settling: has quotes paid.
        site: id of the site's own actor: of one account at Stripe others may live too.
        is_live: whether the site's key moves real money.
    """

    def __init__(self, settling: SettlementService, site: str, *, is_live: bool) -> None:
        self._settling = settling
        self._site = site
        self.is_live = is_live

    def is_ours(self, livemode: bool, metadata: Mapping[str, str] | None) -> bool:
        """Whether an object was made by this site's desk, with the key that it has now."""
        return livemode == self.is_live and (metadata or {}).get("site") == self._site

    def session(self, books: Books, session: Session) -> tuple[Effect, ...]:
        """What a page comes to, once somebody has paid there."""
        intent = session.payment_intent
        if session.status != "complete" or intent is None:
            return ()
        quote = find_quote(books, (session.metadata or {}).get("quote_id", ""))
        if quote is None or not _is_price(quote.price, session.amount_total, session.currency):
            return UNMATCHED
        if session.payment_status != "paid":
            return self._under_way(books, quote, intent)
        payment = find_seen(books, NAME, intent)
        if payment is not None:
            return self._settling.settle(books, payment, received(payment, OUTSIDE))
        payment = _new(quote, intent)
        begun = (
            keep(books, payment_key(payment.payment_id), payment),
            keep(books, seen_key(NAME, intent), payment.payment_id),
        )
        late = quote.state == "open" and books.now > quote.expires_at + _GRACE_SECONDS
        legs = received(payment, OUTSIDE)
        return (*begun, *self._settling.settle(After(books, begun), payment, legs, is_late=late))

    def failed(self, books: Books, session: Session) -> tuple[Effect, ...]:
        """A payment that took its time has not come."""
        payment = find_seen(books, NAME, session.payment_intent or "")
        if payment is None:
            return ()
        return self._settling.refuse(books, payment, "The payment has failed. Please pay anew.")

    def intent(self, books: Books, intent: Intent) -> tuple[Effect, ...]:
        """What a payment by a payment method comes to; one on a page is told by its session."""
        payment = find_payment(books, (intent.metadata or {}).get("payment_id", ""))
        if payment is None or payment.method != NAME:
            return ()
        if not _is_price(payment.price, intent.amount, intent.currency):
            return UNMATCHED
        match intent.status:
            case "succeeded":
                return self._settle_by(books, payment, intent.id)
            case "canceled" | "requires_payment_method":
                return self._settling.refuse(books, payment, "The card was not charged.")
            case _:
                return ()

    def given_back(self, books: Books, payment: PaymentRecord, back: Refund) -> tuple[Effect, ...]:
        """What becomes of a payment by one of its refunds."""
        return given_back(self._settling, books, payment, back)

    def disputed(
        self, books: Books, payment: PaymentRecord, dispute: Dispute, type: str
    ) -> tuple[Effect, ...]:
        """A payment is disputed: people see it in the audit log, and what moves is booked."""
        price = price_of(dispute.amount, dispute.currency)
        count = millionths(price.amount)
        match type:
            case "charge.dispute.created":
                return (Audit("disputed"),)
            case "charge.dispute.funds_withdrawn":
                legs = move(MERCHANT, OUTSIDE, price.currency, count)
                transaction = f"dispute:{dispute.id}"
            case "charge.dispute.funds_reinstated":
                legs = move(OUTSIDE, MERCHANT, price.currency, count)
                transaction = f"reinstated:{dispute.id}"
            case _:
                return ()
        if is_booked(books, transaction):
            return ()
        if lacks(books, legs) is not None:  # it is paid out already: the account at Stripe owes it
            return (Audit("stripe_unbooked"),)
        return post(transaction, legs, kind="dispute", at=books.now, memo=payment.quote_id)

    def _settle_by(self, books: Books, payment: PaymentRecord, intent: str) -> tuple[Effect, ...]:
        """Settle a payment that has become an intent: by it refunds and disputes name it."""
        if payment.state not in {"pending", "refused"}:
            return ()
        known = replace(payment, details={**payment.details, "intent": intent})
        told: list[Effect] = [keep(books, payment_key(payment.payment_id), known)]
        if find_seen(books, NAME, intent) is None:
            told.append(keep(books, seen_key(NAME, intent), payment.payment_id))
        legs = received(known, OUTSIDE)
        return (*told, *self._settling.settle(After(books, told), known, legs))

    def _under_way(self, books: Books, quote: QuoteRecord, intent: str) -> tuple[Effect, ...]:
        """A payment that takes days, such as by direct debit: the quote waits for it."""
        if find_seen(books, NAME, intent) is not None:
            return ()
        try:
            payment, begun = self._settling.begin(
                books, quote, NAME, intent, terms=quote.terms, details={"intent": intent}
            )
        except NotPayable:
            return ()  # it goes back once it has come
        return (*begun, *self._settling.pend(After(books, begun), payment))


def _new(quote: QuoteRecord, intent: str) -> PaymentRecord:
    """A payment that nobody has begun here: it has come before anything was known of it."""
    return PaymentRecord(
        payment_id=payment_id(quote.quote_id, NAME, intent),
        quote_id=quote.quote_id,
        method=NAME,
        price=quote.price,
        state="pending",
        reference=intent,
        call_id=quote.call_id,
        thread_id=quote.thread_id,
        terms=quote.terms,
        details={"intent": intent},
    )


def _is_price(price: Money, count: int | None, currency: str | None) -> bool:
    """Whether what was charged is what was quoted."""
    try:
        return count == units(price) and (currency or "").upper() == price.currency
    except NotChargeable:
        return False
