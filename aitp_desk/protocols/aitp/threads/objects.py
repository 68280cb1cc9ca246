"""Defines the JSON objects of threads, messages, participants and grants.

Source: AITP 0.1, Thread Specification, with the members of the OpenAI API's Threads. The wire
modules encode them, and the OpenAPI document describes them under their names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from aitp_desk.model.calls.open_request import Rejected
from aitp_desk.model.conversation.feedback import LONGEST_REASON, Rating
from aitp_desk.model.conversation.run import RunState
from aitp_desk.model.conversation.ticket import LONGEST_CONTACT
from aitp_desk.protocols.base.open_requests_wire import OpenRequestObject


class AttachmentTool(msgspec.Struct):
    """A tool that an attached file is meant for."""

    type: str


class Attachment(msgspec.Struct):
    """A file that is attached to a message."""

    file_id: str
    tools: Sequence[AttachmentTool] = ()


class TextValue(msgspec.Struct):
    """A text, and its annotations: always none."""

    value: str
    annotations: Sequence[Any] = ()


class TextBlock(msgspec.Struct, tag_field="type", tag="text"):
    """A part of a message, with OpenAI-Beta."""

    text: TextValue


class RunFailure(msgspec.Struct):
    """Why a run failed."""

    code: str
    message: str | None


class RunFollowed(msgspec.Struct, tag_field="object", tag="thread.run"):
    """The run that was waited for (Prefer)."""

    id: str
    thread_id: str
    status: RunState
    created_at: int
    last_error: RunFailure | None


class Message(msgspec.Struct, tag_field="object", tag="thread.message", kw_only=True):
    """A message of a thread. With OpenAI-Beta, content holds objects.

    Where its sender preferred to wait it has run and replies.
    """

    id: str
    created_at: int
    thread_id: str
    status: Literal["in_progress", "completed"]
    role: str
    content: Sequence[str | TextBlock]
    attachments: Sequence[Attachment]
    metadata: dict[str, str]
    run_id: str | None
    assistant_id: str | UnsetType | None = UNSET
    completed_at: int | UnsetType | None = UNSET
    incomplete_at: int | UnsetType | None = UNSET
    incomplete_details: dict[str, str] | UnsetType | None = UNSET
    run: RunFollowed | UnsetType | None = UNSET
    replies: Sequence[Message] | UnsetType = UNSET


class AttachmentDraft(msgspec.Struct):
    """A file to be attached to a message."""

    file_id: str
    tools: Sequence[AttachmentTool] | None = None


class MessageDraft(msgspec.Struct):
    """A message to be sent on a thread."""

    content: str | list[str | dict[str, Any]]
    role: str = "user"
    attachments: list[AttachmentDraft] | None = None
    metadata: dict[str, str] | None = None


class Capability(msgspec.Struct):
    """A family of structured messages that an actor understands."""

    schema: str


class ThreadActor(msgspec.Struct):
    """A participant, in the metadata of its thread."""

    id: str
    capabilities: Sequence[Capability]


class Actor(ThreadActor, tag_field="object", tag="thread.actor"):
    """A participant of a thread."""


class ActorDraft(msgspec.Struct):
    """An actor that joins a thread."""

    id: str
    capabilities: list[str | dict[str, Any]] | None = None
    principal: str | None = None


class OpenRequest(OpenRequestObject, tag_field="object", tag="thread.request", kw_only=True):
    """A request that waits for an answer on a thread: as text, and as a form.

    An object that fits the form is sent by POST to answer_at.
    """

    answer_at: str
    asked_by: str
    actor: str | None
    may_answer: bool
    rejected_answers: Sequence[Rejected]


class Thread(msgspec.Struct, tag_field="object", tag="thread", kw_only=True):
    """A thread with its newest messages. Those are left out with OpenAI-Beta.

    Read by GET it has the ratings of these messages, if there are any. Where its opener preferred
    to wait it has run and replies.
    """

    id: str
    created_at: int
    messages: Sequence[Message] | UnsetType = UNSET
    ratings: Sequence[RatingChange] | UnsetType = UNSET
    metadata: dict[str, Any]
    tool_resources: dict[str, Any] | UnsetType = UNSET
    run: RunFollowed | UnsetType | None = UNSET
    replies: Sequence[Message] | UnsetType = UNSET


class ThreadDraft(msgspec.Struct):
    """A thread to be opened, with its first messages."""

    messages: list[str | MessageDraft] | None = None
    metadata: dict[str, Any] | None = None
    actors: list[str | ActorDraft] | None = None


class Update(msgspec.Struct):
    """The new metadata; without it nothing changes, and the object is read."""

    metadata: dict[str, Any] | None = None


class Grant(msgspec.Struct, tag_field="object", tag="thread.grant", kw_only=True):
    """With whom a thread is shared. Only the reply to a new link has its secret."""

    id: str
    thread_id: str
    created_at: int
    principal: str | None
    link: bool
    may: Literal["read", "write"]
    expires_at: int | None
    secret: str | UnsetType = UNSET


class GrantDraft(msgspec.Struct):
    """With whom a thread is to be shared: a known caller, or by a link."""

    may: Literal["read", "write"]
    principal: str | None = None
    link: bool = False
    expires_at: int | None = None
    expires_in: int | None = None


class Feedback(msgspec.Struct, tag_field="object", tag="thread.message.feedback"):
    """What the caller thinks of a message of the site."""

    id: str
    thread_id: str
    rating: Rating | None
    reason: str | None


class FeedbackDraft(msgspec.Struct):
    """What a caller thinks of a message; null takes it back."""

    rating: Rating | None
    reason: Annotated[str, Meta(max_length=LONGEST_REASON)] | None = None


class Contact(msgspec.Struct, tag_field="object", tag="thread.contact"):
    """Where a visitor who waits for a person wants the answer too."""

    thread_id: str
    email: str | None


class ContactDraft(msgspec.Struct):
    """An email address; null takes it back."""

    email: Annotated[str, Meta(max_length=LONGEST_CONTACT)] | None


class RatingChange(msgspec.Struct, tag_field="object", tag="thread.message.feedback"):
    """How many people have rated a message."""

    id: str
    up: int
    down: int


OBJECTS: tuple[type[msgspec.Struct], ...] = (
    Message,
    MessageDraft,
    Actor,
    ActorDraft,
    OpenRequest,
    Thread,
    ThreadDraft,
    Update,
    Grant,
    GrantDraft,
    Feedback,
    FeedbackDraft,
    Contact,
    ContactDraft,
)
"""The bodies of requests and responses; what they contain follows from them."""
