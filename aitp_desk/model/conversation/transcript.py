"""The transcript of a thread, in a form that needs no desk to verify.

A transcript has three members. ``messages`` are the thread's, each with the inputs of its digest
and link (``chain.py``); an erased one has only its digest and its link. ``statement`` is the desk's
signed statement about them: the head of the chain, the time, the participants, the erased
messages, and the other parties that have signed a head. ``signature`` is the desk's, over
the statement. Other members are not allowed and none may be missing, so everything in a transcript
is proven.

The signed form is RFC 8785 JSON: the desk signs the statement, others a head alone.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec

from aitp_desk.model.conversation.chain import canonical_json
from aitp_desk.model.conversation.thread import Role

KEYS_PATH: Final = "/.well-known/aitp-transcript-keys.json"
"""Where a site publishes its current and former transcript keys."""
MAX_COUNTERSIGNATURES = 20
"""Maximum number of keys whose signatures a thread keeps."""

Count = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]
"""A number that RFC 8785 writes in only one way."""


class Head(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The head of a thread's chain: one value that covers all messages before.

    Parameters:
        site: the address of the desk that keeps the thread.
        thread: its id.
        seq: number of the newest message; 0 for none.
        link: its link, in base64url.
        v: version of this form.
    """

    site: str
    thread: str
    seq: Count
    link: str
    v: Literal[1]


class Countersignature(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Another party's signature of a head of the thread, as reported by the desk.

    Parameters:
        site: the address of the desk in the head; the desk may have moved since.
        seq, link: of the head.
        jws: the signature with its public key; see ``auth/keys/transcripts.py``.
        actor: the actor of the caller that sent it, verified by the desk.
        time: Unix seconds at which the desk accepted it.
    """

    site: str
    seq: Count
    link: str
    jws: str
    actor: str
    time: Count


class Statement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The desk's statement about a thread.

    Parameters:
        head: the head of the chain, as far as the reader may read.
        actors: ids of the participants, the desk's own first.
        opened_at: Unix seconds.
        time: Unix seconds of the statement.
        keys: where the desk publishes its keys.
        erased: numbers of the messages that were erased by then, ascending. Otherwise a holder of
            the file could replace a message by a tombstone.
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
    """A file attached to a message; its content is not part of the proof."""

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
    """The rest of an erased message: its place in the chain, without content."""

    seq: Count
    digest: str
    link: str


class Document(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A transcript when it is read back.

    Parameters:
        signature: of the desk; see ``auth/keys/transcripts.py``.
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
