"""Ed25519 keys as they are written, and signatures by them.

A key is ``ed25519:`` and its 32 bytes in base58, as NEAR writes it.

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
    """A public key as text."""
    return _CURVE + to_base58(key.public_bytes_raw())


def read_key(text: str) -> Ed25519PublicKey:
    """Read a public key.

    Raises:
        Unproven: it is none.
    """
    curve, colon, data = text.partition(":")
    try:
        return public_key(from_base58(data) if curve + colon == _CURVE else b"")
    except ValueError:
        raise Unproven(
            "malformed",
            "public_key is ed25519: and the key's 32 bytes in base58, of a key that somebody has.",
        ) from None


def public_key(raw: bytes) -> Ed25519PublicKey:
    """The public key of 32 bytes.

    Raises:
        ValueError: it is none, or one by which a signature is of anything.
    """
    key = Ed25519PublicKey.from_public_bytes(raw)
    if is_weak(raw):
        raise ValueError("a key by which one signature is of anything")
    return key


def private_key(seed: bytes) -> Ed25519PrivateKey:
    """The private key of 32 secret bytes."""
    return Ed25519PrivateKey.from_private_bytes(seed)


def check(key: Ed25519PublicKey, signature: bytes, signed: bytes) -> None:
    """Check a signature.

    Raises:
        Unproven: it is none of this by this key.
    """
    try:
        key.verify(signature, signed)
    except InvalidSignature:
        raise Unproven(
            "bad_signature", "The signature is none of what was to be signed by this key."
        ) from None
