"""Writes a run as the event stream of a response.

Source: OpenAI API, Streaming events of responses: ``response.created``, …,
``response.output_text.delta``, …, ``response.completed``. Pure: no I/O, no clock.
"""

from __future__ import annotations

from typing import Any

from aitp_desk.desk.access.site_agents import SiteAgent
from aitp_desk.model.conversation.run import Run, RunState, ToolCall
from aitp_desk.model.conversation.thread import Message
from aitp_desk.protocols.aitp.responses import objects, wire
from aitp_desk.protocols.aitp.runs.stream_wire import find_rest
from aitp_desk.protocols.aitp.wire import encode
from aitp_desk.protocols.base.sse import KEEPALIVE, write_frame

_ENDS = {
    "cancelled": "response.incomplete",
    "failed": "response.failed",
    "incomplete": "response.incomplete",
}


class ResponseFormat:
    """Formats one run; see :class:`aitp_desk.desk.events.run_stream.RunEventFormat`.

    Parameters:
        agent: the one that answers.
        continued, previous: as of :func:`.wire.write_response`.
    """

    beat = KEEPALIVE

    def __init__(self, agent: SiteAgent, *, continued: int, previous: str | None) -> None:
        self._agent = agent
        self._continued = continued
        self._previous = previous
        self._number = 0
        self._index = 0
        self._is_begun = False
        self._replies: list[Message] = []
        self._current_id = ""
        self._text = ""

    def format_state(self, run: Run) -> bytes:
        """Write ``response.created``, ``response.in_progress``, or the end with all its output."""
        response = wire.write_response(
            run, self._agent, self._replies, continued=self._continued, previous=self._previous
        )
        events = b""
        if not self._is_begun:
            self._is_begun = True
            events = self._write("response.created", response=response)
        if run.state is RunState.QUEUED:
            return events
        if run.state is RunState.IN_PROGRESS:
            return events + self._write("response.in_progress", response=response)
        for call in run.owed:
            events += self._write_call(run, call)
        if run.is_over or run.owed:
            end = _ENDS.get(response.status, "response.completed")
            events += self._write(end, response=response)
        return events

    def format_text(self, text: str, message_id: str) -> bytes:
        """Write ``response.output_text.delta``, after the events that create the message."""
        events = self._begin(message_id)
        self._text += text
        return events + self._write_delta(text)

    def format_message(self, message: Message) -> bytes:
        """Write the rest of a message, then that it is done."""
        events = self._begin(message.id)
        item = wire.write_message(message)
        (part,) = item.content
        if rest := find_rest(part.text, self._text):
            events += self._write_delta(rest)
        at = self._at(message.id)
        for number, cited in enumerate(part.annotations):
            events += self._write(
                "response.output_text.annotation.added",
                annotation=cited,
                annotation_index=number,
                **at,
            )
        events += self._write("response.output_text.done", text=part.text, logprobs=[], **at)
        events += self._write("response.content_part.done", part=part, **at)
        events += self._write("response.output_item.done", item=item, output_index=self._index)
        self._replies.append(message)
        self._index += 1
        self._current_id, self._text = "", ""
        return events

    def format_end(self) -> bytes:
        """Write nothing: the last event says so."""
        return b""

    def _begin(self, message_id: str) -> bytes:
        if self._current_id == message_id:
            return b""
        self._current_id, self._text = message_id, ""
        item = objects.OutputMessage(message_id, "in_progress", ())
        part = objects.OutputText("")
        return self._write(
            "response.output_item.added", item=item, output_index=self._index
        ) + self._write("response.content_part.added", part=part, **self._at(message_id))

    def _write_delta(self, text: str) -> bytes:
        at = self._at(self._current_id)
        return self._write("response.output_text.delta", delta=text, logprobs=[], **at)

    def _write_call(self, run: Run, call: ToolCall) -> bytes:
        item = wire.write_call(run, call)
        begun = objects.OutputCall(item.id, item.call_id, item.name, "", "in_progress")
        at = {"item_id": item.id, "output_index": self._index}
        events = (
            self._write("response.output_item.added", item=begun, output_index=self._index),
            self._write("response.function_call_arguments.delta", delta=call.arguments, **at),
            self._write(
                "response.function_call_arguments.done",
                arguments=call.arguments,
                name=call.name,
                **at,
            ),
            self._write("response.output_item.done", item=item, output_index=self._index),
        )
        self._index += 1
        return b"".join(events)

    def _at(self, message_id: str) -> dict[str, Any]:
        return {"item_id": message_id, "output_index": self._index, "content_index": 0}

    def _write(self, event: str, /, **members: Any) -> bytes:
        body = {"type": event, "sequence_number": self._number, **members}
        self._number += 1
        return write_frame(event, encode(body))
