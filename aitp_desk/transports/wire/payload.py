"""Reads JSON of platforms without trust in its form: what is missing or wrong counts as empty."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from aitp_desk.model.errors import InvalidRequest

MOST_CHARACTERS = 16_384
"""Longest text that is taken; a longer one is cut."""
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_SAFE = 2**53
"""Numbers up to it are the same in every reader of JSON."""


class Payload:
    """An object within a platform's JSON.

    Parameters:
        members: of the object.
    """

    __slots__ = ("_members",)

    def __init__(self, members: Mapping[str, Any] = _NOTHING) -> None:
        self._members = members

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def __bool__(self) -> bool:
        return bool(self._members)

    def text(self, name: str, most: int = MOST_CHARACTERS) -> str:
        """Return a text without lone surrogates and NUL characters; empty if it is none."""
        value = self._members.get(name)
        return clean_text(value[:most]) if isinstance(value, str) else ""

    def number(self, name: str) -> int:
        """Return a whole number; 0 if it is none."""
        value = self._members.get(name)
        if not isinstance(value, int) or isinstance(value, bool):
            return 0
        return value if abs(value) <= _SAFE else 0

    def decimal(self, name: str) -> float | None:
        """Return a number; None if it is none."""
        value = self._members.get(name)
        if not isinstance(value, int | float) or isinstance(value, bool):
            return None
        return float(value) if abs(value) <= _SAFE else None

    def seconds(self, name: str) -> int:
        """Return a time that is written as a text of digits; 0 if it is none."""
        value = self.text(name, 16)
        return int(value) if value.isascii() and value.isdigit() and len(value) < 13 else 0

    def flag(self, name: str) -> bool:
        """Return whether a member is true."""
        return self._members.get(name) is True

    def part(self, name: str) -> Payload:
        """Return an inner object; an empty one if there is none."""
        value = self._members.get(name)
        return Payload(value) if isinstance(value, dict) else EMPTY

    def parts(self, name: str) -> tuple[Payload, ...]:
        """Return the objects of a list."""
        value = self._members.get(name)
        if not isinstance(value, list):
            return ()
        return tuple(Payload(one) for one in value if isinstance(one, dict))

    def rows(self, name: str) -> tuple[tuple[Payload, ...], ...]:
        """Return the objects of a list of lists."""
        value = self._members.get(name)
        if not isinstance(value, list):
            return ()
        return tuple(Payload({"row": row}).parts("row") for row in value)


EMPTY = Payload()


def read_payload(body: bytes) -> Payload:
    """Decode a JSON object.

    Escapes of half a character are accepted, since platforms cut texts between the halves.

    Raises:
        InvalidRequest: it is not a JSON object.
    """
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidRequest("The body is not JSON.") from None
    if not isinstance(value, dict):
        raise InvalidRequest("The body is not a JSON object.")
    return Payload(value)


def clean_text(text: str) -> str:
    """Return a text without what cannot be stored: lone surrogates and NUL characters."""
    if "\x00" in text:
        text = text.replace("\x00", "")
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")
