"""Telling one run to the caller who started it, from its queueing to where it ends or waits.

Unlike a follower of the thread this one is told of nothing else, never comes back, and is told that
it is over. So it reads for itself: it is woken as a channel is, and looks into the same store.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

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
    """How a run is told, in the format of its caller's protocol. It may remember what it said."""

    beat: bytes
    """Says nothing, but keeps the connection alive."""

    def format_state(self, run: Run) -> bytes:
        """The run has reached a state."""

    def format_text(self, text: str, message_id: str) -> bytes:
        """A further piece of the answer that is being written.

        Parameters:
            message_id: the id that the message will have.
        """

    def format_message(self, message: Message) -> bytes:
        """A message of the run, whole, as it is kept."""

    def format_end(self) -> bytes:
        """The run is over, or waits for its caller."""


class RunStream:
    """One run and the caller who listens.

    Parameters:
        read: reads the thread's events.
        after: number of the event before the one that queued the run.
    """

    def __init__(
        self,
        thread_id: str,
        run_id: str,
        read: ReadThreadEvents,
        wording: RunEventFormat,
        after: int,
    ) -> None:
        self._thread_id = thread_id
        self._run_id = run_id
        self._read = read
        self._wording = wording
        self._last = after
        self._news = asyncio.Event()
        self._review_is_due = False
        self._outlet: EventSink | None = None
        self._upto: Upto | None = None
        self._answering: AnswerInProgress | None = None
        self._length = 0

    def on_event(self) -> None:
        """Look for events after the last one."""
        self._news.set()

    def recheck_access(self) -> None:
        """End the stream when its caller would not be let in any more."""
        self._review_is_due = True
        self._news.set()

    def on_answer(self, answering: AnswerInProgress) -> None:
        """Tell what the run's answer says by now."""
        if answering.run_id == self._run_id:
            if answering is not self._answering:
                self._answering, self._length = answering, 0
            self._news.set()

    async def send_keepalive(self) -> None:
        """Keep the connection alive, and end it when its caller would not be let in any more."""
        if self._outlet is not None:
            await self._end_if_unwelcome(self._outlet)
            self._outlet.write(self._wording.beat)

    async def follow(self, outlet: EventSink, upto: Upto) -> None:
        """Tell the run until it is over, waits for its caller, or nobody reads any more.

        Parameters:
            upto: asked once here, at every beat, and where somebody has left the thread or claimed
                it; whoever would not be told everything any more is ended.
        """
        self._outlet, self._upto = outlet, upto
        closing = asyncio.ensure_future(outlet.wait_closed())
        closing.add_done_callback(lambda _: self._news.set())
        try:
            await self._end_if_unwelcome(outlet)
            while not closing.done():
                self._news.clear()
                if self._review_is_due:
                    self._review_is_due = False
                    await self._end_if_unwelcome(outlet)
                page = await self._read(self._thread_id, self._last, PAGE)
                for happening in page.happenings:
                    if self._tell_happening(outlet, happening):
                        outlet.write(self._wording.format_end())
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

    def _tell_happening(self, outlet: EventSink, happening: ThreadEvent) -> bool:
        """Tell an event where it is the run's; whether nothing more will happen to the run."""
        self._tell_answer(outlet)
        self._last = happening.n
        match happening.subject:
            case Run() as run if run.id == self._run_id:
                outlet.write(self._wording.format_state(run))
                return run.is_over or run.state is RunState.REQUIRES_ACTION
            case Message(run_id=self._run_id, origin=Origin.DESK) as message:
                outlet.write(self._wording.format_message(message))
            case _:
                pass
        return False

    def _tell_answer(self, outlet: EventSink) -> None:
        """Tell what the answer says beyond what was told.

        What was told cannot be taken back here: an answer that begins anew is told no further, and
        its message, whole, when it is there.
        """
        answering = self._answering
        if answering is None or answering.restarts or self._last < answering.after:
            return
        said = answering.text[self._length :]
        if said:
            self._length = len(answering.text)
            outlet.write(self._wording.format_text(said, answering.message_id))
