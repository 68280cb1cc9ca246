"""A secret argument: text that is shown only on request."""

from __future__ import annotations

import hmac
from typing import Any, NoReturn

from aitp_desk.model.access.sealed_value import LONGEST_VALUE

SCHEMA = {"type": "string", "writeOnly": True, "format": "password"}
"""The published schema."""
_SHOWN = "(sealed)"


class Secret:
    """A confidential text: a password, a card number.

    As the type of a parameter it accepts text. The caller's value is sealed before the call is
    stored; the function receives the text. ``str``, ``repr`` and ``format`` are the same for every
    text, and it cannot be pickled or encoded.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text itself."""
        return self._text

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(self._text.encode(), other._text.encode())

    __hash__ = None  # type: ignore[assignment]  # a hash would reveal something of it

    def __repr__(self) -> str:
        return f"Secret{_SHOWN}"

    def __str__(self) -> str:
        return _SHOWN

    def __format__(self, _spec: str) -> str:
        return _SHOWN

    def __reduce_ex__(self, _protocol: Any) -> NoReturn:
        raise TypeError("A secret cannot be pickled or copied.")


def read_secret(kind: type, given: Any) -> Any:
    """Read a JSON value as a secret: a ``dec_hook`` of ``msgspec``.

    Raises:
        ValueError: it is not text, or is too long. The message does not repeat it.
        NotImplementedError: another type is wanted.
    """
    if kind is not Secret:
        raise NotImplementedError(kind.__name__)
    if not isinstance(given, str):
        raise ValueError("Expected `str`")
    if len(given) > LONGEST_VALUE:
        raise ValueError(f"Expected `str` of length <= {LONGEST_VALUE}")
    return Secret(given)


def hide_secret(kind: type, _given: Any) -> Secret:
    """Read any value as a secret that reveals only its presence.

    Raises:
        NotImplementedError: another type is wanted.
    """
    if kind is not Secret:
        raise NotImplementedError(kind.__name__)
    return Secret(_SHOWN)


def write_secret(given: Any) -> Any:
    """Write a secret as JSON, to validate a value again: an ``enc_hook`` of ``msgspec``.

    Raises:
        NotImplementedError: it is something else.
    """
    if not isinstance(given, Secret):
        raise NotImplementedError(type(given).__name__)
    return given.reveal()


def secret_schema(kind: type) -> dict[str, Any]:
    """Return the schema of a secret: a ``schema_hook`` of ``msgspec``.

    Raises:
        NotImplementedError: it is another type.
    """
    if kind is not Secret:
        raise NotImplementedError(kind.__name__)
    return dict(SCHEMA)
