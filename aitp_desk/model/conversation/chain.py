"""The proof that a thread's record is unchanged: a chain of message digests.

Each message has a salted digest and a link.

    digest = SHA-256(DIGEST_PREFIX ‖ salt ‖ canonical JSON of the message)
    link   = SHA-256(LINK_PREFIX ‖ the previous message's link ‖ digest)

The first message's previous link is 32 zero bytes. Canonical JSON is RFC 8785 over ``{v, thread,
seq, role, actor, created_at, content, attachments}``; metadata is not included, so that it may
change. Deleting a message drops its content and its salt: the digest then reveals nothing, and the
chain stays valid.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import msgspec

from aitp_desk.model.conversation.thread import Attachment
from aitp_desk.model.randomness import random_piece

VERSION = 1
SALT_BYTES = 16
DIGEST_PREFIX = b"aitp-desk message 1\x00"
LINK_PREFIX = b"aitp-desk link 1\x00"
FIRST_LINK = bytes(32)

# RFC 8785 over these values is sorted keys, no white space, minimal escapes: strings, integers up
# to 2**53 and lists only. A property test compares it with an independent implementation.
canonical_json = msgspec.json.Encoder(order="sorted").encode


def new_salt() -> bytes:
    """Return 16 random bytes for the digest of one message."""
    return random_piece()[:SALT_BYTES]


def canonical(
    *,
    thread: str,
    seq: int,
    role: str,
    actor: str,
    created_at: int,
    content: Sequence[str],
    attachments: Sequence[Attachment],
) -> bytes:
    """Return the canonical JSON of one message, the bytes that are digested."""
    return canonical_json(
        {
            "v": VERSION,
            "thread": thread,
            "seq": seq,
            "role": role,
            "actor": actor,
            "created_at": created_at,
            "content": content,
            "attachments": attachments,
        }
    )


def digest_message(salt: bytes, said: bytes) -> bytes:
    """Digest the result of :func:`canonical`, under a salt of 16 random bytes."""
    return hashlib.sha256(DIGEST_PREFIX + salt + said).digest()


def next_link(previous: bytes, digest: bytes) -> bytes:
    """Link a message's digest to all earlier messages on its thread."""
    return hashlib.sha256(LINK_PREFIX + previous + digest).digest()
