"""Sealed values: what nobody is to read in passing, and what stands everywhere in place of it.

A value is kept apart, sealed. The message, the call and the record that it belongs to hold
``{"sealed": "sealed_…"}``. That opens nothing: who may read values reads one by its reference.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

SEALED: Final = "sealed"
"""The one member of what stands in place of a value, and what references begin with."""
LONGEST_VALUE: Final = 16_384
"""How long a value is at most, in characters."""
_REF = re.compile(r"sealed_[0-9a-v]{36}")
_ALPHABET = b"0123456789abcdefghijklmnopqrstuv"
_DIGITS = 36


class KeptSealed(msgspec.Struct, frozen=True):
    """A sealed value as it is kept.

    Parameters:
        desk: name of the further site agent; empty for the site's own.
        sealed: what ``auth/sealing.py`` has made of it.
        thread_id: the thread that it goes with; None for none.
        message_id, call_id: what brought it.
        principal: id of who gave it; None of an anonymous one.
        made_at: Unix seconds.
    """

    ref: str
    desk: str
    sealed: bytes
    thread_id: str | None
    message_id: str | None
    call_id: str | None
    principal: str | None
    made_at: int


class Revealed(msgspec.Struct, frozen=True):
    """A value as somebody is told it who may. Its text form does not show it.

    Parameters:
        thread_id: the thread that it goes with; None for none.
        made_at: Unix seconds.
    """

    ref: str
    value: str
    thread_id: str | None
    made_at: int

    def __repr__(self) -> str:
        return f"Revealed(ref={self.ref!r})"


def make_ref(*parts: str) -> str:
    """The reference that follows from what brings a value, such as the id of its message.

    It is as hard to guess as the hardest of these.
    """
    digest = hashlib.sha512("\0".join((SEALED, *parts)).encode()).digest()
    return f"{SEALED}_" + "".join(chr(_ALPHABET[byte & 31]) for byte in digest[:_DIGITS])


def is_ref(text: str) -> bool:
    """Whether a text can be a reference."""
    return _REF.fullmatch(text) is not None


def sealed_as(ref: str) -> dict[str, str]:
    """What stands in place of a value."""
    return {SEALED: ref}


def read_ref(value: Any) -> str | None:
    """The reference in what stands in place of a value; None in anything else."""
    if not isinstance(value, Mapping) or value.keys() != {SEALED}:
        return None
    ref = value[SEALED]
    return ref if isinstance(ref, str) and is_ref(ref) else None
