"""Parses a question that is a JSON object: arguments, consent and payment."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from aitp_desk.desk.calls.invocation import Consent
from aitp_desk.model.calls.call import CONFIRMATION, PAYMENT
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.model.money import Money
from aitp_desk.model.strict_json import MAX_DEPTH, decode_json

PAYING = ("payment", "x402_payment")
"""The messages that pay for a call (``docs/build/paying.md``)."""
MAX_PAYMENT = 16 * 1024
"""Maximum size of a payment, in bytes of JSON."""
MAX_PAYMENT_DEPTH = 12
"""Maximum nesting of a payment, in levels."""


def parse_arguments(words: str) -> tuple[Mapping[str, Any], Consent | None] | None:
    """Return the arguments and consent of a question in JSON; None for text.

    Raises:
        InvalidRequest: it is a JSON object, but an ambiguous one; or its consent is not a price.
    """
    if not words.lstrip().startswith("{"):
        return None
    try:
        given = decode_json(words.encode())
    except InvalidRequest as error:
        if not _is_loosely_json(words):
            return None
        # read as text, it would become another call than the caller wrote
        raise InvalidRequest(
            "`query` must be strict JSON if it is a JSON object: no member twice, finite"
            f" numbers, no NUL and no lone surrogate in texts, and at most {MAX_DEPTH}"
            " levels.",
            param="query",
        ) from error
    return split_consent(given)


def write_arguments(arguments: Mapping[str, Any], consent: Consent | None) -> str:
    """Return arguments and consent as a question: the reverse of :func:`parse_arguments`."""
    said = dict(arguments)
    if consent is not None:
        said[CONFIRMATION] = True if consent.price is None else consent.price
    return msgspec.json.encode(said).decode()


def split_consent(given: Mapping[str, Any]) -> tuple[Mapping[str, Any], Consent | None]:
    """Split a JSON object into arguments and the consent in its reserved member.

    Raises:
        InvalidRequest: that member is not a price.
    """
    if CONFIRMATION not in given:
        return given, None
    arguments = dict(given)
    return arguments, _consent_in(arguments.pop(CONFIRMATION))


def split_payment(
    given: Mapping[str, Any],
) -> tuple[Mapping[str, Any], Mapping[str, Any] | None]:
    """Split a JSON object into arguments and the payment in its reserved member.

    Raises:
        InvalidRequest: that member is no payment message.
    """
    if PAYMENT not in given:
        return given, None
    arguments = dict(given)
    return arguments, _payment_in(arguments.pop(PAYMENT))


def _payment_in(given: Any) -> Mapping[str, Any] | None:
    if given is None:
        return None
    members = tuple(given.items()) if isinstance(given, dict) else ()
    if len(members) != 1 or members[0][0] not in PAYING or not isinstance(members[0][1], dict):
        raise InvalidRequest(
            f"`{PAYMENT}` must be an object with exactly one member, {' or '.join(PAYING)},"
            " whose value is an object.",
            param=PAYMENT,
        )
    if len(msgspec.json.encode(given)) > MAX_PAYMENT or _depth(given) > MAX_PAYMENT_DEPTH:
        raise InvalidRequest(
            f"`{PAYMENT}` may have at most {MAX_PAYMENT} bytes and {MAX_PAYMENT_DEPTH} levels.",
            param=PAYMENT,
        )
    return dict(members)


def _depth(value: Any) -> int:
    match value:
        case dict():
            return 1 + max(map(_depth, value.values()), default=0)
        case list():
            return 1 + max(map(_depth, value), default=0)
        case _:
            return 0


def _is_loosely_json(words: str) -> bool:
    try:
        json.loads(words)
    except RecursionError:
        return True
    except ValueError:
        return False
    return True


def _consent_in(given: Any) -> Consent | None:
    if given is None or given is False:
        return None
    if given is True:
        return Consent()
    try:
        agreed = msgspec.convert(given, Money)
    except msgspec.ValidationError as error:
        raise _no_price() from error
    if not isinstance(given["amount"], str):  # a float, in most programs
        raise _no_price()
    return Consent(agreed)


def _no_price() -> InvalidRequest:
    return InvalidRequest(
        f'{CONFIRMATION} is the price that is agreed to, such as {{"amount": "29.99",'
        ' "currency": "EUR"}, the amount as text; or true for what costs nothing.',
        param=CONFIRMATION,
    )
