"""Writes a run as the event stream of a chat completion.

Source: OpenAI API, Chat completion chunk: events without a name, then ``[DONE]``. Pure: no I/O, no
clock.
"""

from __future__ import annotations

from msgspec import UNSET

from aitp_desk.model.conversation.run import Run, RunState
from aitp_desk.model.conversation.thread import Message
from aitp_desk.protocols.aitp.completions import objects, wire
from aitp_desk.protocols.aitp.runs.call_ids import write_call_id
from aitp_desk.protocols.aitp.runs.stream_wire import find_rest
from aitp_desk.protocols.aitp.wire import encode, render_error
from aitp_desk.protocols.base.sse import KEEPALIVE, write_data

_WAITS = frozenset({RunState.QUEUED, RunState.IN_PROGRESS, RunState.CANCELLING})
_BETWEEN = "\n\n"


class CompletionFormat:
    """Formats one run; see :class:`aitp_desk.desk.events.run_stream.RunEventFormat`.

    Parameters:
        model: as the caller has named it.
        counts_tokens: whether the stream ends with the count of tokens.
    """

    beat = KEEPALIVE

    def __init__(self, run: Run, model: str, *, counts_tokens: bool) -> None:
        self._run = run
        self._model = model
        self._counts_tokens = counts_tokens
        self._is_begun = False
        self._current_id = ""
        self._told = ""

    def format_state(self, run: Run) -> bytes:
        """Write why the answer ends, once it does; then the tokens if they are counted."""
        if run.state in _WAITS:
            return b""
        if (failure := wire.describe_failure(run)) is not None:
            return write_data(render_error(failure, {}).body)
        calls = [
            objects.ToolCallDelta(
                index,
                write_call_id(run, call),
                {"name": call.name, "arguments": call.arguments},
            )
            for index, call in enumerate(run.owed)
        ]
        events = self._write(objects.ChatDelta(tool_calls=calls)) if calls else b""
        events += self._write(objects.ChatDelta(), wire.find_finish_reason(run))
        if self._counts_tokens:
            chunk = self._chunk()
            chunk.usage = wire.write_usage(run)
            events += write_data(encode(chunk))
        return events

    def format_text(self, text: str, message_id: str) -> bytes:
        """Write more text of the answer."""
        begin = self._begin_message(message_id)
        self._told += text
        return self._write_text(begin + text)

    def format_message(self, message: Message) -> bytes:
        """Write what was not yet written of a message."""
        begin = self._begin_message(message.id)
        first, *further = message.content
        text = begin + _BETWEEN.join((find_rest(first, self._told), *further))
        self._told = ""
        return self._write_text(text)

    def _begin_message(self, message_id: str) -> str:
        """Return what separates a message from the one before it, once for each."""
        if message_id == self._current_id:
            return ""
        begin = _BETWEEN if self._current_id else ""
        self._current_id, self._told = message_id, ""
        return begin

    def format_end(self) -> bytes:
        """Write ``[DONE]``."""
        return write_data(b"[DONE]")

    def _write_text(self, text: str) -> bytes:
        return self._write(objects.ChatDelta(content=text)) if text else b""

    def _write(
        self, delta: objects.ChatDelta, finish_reason: objects.FinishReason | None = None
    ) -> bytes:
        """Write a piece; the first one names the role."""
        if not self._is_begun:
            self._is_begun = True
            delta.role = "assistant"
            if delta.content is UNSET and delta.tool_calls is UNSET:
                delta.content = ""
        chunk = self._chunk(objects.ChatDeltaChoice(delta, finish_reason))
        return write_data(encode(chunk))

    def _chunk(self, *choices: objects.ChatDeltaChoice) -> objects.ChatCompletionChunk:
        return objects.ChatCompletionChunk(
            id=wire.write_id(self._run),
            created=self._run.created_at,
            model=self._model,
            choices=choices,
            usage=None if self._counts_tokens else UNSET,
        )
