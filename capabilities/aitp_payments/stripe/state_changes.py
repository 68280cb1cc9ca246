"""Applies the state of Stripe's objects to payments. Pure, for webhooks and jobs.

Information may come early, late, twice or in another order. Each object is taken in its present
state, and known information changes nothing.
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
"""How long after a quote's expiry an in-time payment may be reported: its page was closed then."""
UNMATCHED = (Audit("stripe_unmatched"),)
"""Money was received for an unknown quote: people must check it."""


class StripeEvents:
    """Compares Stripe's objects with the desk's records.

    Parameters:
        settlement: settles payments.
        site: id of the site's own actor: several sites may share a Stripe account.
        is_live: whether the site's key moves real money.
    """

    def __init__(self, settlement: SettlementService, site: str, *, is_live: bool) -> None:
        self._settlement = settlement
        self._site = site
        self.is_live = is_live

    def is_ours(self, livemode: bool, metadata: Mapping[str, str] | None) -> bool:
        """Return whether this site's desk made an object, with its present key."""
        return livemode == self.is_live and (metadata or {}).get("site") == self._site

    def session(self, books: Books, session: Session) -> tuple[Effect, ...]:
        """Return the effects of a completed page."""
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
            return self._settlement.settle(books, payment, received(payment, OUTSIDE))
        payment = _new(quote, intent)
        begun = (
            keep(books, payment_key(payment.payment_id), payment),
            keep(books, seen_key(NAME, intent), payment.payment_id),
        )
        late = quote.state == "open" and books.now > quote.expires_at + _GRACE_SECONDS
        legs = received(payment, OUTSIDE)
        return (*begun, *self._settlement.settle(After(books, begun), payment, legs, is_late=late))

    def failed(self, books: Books, session: Session) -> tuple[Effect, ...]:
        """Return the effects of a failed delayed payment."""
        payment = find_seen(books, NAME, session.payment_intent or "")
        if payment is None:
            return ()
        return self._settlement.refuse(books, payment, "The payment failed. Please pay again.")

    def intent(self, books: Books, intent: Intent) -> tuple[Effect, ...]:
        """Return the effects of a payment by payment method; a page's are in its session."""
        payment = find_payment(books, (intent.metadata or {}).get("payment_id", ""))
        if payment is None or payment.method != NAME:
            return ()
        if not _is_price(payment.price, intent.amount, intent.currency):
            return UNMATCHED
        match intent.status:
            case "succeeded":
                return self._settle_by(books, payment, intent.id)
            case "canceled" | "requires_payment_method":
                return self._settlement.refuse(books, payment, "The card was not charged.")
            case _:
                return ()

    def given_back(self, books: Books, payment: PaymentRecord, back: Refund) -> tuple[Effect, ...]:
        """Return the effects of a refund."""
        return given_back(self._settlement, books, payment, back)

    def disputed(
        self, books: Books, payment: PaymentRecord, dispute: Dispute, type: str
    ) -> tuple[Effect, ...]:
        """Return the effects of a dispute: an audit entry for people, and bookings."""
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
        """Settle a payment, and store its intent, by which refunds and disputes name it."""
        if payment.state not in {"pending", "refused"}:
            return ()
        known = replace(payment, details={**payment.details, "intent": intent})
        told: list[Effect] = [keep(books, payment_key(payment.payment_id), known)]
        if find_seen(books, NAME, intent) is None:
            told.append(keep(books, seen_key(NAME, intent), payment.payment_id))
        legs = received(known, OUTSIDE)
        return (*told, *self._settlement.settle(After(books, told), known, legs))

    def _under_way(self, books: Books, quote: QuoteRecord, intent: str) -> tuple[Effect, ...]:
        """Record a payment that takes days, such as direct debit, as pending."""
        if find_seen(books, NAME, intent) is not None:
            return ()
        try:
            payment, begun = self._settlement.begin(
                books, quote, NAME, intent, terms=quote.terms, details={"intent": intent}
            )
        except NotPayable:
            return ()  # it is refunded once it arrives
        return (*begun, *self._settlement.pend(After(books, begun), payment))


def _new(quote: QuoteRecord, intent: str) -> PaymentRecord:
    """Return the record of a payment received before the desk recorded it."""
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
    """Return whether the charge is the quote's price."""
    try:
        return count == units(price) and (currency or "").upper() == price.currency
    except NotChargeable:
        return False
