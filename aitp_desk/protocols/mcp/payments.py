"""Writes payment requirements into results, and reads payments of tools.

x402's requirements are where its clients look for them: as the data of the result, whose ``error``
is a text there, and as its first text. Other ways to pay are next to them. Pure: no I/O, no clock.

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
"""The code of a JSON-RPC error that reports a required payment."""
META: Final = "x402/payment"
META_RESPONSE: Final = "x402/payment-response"
"""Members of ``_meta``: the payment of a call, the settlement response of a result."""
_WRAPPED: Final = "x402/error"
_to_json = msgspec.json.Encoder().encode


def read_payment(
    params: Mapping[str, Any], argument: Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    """Return the message that pays for a call; None without one.

    Parameters:
        params: of the call; x402's payment is in their ``_meta``.
        argument: the payment among the arguments.

    Raises:
        InvalidRequest: it is invalid, or given in both places.
    """
    meta = params.get("_meta")
    given = meta.get(META) if isinstance(meta, dict) else None
    if given is None:
        return argument
    where = f"_meta.{META}"
    if argument is not None:
        raise InvalidRequest(f"A call must have one payment: {PAYMENT}, or {where}.", param=where)
    return read_payload(given, where)


def make_payment_result(error: PaymentRequired, action: Action, below: str) -> Item:
    """Return a result with the price of a tool and every way to pay.

    Parameters:
        below: the base path of the desk's addresses; empty for the site's own.
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
    """Return an error with the price of a resource and every way to pay."""
    told = {
        "code": error.kind.value,
        **write_required_payment(error, below),
        **(make_requirements(error, uri) or {}),
    }
    return RpcError(CODE, error.message, msgspec.json.decode(_to_json(told)))


def make_requirements(
    error: PaymentRequired, url: str, description: str = ""
) -> dict[str, Any] | None:
    """Return x402's payment requirements; None where x402 cannot pay.

    Parameters:
        url: of the tool or resource.
        description: of the same.
    """
    if error.terms is None:
        return None
    return write_required(error.terms, PaidItem(url, description), error.message)


def with_receipt(result: Item, receipt: Mapping[str, Any] | None) -> Item:
    """Add the settlement response of an x402 payment to a result.

    Parameters:
        receipt: x402's settlement response; None or empty where nothing was paid by x402.
    """
    if not receipt:
        return result
    return {**result, "_meta": {**result.get("_meta", {}), META_RESPONSE: receipt}}


def _ways(error: PaymentRequired, tool: str) -> list[str]:
    terms = error.terms
    if terms is None:
        return ["Payment is not possible at the moment."]
    again = (
        f"To pay with the call, call {tool} again with the same arguments and {PAYMENT}, with a"
        f" payment for quote {terms.quote_id}."
    )
    pages = (f"{link.title}: {link.url}" for link in terms.links)
    return ["Ask the user before you pay.", again, *pages]
