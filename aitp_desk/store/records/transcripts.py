"""Defines transcript keys and countersignatures as stored."""

from __future__ import annotations

import msgspec


class StoredKey(msgspec.Struct, frozen=True):
    """A key that signs transcripts or has signed some: its public half.

    Parameters:
        id: its thumbprint.
        public: in base64url.
        signs_from, signs_until, withdrawn_at: Unix seconds; None if that has not happened.
    """

    id: str
    public: str
    signs_from: int
    signs_until: int | None
    withdrawn_at: int | None


class StoredCountersignature(msgspec.Struct, frozen=True):
    """Another party's signature of a thread's head, one for each key.

    Parameters:
        key: the thumbprint of that key.
        site: the address in the head; empty for the present one.
        seq, link: of the head.
        jws: as received.
        actor: the actor on the thread that submitted it.
        made_at: Unix seconds.
    """

    key: str
    site: str
    seq: int
    link: bytes
    jws: str
    actor: str
    made_at: int


class ProvenMessage(msgspec.Struct, frozen=True):
    """A message with the inputs of its proof.

    A deleted one has only the digest and the link.

    Parameters:
        content, attachments: stored JSON; None, as ``salt``, for a deleted one.
    """

    seq: int
    role: str
    actor: str
    created_at: int
    content: str | None
    attachments: str | None
    salt: bytes | None
    digest: bytes
    link: bytes
