"""Judges Stripe's events. Unrelated and unknown ones are accepted and ignored.

Stripe repeats a refused event for days: so only unsigned and malformed events are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from stripe import SignatureVerificationError, WebhookSignature

from aitp_desk.capability import (
    Accept,
    Delivery,
    DeskError,
    InvalidRequest,
    NotAuthenticated,
    Refuse,
)
from aitp_payments.records import (
    PaymentRecord,
    QuoteRecord,
    find_payment,
    find_quote,
    find_seen,
)
from aitp_payments.stripe.objects import Dispute, Event, Intent, Refund, Session
from aitp_payments.stripe.state_changes import NAME, StripeEvents

OLDEST_SECONDS = 300
"""Maximum age of a signature, against replays; and maximum offset into the future."""
HEADER = "stripe-signature"


def read_event(delivery: Delivery, secret: str) -> Event:
    """Verify and parse an event.

    Parameters:
        secret: of the webhook. While the owner replaces it, Stripe signs with both.

    Raises:
        NotAuthenticated: Stripe has not signed it, or too long ago.
        InvalidRequest: it is not an event.
    """
    header = delivery.headers.get(HEADER, "")
    if not secret or not _is_signed(delivery.body, header, secret, delivery.now):
        raise NotAuthenticated("The header Stripe-Signature is missing, wrong or too old.")
    try:
        return msgspec.json.decode(delivery.body, type=Event)
    except msgspec.DecodeError:
        raise InvalidRequest("The body is not an event of Stripe's API.") from None


def _is_signed(body: bytes, header: str, secret: str, now: int) -> bool:
    """Return whether a body was signed with a secret just now.

    The age is compared with the desk's own clock: the library uses the machine's alone.
    """
    try:
        WebhookSignature.verify_header(body, header, secret)
        (at,) = (part[2:] for part in header.split(",") if part.startswith("t="))
        return abs(now - int(at)) <= OLDEST_SECONDS
    except (SignatureVerificationError, UnicodeError, TypeError, ValueError):
        return False


T = TypeVar("T", bound=msgspec.Struct)

PAGES = frozenset({"checkout.session.completed", "checkout.session.async_payment_succeeded"})
FAILED_PAGE = "checkout.session.async_payment_failed"
INTENTS = frozenset(
    {"payment_intent.succeeded", "payment_intent.payment_failed", "payment_intent.canceled"}
)
REFUNDS = frozenset({"refund.created", "refund.updated", "refund.failed"})
DISPUTES = "charge.dispute."
EVENTS = (*sorted(PAGES), FAILED_PAGE, *sorted(INTENTS), *sorted(REFUNDS), "charge.dispute.*")
"""The events that the webhook needs; others are ignored."""


class StripeWebhook:
    """Handles Stripe's events.

    Parameters:
        secret: of the webhook.
    """

    def __init__(self, events: StripeEvents, secret: str) -> None:
        self._events = events
        self._secret = secret

    def hear(self, delivery: Delivery) -> Accept | Refuse:
        """Judge a delivery."""
        try:
            event = read_event(delivery, self._secret)
        except DeskError as error:
            return Refuse(error)
        kind, thing = event.type, event.data.object
        if kind in PAGES or kind == FAILED_PAGE:
            return self._page(event, _read(thing, Session), delivery)
        if kind in INTENTS:
            return self._intent(_read(thing, Intent), delivery)
        if kind in REFUNDS:
            return self._refunded(event, _read(thing, Refund), delivery)
        if kind.startswith(DISPUTES):
            return self._disputed(event, _read(thing, Dispute), delivery)
        return Accept()

    def _page(self, event: Event, session: Session | None, delivery: Delivery) -> Accept:
        if session is None or not self._events.is_ours(session.livemode, session.metadata):
            return Accept()
        quote = find_quote(delivery, (session.metadata or {}).get("quote_id", ""))
        judge = self._events.failed if event.type == FAILED_PAGE else self._events.session
        return Accept(judge(delivery, session), _thread(quote))

    def _intent(self, intent: Intent | None, delivery: Delivery) -> Accept:
        if intent is None or not self._events.is_ours(intent.livemode, intent.metadata):
            return Accept()
        payment = find_payment(delivery, (intent.metadata or {}).get("payment_id", ""))
        return Accept(self._events.intent(delivery, intent), _thread(payment))

    def _refunded(self, event: Event, back: Refund | None, delivery: Delivery) -> Accept:
        """Handle a refund, of the desk or of Stripe's dashboard, or its failure."""
        payment = self._known(event, back, delivery)
        if back is None or payment is None:
            return Accept()
        return Accept(self._events.given_back(delivery, payment, back), _thread(payment))

    def _disputed(self, event: Event, dispute: Dispute | None, delivery: Delivery) -> Accept:
        """Handle a dispute or its end."""
        payment = self._known(event, dispute, delivery)
        if dispute is None or payment is None:
            return Accept()
        return Accept(self._events.disputed(delivery, payment, dispute, event.type))

    def _known(
        self, event: Event, thing: Refund | Dispute | None, delivery: Delivery
    ) -> PaymentRecord | None:
        """Return the payment of a refund or dispute. They do not name their origin."""
        if thing is None or event.livemode != self._events.is_live or not thing.payment_intent:
            return None
        return find_seen(delivery, NAME, thing.payment_intent)


def _thread(about: QuoteRecord | PaymentRecord | None) -> str | None:
    """Return the thread of a quote or a payment."""
    return None if about is None else about.thread_id or None


def _read(given: Mapping[str, Any], kind: type[T]) -> T | None:
    """Parse an object of an event; None if the desk cannot have made it."""
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError:
        return None
