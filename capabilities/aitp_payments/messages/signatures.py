"""Signatures of quotes, wrappers, payments and confirmations: Ed25519 over canonical JSON.

What is signed is the object without the member that holds the signature, in the JSON
Canonicalization Scheme. The text of a signature is ``ed25519:`` and base64, as AITP-01 has it.

Sources: AITP-01 1.0.0, Signature Requirements; RFC 8785 (JCS); RFC 8032 (Ed25519); RFC 7638
(thumbprints of keys); RFC 8037 (Ed25519 in a JWK).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from aitp_desk.capability import is_weak

PREFIX = "ed25519:"
_KEY_BYTES = 32
_SIGNATURE_BYTES = 64
_EXACT = 2**53
_PLAIN_UP_TO = 21
_PLAIN_DOWN_TO = -6


def digest_of(quote: Mapping[str, Any]) -> str:
    """By what a quote that is passed on is known again: SHA-256 of its canonical JSON, in hex."""
    return hashlib.sha256(canonical(quote)).hexdigest()


def canonical(value: Any) -> bytes:
    """A JSON value in the one spelling of RFC 8785.

    Raises:
        ValueError: it has none: a number that is not finite, an integer beyond 2^53, a text with
            half a surrogate pair.
    """
    return _canonical(value).encode()


def signed_bytes(message: Mapping[str, Any], member: str) -> bytes:
    """What is signed of a message: all of it but the member that holds the signature."""
    return canonical({name: value for name, value in message.items() if name != member})


def write_signature(private: Ed25519PrivateKey, data: bytes) -> str:
    """Sign bytes."""
    return PREFIX + base64.b64encode(private.sign(data)).decode()


def sign(private: Ed25519PrivateKey, message: Mapping[str, Any], member: str) -> dict[str, Any]:
    """A message with its signature in a member of it."""
    return {**message, member: write_signature(private, signed_bytes(message, member))}


def is_signed(key: str, data: bytes, signature: str) -> bool:
    """Whether bytes were signed with the private half of a public key.

    Parameters:
        key: as :func:`write_key` writes it; what is no key has signed nothing.
        signature: with ``ed25519:`` or without; base64 of either alphabet.
    """
    public, raw = read_key(key), _decoded(signature.removeprefix(PREFIX), _SIGNATURE_BYTES)
    if public is None or raw is None:
        return False
    try:
        public.verify(raw, data)
    except InvalidSignature:
        return False
    return True


def verifies(key: str, message: Mapping[str, Any], member: str) -> bool:
    """Whether a message holds its signature by a key; False also for what has no canonical form."""
    signature = message.get(member)
    if not isinstance(signature, str):
        return False
    try:
        data = signed_bytes(message, member)
    except ValueError:
        return False
    return is_signed(key, data, signature)


def plain_signature(signature: str) -> str:
    """A signature in one spelling; what is none stays as it is.

    Base64 writes the same bytes in several ways, and whoever has seen a signature can write it
    anew: so it is by its bytes that one is told from another.
    """
    raw = _decoded(signature.removeprefix(PREFIX), _SIGNATURE_BYTES)
    return signature if raw is None else PREFIX + base64.b64encode(raw).decode()


def write_key(public: Ed25519PublicKey) -> str:
    """A public key as text: ``ed25519:`` and base64."""
    return PREFIX + base64.b64encode(public.public_bytes_raw()).decode()


def read_key(text: str) -> Ed25519PublicKey | None:
    """Read a public key: as :func:`write_key` has it, also base64url, also without the prefix.

    None of what is no key, or one by which a signature is of anything.
    """
    raw = _decoded(text.removeprefix(PREFIX), _KEY_BYTES)
    return None if raw is None or is_weak(raw) else Ed25519PublicKey.from_public_bytes(raw)


def jwk_of(public: Ed25519PublicKey) -> dict[str, str]:
    """A public key as JWK; its ``kid`` is its thumbprint."""
    x = base64.urlsafe_b64encode(public.public_bytes_raw()).rstrip(b"=").decode()
    shape = {"crv": "Ed25519", "kty": "OKP", "x": x}
    digest = hashlib.sha256(msgspec.json.encode(shape, order="sorted")).digest()
    kid = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    return {**shape, "kid": kid, "use": "sig", "alg": "EdDSA"}


def _decoded(text: str, length: int) -> bytes | None:
    """What base64 of either alphabet holds, if that is so many bytes."""
    plain = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        raw = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw if len(raw) == length else None


def _canonical(value: Any) -> str:
    match value:
        case None | bool() | str():
            return json.dumps(value, ensure_ascii=False)
        case int():
            if abs(value) > _EXACT:
                raise ValueError("An integer beyond 2^53 has no canonical form.")
            return str(value)
        case float():
            return _number(value)
        case Mapping():
            # by UTF-16 code units, as the standard has it
            names = sorted(value, key=lambda name: name.encode("utf-16-be"))
            return "{" + ",".join(f"{_canonical(n)}:{_canonical(value[n])}" for n in names) + "}"
        case list() | tuple():
            return "[" + ",".join(map(_canonical, value)) + "]"
        case _:
            raise ValueError(f"{type(value).__name__} is no JSON.")


def _number(value: float) -> str:
    """A number as ECMAScript writes it: by the fewest digits that mean it."""
    if not math.isfinite(value):
        raise ValueError("A number that is not finite has no canonical form.")
    if value == 0:
        return "0"
    mantissa, _, exponent = f"{abs(value)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading = len(whole + fraction) - len(digits)
    point = len(whole) - leading + int(exponent or 0)
    digits = digits.rstrip("0")
    sign = "-" if value < 0 else ""
    count = len(digits)
    if count <= point <= _PLAIN_UP_TO:
        return sign + digits + "0" * (point - count)
    if 0 < point <= _PLAIN_UP_TO:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if _PLAIN_DOWN_TO < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if count > 1 else ""
    return f"{sign}{digits[0]}{tail}e{point - 1:+d}"
