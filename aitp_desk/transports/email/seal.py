"""Values within links of mails, that only the desk can read and make."""

from __future__ import annotations

import base64
import binascii
import hmac
import zlib
from typing import TypeVar

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

MOST_CHARACTERS = 2000
_NONCE = 12
Value = TypeVar("Value")


class Seal:
    """Encrypts values: servers that log a link see no address.

    Parameters:
        secret: 32 bytes.
    """

    def __init__(self, secret: bytes) -> None:
        self._cipher = AESGCM(hmac.digest(secret, b"cipher", "sha256"))
        self._secret = hmac.digest(secret, b"nonce", "sha256")

    def close(self, value: msgspec.Struct) -> str:
        """Return a value as a word for URLs; the same value gives the same word."""
        plain = zlib.compress(msgspec.json.encode(value), 9)
        nonce = hmac.digest(self._secret, plain, "sha256")[:_NONCE]
        sealed = nonce + self._cipher.encrypt(nonce, plain, None)
        return base64.urlsafe_b64encode(sealed).decode().rstrip("=")

    def open(self, word: str, kind: type[Value]) -> Value | None:
        """Return the value of a word; None if it was not made here, or is of another kind."""
        if len(word) > MOST_CHARACTERS or not word.isascii():
            return None
        try:
            sealed = base64.urlsafe_b64decode(word + "=" * (-len(word) % 4))
            plain = self._cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], None)
            # only the desk's own bytes are decompressed
            return msgspec.json.decode(zlib.decompress(plain), type=kind)
        except (binascii.Error, InvalidTag, ValueError, msgspec.MsgspecError):
            return None
