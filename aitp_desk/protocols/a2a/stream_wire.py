"""A task as a stream: first the task, then what it gives and how it moves, until it is at rest.

Source: A2A 1.0, sections 3.1.2, 3.1.6 and 4.2. Pure: no I/O; the time is that of what happened.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aitp_desk.desk.tasks.views import asks_back, state_of_run
from aitp_desk.model.calls.task import Result, Task, TaskState
from aitp_desk.model.conversation.run import Run
from aitp_desk.model.conversation.thread import Message
from aitp_desk.protocols.a2a.tasks_wire import TaskWriter, make_artifact_id
from aitp_desk.protocols.base.sse import KEEPALIVE

Event = Callable[[dict[str, Any]], bytes]
"""Writes an event of a stream: bare, or as the result of the call that asked for it."""


class TaskEventFormat:
    """Words the run of a task; see :class:`aitp_desk.desk.events.run_stream.RunEventFormat`.

    Parameters:
        task: as it stood when the stream was asked for.
        history_length: of what was said before at most so much is told.
    """

    beat = KEEPALIVE

    def __init__(
        self, task: Task, words: TaskWriter, event: Event, history_length: int | None = None
    ) -> None:
        self._task = task
        self._words = words
        self._event = event
        self._history_length = history_length
        self._state: TaskState | None = None
        self._run: Run | None = None
        self._reply: Message | None = None
        self._told = ""

    def format_state(self, run: Run) -> bytes:
        """The task, the first time; later that it is worked on. Its end is told by the end."""
        self._run = run
        begin = b""
        if self._state is None:
            begin = self._event(self._words.task_event(self._task, self._history_length))
            self._state = self._task.state
        state = state_of_run(run, ())
        if state is not TaskState.WORKING or self._state is TaskState.WORKING:
            return begin
        self._state = state
        at = run.started_at or run.created_at
        return begin + self._event(self._words.status_event(self._task, state, None, at))

    def format_text(self, text: str, message_id: str) -> bytes:  # noqa: ARG002 -- one wording of several
        """A further piece of what the task gives."""
        appends = bool(self._told)
        self._told += text
        piece = Result((text,))
        return self._event(
            self._words.artifact_event(
                self._task, make_artifact_id(self._task), piece, appends=appends, is_last=False
            )
        )

    def format_message(self, message: Message) -> bytes:
        """Nothing yet: what it is to the task shows when the run is over."""
        self._reply = message
        return b""

    def format_end(self) -> bytes:
        """What the task has given, whole, or what it asks; and where it stands."""
        run, reply = self._run, self._reply
        if run is None:
            return b""
        state = state_of_run(run, () if reply is None else (reply,))
        asks, events = None, b""
        if reply is not None and asks_back(reply):
            asks = Result(reply.content)
        elif reply is not None and state is TaskState.COMPLETED:
            events = self._event(
                self._words.artifact_event(
                    self._task,
                    make_artifact_id(self._task),
                    Result(reply.content),
                    appends=False,
                    is_last=True,
                )
            )
        elif run.error is not None:
            asks = Result((run.error,))
        at = run.ended_at or run.started_at or run.created_at
        return events + self._event(self._words.status_event(self._task, state, asks, at))
