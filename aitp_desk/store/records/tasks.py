"""Defines tasks as units of work take them and reads return them."""

from __future__ import annotations

import msgspec

from aitp_desk.model.conversation.thread import Thread


class NewTask(msgspec.Struct, frozen=True):
    """A new task.

    Parameters:
        context: the caller's id of the conversation.
        owner: id of the owning principal; None for an anonymous one.
    """

    id: str
    desk: str
    thread_id: str
    context: str
    owner: str | None


class NewContext(msgspec.Struct, frozen=True):
    """A conversation that begins with a task.

    Parameters:
        speaker: the actor stamped on its opener's messages.
    """

    thread: Thread
    speaker: str


class NewTurn(msgspec.Struct, frozen=True):
    """A turn of a task.

    Parameters:
        message_id: its message on the thread.
        run_id: the run that answers it; None if none does.
        call_id: the requested call.
        asked: JSON of a call that was requested by its arguments.
        said: JSON of the result, if a run or a call does not provide it.
        principal: id of the caller who sent it; None for an anonymous one.
    """

    message_id: str | None = None
    run_id: str | None = None
    call_id: str | None = None
    asked: str | None = None
    said: str | None = None
    principal: str | None = None


class NewPush(msgspec.Struct, frozen=True):
    """A push notification configuration of a task.

    Parameters:
        sealed: the credentials that authenticate the desk to the receiver.
        principal: id of who set it.
        asked_by: JSON of that principal and of the credential; None for an anonymous one.
    """

    id: str
    task_id: str
    url: str
    sealed: bytes
    version: str
    principal: str | None
    asked_by: str | None = None


class StoredTask(msgspec.Struct, frozen=True):
    """A task as stored; times are Unix seconds."""

    id: str
    desk: str
    thread_id: str
    context: str
    created_at: int
    changed_at: int


class StoredTurn(msgspec.Struct, frozen=True):
    """A turn of a task as stored, see :class:`NewTurn`."""

    n: int
    message_id: str | None
    run_id: str | None
    call_id: str | None
    asked: str | None
    said: str | None
    created_at: int
    principal: str | None = None


class StoredPush(msgspec.Struct, frozen=True):
    """A push notification configuration as stored, see :class:`NewPush`.

    Parameters:
        created_at: Unix seconds; when it was set.
    """

    id: str
    task_id: str
    url: str
    sealed: bytes
    version: str
    principal: str | None
    asked_by: str | None
    created_at: int
