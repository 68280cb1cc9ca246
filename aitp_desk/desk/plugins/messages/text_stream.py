"""Streams of a thread's events, for a reader who is told of structured messages in words.

An answer that begins as an object may become such a message: it is told when it is whole, and no
piece of it before.
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
    """The wording of a door, told as a reader understands it who goes by these actors.

    Readers who have declared the same are written to together: they compare equal.
    """

    def __init__(
        self, wording: EventFormat, telling: PlainTextRenderer, readers: tuple[Actor, ...]
    ) -> None:
        self._wording = wording
        self._telling = telling
        self._readers = readers
        self._key = (wording, frozenset(url for one in readers for url in one.capabilities))
        self._holding = _HeldAnswers()
        self.beat = wording.beat

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PlainTextFormat) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def format_begin(self, thread_id: str, after: int) -> bytes:
        """As the door's own."""
        return self._wording.format_begin(thread_id, after)

    def format_event(self, happening: ThreadEvent) -> bytes:
        """As the door's own, of the message as the readers understand it."""
        match happening.subject:
            case Message() as message:
                self._holding.end(message.run_id)
                told = self._telling.render_for_reader(self._readers, message)
                happening = msgspec.structs.replace(happening, subject=told)
            case Run() as run if run.is_over:
                self._holding.end(run.id)
            case _:
                pass
        return self._wording.format_event(happening)

    def format_snapshot(self, run_id: str, text: str) -> bytes:
        """As the door's own; empty of what may become a message."""
        is_held = bool(text) and self._holding.holds(run_id, text)
        return self._wording.format_snapshot(run_id, "" if is_held else text)

    def format_delta(self, run_id: str, text: str) -> bytes:
        """As the door's own; nothing of what may become a message."""
        return (
            b"" if self._holding.holds(run_id, text) else self._wording.format_delta(run_id, text)
        )

    def format_restart(self, run_id: str) -> bytes:
        """As the door's own."""
        self._holding.end(run_id)
        return self._wording.format_restart(run_id)


class PlainTextRunFormat:
    """The same of one run, for the caller who listens to it."""

    def __init__(
        self, wording: RunEventFormat, telling: PlainTextRenderer, readers: tuple[Actor, ...]
    ) -> None:
        self._wording = wording
        self._telling = telling
        self._readers = readers
        self._holding = _HeldAnswers()
        self.beat = wording.beat

    def format_state(self, run: Run) -> bytes:
        """As the door's own."""
        return self._wording.format_state(run)

    def format_text(self, text: str, message_id: str) -> bytes:
        """As the door's own; nothing of what may become a message."""
        if self._holding.holds(message_id, text):
            return b""
        return self._wording.format_text(text, message_id)

    def format_message(self, message: Message) -> bytes:
        """As the door's own, of the message as the caller understands it."""
        return self._wording.format_message(self._telling.render_for_reader(self._readers, message))

    def format_end(self) -> bytes:
        """As the door's own."""
        return self._wording.format_end()


class _HeldAnswers:
    """Which of the answers that are being written are held back: their beginning says so."""

    def __init__(self) -> None:
        self._is_held: dict[str, bool] = {}

    def holds(self, answer: str, piece: str) -> bool:
        """Whether a further piece of an answer is told only when that is whole."""
        if answer not in self._is_held:
            self._is_held[answer] = _may_be_message(piece)
        return self._is_held[answer]

    def end(self, answer: str | None) -> None:
        """Forget an answer that is whole, or begins anew."""
        self._is_held.pop(answer or "", None)


def _may_be_message(text: str) -> bool:
    return text.lstrip().startswith("{")
