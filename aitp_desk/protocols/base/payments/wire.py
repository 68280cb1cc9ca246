"""Writes the terms of a payment as JSON, for every protocol. Pure: no I/O, no clock."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from aitp_desk.model.errors import PaymentRequired
from aitp_desk.protocols.base.open_requests_wire import write_terms
from aitp_desk.protocols.base.payments.objects import HowToPay


def write_required_payment(error: PaymentRequired, below: str = "") -> dict[str, Any]:
    """Return the members that tell a refused caller what to pay, where and how.

    Parameters:
        below: the base path of the desk's addresses; empty for the site's own.
    """
    payment = HowToPay() if error.terms is None else write_terms(error.terms)
    if error.call_id is not None:
        payment.call_id = error.call_id
    if error.thread_id is not None:
        payment.thread_id = error.thread_id
        payment.pay_at = f"{below}/v1/threads/{quote(error.thread_id, safe='')}/messages"
    told: dict[str, Any] = {"price": error.price}
    return told if payment == HowToPay() else {**told, "payment": payment}
