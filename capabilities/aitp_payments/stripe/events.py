"""What Stripe tells by itself: proven to be its own, and read."""

from __future__ import annotations

import msgspec
from stripe import SignatureVerificationError, WebhookSignature

from aitp_desk.capability import Delivery, InvalidRequest, NotAuthenticated
from aitp_payments.stripe.objects import Event

OLDEST_SECONDS = 300
"""What was signed longer ago is refused, as what somebody has recorded; so is what is to come."""
HEADER = "stripe-signature"


def read_event(delivery: Delivery, secret: str) -> Event:
    """Read an event.

    Parameters:
        secret: of the webhook. While the account's owner replaces it, Stripe signs by both.

    Raises:
        NotAuthenticated: it is not signed by Stripe, or was signed too long ago.
        InvalidRequest: it is no event.
    """
    header = delivery.headers.get(HEADER, "")
    if not secret or not _is_signed(delivery.body, header, secret, delivery.now):
        raise NotAuthenticated("Stripe signs what it tells: Stripe-Signature.")
    try:
        return msgspec.json.decode(delivery.body, type=Event)
    except msgspec.DecodeError:
        raise InvalidRequest("This is no event of Stripe's API.") from None


def _is_signed(body: bytes, header: str, secret: str, now: int) -> bool:
    """Whether a body was signed by a secret just now.

    The age is held against the desk's own clock: the library knows the machine's alone.
    """
    try:
        WebhookSignature.verify_header(body, header, secret)
        (at,) = (part[2:] for part in header.split(",") if part.startswith("t="))
        return abs(now - int(at)) <= OLDEST_SECONDS
    except (SignatureVerificationError, UnicodeError, TypeError, ValueError):
        return False
