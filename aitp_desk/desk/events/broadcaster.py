"""Notifies subscribers of what happens on threads.

A waiter for a run wakes when its end has been committed, and a subscriber of a thread receives all
its events (``channel.py``), also those that another process on the database has written
(``store/changes.py``). The store is authoritative; a late subscriber reads from it. Without
subscribers a notification costs one dictionary lookup. The text of an answer in progress reaches
subscribers of other processes through ``answer_feed.py``, if there is a server for it; without one
they see the finished message.
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
from aitp_desk.desk.jobs.background_task import keep_running
from aitp_desk.store.base import StoreError
from aitp_desk.store.changes import Change

REVIEW_SECONDS = 0.25
"""Maximum delay between a credential change and the next check of subscribers' access."""

ReportProgress = Callable[[str, AnswerInProgress], None]
"""Receives the thread of an answer in progress, and the answer, whenever it has changed."""
ReportAnswer = Callable[[ProgressEvent], None]
"""Receives the parts of an answer in progress."""

_log = structlog.get_logger()


class Listener(Protocol):
    """A subscriber to a thread."""

    def on_event(self) -> None:
        """Handle a new committed event."""

    def recheck_access(self) -> None:
        """Check access again, and end the streams of callers that lost it."""

    def on_answer(self, answer: AnswerInProgress) -> None:
        """Handle more text of an answer in progress, or its restart."""

    def on_typing(self, actor: str) -> None:
        """Handle that an operator is typing."""

    async def send_keepalive(self) -> None:
        """Keep connections alive, and end those of callers that lost access."""


class _ThreadSignal:
    """Signals that something happened on a thread, without its content."""

    def __init__(self) -> None:
        self.event = asyncio.Event()

    def on_event(self) -> None:
        self.event.set()

    def recheck_access(self) -> None:
        """Ignore it: a signal reveals no content; reading checks the waiter's access."""

    def on_answer(self, answer: AnswerInProgress) -> None:
        """Ignore it: nothing was committed."""

    def on_typing(self, actor: str) -> None:
        """Ignore it: nothing was committed."""

    async def send_keepalive(self) -> None:
        """Ignore it: there is no connection."""


