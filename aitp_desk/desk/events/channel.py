"""The subscribers of one thread: each event is formatted once and sent to all.

The store is authoritative. A commit wakes the channel; it reads the events after the last number
that it has sent, formats them once and writes the same bytes to every subscriber. So the order
never depends on which coroutine resumes first, and a lost or duplicate wake-up changes nothing.

An answer in progress is sent as it is written. It is no event, has no number and is not in the
store; its place is after the event at which its run was claimed. A subscriber that arrives in
between receives the text so far.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

import structlog

from aitp_desk.agent.base import ProgressEvent, Restart
from aitp_desk.desk.events.access_review import AccessReview
from aitp_desk.desk.events.events import (
    ACTOR_LEFT,
    THREAD_CLAIMED,
    THREAD_DELETED,
    ReadThreadEvents,
    ThreadEvent,
)
from aitp_desk.store.base import StoreError

PAGE = 32
"""How many events are read at once."""
PIECE_BYTES = 64 * 1024
"""Events are written together up to this size; a longer one is written alone."""
AT_ONCE = 250
"""How many subscribers are written to before other tasks run: 5,000 at once block the loop for 70
ms.
"""

_log = structlog.get_logger()


class EventSink(Protocol):
    """A subscriber's connection."""

    def write(self, data: bytes) -> bool:
        """Send whole events, without waiting.

        Returns:
            False when the reader is gone; a subscriber too slow to take what it was sent before is
                dropped immediately.
        """

    async def drain(self) -> bool:
        """Wait until written data is on its way; False when the reader is gone."""

    async def is_authorized(self) -> bool:
        """Return whether the caller still has access: a credential may have been revoked."""

    def set_deadline(self, ends_at: float | None) -> None:
        """Close at this time, and write nothing after it.

        Parameters:
            ends_at: Unix seconds at which the caller's access ends; None if no end is known. It
                replaces an earlier deadline.
        """

    async def wait_closed(self) -> None:
        """Return when the reader is gone."""

    def close(self) -> None:
        """End the stream cleanly; the subscriber may come back."""


EVERYTHING = 2**62
NOTHING = -1
LAST_FOR_READER = frozenset({ACTOR_LEFT, THREAD_CLAIMED, THREAD_DELETED})
"""Events that are the last ones for some subscribers, or for all."""
Upto = Callable[[], Awaitable[int]]
"""Returns the number of the last event that a subscriber may receive: that of its leaving,
``EVERYTHING`` while it has not left, ``NOTHING`` when it has lost access.
"""


class EventFormat(Protocol):
    """The event format of a protocol. Each method returns whole events."""

    beat: bytes
    """Keeps the connection alive, without content."""

    def format_begin(self, thread_id: str, after: int) -> bytes:
        """Format the starting point: everything after this number follows."""

    def format_event(self, event: ThreadEvent) -> bytes:
        """Format an event, with its number."""

    def format_snapshot(self, run_id: str, text: str) -> bytes:
        """Format all text so far of an answer in progress, for a new subscriber."""

    def format_delta(self, run_id: str, text: str) -> bytes:
        """Format more text of an answer in progress."""

    def format_restart(self, run_id: str) -> bytes:
        """Format that the text sent of an answer in progress is void."""

    def format_typing(self, actor: str) -> bytes:
        """Format that an operator is typing."""


class AnswerInProgress:
    """An answer in progress.

    Parameters:
        after: number of the event after which it belongs.
        message_id: the id that its message will have.
        again: whether its run was claimed before, and text was perhaps sent.

    Attributes:
        text: its text so far.
        restarts: how often it was restarted.
        is_over: whether its run's end is committed, or its run was released.
    """

    __slots__ = ("after", "is_over", "message_id", "restarts", "run_id", "text")

    def __init__(self, run_id: str, message_id: str, after: int, *, again: bool) -> None:
        self.run_id = run_id
        self.message_id = message_id
        self.after = after
        self.text = ""
        self.restarts = int(again)
        self.is_over = False

    def add_piece(self, progress: ProgressEvent) -> None:
        """Add a part of the answer, or restart it."""
        if isinstance(progress, Restart):
            self.text = ""
            self.restarts += 1
        else:
            self.text += progress.text


