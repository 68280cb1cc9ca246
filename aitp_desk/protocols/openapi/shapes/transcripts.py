"""Transcripts of threads, and others' signatures of them."""

from __future__ import annotations

from typing import Literal

import msgspec

from aitp_desk.model.conversation.transcript import Document


class Transcript(Document, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was said on a thread, with the desk's signature and a proof for each message."""


class HeadSignatureDraft(msgspec.Struct):
    """A signature of where a thread stood: a JWS with detached content."""

    seq: int
    jws: str


class HeadSignature(msgspec.Struct):
    """A signature of where a thread stood, as it is kept."""

    object: Literal["thread.transcript.signature"]
    site: str
    seq: int
    link: str
    jws: str
    actor: str
    time: int