class Broadcaster:
    """Wakes waiters for the end of a run, and notifies subscribers of a thread.

    Parameters:
        read: reads a thread's events.
        publish: sends a change to the other processes on the database; None for no others.
    """

    def __init__(
        self, read: ReadThreadEvents, publish: Callable[[Change], None] | None = None
    ) -> None:
        self._read = read
        self._publish = publish
        self._ends: dict[str, asyncio.Event] = {}
        self._waiting: dict[str, int] = {}
        self._at_end: dict[str, list[Callable[[], None]]] = {}
        self._listeners: dict[str, dict[Listener, None]] = {}
        self._channels: dict[tuple[str, EventFormat], Channel] = {}
        self._users: dict[Channel, int] = {}
        self._open_answers: dict[str, AnswerInProgress] = {}
        self._turn = asyncio.Lock()
        self._observers: list[Callable[[str], None]] = []
        self._report: ReportProgress | None = None

    def report_answers_to(self, report: ReportProgress) -> None:
        """Report answers in progress of this process."""
        self._report = report

    def on_change(self, changed: Callable[[str], None]) -> None:
        """Register a callback for changes of any thread."""
        self._observers.append(changed)

    def notify_change(self, thread_id: str, *, is_own: bool = True) -> None:
        """Notify subscribers of a committed event on a thread.

        Parameters:
            is_own: whether this process has committed it and the others do not know of it.
        """
        for observer in self._observers:
            observer(thread_id)
        for listener in self._listeners.get(thread_id, ()):
            listener.on_event()
        if is_own and self._publish is not None:
            self._publish(Change("thread", thread_id))

    def receive(self, change: Change) -> None:
        """Notify subscribers of what another process has done."""
        match change.kind:
            case "thread":
                self.notify_change(change.id, is_own=False)
            case "end":
                self.notify_end(change.id, is_own=False)
            case "access":
                self._recheck(change.id)
            case "typing":
                self._type(change.id, change.actor)
            case "stop" | "work":
                pass  # for the run worker and the job queue

    def poll_all(self) -> None:
        """Let all subscribers read what another process has written."""
        for listeners in self._listeners.values():
            for listener in listeners:
                listener.on_event()

    def poll_thread(self, thread_id: str) -> None:
        """Let a thread's subscribers read what was written after its response."""
        for listener in self._listeners.get(thread_id, ()):
            listener.on_event()

    def recheck_access(self, thread_id: str) -> None:
        """Check the access of a thread's subscribers again."""
        self._recheck(thread_id)
        self._send(Change("access", thread_id))

    def notify_end(self, run_id: str, *, is_own: bool = True) -> None:
        """Notify waiters of the committed end of a run or background call.

        Parameters:
            is_own: as for :meth:`notify_change`.
        """
        event = self._ends.get(run_id)
        if event is not None:
            event.set()
        for called in self._at_end.pop(run_id, ()):
            called()
        if is_own and self._publish is not None:
            self._publish(Change("end", run_id))

    def request_stop(self, run_id: str) -> None:
        """Ask the process that executes a run to stop it."""
        self._send(Change("stop", run_id))

    def offer_work(self) -> None:
        """Ask other processes to take runs and jobs that wait here."""
        self._send(Change("work", ""))

    def on_end(self, run_id: str, called: Callable[[], None]) -> None:
        """Register a one-time callback for a run's end."""
        self._at_end.setdefault(run_id, []).append(called)

    async def wait(self, id_: str, is_over: Callable[[], Awaitable[bool]], seconds: float) -> None:
        """Wait up to ``seconds`` for the end of a run or call.

        Parameters:
            is_over: checks whether it has ended already.
        """
        with self.watch_run(id_) as end:
            if not await is_over():
                with suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await end.wait()

    @property
    def awaited(self) -> tuple[str, ...]:
        """The ids of runs and calls whose ends are awaited."""
        return tuple({**self._ends, **self._at_end})

    @contextmanager
    def watch_run(self, run_id: str) -> Iterator[asyncio.Event]:
        """Watch a run: the event is set at its end.

        Watch first, then read the store, then wait: so the end cannot be missed.
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
        """Watch a thread: the event is set whenever something has happened there.

        As with :meth:`watch_run`: read the store after this, and each time the event was set.
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
        """Send a run's answer to listeners while it is being written.

        Leave the context after the run's end is committed.

        Parameters:
            message_id: the id that the answer's message will have.
            after: number of the thread's newest event when the run was claimed.
            again: whether it was claimed before: the text sent then is void.
        """
        answer = AnswerInProgress(run_id, message_id, after, again=again)
        self._open_answers[thread_id] = answer
        report = self._report
        self._tell(thread_id, answer)
        if report is not None:
            report(thread_id, answer)

        def tell(progress: ProgressEvent) -> None:
            if answer.is_over:
                return
            answer.add_piece(progress)
            self._tell(thread_id, answer)
            if report is not None:
                report(thread_id, answer)

        try:
            yield tell
        finally:
            answer.is_over = True
            self.forget_answer(thread_id, answer)
            if report is not None:
                report(thread_id, answer)

    def receive_answer(self, thread_id: str, answer: AnswerInProgress) -> None:
        """Send new text of an answer that another process writes."""
        self._open_answers[thread_id] = answer
        self._tell(thread_id, answer)

    def forget_answer(self, thread_id: str, answer: AnswerInProgress) -> None:
        """Stop sending an answer to new subscribers."""
        if self._open_answers.get(thread_id) is answer:
            del self._open_answers[thread_id]

    def notify_typing(self, thread_id: str, actor: str) -> None:
        """Notify subscribers that an operator is typing; nothing is stored.

        Parameters:
            actor: the operator's id on the thread.
        """
        self._type(thread_id, actor)
        self._send(Change("typing", thread_id, actor))

    def stop_answer(self, thread_id: str) -> None:
        """Stop sending the answer in progress on a thread."""
        answering = self._open_answers.pop(thread_id, None)
        if answering is not None:
            answering.is_over = True

    @contextmanager
    def open_channel(
        self, thread_id: str, event_format: EventFormat, last: int
    ) -> Iterator[Channel]:
        """Open the channel of a thread in one format, shared by all its subscribers.

        Parameters:
            last: number of an event of the thread; a new channel begins after it.
        """
        channel = self._channels.get((thread_id, event_format))
        if channel is None:
            answering = self._open_answers.get(thread_id)
            channel = Channel(thread_id, self._read, event_format, last, answering, self._turn)
            self._channels[thread_id, event_format] = channel
            self._users[channel] = 0
            self._add(thread_id, channel)
        self._users[channel] += 1
        try:
            yield channel
        finally:
            self._users[channel] -= 1
            if not self._users[channel]:
                del self._users[channel], self._channels[thread_id, event_format]
                self._remove(thread_id, channel)
                channel.close()

    @contextmanager
    def open_run_stream(
        self, thread_id: str, run_id: str, event_format: RunEventFormat, after: int
    ) -> Iterator[RunStream]:
        """Open the stream of one run, for its caller.

        Parameters:
            after: number of the event before the one that queued the run.
        """
        stream = RunStream(thread_id, run_id, self._read, event_format, after)
        answering = self._open_answers.get(thread_id)
        if answering is not None:
            stream.on_answer(answering)
        self._add(thread_id, stream)
        try:
            yield stream
        finally:
            self._remove(thread_id, stream)

    def recheck_on_change(self, epoch: ReadEpoch) -> AbstractAsyncContextManager[None]:
        """Run a background task that checks subscribers' access after credential changes.

        Parameters:
            epoch: reads the number that grows with each change.
        """
        return keep_running(lambda: self._review_on(epoch))

    def run_keepalive(self, seconds: float) -> AbstractAsyncContextManager[None]:
        """Run a background task that sends keepalives, one per ``seconds``."""
        return keep_running(lambda: self._beat_on(seconds))

    async def send_keepalives(self) -> None:
        """Keep all connections alive, end those without access, and read missed events.

        An event written after its response, or by another process, wakes no subscriber.
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
            with suppress(StoreError):  # reported where it matters; retried here
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
            except Exception:  # noqa: BLE001 -- a failed keepalive is followed by another
                _log.exception("beat_failed")

    def _send(self, change: Change) -> None:
        if self._publish is not None:
            self._publish(change)

    def _recheck(self, thread_id: str) -> None:
        for listener in self._listeners.get(thread_id, ()):
            listener.recheck_access()

    def _type(self, thread_id: str, actor: str) -> None:
        for listener in self._listeners.get(thread_id, ()):
            listener.on_typing(actor)

    def _tell(self, thread_id: str, answer: AnswerInProgress) -> None:
        for listener in self._listeners.get(thread_id, ()):
            listener.on_answer(answer)

    def _add(self, thread_id: str, listener: Listener) -> None:
        self._listeners.setdefault(thread_id, {})[listener] = None
        listener.on_event()  # it has not been notified of earlier commits

    def _remove(self, thread_id: str, listener: Listener) -> None:
        listeners = self._listeners[thread_id]
        del listeners[listener]
        if not listeners:
            del self._listeners[thread_id]