class Channel:
    """The subscribers of one thread that share one format.

    Parameters:
        read: reads the thread's events.
        last: number of the event after which the channel begins.
        answer: the answer in progress, if there is one.
        turn: held while events are read or formatted for a single subscriber, so that many who
            reconnect at once take turns.
    """

    def __init__(
        self,
        thread_id: str,
        read: ReadThreadEvents,
        event_format: EventFormat,
        last: int,
        answer: AnswerInProgress | None,
        turn: asyncio.Lock,
    ) -> None:
        self._thread_id = thread_id
        self._read = read
        self._event_format = event_format
        self._last = last
        self._followers: dict[EventSink, Upto] = {}
        self._is_due = False
        self._review = AccessReview()
        self._pump_task: asyncio.Task[None] | None = None
        self._failed = False
        self._answer = answer
        self._turn = turn
        # text from before the first subscriber goes into snapshots
        heard = answer is not None and last >= answer.after
        self._restarts = answer.restarts if answer is not None and heard else 0
        self._length = len(answer.text) if answer is not None and heard else 0

    def on_event(self) -> None:
        """Look for events after the last one."""
        self._is_due = True
        self._pump()

    def recheck_access(self) -> None:
        """End the streams of callers that have lost access; a deletion is sent before."""
        self._review.note_change()
        self._pump()

    def on_answer(self, answer: AnswerInProgress) -> None:
        """Send new text of an answer after this tick of the loop."""
        if answer is not self._answer:
            self._answer, self._restarts, self._length = answer, 0, 0
        self._pump()

    def on_typing(self, actor: str) -> None:
        """Send to all who have all events that an operator is typing."""
        piece = self._event_format.format_typing(actor)
        for outlet in tuple(self._followers):
            outlet.write(piece)

    async def follow(self, outlet: EventSink, after: int, upto: Upto) -> None:
        """Send all events after a number, until the reader is gone.

        Parameters:
            after: the number of an event that the thread has had, or 0.
            upto: called at the start, after every page that is read for this subscriber alone,
                whenever an actor has left the thread or a grant was revoked, and at every
                keepalive. So no event after the subscriber's own leaving is sent.
        """
        outlet.write(self._event_format.format_begin(self._thread_id, after))
        while self._last < after and not self._failed:
            self.on_event()
            await self._pumped()
        while True:
            known = self._last
            missed = await self._read_missed(after)
            last = await self._review.check(upto)
            if missed and after < last:
                told = [one for one in missed if one.n <= last]
                if not await self._send_missed(outlet, told):
                    return
                after = missed[-1].n
            elif known == self._last or after >= last:
                break
        if self._failed or last < EVERYTHING:
            outlet.close()
            return
        # the channel does not change before the next await
        outlet.write(self._snapshot())
        self._followers[outlet] = upto
        try:
            await outlet.wait_closed()
        finally:
            del self._followers[outlet]

    async def send_keepalive(self) -> None:
        """Keep connections alive, and end those of callers that have lost access."""
        _close(await self._list_those_who_left())
        for number, outlet in enumerate(tuple(self._followers), 1):
            outlet.write(self._event_format.beat)
            if not number % AT_ONCE:
                await asyncio.sleep(0)

    def close(self) -> None:
        """Stop the channel: it has no subscribers any more."""
        if self._pump_task is not None:
            self._pump_task.cancel()

    def _pump(self) -> None:
        if self._pump_task is None and not self._failed:
            self._pump_task = asyncio.create_task(self._tell_all())

    async def _read_missed(self, after: int) -> Sequence[ThreadEvent]:
        """Read the next events up to the last one sent to all others."""
        if after >= self._last:
            return ()
        async with _one_of_many(self._turn):
            page = await self._read(self._thread_id, after, min(PAGE, self._last - after))
        return page.happenings

    async def _send_missed(self, outlet: EventSink, events: Sequence[ThreadEvent]) -> bool:
        """Send events to one subscriber; False when the reader is gone."""
        pieces = _pieces(map(self._event_format.format_event, events))
        while True:
            async with _one_of_many(self._turn):
                piece = next(pieces, b"")
            if not piece:
                return True
            if not outlet.write(piece) or not await outlet.drain():
                return False

    async def _pumped(self) -> None:
        if self._pump_task is not None:
            await asyncio.wait([self._pump_task])

    async def _tell_all(self) -> None:
        """Read, format and send until there is nothing new."""
        try:
            while True:
                happened, left = await self._read_news()
                if happened and happened[-1].kind == THREAD_DELETED:
                    happened = happened[-1:]  # nobody has access any more, but all learn why
                else:
                    _close(left)
                told = False
                for part in _parts(happened):
                    for piece in _pieces(self._word(part)):
                        told = True
                        await self._send(piece)
                    if part and part[-1].kind in LAST_FOR_READER:
                        _close(await self._list_those_who_left())
                if not told and not self._is_due and not self._review.is_due:
                    break
        except StoreError as error:
            _log.warning("following_interrupted", reason=str(error))
            self._fail()
        except Exception:  # noqa: BLE001 -- it ends these streams, not the desk
            _log.exception("following_failed")
            self._fail()
        finally:
            self._pump_task = None

    async def _read_news(self) -> tuple[Sequence[ThreadEvent], Sequence[EventSink]]:
        """Read new events, and list the subscribers whose access ended before."""
        while True:
            left: Sequence[EventSink] = ()
            if self._review.is_due:
                self._review.is_due = False
                left = await self._list_those_who_left()
            if not self._is_due and not left:
                return (), ()
            self._is_due = False
            page = await self._review.read(self._read(self._thread_id, self._last, PAGE))
            self._is_due |= page.has_more
            if not self._review.is_due:
                return page.happenings, left
            # these events may be later than the change of access
            self._is_due |= bool(page.happenings)

    def _fail(self) -> None:
        """End the streams; subscribers reconnect and continue where they were."""
        self._failed = True
        _close(self._followers)

    async def _list_those_who_left(self) -> list[EventSink]:
        left = []
        for number, (outlet, upto) in enumerate(tuple(self._followers.items()), 1):
            if await upto() < EVERYTHING:
                left.append(outlet)
            if not number % AT_ONCE:
                await asyncio.sleep(0)
        return left

    async def _send(self, data: bytes) -> None:
        for number, outlet in enumerate(tuple(self._followers), 1):
            outlet.write(data)
            if not number % AT_ONCE:
                await asyncio.sleep(0)
        if len(data) >= PIECE_BYTES:  # a fast reader takes it before there is more
            await asyncio.sleep(0)

    def _word(self, page: Sequence[ThreadEvent]) -> Iterator[bytes]:
        """Yield events in order, with new answer text in its place.

        A yielded event counts as sent: a subscriber that arrives while it is being sent receives it
        from the store, or in the snapshot. All text of an answer is added before its run's end is
        committed: when a page holds that end, the text before it is complete.
        """
        for happening in page:
            yield from self._word_answer()
            self._last = happening.n
            yield self._event_format.format_event(happening)
        if not page or page[-1].kind not in LAST_FOR_READER:
            yield from self._word_answer()

    def _word_answer(self) -> Iterator[bytes]:
        answering = self._answer
        if answering is None or self._last < answering.after:
            return
        if self._restarts < answering.restarts:
            self._restarts, self._length = answering.restarts, 0
            yield self._event_format.format_restart(answering.run_id)
        if self._length < len(answering.text):
            said = answering.text[self._length :]
            self._length = len(answering.text)
            yield self._event_format.format_delta(answering.run_id, said)

    def _snapshot(self) -> bytes:
        """Return the text sent so far of the answer in progress.

        Empty if there is none.
        """
        answering = self._answer
        if answering is None or answering.is_over or self._last < answering.after:
            return b""
        heard = answering.text[: self._length] if self._restarts == answering.restarts else ""
        return self._event_format.format_snapshot(answering.run_id, heard)


@asynccontextmanager
async def _one_of_many(turn: asyncio.Lock) -> AsyncIterator[None]:
    """Run a step for one subscriber, then yield to other tasks.

    Long events take milliseconds.
    """
    async with turn:
        yield
        await asyncio.sleep(0)


def _parts(page: Sequence[ThreadEvent]) -> Iterator[Sequence[ThreadEvent]]:
    """Split events after those that are the last for some subscribers."""
    begin = 0
    for end, happening in enumerate(page, 1):
        if happening.kind in LAST_FOR_READER:
            yield page[begin:end]
            begin = end
    yield page[begin:]


def _pieces(events: Iterable[bytes]) -> Iterator[bytes]:
    """Join events to pieces of a size worth a write."""
    gathered: list[bytes] = []
    size = 0
    for event in events:
        gathered.append(event)
        size += len(event)
        if size >= PIECE_BYTES:
            yield b"".join(gathered)
            gathered, size = [], 0
    if gathered:
        yield b"".join(gathered)


def _close(outlets: Iterable[EventSink]) -> None:
    for outlet in outlets:
        outlet.close()
