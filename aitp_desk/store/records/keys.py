"""Defines credentials and data keys as stored."""

from __future__ import annotations

from typing import Literal

import msgspec

KeyKind = Literal["api_key", "hmac"]
"""What a key is for: an API key is sent, an HMAC key signs requests and is never sent."""


class WrappedKey(msgspec.Struct, frozen=True):
    """A data key, wrapped by a master key.

    Parameters:
        version: of the data key, from 1.
        master: fingerprint of the master key.
        wrapped: the wrapped key; useless without the master key.
        made_at: Unix seconds.
    """

    version: int
    master: str
    wrapped: bytes
    made_at: int


class FormerSecret(msgspec.Struct, frozen=True):
    """The previous secret of a key after a rotation.

    Parameters:
        hash: keyed hash of the secret; empty of an HMAC key, whose former version was one less.
        data_key: version of the data key that it is derived from.
        until: Unix seconds until which it stays valid.
    """

    hash: bytes
    data_key: int
    until: int


class Credential(msgspec.Struct, frozen=True):
    """A key or an OAuth client as stored.

    Parameters:
        id: its public part.
        name: as its maker chose it; no two live ones of one kind that the owner made share one.
        hash: keyed hash of the secret; empty for an HMAC key, of which nothing secret is stored.
        scopes: its scopes; of a client, the maximum that its tokens may have.
        created_at: Unix seconds, as are the other times.
        version: raised with every new secret.
        data_key: version of the data key that the hash is keyed by, or the secret comes from.
        expires_at: when it expires; None for never.
        former: the previous secret, if there was one.
    """

    id: str
    name: str
    hash: bytes
    scopes: tuple[str, ...]
    created_at: int
    revoked_at: int | None = None
    version: int = 1
    data_key: int = 1
    expires_at: int | None = None
    former: FormerSecret | None = None

    def is_live(self, now: float) -> bool:
        """Return whether it is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def former_at(self, now: float) -> FormerSecret | None:
        """Return the previous secret while it is still valid."""
        former = self.former
        return former if former is not None and now < former.until else None


class Key(Credential, frozen=True):
    """A key that is sent with requests, or signs them.

    Parameters:
        used_at: when it was last used, recorded at most once a minute.
    """

    kind: KeyKind = "api_key"
    used_at: int | None = None


class ConsoleSession(msgspec.Struct, frozen=True):
    """A session of the operator console, as stored.

    Parameters:
        hash: keyed hash of the cookie's secret.
        key_id: of the API key by which it was opened.
        key_hash: keyed hash of the secret that this key had then; the session ends with it.
        created_at, expires_at: Unix seconds.
    """

    hash: bytes
    key_id: str
    key_hash: bytes
    created_at: int
    expires_at: int


class KeyReset(msgspec.Struct, frozen=True):
    """What was revoked and deleted with a lost master key.

    Parameters:
        keys: how many API keys and HMAC keys were revoked.
        clients: how many OAuth clients were revoked.
        links: how many links that share threads were deleted.
        rows: how many rows of the audit log were deleted.
        sealed: how many sealed values were deleted.
    """

    keys: int
    clients: int
    links: int
    rows: int
    sealed: int
