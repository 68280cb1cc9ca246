"""x402 as every door writes and reads it: what has to be paid, what pays, and what came of that.

The objects are x402's own, of version 2 and of version 1, which older clients speak. What a scheme
of theirs means, and whether a payment is good, is for the capability that settles them. Pure: no
I/O, no clock.

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
from aitp_desk.protocols.base.door import JSON, Reply

REQUIRED: Final = "PAYMENT-REQUIRED"
SIGNATURE: Final = "PAYMENT-SIGNATURE"
RESPONSE: Final = "PAYMENT-RESPONSE"
OLD_PAYMENT: Final = "X-PAYMENT"
OLD_RESPONSE: Final = "X-PAYMENT-RESPONSE"
"""The headers of HTTP; the last two are those of version 1."""
MESSAGE: Final = "x402_payment"
"""What a message is called on a thread that pays so."""
MAX_HEADER: Final = 8000
"""How many characters of base64 a header may have, and how many bytes of JSON a payment.

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
"""What every payment has, by its version; the rest is its scheme's."""
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
"""What version 1 calls networks, which version 2 names as CAIP-2 does."""
_encode = msgspec.json.Encoder().encode


class PaidItem(msgspec.Struct, frozen=True):
    """What is paid for.

    Parameters:
        url: its address; of a tool, ``mcp://tool/NAME``.
        description: what it is, in a sentence.
    """

    url: str
    description: str = ""
    media_type: str = JSON


def write_required(terms: PaymentTerms, thing: PaidItem, why: str) -> dict[str, Any] | None:
    """What has to be paid, as version 2 has it; None where it cannot be paid by x402.

    Parameters:
        why: why it is refused, in a sentence.
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
    """The same as version 1 has it; None where it has no name for any of the networks."""
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
    """A refusal over HTTP that says as x402 does what has to be paid.

    Version 2 says it in a header, whatever the body is; version 1 in the body, which can hold it
    where that is a problem (RFC 9457).

    Parameters:
        reply: the refusal in its door's form.
        url: the address that was requested.
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
    """What x402 calls a settlement response, of a payment that does not pay; empty where none was.

    Nothing tells at this place by which way it was tried to be paid.
    """
    if not error.refused or error.terms is None or not error.terms.x402:
        return {}
    return make_failure(error.terms, error.refused)


def make_failure(terms: PaymentTerms, why: str) -> dict[str, Any]:
    """What x402 calls a settlement response, of a payment that does not pay.

    Parameters:
        terms: what was to be paid, by x402 among other ways.
        why: in a sentence.
    """
    return {
        "success": False,
        "errorReason": "payment_refused",
        "errorMessage": why,
        "transaction": "",
        "network": terms.x402[0]["network"],
    }


def write_header(told: Any) -> str:
    """An object as the value of a header: base64 of its JSON."""
    return b64encode(_encode(told)).decode()


def make_response_headers(receipt: Mapping[str, Any] | None) -> tuple[tuple[str, str], ...]:
    """The headers that tell what came of a payment, in both versions.

    Parameters:
        receipt: what x402 calls a settlement response; None where nothing was paid by it.
    """
    if not receipt:
        return ()
    written = write_header(receipt)
    return ((RESPONSE, written), (OLD_RESPONSE, written))


def read_headers(headers: MultiMapping[str]) -> Mapping[str, Any] | None:
    """The message that pays, where a request's headers pay; None where they do not.

    Raises:
        InvalidRequest: they cannot be understood, or say it twice; ``param`` names the header.
    """
    if SIGNATURE not in headers and OLD_PAYMENT not in headers:
        return None
    given = [
        (name, value) for name in (SIGNATURE, OLD_PAYMENT) for value in headers.getall(name, [])
    ]
    (name, value), *more = given
    if more:
        raise InvalidRequest(
            f"A request has one {SIGNATURE} or {OLD_PAYMENT} header: it pays once.", param=name
        )
    if len(value) > MAX_HEADER:
        raise InvalidRequest(f"{name} has at most {MAX_HEADER} characters.", param=name)
    try:
        payload = decode_json(b64decode(value, validate=True))
    except (binascii.Error, ValueError, InvalidRequest):
        raise InvalidRequest(
            f"{name} is the base64 of a JSON object, x402's payment payload.", param=name
        ) from None
    return read_payload(payload, name)


def read_payment(
    member: Mapping[str, Any] | None, header: Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    """What pays for a request: what its body says, or its headers; None where nothing does.

    Raises:
        InvalidRequest: both say it.
    """
    if member is not None and header is not None:
        raise InvalidRequest(
            f"A call pays once: by {PAYMENT}, or by a header of x402.", param=PAYMENT
        )
    return header if member is None else member


def read_payload(given: Any, where: str) -> Mapping[str, Any]:
    """The message that pays, of what x402 calls a payment payload.

    Parameters:
        where: the header or member that holds it.

    Raises:
        InvalidRequest: it is none; ``param`` is ``where``.
    """
    payload = given if isinstance(given, dict) else {}
    version = payload.get("x402Version")
    members = _MEMBERS.get(version) if type(version) is int else None
    if members is None:
        raise InvalidRequest(
            f"{where} is x402's payment payload, an object whose x402Version is 2 or 1.",
            param=where,
        )
    for name, kind in members.items():
        if not isinstance(payload.get(name), kind):
            what = "an object" if kind is dict else "a text"
            raise InvalidRequest(f"{where}: {name} is {what}.", param=where)
    if len(_encode(payload)) > MAX_HEADER:
        raise InvalidRequest(f"{where} has at most {MAX_HEADER} bytes.", param=where)
    return {MESSAGE: {"payload": payload}}


def _described(error: PaymentRequired) -> str:
    quote = {} if error.terms is None else error.terms.message.get("quote")
    told = quote.get("description") if isinstance(quote, Mapping) else None
    return told if isinstance(told, str) else ""
