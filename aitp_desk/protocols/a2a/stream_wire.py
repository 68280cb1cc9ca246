"""Writes a task as a stream: the task, then its results and states.

The stream ends when the task is at rest.

Source: A2A 1.0, sections 3.1.2, 3.1.6 and 4.2. Pure: no I/O; timestamps are those of the events.
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
"""Writes a stream's event, bare or as the result of a JSON-RPC call."""


class TaskEventFormat:
    """Formats the run of a task; see :class:`aitp_desk.desk.events.run_stream.RunEventFormat`.

    Parameters:
        task: in its state when the stream was requested.
        history_length: the most earlier messages to write.
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
        """Write the task at first, and later its state ``working``.

        :meth:`format_end` writes the final state.
        """
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

    def format_text(self, text: str, message_id: str) -> bytes:  # noqa: ARG002 -- a shared interface
        """Write a further piece of the result."""
        appends = bool(self._told)
        self._told += text
        piece = Result((text,))
        return self._event(
            self._words.artifact_event(
                self._task, make_artifact_id(self._task), piece, appends=appends, is_last=False
            )
        )

    def format_message(self, message: Message) -> bytes:
        """Write nothing: the message's meaning is known when the run is over."""
        self._reply = message
        return b""

    def format_end(self) -> bytes:
        """Write the complete result or the open question, and the final state."""
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
