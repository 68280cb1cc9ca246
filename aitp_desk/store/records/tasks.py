"""What is kept of tasks, as units of work are given it and reads return it: plain frozen values."""

from __future__ import annotations

import msgspec

from aitp_desk.model.conversation.thread import Thread


class NewTask(msgspec.Struct, frozen=True):
    """A task that is begun.

    Parameters:
        context: what its caller calls the conversation.
        owner: id of the principal whose it is; None of an anonymous one.
    """

    id: str
    desk: str
    thread_id: str
    context: str
    owner: str | None


class NewContext(msgspec.Struct, frozen=True):
    """A conversation that a task begins.

    Parameters:
        speaker: the actor stamped on its opener's messages.
    """

    thread: Thread
    speaker: str


class NewTurn(msgspec.Struct, frozen=True):
    """A turn of a task.

    Parameters:
        message_id: what was said for it on the thread.
        run_id: what answers that; None where nothing does.
        call_id: the call that was asked for.
        asked: JSON of what was asked for by its arguments.
        said: JSON of what came of it, where a run or a call does not tell that.
        principal: id of the caller who sent it; None of an anonymous one.
    """

    message_id: str | None = None
    run_id: str | None = None
    call_id: str | None = None
    asked: str | None = None
    said: str | None = None
    principal: str | None = None


class NewPush(msgspec.Struct, frozen=True):
    """An address that is to be told of a task.

    Parameters:
        sealed: what proves to its receiver who tells it.
        principal: id of who asked for it.
        asked_by: JSON of that principal and of the credential; None of an anonymous one.
    """

    id: str
    task_id: str
    url: str
    sealed: bytes
    version: str
    principal: str | None
    asked_by: str | None = None


class KeptTask(msgspec.Struct, frozen=True):
    """A task as it is kept; times are Unix seconds."""

    id: str
    desk: str
    thread_id: str
    context: str
    created_at: int
    changed_at: int


class KeptTurn(msgspec.Struct, frozen=True):
    """A turn of a task as it is kept, see :class:`NewTurn`."""

    n: int
    message_id: str | None
    run_id: str | None
    call_id: str | None
    asked: str | None
    said: str | None
    created_at: int
    principal: str | None = None


class KeptPush(msgspec.Struct, frozen=True):
    """An address that is told of a task, as it is kept, see :class:`NewPush`.

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
