"""Encrypts values in the database, so that the database alone does not reveal them.

    sealed = version ‖ data key ‖ nonce ‖ AES-256-GCM ciphertext and tag

The version of the format is one byte and that of the data key two, big-endian; the nonce is 12
random bytes. Each purpose has its own key. The context, such as the id of a row, is authenticated:
a sealed text that is moved elsewhere does not open. At most 2**32 texts may be sealed under one
purpose and data key (NIST SP 800-38D, section 8.3).
"""

from __future__ import annotations

import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from aitp_desk.auth.keys.data_keys import DataKeys
from aitp_desk.auth.keys.master_key import NONCE_BYTES

VERSION = 1
_DATA_KEY_BYTES = 2
_HEAD_BYTES = 1 + _DATA_KEY_BYTES


class SealBroken(Exception):
    """A sealed text was changed or moved, or its data key is missing."""


class TextSealer:
    """Seals texts and opens them again.

    Parameters:
        keys: the desk's data keys; the newest one seals.
    """

    def __init__(self, keys: DataKeys) -> None:
        self._keys = keys

    def seal(self, purpose: str, context: bytes, plaintext: bytes) -> bytes:
        """Seal a text.

        Parameters:
            purpose: the purpose in a few words; the same is needed to open it.
            context: what the text belongs to.
        """
        data_key = self._keys.newest
        head = bytes([VERSION]) + data_key.to_bytes(_DATA_KEY_BYTES)
        nonce = secrets.token_bytes(NONCE_BYTES)
        return (
            head + nonce + self._cipher(purpose, data_key).encrypt(nonce, plaintext, head + context)
        )

    def unseal(self, purpose: str, context: bytes, sealed: bytes) -> bytes:
        """Open a sealed text.

        Raises:
            SealBroken: it was changed, sealed for another purpose or context or in another format,
                or its data key is missing.
        """
        head, rest = sealed[:_HEAD_BYTES], sealed[_HEAD_BYTES:]
        data_key = int.from_bytes(head[1:])
        if len(head) < _HEAD_BYTES or head[0] != VERSION or data_key not in self._keys.versions:
            raise SealBroken("This desk does not have its format or its data key.")
        nonce, ciphertext = rest[:NONCE_BYTES], rest[NONCE_BYTES:]
        try:
            return self._cipher(purpose, data_key).decrypt(nonce, ciphertext, head + context)
        except (InvalidTag, ValueError) as error:
            raise SealBroken("It was changed, or belongs to another record.") from error

    def _cipher(self, purpose: str, data_key: int) -> AESGCM:
        return AESGCM(self._keys.derive(f"sealing {purpose}", data_key=data_key))
