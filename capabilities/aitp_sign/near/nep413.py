"""Messages as wallets of NEAR sign them. Pure.

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
    """What is signed, as 32 bytes.

    Parameters:
        nonce: 32 bytes.

    Raises:
        ValueError: the nonce is longer or shorter.
    """
    if len(nonce) != NONCE_BYTES:
        raise ValueError(f"a nonce of NEP-413 has {NONCE_BYTES} bytes, not {len(nonce)}")
    url = b"\0" if callback_url is None else b"\1" + text(callback_url)
    payload = TAG.to_bytes(4, "little") + text(message) + nonce + text(recipient) + url
    return hashlib.sha256(payload).digest()


def text(value: str) -> bytes:
    """A text in Borsh."""
    data = value.encode()
    return len(data).to_bytes(4, "little") + data


def read_nonce(value: str) -> bytes:
    """Read a nonce from base64.

    Raises:
        ValueError: it is none, or has not 32 bytes.
    """
    nonce = from_base64(value)
    if len(nonce) != NONCE_BYTES:
        raise ValueError(f"{len(nonce)} bytes in place of {NONCE_BYTES}")
    return nonce


def is_account(value: str) -> bool:
    """Whether a text can be the id of an account."""
    return bool(_ACCOUNT.fullmatch(value))


def is_implicit(value: str) -> bool:
    """Whether an account is called by its key: such a one needs no chain to prove it."""
    return bool(_IMPLICIT.fullmatch(value))
