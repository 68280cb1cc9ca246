"""What callers send for tasks, and what they are given of them."""

from __future__ import annotations

import msgspec

from aitp_desk.model.access.credential import UNMARKED, CredentialMark
from aitp_desk.model.calls.task import Push, Task


class TaskMessage(msgspec.Struct, frozen=True):
    """What is sent for a task.

    Parameters:
        context: the conversation that it belongs to; empty begins one.
        task_id: the task that it goes on with; empty begins one.
        push: whom to tell how it goes on; its ``task_id`` says nothing.
        mark: of the credential with which it is sent.
    """

    context: str = ""
    task_id: str = ""
    push: Push | None = None
    mark: CredentialMark = UNMARKED


class TaskPage(msgspec.Struct, frozen=True):
    """A part of a caller's tasks, the newest first.

    Parameters:
        after: time and id of its last one; None for the last part.
        total: of how many, as far as was looked.
    """

    tasks: tuple[Task, ...]
    after: tuple[int, str] | None
    total: int
