"""Verifies confirmations of payees and books each once, in any order. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from aitp_desk.capability import Audit, Context, Effect, Say, Take, Verdict
from aitp_payments.buyer.mandates import Mandates
from aitp_payments.buyer.offers import NOT_SIGNED
from aitp_payments.buyer.purchases import (
    MOST_HEARD,
    Bought,
    State,
    bought_id,
    bought_key,
    find_bought,
    keep_bought,
    moved,
)
from aitp_payments.messages.aitp01 import PaymentConfirmation
from aitp_payments.messages.signatures import digest_of

NEVER_PAID = "This site has paid nothing for this quote."

_MOVES: Mapping[tuple[State, str], State] = {
    ("pending", "success"): "confirmed",
    ("pending", "failure"): "failed",
    ("confirmed", "failure"): "refunded",
    ("failed", "success"): "confirmed",
    ("refunded", "success"): "confirmed",
    # the merchant repeated the quote of a failed payment, and people were asked about it
    ("wanted", "success"): "confirmed",
    ("declined", "success"): "confirmed",
}
"""The new state of a payment for a merchant's confirmation; other states do not change."""


class ConfirmationHandler:
    """Handles confirmations of payees.

    Parameters:
        mandates: the payees, and the counted amounts.
    """

    def __init__(self, mandates: Mandates) -> None:
        self._mandates = mandates

    def confirmed(
        self, confirmation: PaymentConfirmation, given: Mapping[str, Any], context: Context
    ) -> Verdict | None:
        """Book a confirmation; None if it is not a payee's, or is about an unknown payment."""
        for payee in self._mandates.payees.values():
            if not payee.speaks(context):
                continue
            bought = find_bought(context, bought_id(payee.name, confirmation.quote_id))
            if bought is None:
                continue
            if not payee.has_signed(given):
                return Take((Say(NOT_SIGNED), Audit("unconfirmed")))
            if not bought.day:
                return Take((Say(NEVER_PAID),))
            return Take(self._hear(bought, confirmation, given, context))
        return None

    def _hear(
        self,
        bought: Bought,
        confirmation: PaymentConfirmation,
        given: Mapping[str, Any],
        context: Context,
    ) -> tuple[Effect, ...]:
        told_at = confirmation.timestamp.timestamp()
        digest = digest_of(given)
        # a confirmation signed before the last one is outdated
        if digest in bought.heard or told_at < bought.told_at:
            return ()
        to = _MOVES.get((bought.state, confirmation.result), bought.state)
        # a failed and a successful attempt within one second, in either order
        if to == "refunded" and told_at == bought.told_at:
            to = bought.state
        heard, effects = moved(context, bought, to)
        is_new = to != bought.state
        kept = replace(
            heard if is_new else bought,
            heard=(*bought.heard, digest)[-MOST_HEARD:],
            told_at=told_at,
            payment_id=confirmation.payment_id,
            by_owner=bought.by_owner and not is_new and confirmation.result != "success",
        )
        record = context.record(bought_key(bought.id))
        asked_until = None if is_new or record is None else record.open_until
        noted = (Audit(f"buying_{to}"),) if is_new else ()
        return (*effects, keep_bought(context, kept, asked_until), *noted)
