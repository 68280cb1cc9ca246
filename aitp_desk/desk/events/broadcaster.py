"""Telling what happens on threads to those who wait for it.

Within one process: whoever waits for a run is woken when its end has been committed, whoever
follows a thread is told all that happens there (``channel.py``). The store stays the truth; who
comes late reads it there. Where nobody waits and nobody follows, telling costs a look into a
dictionary.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from typing import Protocol

import structlog

from aitp_desk.agent.base import ProgressEvent
from aitp_desk.auth.credentials.proof_cache import ReadEpoch
from aitp_desk.desk.events.channel import AnswerInProgress, Channel, EventFormat
from aitp_desk.desk.events.events import ReadThreadEvents
from aitp_desk.desk.events.run_stream import RunEventFormat, RunStream
from aitp_desk.desk.jobs.background_task import run_in_background
from aitp_desk.store.base import StoreError

REVIEW_SECONDS = 0.25
"""How long after a changed credential is known of those who follow are looked at again, at most."""

ReportAnswer = Callable[[ProgressEvent], None]
"""Takes what an agent says on its way to the outcome."""

_log = structlog.get_logger()


class Listener(Protocol):
    """Who is told what happens on a thread."""

    def on_event(self) -> None:
        """Something happened; it is committed."""

    def recheck_access(self) -> None:
        """Somebody may be told no more: end those whose caller would not be let in."""

    def on_answer(self, answering: AnswerInProgress) -> None:
        """An answer in progress says more, or begins anew."""

    async def send_keepalive(self) -> None:
        """Keep connections alive, and end those whose caller would not be let in any more."""


class _ThreadSignal:
    """Hears that something happened on a thread, and not what."""

    def __init__(self) -> None:
        self.event = asyncio.Event()

    def on_event(self) -> None:
        self.event.set()

    def recheck_access(self) -> None:
        """Nothing of the thread is told by this: whoever waits looks, and is let in or not."""

    def on_answer(self, answering: AnswerInProgress) -> None:
        """Nothing was committed by that."""

    async def send_keepalive(self) -> None:
        """No connection hangs on this."""


class Broadcaster:
    """Wakes those who wait for the end of a run, and tells those who follow a thread.

    Parameters:
        read: reads a thread's events.
    """

    def __init__(self, read: ReadThreadEvents) -> None:
        self._read = read
        self._ends: dict[str, asyncio.Event] = {}
        self._waiting: dict[str, int] = {}
        self._at_end: dict[str, list[Callable[[], None]]] = {}
        self._listeners: dict[str, dict[Listener, None]] = {}
        self._channels: dict[tuple[str, EventFormat], Channel] = {}
        self._users: dict[Channel, int] = {}
        self._answering: dict[str, AnswerInProgress] = {}
        self._turn = asyncio.Lock()
        self._heeding: list[Callable[[str], None]] = []

    def on_change(self, changed: Callable[[str], None]) -> None:
        """Have somebody told of every thread on which something happens."""
        self._heeding.append(changed)

    def notify_change(self, thread_id: str) -> None:
        """Tell that something happened on a thread; it is committed."""
        for heed in self._heeding:
            heed(thread_id)
        for listener in self._listeners.get(thread_id, ()):
            listener.on_event()

    def poll_all(self) -> None:
        """Have all who follow look for what another process has written."""
        for listeners in self._listeners.values():
            for listener in listeners:
                listener.on_event()

    def poll_thread(self, thread_id: str) -> None:
        """Have those who follow a thread look for what was written behind its answer."""
        for listener in self._listeners.get(thread_id, ()):
            listener.on_event()

    def recheck_access(self, thread_id: str) -> None:
        """Have those who follow a thread, or a run there, asked whether they still may."""
        for listener in self._listeners.get(thread_id, ()):
            listener.recheck_access()

    def notify_end(self, run_id: str) -> None:
        """Tell that a run, or a call that went on by itself, is over; its end is committed."""
        event = self._ends.get(run_id)
        if event is not None:
            event.set()
        for called in self._at_end.pop(run_id, ()):
            called()

    def on_end(self, run_id: str, called: Callable[[], None]) -> None:
        """Have somebody told once of the end of a run, where this process sees that."""
        self._at_end.setdefault(run_id, []).append(called)

    async def wait(self, id_: str, is_over: Callable[[], Awaitable[bool]], seconds: float) -> None:
        """Wait for the end of what has an id, at most so many seconds.

        Parameters:
            is_over: looks whether it has ended already.
        """
        with self.watch_run(id_) as end:
            if not await is_over():
                with suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await end.wait()

    @property
    def awaited(self) -> tuple[str, ...]:
        """The runs whose ends somebody waits for."""
        return tuple(self._ends)

    @contextmanager
    def watch_run(self, run_id: str) -> Iterator[asyncio.Event]:
        """Watch a run: the event is set at its end.

        Begin to watch, then look at the store, then wait: watching before looking leaves no moment
        in which the end could be missed.
        """
        self._waiting[run_id] = self._waiting.get(run_id, 0) + 1
        try:
            yield self._ends.setdefault(run_id, asyncio.Event())
        finally:
            self._waiting[run_id] -= 1
            if not self._waiting[run_id]:
                del self._waiting[run_id], self._ends[run_id]

    @contextmanager
    def watch_thread(self, thread_id: str) -> Iterator[asyncio.Event]:
        """Hear of a thread: the event is set whenever something has happened there.

        As of :meth:`watch_run`: look at the store after this, and after each time that it was set.
        """
        news = _ThreadSignal()
        self._add(thread_id, news)
        try:
            yield news.event
        finally:
            self._remove(thread_id, news)

    @contextmanager
    def broadcast_answer(
        self, thread_id: str, run_id: str, message_id: str, *, after: int, again: bool
    ) -> Iterator[ReportAnswer]:
        """Tell those who listen what a run's answer says, while it is being written.

        Leave the context after the run's end is committed.

        Parameters:
            message_id: the id that the answer's message will have.
            after: number of the thread's newest event when the run was taken up.
            again: whether it was taken up before: what was said then is void.
        """
        answering = AnswerInProgress(run_id, message_id, after, again=again)
        self._answering[thread_id] = answering
        self._tell(thread_id, answering)

        def tell(passing: ProgressEvent) -> None:
            if answering.is_over:
                return
            answering.add_piece(passing)
            self._tell(thread_id, answering)

        try:
            yield tell
        finally:
            answering.is_over = True
            if self._answering.get(thread_id) is answering:
                del self._answering[thread_id]

    def stop_answer(self, thread_id: str) -> None:
        """Tell no more of what is being answered on a thread: nobody waits for it any more."""
        answering = self._answering.pop(thread_id, None)
        if answering is not None:
            answering.is_over = True

    @contextmanager
    def open_channel(self, thread_id: str, wording: EventFormat, last: int) -> Iterator[Channel]:
        """The channel of a thread in one wording, for as long as somebody follows it.

        Parameters:
            last: number of an event that the thread has had; where nobody follows yet the channel
                begins after it.
        """
        channel = self._channels.get((thread_id, wording))
        if channel is None:
            answering = self._answering.get(thread_id)
            channel = Channel(thread_id, self._read, wording, last, answering, self._turn)
            self._channels[thread_id, wording] = channel
            self._users[channel] = 0
            self._add(thread_id, channel)
        self._users[channel] += 1
        try:
            yield channel
        finally:
            self._users[channel] -= 1
            if not self._users[channel]:
                del self._users[channel], self._channels[thread_id, wording]
                self._remove(thread_id, channel)
                channel.close()

    @contextmanager
    def open_run_stream(
        self, thread_id: str, run_id: str, wording: RunEventFormat, after: int
    ) -> Iterator[RunStream]:
        """The stream of one run, for as long as its caller listens.

        Parameters:
            after: number of the event before the one that queued the run.
        """
        stream = RunStream(thread_id, run_id, self._read, wording, after)
        answering = self._answering.get(thread_id)
        if answering is not None:
            stream.on_answer(answering)
        self._add(thread_id, stream)
        try:
            yield stream
        finally:
            self._remove(thread_id, stream)

    def recheck_on_change(self, epoch: ReadEpoch) -> AbstractAsyncContextManager[None]:
        """Have all who follow asked whether they still may, whenever a credential was changed.

        Parameters:
            epoch: reads the number that grows with each change.
        """
        return run_in_background(lambda: self._review_on(epoch))

    def run_keepalive(self, seconds: float) -> AbstractAsyncContextManager[None]:
        """Beat once in so many seconds for as long as the context lasts."""
        return run_in_background(lambda: self._beat_on(seconds))

    async def send_keepalives(self) -> None:
        """Keep all connections alive, end those that may not go on, and look for what was missed.

        What was written behind its answer, or by another process, wakes nobody.
        """
        everybody = [one for listeners in self._listeners.values() for one in listeners]
        for listener in everybody:
            listener.on_event()
            await listener.send_keepalive()

    async def _review_on(self, epoch: ReadEpoch) -> None:
        known: int | None = None
        while True:
            await asyncio.sleep(REVIEW_SECONDS)
            if not self._listeners:
                continue
            with suppress(StoreError):  # it is told where it matters, and this asks again
                before, known = known, await epoch()
                if known != before:
                    for listeners in self._listeners.values():
                        for listener in listeners:
                            listener.recheck_access()

    async def _beat_on(self, seconds: float) -> None:
        while True:
            await asyncio.sleep(seconds)
            try:
                await self.send_keepalives()
            except Exception:  # noqa: BLE001 -- a beat that fails is followed by another
                _log.exception("beat_failed")

    def _tell(self, thread_id: str, answering: AnswerInProgress) -> None:
        for listener in self._listeners.get(thread_id, ()):
            listener.on_answer(answering)

    def _add(self, thread_id: str, listener: Listener) -> None:
        self._listeners.setdefault(thread_id, {})[listener] = None
        listener.on_event()  # what was committed before now told it nothing

    def _remove(self, thread_id: str, listener: Listener) -> None:
        listeners = self._listeners[thread_id]
        del listeners[listener]
        if not listeners:
            del self._listeners[thread_id]
