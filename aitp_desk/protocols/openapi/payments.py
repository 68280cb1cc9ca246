"""Adds x402's headers and statuses to an operation that is paid for."""

from __future__ import annotations

from aitp_desk.protocols.base.payments import x402_wire
from aitp_desk.protocols.base.protocol import JSON
from aitp_desk.protocols.openapi.parts import Item, make_content, make_plain_response, make_ref
from aitp_desk.protocols.openapi.wire import PROBLEM

_BASE64: Item = {"type": "string", "contentEncoding": "base64"}


def with_payment(operation: Item) -> Item:
    """Return the operation with x402's headers, and with a 402 for its price."""
    pays = {
        "name": x402_wire.SIGNATURE,
        "in": "header",
        "description": "The x402 payment payload, in base64.",
        "schema": {**_BASE64, "maxLength": x402_wire.MAX_HEADER},
    }
    responses = dict(operation["responses"])
    done = responses["200"]
    paid = {x402_wire.RESPONSE: _header("The x402 settlement response.")}
    responses["200"] = {**done, "headers": {**done.get("headers", {}), **paid}}
    responses.setdefault(
        "202", {**make_plain_response(202), "content": make_content(JSON, make_ref("CallStatus"))}
    )
    responses["402"] = {
        "description": "The call must be paid for first; payment has the terms.",
        "headers": {
            x402_wire.REQUIRED: _header("The x402 payment requirements, if x402 is accepted.")
        },
        "content": make_content(PROBLEM, make_ref("Problem")),
    }
    return {
        **operation,
        "parameters": [*operation.get("parameters", ()), pays],
        "responses": dict(sorted(responses.items())),
    }


def _header(told: str) -> Item:
    return {"description": told, "schema": dict(_BASE64)}
