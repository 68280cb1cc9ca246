"""Ed25519 keys as text, and their signatures.

A key is ``ed25519:`` and its 32 bytes in base58, as in NEAR.

Source: RFC 8032; RFC 8037, section 2, for the same key as a JWK.
"""

from __future__ import annotations

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from aitp_desk.capability import is_weak
from aitp_sign.errors import Unproven
from aitp_sign.keys.encodings import from_base58, to_base58

_CURVE = "ed25519:"


def write_key(key: Ed25519PublicKey) -> str:
    """Write a public key as text."""
    return _CURVE + to_base58(key.public_bytes_raw())


def read_key(text: str) -> Ed25519PublicKey:
    """Parse a public key.

    Raises:
        Unproven: it is malformed or weak.
    """
    curve, colon, data = text.partition(":")
    try:
        return public_key(from_base58(data) if curve + colon == _CURVE else b"")
    except ValueError:
        raise Unproven(
            "malformed",
            "public_key must be ed25519: and the 32 bytes of a valid key in base58.",
        ) from None


def public_key(raw: bytes) -> Ed25519PublicKey:
    """Return the public key of 32 bytes.

    Raises:
        ValueError: it is invalid, or so weak that one signature fits any message.
    """
    key = Ed25519PublicKey.from_public_bytes(raw)
    if is_weak(raw):
        raise ValueError("a weak key, for which one signature fits any message")
    return key


def private_key(seed: bytes) -> Ed25519PrivateKey:
    """Return the private key of 32 secret bytes."""
    return Ed25519PrivateKey.from_private_bytes(seed)


def check(key: Ed25519PublicKey, signature: bytes, signed: bytes) -> None:
    """Verify a signature.

    Raises:
        Unproven: this key has not signed this.
    """
    try:
        key.verify(signature, signed)
    except InvalidSignature:
        raise Unproven(
            "bad_signature", "The signature is not valid for this content and this key."
        ) from None
