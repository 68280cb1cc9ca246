"""Writes open requests as JSON, the same for every protocol. Pure: no I/O."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from aitp_desk.agent.base import Clarification, Said
from aitp_desk.model.calls.open_request import OpenRequest
from aitp_desk.model.calls.payment import PaymentTerms


def write_request(request: OpenRequest) -> dict[str, Any]:
    """Write a request as text and as a form.

    A reader need not know its capability.
    """
    told = {
        "id": request.id,
        "capability": request.capability,
        "text": request.words,
        "form": request.form,
        "open_until": write_timestamp(request.until),
    }
    return told if request.terms is None else {**told, "payment": write_terms(request.terms)}


def write_terms(terms: PaymentTerms) -> dict[str, Any]:
    """Write the terms of a payment."""
    told: dict[str, Any] = {
        "quote_id": terms.quote_id,
        "price": terms.price,
        "expires_at": write_timestamp(terms.expires_at),
        "message": terms.message,
    }
    if terms.published is not None:
        told["aitp_message"] = terms.published
    if terms.x402:
        told["x402"] = terms.x402
    if terms.links:
        told["links"] = terms.links
    return told


def write_timestamp(at: int) -> str:
    """Format a time as RFC 3339.

    Parameters:
        at: Unix seconds.
    """
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def is_asked_by_plugin(said: Said) -> bool:
    """Return whether a capability's message can answer the question."""
    return isinstance(said, Clarification) and any(one.capability for one in said.spoken)
