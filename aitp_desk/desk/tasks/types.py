"""The values that callers send and receive for tasks."""

from __future__ import annotations

import msgspec

from aitp_desk.model.access.credential import UNMARKED, CredentialMark
from aitp_desk.model.calls.task import Push, Task


class TaskMessage(msgspec.Struct, frozen=True):
    """The addressing of a message for a task.

    Parameters:
        context: the conversation that it belongs to; empty creates one.
        task_id: the task that it continues; empty creates one.
        push: a receiver to notify of the task; its ``task_id`` is ignored.
        mark: of the credential with which it is sent.
    """

    context: str = ""
    task_id: str = ""
    push: Push | None = None
    mark: CredentialMark = UNMARKED


class TaskPage(msgspec.Struct, frozen=True):
    """One page of a caller's tasks, newest first.

    Parameters:
        after: time and id of its last task; None for the last page.
        total: the number of tasks found in the search.
    """

    tasks: tuple[Task, ...]
    after: tuple[int, str] | None
    total: int
