"""Writes a run as the event stream of the OpenAI API.

Source: the Assistants streaming API of the OpenAI API (v2): ``thread.run.created``, …,
``thread.message.delta``, …, ``done``. The stream has no events for steps of runs; they are listed
when the run is over. Pure: no I/O, no clock.
"""

from __future__ import annotations

from aitp_desk.desk.access.site_agents import SiteAgent
from aitp_desk.model.conversation.run import Run, RunState
from aitp_desk.model.conversation.thread import Message
from aitp_desk.protocols.aitp.runs.wire import write_run
from aitp_desk.protocols.aitp.threads import objects
from aitp_desk.protocols.aitp.threads.messages_wire import write_message
from aitp_desk.protocols.aitp.wire import Dialect, encode
from aitp_desk.protocols.base.sse import KEEPALIVE, write_frame


class OpenAiRunFormat:
    """Formats one run; see :class:`aitp_desk.desk.events.run_stream.RunEventFormat`.

    Parameters:
        agent: the one that answers.
        is_new: whether the run was created by this call; false where it continues.
    """

    beat = KEEPALIVE

    def __init__(self, run: Run, agent: SiteAgent, dialect: Dialect, *, is_new: bool) -> None:
        self._run = run
        self._agent = agent
        self._dialect = dialect
        self._is_new = is_new
        self._current_id: str | None = None
        self._text = ""

    def format_state(self, run: Run) -> bytes:
        """Write ``thread.run.…``; for a new run ``thread.run.created`` first."""
        body = encode(write_run(run, self._agent, dialect=self._dialect))
        begin = b""
        if self._is_new and run.state is RunState.QUEUED:
            self._is_new = False
            begin = write_frame("thread.run.created", body)
        state = "failed" if run.state is RunState.CAPPED else run.state.value
        return begin + write_frame(f"thread.run.{state}", body)

    def format_text(self, text: str, message_id: str) -> bytes:
        """Write ``thread.message.delta``, after the events that create the message."""
        self._text += text
        return self._begin(message_id) + self._delta(message_id, 0, text)

    def format_message(self, message: Message) -> bytes:
        """Write the rest of a message, then ``thread.message.completed``."""
        events = self._begin(message.id)
        for index, text in enumerate(message.content):
            told = self._text if index == 0 else ""
            if text.startswith(told) and len(text) > len(told):
                events += self._delta(message.id, index, text[len(told) :])
        body = write_message(message, self._dialect, self._agent.id)
        self._current_id, self._text = None, ""
        return events + write_frame("thread.message.completed", encode(body))

    def format_end(self) -> bytes:
        """Write ``done``."""
        return write_frame("done", b"[DONE]")

    def _begin(self, message_id: str) -> bytes:
        """Write ``thread.message.created`` and ``thread.message.in_progress``, once a message."""
        if self._current_id == message_id:
            return b""
        self._current_id = message_id
        body = objects.Message(
            id=message_id,
            created_at=self._run.created_at,
            thread_id=self._run.thread_id,
            run_id=self._run.id,
            assistant_id=self._agent.id,
            status="in_progress",
            incomplete_details=None,
            incomplete_at=None,
            completed_at=None,
            role="assistant",
            content=(),
            attachments=(),
            metadata={},
        )
        data = encode(body)
        return write_frame("thread.message.created", data) + write_frame(
            "thread.message.in_progress", data
        )

    def _delta(self, message_id: str, index: int, text: str) -> bytes:
        part = {"index": index, "type": "text", "text": {"value": text, "annotations": []}}
        return write_frame(
            "thread.message.delta",
            encode(
                {
                    "id": message_id,
                    "object": "thread.message.delta",
                    "delta": {"role": "assistant", "content": [part]},
                }
            ),
        )


def find_rest(text: str, told: str) -> str:
    """Return what is still to be streamed of a text.

    An agent that began again after its first words says something else: then all of it, apart.

    Parameters:
        told: what was streamed.
    """
    for begun in (told, told.rstrip()):
        if text.startswith(begun):
            return text[len(begun) :]
    return f"\n\n{text}"
