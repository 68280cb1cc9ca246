"""Writes open requests as JSON, the same for every protocol. Pure: no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from aitp_desk.agent.base import Clarification, Said
from aitp_desk.model.calls.open_request import OpenRequest
from aitp_desk.model.calls.payment import PaymentTerms
from aitp_desk.model.timestamps import write_timestamp
from aitp_desk.protocols.base.payments.objects import HowToPay


class OpenRequestObject(msgspec.Struct, kw_only=True):
    """A request that waits for an answer: as text, and as a form.

    Parameters:
        form: JSON Schema of an object that answers it.
        payment: how to pay, if it waits for a payment.
    """

    id: str
    capability: str
    text: str
    form: Mapping[str, Any]
    open_until: str
    payment: HowToPay | UnsetType = UNSET


def write_request(request: OpenRequest) -> OpenRequestObject:
    """Write a request as text and as a form.

    A reader need not know its capability.
    """
    return OpenRequestObject(
        id=request.id,
        capability=request.capability,
        text=request.words,
        form=request.form,
        open_until=write_timestamp(request.until),
        payment=UNSET if request.terms is None else write_terms(request.terms),
    )


def write_terms(terms: PaymentTerms) -> HowToPay:
    """Write the terms of a payment."""
    return HowToPay(
        quote_id=terms.quote_id,
        price=terms.price,
        expires_at=write_timestamp(terms.expires_at),
        message=terms.message,
        aitp_message=UNSET if terms.published is None else terms.published,
        x402=terms.x402 or UNSET,
        links=terms.links or UNSET,
    )


def is_asked_by_plugin(said: Said) -> bool:
    """Return whether a capability's message can answer the question."""
    return isinstance(said, Clarification) and any(one.capability for one in said.spoken)
