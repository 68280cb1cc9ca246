"""A payment that is presented with a call: what it pays, and how a repeat of it is known.

It is a message that pays, with exactly one key, as capabilities that take payments know them:
``{"payment": {…}}`` (AITP-01) or ``{"x402_payment": {"payload": {…}}}``. Doors see to its form.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from aitp_desk.model.calls.call import PAYMENT
from aitp_desk.model.errors import MissingField


def get_quote_id(payment: Mapping[str, Any]) -> str | None:
    """The quote that a payment pays; None for one that names none.

    Raises:
        MissingField: it has to.
    """
    if "payment" not in payment:
        return _text(payment, "x402_payment", "payload", "accepted", "extra", "quote_id")
    quote_id = _text(payment, "payment", "quote_id")
    if quote_id is None:
        raise MissingField("A payment says what it pays.", param=f"{PAYMENT}.payment.quote_id")
    return quote_id


def with_quote_id(payment: Mapping[str, Any], quote_id: str) -> Mapping[str, Any]:
    """A payment that says which quote it pays, also where it was made before that was asked."""
    if get_quote_id(payment) is not None:
        return payment
    return {**payment, "x402_payment": {**payment["x402_payment"], "quote_id": quote_id}}


def digest_payment(payment: Mapping[str, Any]) -> str:
    """What stands for a payment that names no quote, the same whenever it is presented.

    It holds the payer's signature, so that nobody else can foresee it.
    """
    whole = msgspec.json.encode(payment, order="deterministic")
    return f"payment {hashlib.sha256(whole).hexdigest()}"


def _text(given: Any, *path: str) -> str | None:
    """The text at a path of members; None where there is none."""
    for name in path:
        given = given.get(name) if isinstance(given, Mapping) else None
    return given if isinstance(given, str) and given else None
