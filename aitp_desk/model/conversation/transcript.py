"""The transcript of a thread: what was said, in a form whose proof needs no desk.

A transcript has three members. ``messages`` are the thread's, each with what its digest and link
are computed of (``chain.py``); of one that was erased its digest and its link are left.
``statement`` is what the desk says of them and signs: where the chain stood (the head), when, who
took part, which of them were erased, and who else has signed a head. ``signature`` is the desk's,
over the statement. Nothing else may stand in it, and nothing of it may be left out, so that
everything in it is proven.

What is signed is RFC 8785 JSON: of the desk the statement, of others a head alone.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec

from aitp_desk.model.conversation.chain import canonical_json
from aitp_desk.model.conversation.thread import Role

KEYS_PATH: Final = "/.well-known/aitp-transcript-keys.json"
"""Where a site publishes the keys of its transcripts, the former ones too."""
MAX_COUNTERSIGNATURES = 20
"""From how many keys a thread keeps a signature."""

Count = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]
"""A number that RFC 8785 writes in one way."""


class Head(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a thread's chain stood: the one value that stands for all that was said up to there.

    Parameters:
        site: the address of the desk that keeps the thread.
        thread: its id.
        seq: number of the newest message; 0 for none.
        link: its link, in base64url.
        v: of this form.
    """

    site: str
    thread: str
    seq: Count
    link: str
    v: Literal[1]


class Countersignature(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """That somebody else has signed a head of the thread, as the desk tells of it.

    Parameters:
        site: the address of the desk in the head, which may have become another since.
        seq, link: of the head.
        jws: the signature with its public key; see ``auth/transcripts.py``.
        actor: as whom whoever brought it speaks on the thread, which the desk has seen to.
        time: Unix seconds at which the desk took it.
    """

    site: str
    seq: Count
    link: str
    jws: str
    actor: str
    time: Count


class Statement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the desk says of a thread.

    Parameters:
        head: where the chain stood, or stands as far as the reader may read.
        actors: ids of those who take part, the desk's own first.
        opened_at: Unix seconds.
        time: Unix seconds of the statement.
        keys: where the desk publishes its keys.
        erased: numbers of the messages that were erased by then, rising. Whoever has the file could
            otherwise put a tombstone in the place of what was said.
        countersignatures: those of this head and of earlier ones.
    """

    head: Head
    actors: tuple[str, ...]
    opened_at: Count
    time: Count
    keys: str
    erased: tuple[Count, ...]
    countersignatures: tuple[Countersignature, ...]


class TranscriptFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file that goes with a message; what is in it is no part of the proof."""

    file_id: str
    tools: tuple[str, ...]


class Said(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="object",
    tag="message",
):
    """A message with its proof.

    Parameters:
        created_at: Unix seconds.
        salt, digest, link: as in ``chain.py``, in base64url.
    """

    seq: Count
    role: Role
    actor: str
    created_at: Count
    content: tuple[str, ...]
    attachments: tuple[TranscriptFile, ...]
    salt: str
    digest: str
    link: str


class Tombstone(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="object",
    tag="tombstone",
):
    """What is left of a message that was erased: its place in the chain, and nothing of it."""

    seq: Count
    digest: str
    link: str


class Document(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A transcript as it is read back.

    Parameters:
        signature: of the desk; see ``auth/transcripts.py``.
    """

    statement: Statement
    signature: str
    messages: tuple[Said | Tombstone, ...]


def canonical_statement(statement: Statement) -> bytes:
    """Return the bytes that the desk signs."""
    return canonical_json(statement)


def canonical_head(head: Head) -> bytes:
    """Return the bytes that others sign."""
    return canonical_json(head)
