"""Threads, what is said on them and who takes part."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from aitp_desk.model.conversation.run import RunState


class Attachment(msgspec.Struct):
    """A file that is attached to a message."""

    file_id: str
    tools: list[dict[str, str]] = []


class RunFailure(msgspec.Struct):
    """Why a run failed."""

    code: str
    message: str | None


class RunFollowed(msgspec.Struct):
    """The run that was waited for (Prefer)."""

    id: str
    object: Literal["thread.run"]
    thread_id: str
    status: RunState
    created_at: int
    last_error: RunFailure | None


class Message(msgspec.Struct):
    """A message of a thread. With OpenAI-Beta, content holds objects.

    Where its sender preferred to wait it has run and replies.
    """

    id: str
    object: Literal["thread.message"]
    created_at: int
    thread_id: str
    role: str
    content: list[str | dict[str, Any]]
    metadata: dict[str, str]
    attachments: list[Attachment]
    run_id: str | None
    status: str = "completed"
    assistant_id: str | None = None
    completed_at: int | None = None
    incomplete_at: int | None = None
    incomplete_details: dict[str, str] | None = None
    run: RunFollowed | None = None
    replies: list[Message] = []


class MessageDraft(msgspec.Struct):
    """What is said on a thread."""

    content: str | list[str | dict[str, Any]]
    role: str = "user"
    attachments: list[Attachment] | None = None
    metadata: dict[str, str] | None = None


class Capability(msgspec.Struct):
    """A family of structured messages that an actor understands."""

    schema: str


class Actor(msgspec.Struct):
    """Somebody who takes part in a thread."""

    id: str
    capabilities: list[Capability]


class ActorDraft(msgspec.Struct):
    """An actor that joins a thread."""

    id: str
    capabilities: list[str | dict[str, Any]] | None = None
    principal: str | None = None


class OpenRequest(msgspec.Struct):
    """Something that waits for an answer on a thread: in words, and as a form.

    An object that fits the form is sent by POST to answer_at.
    """

    object: Literal["thread.request"]
    id: str
    capability: str
    text: str
    form: dict[str, Any]
    answer_at: str
    asked_by: str
    actor: str | None
    open_until: str
    may_answer: bool


class Thread(msgspec.Struct):
    """A thread with its newest messages. Those are left out with OpenAI-Beta.

    Where its opener preferred to wait it has run and replies.
    """

    id: str
    object: Literal["thread"]
    created_at: int
    metadata: dict[str, Any]
    messages: list[Message] = []
    tool_resources: dict[str, Any] = {}
    run: RunFollowed | None = None
    replies: list[Message] = []


class ThreadDraft(msgspec.Struct):
    """A thread to be opened: what is said on it at once, and by whom."""

    messages: list[str | MessageDraft] | None = None
    metadata: dict[str, Any] | None = None


class Update(msgspec.Struct):
    """What changes; without metadata nothing does, and the object is read."""

    metadata: dict[str, Any] | None = None


class Grant(msgspec.Struct):
    """With whom a thread is shared. A new link's secret is told once."""

    id: str
    object: Literal["thread.grant"]
    thread_id: str
    created_at: int
    principal: str | None
    link: bool
    may: Literal["read", "write"]
    expires_at: int | None


class GrantDraft(msgspec.Struct):
    """With whom a thread is to be shared: a caller who is known, or by a link."""

    may: Literal["read", "write"]
    principal: str | None = None
    link: bool | None = None
    expires_at: int | None = None
    expires_in: int | None = None


class File(msgspec.Struct):
    """An uploaded file."""

    id: str
    object: Literal["file"]
    bytes: int
    created_at: int
    expires_at: int | None
    filename: str
    purpose: str


class DeletedReply(msgspec.Struct):
    """A reply of the desk to a message that was deleted."""

    id: str
    deleted: bool


class Deleted(msgspec.Struct):
    """What is no more; of a message with the desk's replies to it."""

    id: str
    object: str
    deleted: bool
    replies: list[DeletedReply] = []
