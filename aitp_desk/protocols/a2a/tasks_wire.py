"""Writes tasks and their events in each form of the protocol.

Source: A2A 1.0, sections 4.1 (objects) and 4.2 (events of streams); A2A 0.3, section 6. Pure: no
I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from aitp_desk.model.calls.task import Push, Result, Task, TaskState, TaskUtterance
from aitp_desk.model.conversation.thread import Message, Origin
from aitp_desk.protocols.a2a.card import DOOR_PATH
from aitp_desk.protocols.a2a.dialect import Dialect
from aitp_desk.protocols.a2a.parts_wire import (
    write_content,
    write_data_part,
    write_parts,
    write_url_part,
)
from aitp_desk.protocols.a2a.payments import write_metadata

MESSAGE_ID = "a2a_message_id"
"""The metadata key for the id that a message's sender gave it."""
FILES_PATH = "/v1/files/"


class TaskWriter:
    """Writes tasks for one caller.

    Parameters:
        below: the address of the desk and its files, without a trailing slash.
    """

    def __init__(self, dialect: Dialect, below: str) -> None:
        self.dialect = dialect
        self._below = below

    def task(
        self, task: Task, history_length: int | None = None, *, with_artifacts: bool = True
    ) -> dict[str, Any]:
        """Write a task.

        Parameters:
            history_length: the most earlier messages; None for all that are known.
        """
        body: dict[str, Any] = {
            "id": task.id,
            "contextId": task.context,
            "status": self.status(task, task.state, task.asks, task.changed_at),
        }
        if with_artifacts and task.result is not None:
            body["artifacts"] = [self.artifact(make_artifact_id(task), task.result)]
        history = _newest(task.history, history_length)
        if history:
            body["history"] = [self._told(task, one) for one in history]
        return self._kind(body, "task")

    def status(self, task: Task, state: TaskState, asks: Result | None, at: int) -> dict[str, Any]:
        """Write the state of a task and the time of its last change.

        Parameters:
            at: Unix seconds.
        """
        status: dict[str, Any] = {"state": self.state(state)}
        if asks is not None:
            message = self._message(f"{task.id}-{at}", False, write_parts(asks, self.dialect), task)
            if metadata := write_metadata(asks, f"{self._below}{DOOR_PATH}"):
                message["metadata"] = metadata
            status["message"] = message
        status["timestamp"] = write_timestamp(at)
        return status

    def state(self, state: TaskState) -> str:
        """Return the name of a state."""
        if self.dialect is Dialect.V03:
            return state.value
        name = state.name
        if self.dialect is Dialect.V03_HTTP and state is TaskState.CANCELED:
            name = "CANCELLED"
        return f"TASK_STATE_{name}"

    def artifact(self, artifact_id: str, result: Result) -> dict[str, Any]:
        """Write the result of a task."""
        artifact: dict[str, Any] = {
            "artifactId": artifact_id,
            "name": "result",
            "parts": write_parts(result, self.dialect),
        }
        if result.asked_person:
            artifact["metadata"] = {"asked_person": result.asked_person}
        return artifact

    def status_event(
        self, task: Task, state: TaskState, asks: Result | None, at: int
    ) -> dict[str, Any]:
        """Write a stream's event: the state of a task has changed.

        Parameters:
            at: Unix seconds.
        """
        event: dict[str, Any] = {
            "taskId": task.id,
            "contextId": task.context,
            "status": self.status(task, state, asks, at),
        }
        if self.dialect is not Dialect.V1:
            event["final"] = state.is_at_rest
        return self.wrapped(self._kind(event, "status-update"), "statusUpdate")

    def artifact_event(
        self, task: Task, artifact_id: str, result: Result, *, appends: bool, is_last: bool
    ) -> dict[str, Any]:
        """Write a stream's event: a result, or more of it."""
        event = {
            "taskId": task.id,
            "contextId": task.context,
            "artifact": self.artifact(artifact_id, result),
            "append": appends,
            "lastChunk": is_last,
        }
        return self.wrapped(self._kind(event, "artifact-update"), "artifactUpdate")

    def task_event(self, task: Task, history_length: int | None = None) -> dict[str, Any]:
        """Write a task as a result, and as a stream's first event."""
        return self.wrapped(self.task(task, history_length), "task")

    def wrapped(self, body: dict[str, Any], member: str) -> dict[str, Any]:
        """Put an object under the member that names its type."""
        return body if self.dialect is Dialect.V03 else {member: body}

    def push(self, push: Push) -> dict[str, Any]:
        """Write a notification address. Only the caller who set its secrets receives it."""
        told: dict[str, Any] = {"id": push.id, "url": push.url}
        if push.token:
            told["token"] = push.token
        if self.dialect is Dialect.V1:
            told["taskId"] = push.task_id
            if push.scheme:
                told["authentication"] = {"scheme": push.scheme, "credentials": push.credentials}
            return told
        if push.scheme:
            told["authentication"] = {"schemes": [push.scheme], "credentials": push.credentials}
        if self.dialect is Dialect.V03:
            return {"taskId": push.task_id, "pushNotificationConfig": told}
        name = f"tasks/{push.task_id}/pushNotificationConfigs/{push.id}"
        return {"name": name, "pushNotificationConfig": told}

    def _told(self, task: Task, told: TaskUtterance) -> dict[str, Any]:
        if told.message is None:
            parts = [write_data_part(told.asked, self.dialect)]
            return self._message(f"{task.id}-asked", True, parts, task)
        message = told.message
        parts = write_content(message.content, self.dialect)
        for file in message.attachments:
            address = f"{self._below}{FILES_PATH}{file.file_id}/content"
            parts.append(write_url_part(address, self.dialect))
        is_visitor = message.origin is Origin.VISITOR
        return self._message(get_message_id(message), is_visitor, parts, task)

    def _message(
        self, message_id: str, is_visitor: bool, parts: list[dict[str, Any]], task: Task
    ) -> dict[str, Any]:
        role = "user" if is_visitor else "agent"
        body: dict[str, Any] = {
            "messageId": message_id,
            "contextId": task.context,
            "taskId": task.id,
            "role": role if self.dialect is Dialect.V03 else f"ROLE_{role.upper()}",
            "content" if self.dialect is Dialect.V03_HTTP else "parts": parts,
        }
        return self._kind(body, "message")

    def _kind(self, body: dict[str, Any], kind: str) -> dict[str, Any]:
        return {"kind": kind, **body} if self.dialect is Dialect.V03 else body


def write_notification(task: Task, dialect: Dialect, below: str) -> bytes:
    """Encode a notification about a task: the task without its history.

    Source: A2A 1.0, section 4.3.3 (``StreamResponse``); A2A 0.3, section 9.5 (a task).
    """
    return msgspec.json.encode(TaskWriter(dialect, below).task_event(task, 0))


def get_message_id(message: Message) -> str:
    """Return a message's id from its sender, else that on its thread."""
    return message.metadata.get(MESSAGE_ID) or message.id


def write_timestamp(at: int) -> str:
    """Format a time as the protocol does (ISO 8601, UTC).

    Parameters:
        at: Unix seconds.
    """
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def make_artifact_id(task: Task) -> str:
    """Return the id of a task's result."""
    return f"{task.run_id or task.call_id or task.id}-result"


def _newest(history: Sequence[TaskUtterance], length: int | None) -> Sequence[TaskUtterance]:
    return history if length is None else history[max(0, len(history) - length) :]
