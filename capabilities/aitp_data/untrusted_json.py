"""Decodes JSON of strangers that did not arrive as a request."""

from __future__ import annotations

from typing import TypeVar

import msgspec

T = TypeVar("T")


class Unreadable(Exception):
    """The data is no JSON of the type; the text has the reason."""


def read_json(raw: bytes, kind: type[T]) -> T:
    """Decode JSON as a type.

    Raises:
        Unreadable: it does not decode.
    """
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.DecodeError as error:
        raise Unreadable(str(error)) from None
    except UnicodeDecodeError:
        raise Unreadable("It is no UTF-8") from None
    except RecursionError:
        raise Unreadable("It is too deep") from None
