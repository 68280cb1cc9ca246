"""Streams a thread's events with structured messages rendered as text.

An answer that begins like a JSON object may become a structured message: it is sent when complete,
and none of its deltas before.
"""

from __future__ import annotations

import msgspec

from aitp_desk.desk.events.channel import EventFormat
from aitp_desk.desk.events.events import ThreadEvent
from aitp_desk.desk.events.run_stream import RunEventFormat
from aitp_desk.desk.plugins.messages.plain_text import PlainTextRenderer
from aitp_desk.model.conversation.run import Run
from aitp_desk.model.conversation.thread import Actor, Message


class PlainTextFormat:
    """Wraps a protocol's event format, rendering messages for readers with these actors.

    Readers with equal declarations compare equal, and so share the encoded events.
    """

    def __init__(
        self, event_format: EventFormat, renderer: PlainTextRenderer, readers: tuple[Actor, ...]
    ) -> None:
        self._event_format = event_format
        self._renderer = renderer
        self._readers = readers
        self._key = (event_format, frozenset(url for one in readers for url in one.capabilities))
        self._held_answers = _HeldAnswers()
        self.beat = event_format.beat

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PlainTextFormat) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def format_begin(self, thread_id: str, after: int) -> bytes:
        """Delegate to the protocol's format."""
        return self._event_format.format_begin(thread_id, after)

    def format_event(self, event: ThreadEvent) -> bytes:
        """Delegate to the protocol's format, with the message rendered for the readers."""
        match event.subject:
            case Message() as message:
                self._held_answers.end(message.run_id)
                told = self._renderer.render_for_reader(self._readers, message)
                event = msgspec.structs.replace(event, subject=told)
            case Run() as run if run.is_over:
                self._held_answers.end(run.id)
            case _:
                pass
        return self._event_format.format_event(event)

    def format_snapshot(self, run_id: str, text: str) -> bytes:
        """Delegate to the protocol's format; empty for a possible structured message."""
        is_held = bool(text) and self._held_answers.holds(run_id, text)
        return self._event_format.format_snapshot(run_id, "" if is_held else text)

    def format_delta(self, run_id: str, text: str) -> bytes:
        """Delegate to the protocol's format; nothing for a possible structured message."""
        return (
            b""
            if self._held_answers.holds(run_id, text)
            else self._event_format.format_delta(run_id, text)
        )

    def format_restart(self, run_id: str) -> bytes:
        """Delegate to the protocol's format."""
        self._held_answers.end(run_id)
        return self._event_format.format_restart(run_id)

    def format_typing(self, actor: str) -> bytes:
        """Delegate to the protocol's format."""
        return self._event_format.format_typing(actor)


class PlainTextRunFormat:
    """Wraps a protocol's format of one run's events, for the run's caller."""

    def __init__(
        self, event_format: RunEventFormat, renderer: PlainTextRenderer, readers: tuple[Actor, ...]
    ) -> None:
        self._event_format = event_format
        self._renderer = renderer
        self._readers = readers
        self._held_answers = _HeldAnswers()
        self.beat = event_format.beat

    def format_state(self, run: Run) -> bytes:
        """Delegate to the protocol's format."""
        return self._event_format.format_state(run)

    def format_text(self, text: str, message_id: str) -> bytes:
        """Delegate to the protocol's format; nothing for a possible structured message."""
        if self._held_answers.holds(message_id, text):
            return b""
        return self._event_format.format_text(text, message_id)

    def format_message(self, message: Message) -> bytes:
        """Delegate to the protocol's format, with the message rendered for the caller."""
        return self._event_format.format_message(
            self._renderer.render_for_reader(self._readers, message)
        )

    def format_end(self) -> bytes:
        """Delegate to the protocol's format."""
        return self._event_format.format_end()


class _HeldAnswers:
    """Tracks which streamed answers are held back, by their beginning."""

    def __init__(self) -> None:
        self._is_held: dict[str, bool] = {}

    def holds(self, answer: str, piece: str) -> bool:
        """Return whether a further piece of an answer is held back."""
        if answer not in self._is_held:
            self._is_held[answer] = _may_be_message(piece)
        return self._is_held[answer]

    def end(self, answer: str | None) -> None:
        """Forget an answer that is complete or restarts."""
        self._is_held.pop(answer or "", None)


def _may_be_message(text: str) -> bool:
    return text.lstrip().startswith("{")
