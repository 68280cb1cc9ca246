"""Signed confirmations of payments, in the payer's schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from aitp_desk.capability import Money, Say
from aitp_payments.messages.aitp01 import PUBLISHED
from aitp_payments.messages.draft import DRAFT
from aitp_payments.money import plain
from aitp_payments.quotes.merchant import Merchant, moment
from aitp_payments.records import LEDGER, NEAR, PaymentRecord, Terms

Result = Literal["success", "failure", "pending"]
_WORDS = {
    LEDGER: "store credit or account",
    NEAR: "payment channel",
    "stripe": "card",
    "x402": "coins (x402)",
}
"""Names of the methods for people."""


def confirmation(
    merchant: Merchant, payment: PaymentRecord, result: Result, message: str, now: int
) -> dict[str, Any]:
    """Return a payment's result as a message without ``$schema``.

    Parameters:
        message: the result as a sentence.
        now: Unix seconds.
    """
    details = [
        {"label": "Amount", "value": told(payment.price)},
        {"label": "Method", "value": _WORDS.get(payment.method, payment.method)},
    ]
    if transaction := payment.details.get("receipt", {}).get("transaction"):
        details.append({"label": "Transaction", "value": transaction})
    return confirm(
        merchant,
        payment.terms,
        quote_id=payment.quote_id,
        payment_id=payment.payment_id,
        result=result,
        message=message,
        details=details,
        now=now,
    )


def confirm(
    merchant: Merchant,
    terms: Terms,
    *,
    quote_id: str,
    payment_id: str,
    result: Result,
    message: str,
    now: int,
    details: list[dict[str, str]] | None = None,
) -> dict[str, Any]:
    """Return a confirmation without a payment record, such as for an unknown quote."""
    said = {"quote_id": quote_id, "result": result, "timestamp": moment(now), "message": message}
    if terms == "draft":
        # the draft has no message for a pending payment: only its end is reported
        shown = [*(details or ()), {"label": "Payment", "value": payment_id}]
        return {"payment_result": said | {"details": shown}}
    more = {"details": details} if details else {}
    return {"payment_confirmation": merchant.sign(said | {"payment_id": payment_id} | more)}


def say(given: Mapping[str, Any], terms: Terms) -> Say:
    """Return the effect that sends a message in a schema."""
    match terms:
        case "aitp":
            return Say({"$schema": PUBLISHED, **given})
        case "draft":
            return Say({"$schema": DRAFT, **given})
        case "own":
            return Say(given)


def told(price: Money) -> str:
    """Format an amount: ``29.99 EUR``."""
    return f"{plain(price.amount)} {price.currency}"
