"""Defines the JSON objects that are not of one thread: files, agents, pages, refusals.

Source: the OpenAI API. The wire modules encode them, and the OpenAPI document describes them under
their names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from aitp_desk.model.conversation.transcript import Document
from aitp_desk.model.errors import Recovery
from aitp_desk.model.money import Money
from aitp_desk.protocols.base.payments.objects import HowToPay


class ListPage(msgspec.Struct, tag_field="object", tag="list", kw_only=True):
    """A page of a list."""

    data: Sequence[Any]
    first_id: str | None
    last_id: str | None
    has_more: bool


class DeletedReply(msgspec.Struct):
    """A reply of the desk to a message that was deleted."""

    id: str
    deleted: bool


class Deleted(msgspec.Struct):
    """The deleted object; of a message with the desk's replies to it."""

    id: str
    object: str
    deleted: bool
    replies: Sequence[DeletedReply] | UnsetType = UNSET


class File(msgspec.Struct, tag_field="object", tag="file", kw_only=True):
    """An uploaded file."""

    id: str
    bytes: int
    created_at: int
    expires_at: int | None
    filename: str
    purpose: str
    status: Literal["processed"]
    status_details: str | None


class Sealed(msgspec.Struct, tag_field="object", tag="sealed"):
    """A sealed value, for a caller that may read it."""

    id: str
    created_at: int
    thread_id: str | None
    value: str


class Assistant(msgspec.Struct, tag_field="object", tag="assistant", kw_only=True):
    """An agent of the site. Its instructions and tools stay private."""

    id: str
    created_at: int
    name: str | None
    description: str | None
    model: str
    instructions: str | None
    tools: Sequence[Any]
    metadata: Mapping[str, str]


class Model(msgspec.Struct, tag_field="object", tag="model"):
    """The model that an agent answers with."""

    id: str
    created: int
    owned_by: str


class Transcript(Document, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A thread's messages with the desk's signature and a proof of each message."""


class HeadSignatureDraft(msgspec.Struct):
    """A signature of a thread's head: a JWS with detached content."""

    seq: int
    jws: str


class HeadSignature(
    msgspec.Struct, tag_field="object", tag="thread.transcript.signature", kw_only=True
):
    """A signature of a thread's head, as the desk keeps it."""

    site: str
    seq: int
    link: str
    jws: str
    actor: str
    time: int


class ErrorDetail(msgspec.Struct, kw_only=True):
    """An error: its text and its kind."""

    message: str
    type: str
    param: str | None
    code: str
    recovery: Recovery | UnsetType = UNSET
    price: Money | UnsetType | None = UNSET
    payment: HowToPay | UnsetType = UNSET


class Error(msgspec.Struct):
    """A refusal in the OpenAI API's form."""

    error: ErrorDetail


OBJECTS: tuple[type[msgspec.Struct], ...] = (
    ListPage,
    Deleted,
    File,
    Sealed,
    Assistant,
    Model,
    Transcript,
    HeadSignature,
    HeadSignatureDraft,
    Error,
)
"""The bodies of requests and responses; what they contain follows from them."""
