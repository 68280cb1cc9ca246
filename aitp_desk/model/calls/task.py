"""Tasks: a caller's work items, as task-based protocols follow them.

A task names one or several turns of a conversation: the request, and its result. It is not over
while the desk waits for its caller; the next message then belongs to the same task.

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
"""Maximum number of push receivers of a task."""


class TaskState(Enum):
    """The state of a task."""

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
        """Whether the state is final."""
        return self in _OVER

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing happens until the caller acts, or ever."""
        return self not in (TaskState.SUBMITTED, TaskState.WORKING)


_OVER = frozenset({TaskState.COMPLETED, TaskState.CANCELED, TaskState.FAILED, TaskState.REJECTED})


class Result(msgspec.Struct, frozen=True):
    """The result of a task, or its question to the caller.

    Parameters:
        texts: as text.
        data: the same as JSON has it; None if there is none.
        waiting: the open requests to the caller, for a question.
        terms: how to pay, if payment is requested.
        refused: why the caller's payment was rejected; empty if there was none.
        receipt: the payer's receipt; empty for none.
        asked_person: id of the ticket that a person was asked by; empty if none was.
    """

    texts: tuple[str, ...]
    data: Any = None
    waiting: tuple[OpenRequest, ...] = ()
    terms: PaymentTerms | None = None
    refused: str = ""
    receipt: Mapping[str, Any] = {}
    asked_person: str = ""


class TaskUtterance(msgspec.Struct, frozen=True):
    """One item of a task's history.

    Parameters:
        message: as stored on the thread; None for a call that was requested by its arguments.
        asked: that call, as its caller wrote it.
    """

    message: Message | None = None
    asked: Mapping[str, Any] | None = None

    @property
    def size(self) -> int:
        """Approximate size as JSON, in bytes."""
        said = self.asked if self.message is None else self.message.content
        return len(msgspec.json.encode(said))


class Task(msgspec.Struct, frozen=True):
    """A task in its current state.

    Parameters:
        id: ``task_…``.
        thread_id: the thread that it belongs to.
        context: the conversation, as callers of such protocols name it.
        changed_at: Unix seconds of its last step.
        history: the earlier messages, oldest first.
        asks: the message to its caller about its state; None for none.
        result: its result; None if it is not completed.
        run_id: the newest run that works on it; None for none.
        call_id: the call of an action that it is; None for none.
        waits_for_people: whether it waits for an operator.
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
        """Whether it has messages on its thread."""
        return any(told.message is not None for told in self.history)

    @property
    def size(self) -> int:
        """Approximate size as JSON, in bytes."""
        given = [(one.texts, one.data) for one in (self.asks, self.result) if one is not None]
        return sum(told.size for told in self.history) + len(msgspec.json.encode(given))


class Push(msgspec.Struct, frozen=True):
    """A push receiver of a task.

    Parameters:
        id: names it within its task; its caller may choose it.
        token: sent along, so that the receiver can recognize the subscription.
        scheme, credentials: for the ``Authorization`` header that its receiver requires.
        version: the protocol version of the notifications.
    """

    id: str
    task_id: str
    url: str
    token: str = ""
    scheme: str = ""
    credentials: str = ""
    version: str = ""
