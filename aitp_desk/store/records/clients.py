"""Defines OAuth clients and signing keys as stored."""

from __future__ import annotations

import msgspec

from aitp_desk.store.records.keys import FormerSecret


class Client(msgspec.Struct, frozen=True):
    """A program that gets access tokens with an id and a secret.

    Source: RFC 6749, section 2.

    Parameters:
        id: public; 16 hexadecimal digits.
        name: as its maker chose it. No two live ones that the owner made share one.
        data_key: the version of the data key that the hash is keyed by.
        hash: keyed hash of the secret.
        scopes: the maximum that its tokens may have.
        is_registered: whether it registered itself (RFC 7591); else the owner made it.
        created_at: Unix seconds, as are ``expires_at``, None for never, and ``revoked_at``.
        former: the previous secret, if there was one.
        version: raised with every new secret.
    """

    id: str
    name: str
    data_key: int
    hash: bytes
    scopes: tuple[str, ...]
    is_registered: bool
    created_at: int
    expires_at: int | None = None
    revoked_at: int | None = None
    former: FormerSecret | None = None
    version: int = 1

    def is_live(self, now: float) -> bool:
        """Return whether it may get tokens, and its tokens may be used."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def former_at(self, now: float) -> FormerSecret | None:
        """Return the previous secret while it is still valid."""
        former = self.former
        return former if former is not None and now < former.until else None


class SigningKey(msgspec.Struct, frozen=True):
    """The times of a signing key. The key itself is derived and not stored.

    Parameters:
        version: from 2 on; the first key has no row.
        made_at: Unix seconds, as is ``signs_from``.
        signs_from: until then it is only published.
        data_key: the version of the data key that it is derived from.
        voids_earlier: whether the keys before it are void.
    """

    version: int
    made_at: int
    signs_from: int
    data_key: int = 1
    voids_earlier: bool = False
