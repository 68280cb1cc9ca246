"""A secret as an action takes it: text that shows itself only where it is asked to."""

from __future__ import annotations

import hmac
from typing import Any, NoReturn

from aitp_desk.model.access.sealed_value import LONGEST_VALUE

SCHEMA = {"type": "string", "writeOnly": True, "format": "password"}
"""What callers are told that it takes."""
_SHOWN = "(sealed)"


class Secret:
    """A text that nobody is to read in passing: a password, the number of a card.

    As the type of a parameter it takes text. What a caller gives is sealed before the call is
    written down; the function is handed the text. It does not print: its ``str``, ``repr`` and
    ``format`` are the same for every text, and it is not pickled or encoded.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text itself."""
        return self._text

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(self._text.encode(), other._text.encode())

    __hash__ = None  # type: ignore[assignment]  # a number that follows from it tells of it

    def __repr__(self) -> str:
        return f"Secret{_SHOWN}"

    def __str__(self) -> str:
        return _SHOWN

    def __format__(self, _spec: str) -> str:
        return _SHOWN

    def __reduce_ex__(self, _protocol: Any) -> NoReturn:
        raise TypeError("A secret is not pickled, nor copied.")


def read_secret(kind: type, given: Any) -> Any:
    """Read JSON as a secret, for ``msgspec``: its ``dec_hook``.

    Raises:
        ValueError: it is no text, or too long. It repeats nothing of it.
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
    """Read whatever stands for a secret as one that holds no more than that it is there.

    Raises:
        NotImplementedError: another type is wanted.
    """
    if kind is not Secret:
        raise NotImplementedError(kind.__name__)
    return Secret(_SHOWN)


def write_secret(given: Any) -> Any:
    """A secret as JSON, where what was read is looked at again: an ``enc_hook`` of ``msgspec``.

    Raises:
        NotImplementedError: it is something else.
    """
    if not isinstance(given, Secret):
        raise NotImplementedError(type(given).__name__)
    return given.reveal()


def secret_schema(kind: type) -> dict[str, Any]:
    """The schema of a secret, for ``msgspec``: its ``schema_hook``.

    Raises:
        NotImplementedError: it is another type.
    """
    if kind is not Secret:
        raise NotImplementedError(kind.__name__)
    return dict(SCHEMA)
