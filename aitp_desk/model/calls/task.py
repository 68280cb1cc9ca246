"""Tasks: what a caller has asked to be done, as protocols of tasks follow it to its end.

A task is a name of its own for one or several turns of a conversation: what was asked, and what
came of it. It is not over while the desk waits for its caller; the next message then belongs to the
same task.

Source: A2A 1.0, section 4.1 (Task, TaskState).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

import msgspec

from aitp_desk.model.calls.open_request import OpenRequest
from aitp_desk.model.calls.payment import PaymentTerms
from aitp_desk.model.conversation.thread import Message

TASK_PREFIX = "task"
PUSH_PREFIX = "push"
MAX_PUSHES = 10
"""How many addresses may be told of one task."""


class TaskState(Enum):
    """Where a task stands."""

    SUBMITTED = "submitted"
    WORKING = "working"
    INPUT_REQUIRED = "input-required"
    AUTH_REQUIRED = "auth-required"
    COMPLETED = "completed"
    CANCELED = "canceled"
    FAILED = "failed"
    REJECTED = "rejected"

    @property
    def is_over(self) -> bool:
        """Whether nothing more can come of it."""
        return self in _OVER

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing happens until its caller does something, if anything ever does."""
        return self not in (TaskState.SUBMITTED, TaskState.WORKING)


_OVER = frozenset({TaskState.COMPLETED, TaskState.CANCELED, TaskState.FAILED, TaskState.REJECTED})


class Result(msgspec.Struct, frozen=True):
    """What came of a task, or is asked of its caller.

    Parameters:
        texts: in words.
        data: the same as JSON has it; None where there is none.
        waiting: what waits for an answer of its caller's, where that is asked.
        terms: how it is paid, where that is asked.
        refused: why a payment does not pay that its caller has sent; empty where none was.
        receipt: what whoever has paid is told; empty for nothing.
    """

    texts: tuple[str, ...]
    data: Any = None
    waiting: tuple[OpenRequest, ...] = ()
    terms: PaymentTerms | None = None
    refused: str = ""
    receipt: Mapping[str, Any] = {}


class TaskUtterance(msgspec.Struct, frozen=True):
    """What was said in a task.

    Parameters:
        message: as it stands on the thread; None for a call that was asked for by its arguments.
        asked: that call, as its caller wrote it.
    """

    message: Message | None = None
    asked: Mapping[str, Any] | None = None

    @property
    def size(self) -> int:
        """How many bytes it has as JSON, about."""
        said = self.asked if self.message is None else self.message.content
        return len(msgspec.json.encode(said))


class Task(msgspec.Struct, frozen=True):
    """A task as it stands.

    Parameters:
        id: ``task_…``.
        thread_id: the thread that it belongs to.
        context: the conversation, as callers of such protocols name it.
        changed_at: Unix seconds of its last step.
        history: what was said before, the oldest first.
        asks: what its caller is told of how it stands; None for nothing.
        result: what it has given; None where it is not completed.
        run_id: the newest run that works on it; None for none.
        call_id: the call of an action that it is; None for none.
        waits_for_people: whether it goes on only when a person of the site does something.
    """

    id: str
    thread_id: str
    context: str
    state: TaskState
    created_at: int
    changed_at: int
    history: tuple[TaskUtterance, ...] = ()
    asks: Result | None = None
    result: Result | None = None
    run_id: str | None = None
    call_id: str | None = None
    waits_for_people: bool = False

    @property
    def has_messages(self) -> bool:
        """Whether something was said for it on its thread."""
        return any(told.message is not None for told in self.history)

    @property
    def size(self) -> int:
        """How many bytes it has as JSON, about."""
        given = [(one.texts, one.data) for one in (self.asks, self.result) if one is not None]
        return sum(told.size for told in self.history) + len(msgspec.json.encode(given))


class Push(msgspec.Struct, frozen=True):
    """An address that is told how a task goes on.

    Parameters:
        id: names it within its task; its caller may choose it.
        token: sent along, so that the receiver knows for what it is told.
        scheme, credentials: for the ``Authorization`` header that its receiver asks for.
        version: the version of the protocol in which it is told.
    """

    id: str
    task_id: str
    url: str
    token: str = ""
    scheme: str = ""
    credentials: str = ""
    version: str = ""
