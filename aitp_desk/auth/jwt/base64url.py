"""base64url without padding (RFC 7515, section 2), in canonical form."""

from __future__ import annotations

import base64
import binascii
import re

_ALPHABET = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


def encode_base64url(data: bytes) -> str:
    """Encode bytes."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode_base64url(text: str) -> bytes | None:
    """Decode text; None if it is not canonical base64url without padding."""
    if _ALPHABET.fullmatch(text) is None:
        return None
    try:
        decoded = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error:
        return None
    return decoded if encode_base64url(decoded) == text else None
