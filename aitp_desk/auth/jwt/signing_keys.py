"""The keys that sign the desk's access tokens, and when each does.

Keys are derived from a data key and a version and stored nowhere: the store has only the versions
after the first, with their times. A new key is published before it signs. The previous one stays
published until its last token has expired. A verifier that caches the published set therefore
always knows the key of a valid token.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import pairwise

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aitp_desk.auth.jwt.base64url import encode_base64url
from aitp_desk.auth.jwt.jwk import make_thumbprint
from aitp_desk.auth.keys.data_keys import DataKeys
from aitp_desk.config.sections.access.oauth import LONGEST_TOKEN_SECONDS
from aitp_desk.store.records.clients import SigningKey

PUBLISHED_FOR_SECONDS = 300
"""How long others may cache the published set."""
AHEAD_SECONDS = 2 * PUBLISHED_FOR_SECONDS
"""How long a key is published before it signs."""
_FIRST = SigningKey(version=1, made_at=0, signs_from=0)
_MOST_DERIVED = 256
"""More than can be published: one key every ten minutes for a day."""


class KeyPair(msgspec.Struct, frozen=True):
    """A signing key with its public half.

    Parameters:
        id: the thumbprint of the public half (RFC 7638), used as ``kid``.
        public: the 32 bytes of the public half, in base64url.
        private: Ed25519.
    """

    id: str
    public: str
    private: Ed25519PrivateKey


class SigningKeys:
    """Derives the signing keys of a desk."""

    def __init__(self, keys: DataKeys) -> None:
        self._derive = lru_cache(_MOST_DERIVED)(partial(_derive, keys))

    def get_current(self, later: Sequence[SigningKey], now: float) -> KeyPair:
        """Return the key that signs at a time.

        Parameters:
            later: the keys after the first, the oldest first.
            now: Unix seconds.
        """
        begun = [key for key in _valid(later) if key.signs_from <= now]
        return self._derive(*_source(begun[-1] if begun else _FIRST))

    def list_published(self, later: Sequence[SigningKey], now: float) -> tuple[KeyPair, ...]:
        """Return the keys of valid and upcoming tokens, the oldest first.

        Parameters:
            later, now: as for :meth:`get_current`.
        """
        keys = _valid(later)
        live = [
            key
            for key, successor in pairwise(keys)
            if now < successor.signs_from + LONGEST_TOKEN_SECONDS
        ]
        return tuple(self._derive(*_source(key)) for key in (*live, keys[-1]))


def _valid(later: Sequence[SigningKey]) -> Sequence[SigningKey]:
    """Return the keys that no later one has voided."""
    keys = (_FIRST, *later)
    begin = max((n for n, key in enumerate(keys) if key.voids_earlier), default=0)
    return keys[begin:]


def _source(key: SigningKey) -> tuple[int, int]:
    """Return the version and the data key from which a key is derived."""
    return key.version, key.data_key


def _derive(keys: DataKeys, version: int, data_key: int) -> KeyPair:
    secret = keys.derive("oauth signing", version, data_key=data_key)
    return key_pair(secret)


def key_pair(secret: bytes) -> KeyPair:
    """Return the key pair of a private key of 32 bytes."""
    private = Ed25519PrivateKey.from_private_bytes(secret)
    public = encode_base64url(private.public_key().public_bytes_raw())
    id_ = make_thumbprint({"kty": "OKP", "crv": "Ed25519", "x": public})
    return KeyPair(id_, public, private)
