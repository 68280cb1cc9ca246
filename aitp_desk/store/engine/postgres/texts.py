"""Keeps texts with a NUL character, which PostgreSQL does not take.

In the database NUL is two characters, a noncharacter of Unicode and ``0``; that noncharacter is
itself and ``1``. What is read is what was written; only the order of such texts differs from
SQLite's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from aitp_desk.store.base import Row

NUL = "\0"
MARK = "\uffff"
_NUL, _MARK = f"{MARK}0", f"{MARK}1"


def encode_values(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return values as the database takes them."""
    return tuple(
        [
            value.replace(MARK, _MARK).replace(NUL, _NUL)
            if type(value) is str and (NUL in value or MARK in value)
            else value
            for value in values
        ]
    )


def decode_row(row: Iterable[Any]) -> Row:
    """Return a row as it was written."""
    return tuple(
        [
            value.replace(_NUL, NUL).replace(_MARK, MARK)
            if type(value) is str and MARK in value
            else value
            for value in row
        ]
    )
