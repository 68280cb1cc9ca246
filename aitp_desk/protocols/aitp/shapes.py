"""Checks the shapes of JSON members; a refusal names the member."""

from __future__ import annotations

from typing import Any

from aitp_desk.model.errors import InvalidRequest
from aitp_desk.model.strict_json import decode_json


def decode_object(body: bytes) -> dict[str, Any]:
    """Decode a body; null and nothing are an empty object.

    Raises:
        InvalidRequest: it is something else.
    """
    return read_object(decode_json(body) if body.strip() else {}, "")


def read_object(given: Any, at: str) -> dict[str, Any]:
    """Return an object; null and absent are an empty one. ``at`` empty is the whole body.

    Raises:
        InvalidRequest: it is something else.
    """
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise InvalidRequest(f"{at or 'The body'} must be a JSON object.", param=at or None)
    return given


def read_list(given: Any, at: str) -> list[Any]:
    """Return a list; null and absent are an empty one.

    Raises:
        InvalidRequest: it is something else.
    """
    if given is None:
        return []
    if not isinstance(given, list):
        raise InvalidRequest(f"`{at}` must be a list.", param=at)
    return given


def read_string(given: dict[str, Any], name: str) -> str | None:
    """Return a member of the body that is a string; None where it is absent.

    Raises:
        InvalidRequest: it is something else.
    """
    value = given.get(name)
    if value is not None and not isinstance(value, str):
        raise InvalidRequest(f"`{name}` must be a string.", param=name)
    return value


def read_strings(given: dict[str, Any], at: str) -> dict[str, str]:
    """Return an object whose values are strings, as metadata is.

    Raises:
        InvalidRequest: a value is something else.
    """
    for key, value in given.items():
        if not isinstance(value, str):
            raise InvalidRequest("A metadata value must be a string.", param=f"{at}.{key[:64]}")
    return given
