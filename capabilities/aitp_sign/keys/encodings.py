"""Encodings of signatures and keys: base64, base58, hex. Pure and strict.

Each decoder accepts the canonical form only: equal bytes have equal texts.

Source: RFC 4648, sections 4 and 5; base58 as in Bitcoin and NEAR.
"""

from __future__ import annotations

import base64
import binascii
import re

_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_VALUES = {letter: value for value, letter in enumerate(_ALPHABET)}
_HEX = re.compile(r"0x(?:[0-9a-fA-F]{2})*")
_URL = re.compile(r"[A-Za-z0-9_-]*")
_PLAIN = re.compile(r"[A-Za-z0-9+/]*={0,2}")
LONGEST_BASE58 = 200
"""Decoding base58 takes time quadratic in its length."""


def to_base58(data: bytes) -> str:
    """Encode bytes in base58."""
    zeros = len(data) - len(data.lstrip(b"\0"))
    value, letters = int.from_bytes(data), ""
    while value:
        value, rest = divmod(value, 58)
        letters = _ALPHABET[rest] + letters
    return "1" * zeros + letters


def from_base58(text: str) -> bytes:
    """Decode base58.

    Raises:
        ValueError: it is malformed, or longer than keys and signatures are.
    """
    if len(text) > LONGEST_BASE58:
        raise ValueError("base58 of excessive length")
    value = 0
    for letter in text:
        if letter not in _VALUES:
            raise ValueError("not base58")
        value = value * 58 + _VALUES[letter]
    zeros = len(text) - len(text.lstrip("1"))
    return bytes(zeros) + value.to_bytes((value.bit_length() + 7) // 8)


def to_base64url(data: bytes) -> str:
    """Encode bytes in base64url, without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def from_base64url(text: str) -> bytes:
    """Decode base64url without padding.

    Raises:
        ValueError: it is malformed or not canonical.
    """
    if not _URL.fullmatch(text) or len(text) % 4 == 1:
        raise ValueError("not base64url without padding")
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if to_base64url(data) != text:
        raise ValueError("base64url with excess bits")
    return data


def to_base64(data: bytes) -> str:
    """Encode bytes in base64, with padding."""
    return base64.b64encode(data).decode()


def from_base64(text: str) -> bytes:
    """Decode base64 with its padding.

    Raises:
        ValueError: it is malformed or not canonical.
    """
    if not _PLAIN.fullmatch(text):
        raise ValueError("not base64")
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error:
        raise ValueError("not base64") from None
    if to_base64(data) != text:
        raise ValueError("base64 with excess bits")
    return data


def to_hex(data: bytes) -> str:
    """Encode bytes in lowercase hex digits, after ``0x``."""
    return f"0x{data.hex()}"


def from_hex(text: str) -> bytes:
    """Decode hex digits after ``0x``, two for each byte.

    Raises:
        ValueError: they are malformed.
    """
    if not _HEX.fullmatch(text):
        raise ValueError("not hex digits after 0x, two for each byte")
    return bytes.fromhex(text[2:])
