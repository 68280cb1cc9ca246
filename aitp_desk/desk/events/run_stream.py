"""Streams one run to the caller that started it, until it ends or waits.

Unlike a subscriber of the thread this caller receives no other events, never reconnects, and
receives an end event. So the stream reads for itself: it is woken as a channel is, and reads the
same store.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from aitp_desk.desk.events.access_review import AccessReview
from aitp_desk.desk.events.channel import (
    EVERYTHING,
    LAST_FOR_READER,
    PAGE,
    AnswerInProgress,
    EventSink,
    Upto,
)
from aitp_desk.desk.events.events import ReadThreadEvents, ThreadEvent
from aitp_desk.model.conversation.run import Run, RunState
from aitp_desk.model.conversation.thread import Message, Origin


class RunEventFormat(Protocol):
    """The format of a run's events in its caller's protocol. It may keep state."""

    beat: bytes
    """Keeps the connection alive, without content."""

    def format_state(self, run: Run) -> bytes:
        """Format that the run has reached a state."""

    def format_text(self, text: str, message_id: str) -> bytes:
        """Format more text of the answer in progress.

        Parameters:
            message_id: the id that the message will have.
        """

    def format_message(self, message: Message) -> bytes:
        """Format a message of the run, in full, as stored."""

    def format_end(self) -> bytes:
        """Format that the run is over, or waits for its caller."""


class RunStream:
    """One run and the caller that follows it.

    Parameters:
        read: reads the thread's events.
        after: number of the event before the one that queued the run.
    """

    def __init__(
        self,
        thread_id: str,
        run_id: str,
        read: ReadThreadEvents,
        event_format: RunEventFormat,
        after: int,
    ) -> None:
        self._thread_id = thread_id
        self._run_id = run_id
        self._read = read
        self._event_format = event_format
        self._last = after
        self._news = asyncio.Event()
        self._review = AccessReview()
        self._outlet: EventSink | None = None
        self._upto: Upto | None = None
        self._answer: AnswerInProgress | None = None
        self._length = 0

    def on_event(self) -> None:
        """Look for events after the last one."""
        self._news.set()

    def recheck_access(self) -> None:
        """End the stream if its caller has lost access."""
        self._review.note_change()
        self._news.set()

    def on_answer(self, answer: AnswerInProgress) -> None:
        """Send the new text of the run's answer."""
        if answer.run_id == self._run_id:
            if answer is not self._answer:
                self._answer, self._length = answer, 0
            self._news.set()

    def on_typing(self, actor: str) -> None:
        """Ignore it: a run is answered by the agent."""

    async def send_keepalive(self) -> None:
        """Keep the connection alive, and end it if its caller has lost access."""
        if self._outlet is not None:
            await self._end_if_unwelcome(self._outlet)
            self._outlet.write(self._event_format.beat)

    async def follow(self, outlet: EventSink, upto: Upto) -> None:
        """Stream the run until it ends, waits, or the reader is gone.

        Parameters:
            upto: called at the start, at every keepalive, when access may have changed, and when an
                actor has left the thread or claimed it; a caller without full access is
                disconnected.
        """
        self._outlet, self._upto = outlet, upto
        closing = asyncio.ensure_future(outlet.wait_closed())
        closing.add_done_callback(lambda _: self._news.set())
        try:
            while not closing.done():
                self._news.clear()
                page = await self._review.read(self._read(self._thread_id, self._last, PAGE))
                while self._review.is_due:  # these events may be later than the change of access
                    self._review.is_due = False
                    await self._end_if_unwelcome(outlet)
                for happening in page.happenings:
                    if self._tell_happening(outlet, happening):
                        outlet.write(self._event_format.format_end())
                        return
                    if happening.kind in LAST_FOR_READER:
                        await self._end_if_unwelcome(outlet)
                self._tell_answer(outlet)
                if not await outlet.drain():
                    return
                if not page.has_more:
                    await self._news.wait()
        finally:
            closing.cancel()

    async def _end_if_unwelcome(self, outlet: EventSink) -> None:
        if self._upto is not None and await self._upto() < EVERYTHING:
            outlet.close()

    def _tell_happening(self, outlet: EventSink, event: ThreadEvent) -> bool:
        """Send an event of the run; return whether it is the last one."""
        self._tell_answer(outlet)
        self._last = event.n
        match event.subject:
            case Run() as run if run.id == self._run_id:
                outlet.write(self._event_format.format_state(run))
                return run.is_over or run.state is RunState.REQUIRES_ACTION
            case Message(run_id=self._run_id, origin=Origin.DESK) as message:
                outlet.write(self._event_format.format_message(message))
            case _:
                pass
        return False

    def _tell_answer(self, outlet: EventSink) -> None:
        """Send the new text of the answer.

        Sent text cannot be revoked here: an answer that restarts is not streamed any further. Its
        message is sent in full when it is there.
        """
        answering = self._answer
        if answering is None or answering.restarts or self._last < answering.after:
            return
        said = answering.text[self._length :]
        if said:
            self._length = len(answering.text)
            outlet.write(self._event_format.format_text(said, answering.message_id))
