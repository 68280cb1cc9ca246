"""Reads and writes payments of tasks by x402's extension of A2A.

The payment is in the metadata of messages: of the desk's question, and of the caller's message. The
desk sends it whether or not the caller has activated the extension.

Source: the x402 payments extension of A2A, versions 0.1 and 0.2 (the standalone flow); the x402
specification, version 2, its transport for A2A. Pure: no I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from aitp_desk.desk.desk import Desk
from aitp_desk.model.calls.task import Result
from aitp_desk.protocols.a2a.members import ObjectReader
from aitp_desk.protocols.a2a.parts_wire import with_whole_numbers
from aitp_desk.protocols.base.payments.x402_wire import (
    PaidItem,
    make_failure,
    read_payload,
    write_required,
)
from aitp_desk.protocols.base.protocol import Call, Handler, Reply

URIS: Final = (
    "https://github.com/google-a2a/a2a-x402/v0.1",
    "https://github.com/google-agentic-commerce/a2a-x402/blob/main/spec/v0.2",
)
"""The names of the extension, one a version."""
METHOD: Final = "x402"
"""The payment method that the extension is for."""
_STATUS: Final = "x402.payment.status"
_REQUIRED: Final = "x402.payment.required"
_PAYLOAD: Final = "x402.payment.payload"
_RECEIPTS: Final = "x402.payment.receipts"
_ERROR: Final = "x402.payment.error"
_HEADERS: Final = ("A2A-Extensions", "X-A2A-Extensions")
"""The headers that activate extensions and list active ones; the second is 0.3's."""


def read_payment(message: ObjectReader) -> Mapping[str, Any] | None:
    """Return the payment in the metadata of a message; None without one.

    Raises:
        InvalidRequest: it is invalid.
    """
    metadata = message.get_object("metadata")
    given = metadata.get_value(_PAYLOAD)
    if given is None:
        return None
    return read_payload(with_whole_numbers(given), metadata.get_path(_PAYLOAD))


def write_metadata(asks: Result, url: str) -> dict[str, Any]:
    """Return a task's payment metadata; empty where x402 neither has paid nor can pay.

    Parameters:
        url: the address that is paid for.
    """
    if asks.receipt:
        return {_STATUS: "payment-completed", _RECEIPTS: [asks.receipt]}
    terms = asks.terms
    if terms is None:
        return {}
    required = write_required(terms, PaidItem(url), " ".join(asks.texts))
    if required is None:
        return {}
    told: dict[str, Any] = {_STATUS: "payment-required", _REQUIRED: required}
    if asks.refused:
        told |= {_ERROR: "PAYMENT_REFUSED", _RECEIPTS: [make_failure(terms, asks.refused)]}
    return told


def list_extensions(desk: Desk) -> list[dict[str, Any]]:
    """Return the extensions for a card; empty where nothing is sold by x402."""
    if METHOD not in desk.judge.capabilities.payment_methods or not any(
        one.is_prepaid for one in desk.registry.actions
    ):
        return []
    text = "Paid actions can be paid by x402; the task has the payment requirements."
    return [{"uri": uri, "description": text, "required": False} for uri in URIS]


def with_active_extensions(handler: Handler) -> Handler:
    """Wrap a handler so that its reply lists the caller's active extensions."""

    async def answer(desk: Desk, call: Call) -> Reply:
        reply = await handler(desk, call)
        active = []
        for header in _HEADERS:
            wanted = {one.strip() for one in call.get_list_header(header).split(",")} & set(URIS)
            if wanted and list_extensions(desk):
                active.append((header, ", ".join(sorted(wanted))))
        return msgspec.structs.replace(reply, headers=(*reply.headers, *active))

    return answer
