"""Answers payments by methods that the site has not enabled.

The agent could not answer them: it does not know whether something is paid.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aitp_desk.capability import Effect, Part, Say
from aitp_payments.messages.aitp01 import Payment
from aitp_payments.messages.site import CardPayment, OwnPayment
from aitp_payments.quotes.merchant import Merchant
from aitp_payments.records import Terms
from aitp_payments.settlement.confirmations import confirm, say
from aitp_payments.settlement.ledger_payment import NOT_SO, UNKNOWN
from aitp_payments.settlement.lifecycle import payment_id
from aitp_payments.x402.messages import X402Payment


def untaken(part: Part, merchant: Merchant, now: int, published: int) -> tuple[Effect, ...]:
    """Answer a payment by a method that is not enabled; nothing for other messages.

    Parameters:
        merchant: signs the answer.
        published: the version number of the published schemas.
    """
    terms: Terms = "aitp" if part.version == published else "own"
    match part.content:
        case Payment(quote_id=quote_id) | OwnPayment(quote_id=quote_id):
            pass
        case CardPayment(quote_id=quote_id):
            pass
        case X402Payment(payload, quote_id):
            quote_id = quote_id or _named(payload)
            if not quote_id:
                return (Say(UNKNOWN),)
        case _:
            return ()
    failure = confirm(
        merchant,
        terms,
        quote_id=quote_id,
        payment_id=payment_id(quote_id, part.key, ""),
        result="failure",
        message=NOT_SO,
        now=now,
    )
    return (say(failure, terms),)


def _named(payload: Mapping[str, Any]) -> str:
    """Return the quote that an x402 payload names; empty for none."""
    accepted = payload.get("accepted")
    extra = accepted.get("extra") if isinstance(accepted, dict) else None
    named = extra.get("quote_id") if isinstance(extra, dict) else None
    return named if isinstance(named, str) else ""
