"""What is kept for transcripts: the public keys that have signed some, and others' signatures."""

from __future__ import annotations

import msgspec


class KeptKey(msgspec.Struct, frozen=True):
    """A key that signs transcripts or has signed some, as it is kept: its public half.

    Parameters:
        id: its thumbprint.
        public: in base64url.
        signs_from, signs_until, withdrawn_at: Unix seconds; None where that has not come.
    """

    id: str
    public: str
    signs_from: int
    signs_until: int | None
    withdrawn_at: int | None


class KeptCountersignature(msgspec.Struct, frozen=True):
    """Another party's signature of a thread's head, as it is kept: one of each key.

    Parameters:
        key: the thumbprint of that key.
        site: the address in the head; empty for the present one.
        seq, link: of the head.
        jws: as it came.
        actor: as whom whoever brought it speaks on the thread.
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
    """A message with what its proof needs; of a deleted one only the digest and the link.

    Parameters:
        content, attachments: JSON as it is kept, as ``salt`` None of a deleted one.
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
