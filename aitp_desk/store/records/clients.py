"""What is kept of OAuth clients and of signing keys: plain frozen values."""

from __future__ import annotations

import msgspec

from aitp_desk.store.records.keys import FormerSecret


class Client(msgspec.Struct, frozen=True):
    """A program that gets access tokens with an id and a secret (RFC 6749, section 2).

    Parameters:
        id: public; 16 hexadecimal digits.
        name: what its maker calls it. No two live ones that the owner made share one.
        data_key: the version of the data key that the hash is keyed by.
        hash: keyed hash of the secret.
        scopes: the most that its tokens may have.
        is_registered: whether it registered itself (RFC 7591); else the owner made it.
        created_at: Unix seconds, as are ``expires_at``, None for never, and ``revoked_at``.
        former: the secret that it had before, while there was one.
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
        """Whether it may have tokens, and those it has may be used."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def former_at(self, now: float) -> FormerSecret | None:
        """The secret that it had before, as long as that goes on working."""
        former = self.former
        return former if former is not None and now < former.until else None


class SigningKey(msgspec.Struct, frozen=True):
    """When a key came up. The key itself is derived and not kept.

    Parameters:
        version: from 2 on; the first key has no row.
        made_at: Unix seconds, as is ``signs_from``.
        signs_from: until then it is published only.
        data_key: the version of the data key that it is derived from.
        voids_earlier: whether the keys before it are none any more.
    """

    version: int
    made_at: int
    signs_from: int
    data_key: int = 1
    voids_earlier: bool = False
