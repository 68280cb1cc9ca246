"""A question that is a JSON object: the arguments of a call, and what it agrees to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from aitp_desk.desk.invocation import Consent
from aitp_desk.model.call import CONFIRMATION
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.model.money import Money
from aitp_desk.model.strict_json import decode_json


def arguments_in(words: str) -> tuple[Mapping[str, Any], Consent | None] | None:
    """The arguments of a question that is a JSON object, and what it agrees to; else None.

    Raises:
        InvalidRequest: the member that agrees is not a price.
    """
    if not words.lstrip().startswith("{"):
        return None
    try:
        given = decode_json(words.encode())
    except InvalidRequest:
        return None
    arguments = {name: value for name, value in given.items() if name != CONFIRMATION}
    return arguments, _consent_in(given.get(CONFIRMATION))


def _consent_in(given: Any) -> Consent | None:
    if given is None or given is False:
        return None
    if given is True:
        return Consent()
    try:
        return Consent(msgspec.convert(given, Money))
    except msgspec.ValidationError as error:
        raise InvalidRequest(
            f'{CONFIRMATION} is the price that is agreed to, such as {{"amount": "29.99",'
            ' "currency": "EUR"}; or true for what costs nothing.',
            param=CONFIRMATION,
        ) from error
