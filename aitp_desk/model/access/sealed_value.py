"""Sealed values and the references that replace them.

A value is stored separately, sealed. The message, the call and the record that it belongs to hold
``{"sealed": "sealed_…"}``. The reference gives no access: a caller that may read values reads one
by its reference.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

SEALED: Final = "sealed"
"""The only member of a reference object, and the prefix of references."""
LONGEST_VALUE: Final = 16_384
"""Maximum length of a value, in characters."""
_REF = re.compile(r"sealed_[0-9a-v]{36}")
_ALPHABET = b"0123456789abcdefghijklmnopqrstuv"
_DIGITS = 36


class StoredSealed(msgspec.Struct, frozen=True):
    """A stored sealed value.

    Parameters:
        desk: name of the further site agent; empty for the site's own.
        sealed: the ciphertext from ``auth/keys/encryption.py``.
        thread_id: the thread that it is deleted with; None for none.
        message_id, call_id: where it came from.
        principal: id of the principal that gave it; None for an anonymous one.
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
    """A value for a reader that may see it.

    Its text form does not show it.

    Parameters:
        thread_id: the thread that it is deleted with; None for none.
        made_at: Unix seconds.
    """

    ref: str
    value: str
    thread_id: str | None
    made_at: int

    def __repr__(self) -> str:
        return f"Revealed(ref={self.ref!r})"


def make_ref(*parts: str) -> str:
    """Return the reference that follows from the source of a value.

    The source is, for example, the id of its message.

    It is as hard to guess as the hardest of these parts.
    """
    digest = hashlib.sha512("\0".join((SEALED, *parts)).encode()).digest()
    return f"{SEALED}_" + "".join(chr(_ALPHABET[byte & 31]) for byte in digest[:_DIGITS])


def is_ref(text: str) -> bool:
    """Return whether a text has the form of a reference."""
    return _REF.fullmatch(text) is not None


def sealed_as(ref: str) -> dict[str, str]:
    """Return the reference object that replaces a value."""
    return {SEALED: ref}


def read_ref(value: Any) -> str | None:
    """Return the reference in a reference object; None for anything else."""
    if not isinstance(value, Mapping) or value.keys() != {SEALED}:
        return None
    ref = value[SEALED]
    return ref if isinstance(ref, str) and is_ref(ref) else None
