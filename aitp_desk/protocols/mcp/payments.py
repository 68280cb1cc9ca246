"""Paying for tools: what has to be paid, as a result says it, and what pays, as a call brings it.

What x402 asks stands where its clients look for it: as the data of the result, whose ``error`` is a
text there, and as its first text. What else pays stands beside that. Pure: no I/O, no clock.

Source: the x402 specification, version 2, its transport for MCP.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from aitp_desk.model.calls.action import Action
from aitp_desk.model.calls.call import PAYMENT
from aitp_desk.model.errors import InvalidRequest, PaymentRequired
from aitp_desk.protocols.base.payments.wire import write_required_payment
from aitp_desk.protocols.base.payments.x402_wire import PaidItem, read_payload, write_required
from aitp_desk.protocols.mcp.caller import RpcError
from aitp_desk.protocols.mcp.tools import Item

CODE: Final = 402
"""The code of an error of JSON-RPC that says what has to be paid."""
META: Final = "x402/payment"
META_RESPONSE: Final = "x402/payment-response"
"""What stands under ``_meta``: of a call what pays, of a result what came of that."""
_WRAPPED: Final = "x402/error"
_to_json = msgspec.json.Encoder().encode


def read_payment(
    params: Mapping[str, Any], argument: Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    """The message that pays for a call; None where nothing does.

    Parameters:
        params: of the call; x402's payment stands in their ``_meta``.
        argument: what stands among the arguments.

    Raises:
        InvalidRequest: it cannot be understood, or stands in both places.
    """
    meta = params.get("_meta")
    given = meta.get(META) if isinstance(meta, dict) else None
    if given is None:
        return argument
    where = f"_meta.{META}"
    if argument is not None:
        raise InvalidRequest(f"A call pays once: by {PAYMENT}, or by {where}.", param=where)
    return read_payload(given, where)


def make_payment_result(error: PaymentRequired, action: Action, below: str) -> Item:
    """A result that says what has to be paid for a tool, and every way to pay.

    Parameters:
        below: the path below which the desk's addresses stand; empty for the site's own.
    """
    told = {
        "code": error.kind.value,
        "message": error.message,
        **write_required_payment(error, below),
    }
    words = [error.message, *_ways(error, action.name)]
    required = make_requirements(error, f"mcp://tool/{action.name}", action.summary)
    if required is None:
        content, structured = [" ".join(words)], {"error": told}
    else:
        wrapped = {"code": CODE, "message": error.message, "data": required}
        content = [_to_json({**required, _WRAPPED: wrapped}).decode(), " ".join(words)]
        structured = {**told, **required}
    return {
        "content": [{"type": "text", "text": text} for text in content],
        "structuredContent": msgspec.json.decode(_to_json(structured)),
        "isError": True,
    }


def make_resource_payment_error(error: PaymentRequired, uri: str, below: str) -> RpcError:
    """An error that says what has to be paid for a resource, and every way to pay."""
    told = {
        "code": error.kind.value,
        **write_required_payment(error, below),
        **(make_requirements(error, uri) or {}),
    }
    return RpcError(CODE, error.message, msgspec.json.decode(_to_json(told)))


def make_requirements(
    error: PaymentRequired, url: str, description: str = ""
) -> dict[str, Any] | None:
    """What x402 asks for; None where it cannot be paid so.

    Parameters:
        url: what is paid for.
        description: what that is.
    """
    if error.terms is None:
        return None
    return write_required(error.terms, PaidItem(url, description), error.message)


def with_receipt(result: Item, receipt: Mapping[str, Any] | None) -> Item:
    """A result that says what came of a payment by x402.

    Parameters:
        receipt: x402's settlement response; None or empty where nothing was paid so.
    """
    if not receipt:
        return result
    return {**result, "_meta": {**result.get("_meta", {}), META_RESPONSE: receipt}}


def _ways(error: PaymentRequired, tool: str) -> list[str]:
    terms = error.terms
    if terms is None:
        return ["Nobody takes that here just now."]
    again = (
        f"To pay with the call, call {tool} again with the same arguments and {PAYMENT}, which"
        f" holds a payment for quote {terms.quote_id}."
    )
    pages = (f"{link.title}: {link.url}" for link in terms.links)
    return ["Ask the user before you pay.", again, *pages]
