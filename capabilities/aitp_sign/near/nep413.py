"""Hashes messages that NEAR wallets sign. Pure.

Source: NEP-413: Borsh of the payload after its tag, SHA-256, Ed25519; and NEAR's account ids.
"""

from __future__ import annotations

import hashlib
import re

from aitp_sign.keys.encodings import from_base64

TAG = 2**31 + 413
NONCE_BYTES = 32
_IMPLICIT = re.compile(r"[0-9a-f]{64}")
_ACCOUNT = re.compile(r"(?=.{2,64}\Z)[a-z0-9]+(?:[-_.][a-z0-9]+)*")


def digest_of(message: str, nonce: bytes, recipient: str, callback_url: str | None = None) -> bytes:
    """Return the 32-byte digest of a message.

    Parameters:
        nonce: 32 bytes.

    Raises:
        ValueError: the nonce has another length.
    """
    if len(nonce) != NONCE_BYTES:
        raise ValueError(f"a nonce of NEP-413 must have {NONCE_BYTES} bytes, not {len(nonce)}")
    url = b"\0" if callback_url is None else b"\1" + text(callback_url)
    payload = TAG.to_bytes(4, "little") + text(message) + nonce + text(recipient) + url
    return hashlib.sha256(payload).digest()


def text(value: str) -> bytes:
    """Encode a text in Borsh."""
    data = value.encode()
    return len(data).to_bytes(4, "little") + data


def read_nonce(value: str) -> bytes:
    """Decode a nonce from base64.

    Raises:
        ValueError: it is malformed, or does not have 32 bytes.
    """
    nonce = from_base64(value)
    if len(nonce) != NONCE_BYTES:
        raise ValueError(f"{len(nonce)} bytes")
    return nonce


def is_account(value: str) -> bool:
    """Return whether a text can be the id of an account."""
    return bool(_ACCOUNT.fullmatch(value))


def is_implicit(value: str) -> bool:
    """Return whether an account is named after its key. The chain then need not prove it."""
    return bool(_IMPLICIT.fullmatch(value))
