"""Reads and writes x402 for every protocol: requirements, payments, settlement responses.

The objects are x402's own, of version 2 and of version 1, which older clients use. The capability
that settles a payment decides what its scheme means and whether it is valid. Pure: no I/O, no
clock.

Source: the x402 specification, version 2, section 5, and its transports for HTTP, MCP and A2A;
version 1, its transport for HTTP.
"""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec
from multidict import MultiMapping

from aitp_desk.model.calls.call import PAYMENT
from aitp_desk.model.calls.payment import PaymentTerms
from aitp_desk.model.errors import InvalidRequest, PaymentRequired
from aitp_desk.model.strict_json import decode_json
from aitp_desk.protocols.base.protocol import JSON, Reply

REQUIRED: Final = "PAYMENT-REQUIRED"
SIGNATURE: Final = "PAYMENT-SIGNATURE"
RESPONSE: Final = "PAYMENT-RESPONSE"
OLD_PAYMENT: Final = "X-PAYMENT"
OLD_RESPONSE: Final = "X-PAYMENT-RESPONSE"
"""The HTTP headers; the last two are those of version 1."""
MESSAGE: Final = "x402_payment"
"""The name of a message on a thread that pays by x402."""
MAX_HEADER: Final = 8000
"""The longest header, in characters of base64, and payment, in bytes of JSON.

With its name it fits into the longest header that the HTTP server reads.
"""
PROBLEM: Final = "application/problem+json"
_OLDEST, _NEWEST = 1, 2
_MEMBERS: Mapping[int, Mapping[str, type]] = MappingProxyType(
    {
        _OLDEST: {"scheme": str, "network": str, "payload": dict},
        _NEWEST: {"accepted": dict, "payload": dict},
    }
)
"""The members that every payment has, by version; the rest depends on the scheme."""
_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "eip155:1": "ethereum",
        "eip155:137": "polygon",
        "eip155:8453": "base",
        "eip155:43113": "avalanche-fuji",
        "eip155:43114": "avalanche",
        "eip155:80002": "polygon-amoy",
        "eip155:84532": "base-sepolia",
    }
)
"""Version 1's names of networks, by the CAIP-2 names of version 2."""
_encode = msgspec.json.Encoder().encode


class PaidItem(msgspec.Struct, frozen=True):
    """A resource or tool that is paid for.

    Parameters:
        url: its address; of a tool, ``mcp://tool/NAME``.
        description: a sentence.
    """

    url: str
    description: str = ""
    media_type: str = JSON


def write_required(terms: PaymentTerms, thing: PaidItem, why: str) -> dict[str, Any] | None:
    """Return version 2's payment requirements; None where x402 cannot pay.

    Parameters:
        why: the reason of the refusal, a sentence.
    """
    if not terms.x402:
        return None
    about = {"url": thing.url, "description": thing.description, "mimeType": thing.media_type}
    return {
        "x402Version": _NEWEST,
        "error": why,
        "resource": {name: said for name, said in about.items() if said},
        "accepts": terms.x402,
    }


def write_required_v1(terms: PaymentTerms, thing: PaidItem, why: str) -> dict[str, Any] | None:
    """Return version 1's payment requirements; None where it names none of the networks."""
    accepts = [
        {
            "scheme": one["scheme"],
            "network": _NAMES[one["network"]],
            "maxAmountRequired": one["amount"],
            "resource": thing.url,
            "description": thing.description,
            "mimeType": thing.media_type,
            "payTo": one["payTo"],
            "maxTimeoutSeconds": one["maxTimeoutSeconds"],
            "asset": one["asset"],
            "outputSchema": None,
            "extra": one.get("extra") or {},
        }
        for one in terms.x402
        if one["network"] in _NAMES
    ]
    return {"x402Version": _OLDEST, "error": why, "accepts": accepts} if accepts else None


def with_requirements(reply: Reply, error: PaymentRequired, url: str) -> Reply:
    """Add x402's payment requirements to a refusal over HTTP.

    Version 2 uses a header, whatever the body is. Version 1 uses the body, which can hold them
    where it is a problem document (RFC 9457).

    Parameters:
        reply: the refusal in its protocol's form.
        url: the requested address.
    """
    if error.terms is None:
        return reply
    thing = PaidItem(url, _described(error))
    required = write_required(error.terms, thing, error.message)
    if required is None:
        return reply
    told = ((REQUIRED, write_header(required)), *make_response_headers(get_refusal_reason(error)))
    reply = msgspec.structs.replace(reply, headers=(*reply.headers, *told))
    before = write_required_v1(error.terms, thing, error.message)
    if before is None or reply.content_type != PROBLEM:
        return reply
    return msgspec.structs.replace(
        reply, body=_encode({**msgspec.json.decode(reply.body), **before})
    )


