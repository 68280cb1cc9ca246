"""Decodes untrusted JSON that is not the body of a request."""

from __future__ import annotations

from typing import TypeVar

import msgspec

T = TypeVar("T")


class Unreadable(Exception):
    """The data is not JSON of the type; the text has the reason."""


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
        raise Unreadable("It is not UTF-8") from None
    except RecursionError:
        raise Unreadable("It is nested too deeply") from None
