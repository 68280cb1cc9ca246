"""JSON from strangers that did not come as a request."""

from __future__ import annotations

from typing import TypeVar

import msgspec

T = TypeVar("T")


class Unreadable(Exception):
    """It is no JSON, or not what is read there. Its text says what is wrong, without values."""


def read_json(raw: bytes, kind: type[T]) -> T:
    """What JSON of a type holds.

    Raises:
        Unreadable: it is none.
    """
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.DecodeError as error:
        raise Unreadable(str(error)) from None
    except UnicodeDecodeError:
        raise Unreadable("It is no UTF-8") from None
    except RecursionError:
        raise Unreadable("It is too deep") from None