def get_refusal_reason(error: PaymentRequired) -> Mapping[str, Any]:
    """Return x402's settlement response of a refused payment; empty where none was refused.

    The error does not say by which method the caller tried to pay.
    """
    if not error.refused or error.terms is None or not error.terms.x402:
        return {}
    return make_failure(error.terms, error.refused)


def make_failure(terms: PaymentTerms, why: str) -> dict[str, Any]:
    """Return x402's settlement response of a failed payment.

    Parameters:
        terms: the terms of the payment; x402 is among them.
        why: a sentence.
    """
    return {
        "success": False,
        "errorReason": "payment_refused",
        "errorMessage": why,
        "transaction": "",
        "network": terms.x402[0]["network"],
    }


def write_header(told: Any) -> str:
    """Encode an object as the value of a header: base64 of its JSON."""
    return b64encode(_encode(told)).decode()


def make_response_headers(receipt: Mapping[str, Any] | None) -> tuple[tuple[str, str], ...]:
    """Return the headers that report a payment's outcome, in both versions.

    Parameters:
        receipt: x402's settlement response; None where nothing was paid by x402.
    """
    if not receipt:
        return ()
    written = write_header(receipt)
    return ((RESPONSE, written), (OLD_RESPONSE, written))


def read_headers(headers: MultiMapping[str]) -> Mapping[str, Any] | None:
    """Return the message that a request's headers pay with; None without one.

    Raises:
        InvalidRequest: a header is invalid, or more than one pays; ``param`` names it.
    """
    if SIGNATURE not in headers and OLD_PAYMENT not in headers:
        return None
    given = [
        (name, value) for name in (SIGNATURE, OLD_PAYMENT) for value in headers.getall(name, [])
    ]
    (name, value), *more = given
    if more:
        raise InvalidRequest(
            f"A request may have only one {SIGNATURE} or {OLD_PAYMENT} header.", param=name
        )
    if len(value) > MAX_HEADER:
        raise InvalidRequest(f"{name} may have at most {MAX_HEADER} characters.", param=name)
    try:
        payload = decode_json(b64decode(value, validate=True))
    except (binascii.Error, ValueError, InvalidRequest):
        raise InvalidRequest(
            f"{name} must be the base64 of a JSON object, x402's payment payload.", param=name
        ) from None
    return read_payload(payload, name)


def read_payment(
    member: Mapping[str, Any] | None, header: Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    """Return the payment of a request's body or headers; None without one.

    Raises:
        InvalidRequest: both pay.
    """
    if member is not None and header is not None:
        raise InvalidRequest(
            f"A call must have one payment: {PAYMENT}, or a header of x402.", param=PAYMENT
        )
    return header if member is None else member


def read_payload(given: Any, where: str) -> Mapping[str, Any]:
    """Return the message that pays, from x402's payment payload.

    Parameters:
        where: the header or member that holds it.

    Raises:
        InvalidRequest: the payload is invalid; ``param`` is ``where``.
    """
    payload = given if isinstance(given, dict) else {}
    version = payload.get("x402Version")
    members = _MEMBERS.get(version) if type(version) is int else None
    if members is None:
        raise InvalidRequest(
            f"{where} must be x402's payment payload, an object whose x402Version is 2 or 1.",
            param=where,
        )
    for name, kind in members.items():
        if not isinstance(payload.get(name), kind):
            what = "an object" if kind is dict else "a text"
            raise InvalidRequest(f"{where}: {name} must be {what}.", param=where)
    if len(_encode(payload)) > MAX_HEADER:
        raise InvalidRequest(f"{where} may have at most {MAX_HEADER} bytes.", param=where)
    return {MESSAGE: {"payload": payload}}


def _described(error: PaymentRequired) -> str:
    quote = {} if error.terms is None else error.terms.message.get("quote")
    told = quote.get("description") if isinstance(quote, Mapping) else None
    return told if isinstance(told, str) else ""
