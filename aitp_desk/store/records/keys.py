"""What callers prove themselves with, and the data keys, as they are kept."""

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
        wrapped: of no use without it.
        made_at: Unix seconds.
    """

    version: int
    master: str
    wrapped: bytes
    made_at: int


class FormerSecret(msgspec.Struct, frozen=True):
    """What a key was before it was given another secret.

    Parameters:
        hash: keyed hash of the secret; empty of an HMAC key, whose former version was one less.
        data_key: version of the data key that it comes from.
        until: Unix seconds until which it goes on working.
    """

    hash: bytes
    data_key: int
    until: int


class Key(msgspec.Struct, frozen=True):
    """A key as it is kept.

    Parameters:
        id: the public part of the key.
        name: what its maker calls it; no two that were not revoked share one.
        hash: keyed hash of an API key; empty of an HMAC key, of which nothing secret is kept.
        scopes: what it opens.
        created_at: Unix seconds, as are the other times.
        version: raised with every new secret.
        data_key: version of the data key that the hash is keyed by, or the secret comes from.
        expires_at: when it ends; None for never.
        used_at: when it was last used, as far as it was noted: at most once a minute.
        former: the secret that it had before, while there was one.
    """

    id: str
    name: str
    hash: bytes
    scopes: tuple[str, ...]
    created_at: int
    revoked_at: int | None = None
    kind: KeyKind = "api_key"
    version: int = 1
    data_key: int = 1
    expires_at: int | None = None
    used_at: int | None = None
    former: FormerSecret | None = None

    def is_live(self, now: float) -> bool:
        """Whether it was neither revoked nor has ended."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def former_at(self, now: float) -> FormerSecret | None:
        """The secret that it had before, as long as that goes on working."""
        former = self.former
        return former if former is not None and now < former.until else None


class ConsoleSession(msgspec.Struct, frozen=True):
    """That somebody has signed in to the operators' pages, as it is kept.

    Parameters:
        hash: keyed hash of what the cookie holds.
        key_id: of the API key by which it was opened.
        key_hash: keyed hash of the secret that this key had then: with it the session ends.
        created_at, expires_at: Unix seconds.
    """

    hash: bytes
    key_id: str
    key_hash: bytes
    created_at: int
    expires_at: int


class KeyReset(msgspec.Struct, frozen=True):
    """What was given up with a master key that is lost.

    Parameters:
        keys: how many API keys and HMAC keys were revoked.
        clients: how many OAuth clients were.
        links: how many links were, by which threads were shared.
        rows: how many rows of the audit log were dropped.
        sealed: how many sealed values were.
    """

    keys: int
    clients: int
    links: int
    rows: int
    sealed: int
