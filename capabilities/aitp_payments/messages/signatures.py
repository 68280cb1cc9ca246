"""Signatures of quotes, wrappers, payments and confirmations: Ed25519 over canonical JSON.

The signature covers the object without the signature's own member, in the JSON Canonicalization
Scheme. Its text is ``ed25519:`` and base64, as in AITP-01.

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

from aitp_desk.capability import Own, is_weak

PREFIX = "ed25519:"
MERCHANT_SIGNATURE = "merchant_signature"
PAYER_SIGNATURE = "payer_signature"
"""The members of the signatures of the two parties."""
_KEY_BYTES = 32
_SIGNATURE_BYTES = 64
_EXACT = 2**53
_PLAIN_UP_TO = 21
_PLAIN_DOWN_TO = -6


class SigningParty:
    """The site as a party of payments, with the key that signs for it.

    Parameters:
        role: ``merchant`` or ``payer``; each has a key, derived from the desk's secret.
        id: its id in messages; empty for the site's own actor.

    Attributes:
        id: its id in messages.
        key: its public key, as text.
        jwks: its public key, as published.
    """

    def __init__(self, own: Own, role: str, id: str = "") -> None:
        self._private = Ed25519PrivateKey.from_private_bytes(own.derive(f"{role} signature"))
        self._member = f"{role}_signature"
        public = self._private.public_key()
        self.id = id or own.actor
        self.key = write_key(public)
        self.jwks: Mapping[str, Any] = {"keys": [jwk_of(public)]}

    def sign(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Add this party's signature to a message."""
        plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(message))
        return sign(self._private, plain, self._member)

    def has_signed(self, message: Mapping[str, Any]) -> bool:
        """Return whether a message has this party's signature."""
        return verifies(self.key, message, self._member)


def digest_of(quote: Mapping[str, Any]) -> str:
    """Return the digest that identifies a quote: SHA-256 of its canonical JSON, in hex."""
    return hashlib.sha256(canonical(quote)).hexdigest()


def canonical(value: Any) -> bytes:
    """Serialise a JSON value canonically (RFC 8785).

    Raises:
        ValueError: there is no canonical form: a number that is not finite, an integer beyond 2^53,
            half a surrogate pair.
    """
    return _canonical(value).encode()


def signed_bytes(message: Mapping[str, Any], member: str) -> bytes:
    """Return the signed bytes of a message, without its signature's member."""
    return canonical({name: value for name, value in message.items() if name != member})


def write_signature(private: Ed25519PrivateKey, data: bytes) -> str:
    """Sign bytes."""
    return PREFIX + base64.b64encode(private.sign(data)).decode()


def sign(private: Ed25519PrivateKey, message: Mapping[str, Any], member: str) -> dict[str, Any]:
    """Add a signature to a message."""
    return {**message, member: write_signature(private, signed_bytes(message, member))}


def is_signed(key: str, data: bytes, signature: str) -> bool:
    """Return whether a public key verifies a signature of bytes.

    Parameters:
        key: as written by :func:`write_key`; a malformed key verifies nothing.
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
    """Return whether a message has a valid signature; False without a canonical form."""
    signature = message.get(member)
    if not isinstance(signature, str):
        return False
    try:
        data = signed_bytes(message, member)
    except ValueError:
        return False
    return is_signed(key, data, signature)


def plain_signature(signature: str) -> str:
    """Normalise a signature; a malformed one is unchanged.

    Base64 has several spellings of the same bytes, and each reader of a signature can write another
    one: signatures are compared by their bytes.
    """
    raw = _decoded(signature.removeprefix(PREFIX), _SIGNATURE_BYTES)
    return signature if raw is None else PREFIX + base64.b64encode(raw).decode()


def write_key(public: Ed25519PublicKey) -> str:
    """Write a public key as text: ``ed25519:`` and base64."""
    return PREFIX + base64.b64encode(public.public_bytes_raw()).decode()


def read_key(text: str) -> Ed25519PublicKey | None:
    """Parse a public key, also in base64url and without the prefix.

    None for a malformed key, or one so weak that one signature fits any message.
    """
    raw = _decoded(text.removeprefix(PREFIX), _KEY_BYTES)
    return None if raw is None or is_weak(raw) else Ed25519PublicKey.from_public_bytes(raw)


def jwk_of(public: Ed25519PublicKey) -> dict[str, str]:
    """Return a public key as JWK, with its thumbprint as ``kid``."""
    x = base64.urlsafe_b64encode(public.public_bytes_raw()).rstrip(b"=").decode()
    shape = {"crv": "Ed25519", "kty": "OKP", "x": x}
    digest = hashlib.sha256(msgspec.json.encode(shape, order="sorted")).digest()
    kid = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    return {**shape, "kid": kid, "use": "sig", "alg": "EdDSA"}


def _decoded(text: str, length: int) -> bytes | None:
    """Decode base64 of either alphabet; None unless it has the given length."""
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
            # by UTF-16 code units, as RFC 8785 requires
            names = sorted(value, key=lambda name: name.encode("utf-16-be"))
            return "{" + ",".join(f"{_canonical(n)}:{_canonical(value[n])}" for n in names) + "}"
        case list() | tuple():
            return "[" + ",".join(map(_canonical, value)) + "]"
        case _:
            raise ValueError(f"{type(value).__name__} is not JSON.")


def _number(value: float) -> str:
    """Format a number as ECMAScript does: by the fewest digits that identify it."""
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
