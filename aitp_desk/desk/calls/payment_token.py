"""Reads a payment presented with a call: its quote, and its idempotency digest.

A payment is a message with exactly one key, as payment capabilities define them: ``{"payment":
{…}}`` (AITP-01) or ``{"x402_payment": {"payload": {…}}}``. The protocols validate its form.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from aitp_desk.model.calls.call import PAYMENT
from aitp_desk.model.errors import MissingField


def get_quote_id(payment: Mapping[str, Any]) -> str | None:
    """Return the quote that a payment pays; None if it names none.

    Raises:
        MissingField: an AITP-01 payment names no quote.
    """
    if "payment" not in payment:
        return _text(payment, "x402_payment", "payload", "accepted", "extra", "quote_id")
    quote_id = _text(payment, "payment", "quote_id")
    if quote_id is None:
        raise MissingField(
            "`quote_id` must name the quote that the payment pays.",
            param=f"{PAYMENT}.payment.quote_id",
        )
    return quote_id


def with_quote_id(payment: Mapping[str, Any], quote_id: str) -> Mapping[str, Any]:
    """Return a payment that names its quote, adding it if it is missing."""
    if get_quote_id(payment) is not None:
        return payment
    return {**payment, "x402_payment": {**payment["x402_payment"], "quote_id": quote_id}}


def digest_payment(payment: Mapping[str, Any]) -> str:
    """Return a stable identifier of a payment that names no quote.

    It covers the payer's signature, so no other caller can predict it.
    """
    whole = msgspec.json.encode(payment, order="deterministic")
    return f"payment {hashlib.sha256(whole).hexdigest()}"


def _text(given: Any, *path: str) -> str | None:
    """Return the text at a path of members; None if there is none."""
    for name in path:
        given = given.get(name) if isinstance(given, Mapping) else None
    return given if isinstance(given, str) and given else None
