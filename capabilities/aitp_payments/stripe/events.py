"""Verifies and parses Stripe's webhook events."""

from __future__ import annotations

import msgspec
from stripe import SignatureVerificationError, WebhookSignature

from aitp_desk.capability import Delivery, InvalidRequest, NotAuthenticated
from aitp_payments.stripe.objects import Event

OLDEST_SECONDS = 300
"""Maximum age of a signature, against replays; and maximum offset into the future."""
HEADER = "stripe-signature"


def read_event(delivery: Delivery, secret: str) -> Event:
    """Verify and parse an event.

    Parameters:
        secret: of the webhook. While the owner replaces it, Stripe signs with both.

    Raises:
        NotAuthenticated: Stripe has not signed it, or too long ago.
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
    """Return whether a body was signed with a secret just now.

    The age is compared with the desk's own clock: the library uses the machine's alone.
    """
    try:
        WebhookSignature.verify_header(body, header, secret)
        (at,) = (part[2:] for part in header.split(",") if part.startswith("t="))
        return abs(now - int(at)) <= OLDEST_SECONDS
    except (SignatureVerificationError, UnicodeError, TypeError, ValueError):
        return False
