"""Rejected decisions of the site's people."""

from __future__ import annotations

from msgspec.structs import asdict

from aitp_desk.capability import Effect, Replace, Say
from aitp_payments.messages.site import DecidePayment, RejectedPaymentDecision, RejectionReason


def rejected(decision: DecidePayment, reason: RejectionReason, message: str) -> tuple[Effect, ...]:
    """Store a decision as rejected, and report the reason."""
    told = RejectedPaymentDecision(reason=reason, message=message, **asdict(decision))
    return (Replace({"rejected_payment_decision": told}), Say(message))
