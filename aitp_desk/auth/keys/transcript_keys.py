"""The keys that sign transcripts, and their publication, which is permanent.

A transcript may be shown years later. A key that has signed one stays published after its
replacement, and after a loss of the master key: the store keeps the public halves. The private
halves are derived from a data key and never stored. A further data key brings a further transcript
key. A compromised key is withdrawn: it stays published, marked as such.

Sources: RFC 7517 (JWK Set), RFC 8037 (Ed25519); ``exp`` and ``revoked`` of a key as in OpenID
Federation 1.0, section 8.7 (historical keys), ``nbf`` as its counterpart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from aitp_desk.auth.jwt.jwk import make_thumbprint
from aitp_desk.auth.jwt.signing_keys import KeyPair, key_pair
from aitp_desk.auth.keys.data_keys import DataKeys
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.model.strict_json import decode_json
from aitp_desk.store.base import Store
from aitp_desk.store.reads import transcripts as transcript_reads
from aitp_desk.store.records.transcripts import StoredKey
from aitp_desk.store.units.privacy.transcripts import keep_transcript_key

_LEEWAY = 300
"""Seconds by which a clock may have been adjusted."""


class PublishedKey(msgspec.Struct, frozen=True):
    """The public half of a key.

    Parameters:
        id: its thumbprint (RFC 7638).
        public: 32 bytes in base64url.
        signs_from: Unix seconds, as are the other times.
        signs_until: when it was replaced; None while it signs.
        withdrawn_at: when it was found to be compromised; None if it was not.
    """

    id: str
    public: str
    signs_from: int
    signs_until: int | None = None
    withdrawn_at: int | None = None

    def is_of(self, time: int) -> bool:
        """Return whether it was in use at a time, with a tolerance for clocks."""
        ends = self.signs_until
        return self.signs_from - _LEEWAY <= time and (ends is None or time <= ends + _LEEWAY)

    def jwk(self) -> dict[str, str]:
        """Return the bare key as a JWK."""
        return {"kty": "OKP", "crv": "Ed25519", "x": self.public}


class TranscriptKeys:
    """The keys of a desk's transcripts."""

    def __init__(self, keys: DataKeys) -> None:
        self._pair = key_pair(keys.derive("transcript signing", data_key=keys.newest))

    async def get_current(self, store: Store, now: int) -> KeyPair:
        """Return the key that signs, once it is published.

        Parameters:
            now: Unix seconds.
        """
        await self.list_published(store, now)
        return self._pair

    async def list_published(self, store: Store, now: int) -> tuple[PublishedKey, ...]:
        """Return all keys that have ever signed, the oldest first.

        Parameters:
            now: as for :meth:`get_current`.
        """
        kept = await transcript_reads.keys(store)
        if not any(self._signs(key, now) for key in kept):
            kept = await store.run(
                keep_transcript_key, id_=self._pair.id, public=self._pair.public, now=now
            )
        return tuple(map(_published, kept))

    def _signs(self, key: StoredKey, now: int) -> bool:
        return key.id == self._pair.id and key.signs_until is None and key.signs_from <= now


def write_keys(keys: Sequence[PublishedKey]) -> bytes:
    """Encode keys as a JWK Set."""
    return msgspec.json.encode({"keys": list(map(_jwk, keys))})


def read_keys(body: bytes) -> tuple[PublishedKey, ...]:
    """Decode a JWK Set; keys of other types are skipped.

    Raises:
        InvalidRequest: it is not a JWK Set.
    """
    read = decode_json(body)
    listed = read.get("keys") if isinstance(read, dict) else None
    if not isinstance(listed, list):
        raise InvalidRequest("It is not a JWK Set: an object with a list of keys.")
    try:
        return tuple(_read(key) for key in listed if isinstance(key, dict) and _is_ours(key))
    except msgspec.ValidationError as error:
        raise InvalidRequest(f"A key of it cannot be read: {error}.") from None


def _published(kept: StoredKey) -> PublishedKey:
    return PublishedKey(**msgspec.structs.asdict(kept))


def _jwk(key: PublishedKey) -> dict[str, Any]:
    told: dict[str, Any] = {
        **key.jwk(),
        "kid": key.id,
        "use": "sig",
        "alg": "EdDSA",
        "nbf": key.signs_from,
    }
    if key.signs_until is not None:
        told["exp"] = key.signs_until
    if key.withdrawn_at is not None:
        told["revoked"] = {"revoked_at": key.withdrawn_at, "reason": "compromised"}
    return told


def _is_ours(jwk: dict[str, Any]) -> bool:
    return (jwk.get("kty"), jwk.get("crv")) == ("OKP", "Ed25519") and isinstance(jwk.get("x"), str)


class _Revoked(msgspec.Struct):
    revoked_at: int


class _Jwk(msgspec.Struct):
    x: str
    nbf: int = 0
    exp: int | None = None
    revoked: _Revoked | None = None


def _read(jwk: dict[str, Any]) -> PublishedKey:
    read = msgspec.convert(jwk, _Jwk)
    id_ = make_thumbprint(jwk)
    withdrawn = None if read.revoked is None else read.revoked.revoked_at
    return PublishedKey(id_, read.x, read.nbf, read.exp, withdrawn)
