"""Opens event streams of threads and runs: checks access and the starting point."""

from __future__ import annotations

import asyncio
from asyncio import FIRST_COMPLETED
from collections.abc import AsyncIterator, Awaitable, Callable

from aitp_desk.config import Events
from aitp_desk.desk.access.scopes import check_scope
from aitp_desk.desk.events.broadcaster import Broadcaster
from aitp_desk.desk.events.channel import EVERYTHING, NOTHING, EventFormat, EventSink, Upto
from aitp_desk.desk.events.run_stream import RunEventFormat
from aitp_desk.desk.limits.concurrency_slots import ConcurrencySlots
from aitp_desk.desk.plugins.messages.text_stream import PlainTextFormat, PlainTextRunFormat
from aitp_desk.desk.threads.reader import ThreadReader
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.run import Run
from aitp_desk.model.errors import EventsGone, InvalidRequest, ThreadNotFound

Stream = Callable[[EventSink], Awaitable[None]]
"""Writes to a sink until the reader is gone. Called once."""


class ThreadStreams:
    """Opens event streams.

    Parameters:
        slots: the slots that count open streams.
    """

    def __init__(
        self,
        *,
        reader: ThreadReader,
        events: Broadcaster,
        settings: Events,
        slots: ConcurrencySlots,
    ) -> None:
        self._reader = reader
        self._events = events
        self._settings = settings
        self._slots = slots

    async def open_thread(
        self,
        principal: Principal,
        thread_id: str,
        after: int | None,
        event_format: EventFormat,
        *,
        param: str,
        in_words: bool = True,
    ) -> Stream:
        """Open a stream of a thread's events.

        It holds its slot until it has been called and has ended.

        Parameters:
            after: number of the last event that the caller knows; None for the newest.
            event_format: the event format of the protocol.
            param: the request member that held the number.
            in_words: whether structured messages that the caller has not declared are rendered as
                plain text; otherwise messages are sent unchanged.

        Raises:
            Forbidden: the caller's key does not open threads.
            ThreadNotFound: it does not exist, is closed, or is not the caller's.
            InvalidRequest: the thread has had no such event yet.
            EventsGone: too many events have happened since.
            RateLimited, Unavailable: the caller has, or all callers have, too many open streams.
        """
        check_scope(principal)
        kept, access = await self._reader.find_thread(principal, thread_id)
        last = kept.last_event if access.upto_event is None else access.upto_event
        begin = last if after is None else after
        if begin > last:
            raise InvalidRequest(
                f"This thread has no such event yet: its last event has the number {last}.",
                param=param,
            )
        if last - begin > self._settings.max_behind:
            raise EventsGone(
                f"More than {self._settings.max_behind} events have occurred since. Follow the"
                " thread without a number, from its last event on, then read its messages.",
                param=param,
            )
        renderer = self._reader.renderer
        if in_words and renderer.is_needed:
            readers = await renderer.find_reader_actors(principal, thread_id)
            event_format = PlainTextFormat(event_format, renderer, readers)
        leave = self._slots.acquire(principal, thread_id)

        async def stream(outlet: EventSink) -> None:
            try:
                with self._events.open_channel(thread_id, event_format, last) as channel:
                    await channel.follow(outlet, begin, self._upto(principal, thread_id, outlet))
            finally:
                leave()

        return stream

    async def open_run(
        self,
        principal: Principal,
        start: Callable[[], Awaitable[Run]],
        word: Callable[[Run], RunEventFormat],
        ended: Callable[[Run], Awaitable[None]] | None = None,
    ) -> Stream:
        """Start or resume a run, and open a stream of it alone.

        It takes a slot, as other streams do.

        Parameters:
            start: queues the run; not called if no slot is free.
            word: returns the event format for the run.
            ended: called with the run, as it was started, once the stream has ended.

        Raises:
            RateLimited, Unavailable: as :meth:`open_thread`.
            any error that ``start`` raises.
        """
        leave = self._slots.acquire(principal)
        try:
            run = await start()
            queued = await self._reader.find_queue_event(run)
            wording = await self._tell_in_words(principal, run.thread_id, word(run))
        except BaseException:
            leave()
            raise

        async def stream(outlet: EventSink) -> None:
            try:
                with self._events.open_run_stream(
                    run.thread_id, run.id, wording, queued - 1
                ) as listening:
                    await listening.follow(outlet, self._upto(principal, run.thread_id, outlet))
            finally:
                leave()
            if ended is not None:
                await ended(run)

        return stream

    async def _tell_in_words(
        self, principal: Principal, thread_id: str, event_format: RunEventFormat
    ) -> RunEventFormat:
        renderer = self._reader.renderer
        if not renderer.is_needed:
            return event_format
        readers = await renderer.find_reader_actors(principal, thread_id)
        return PlainTextRunFormat(event_format, renderer, readers)

    async def open_pieces(
        self, principal: Principal, tell: Callable[[], AsyncIterator[bytes]]
    ) -> Stream:
        """Open a stream of prepared events, until the caller's credential ends.

        It takes a slot as others do.

        Parameters:
            tell: yields whole events; it is abandoned when the reader is gone.

        Raises:
            RateLimited, Unavailable: as :meth:`open_thread`.
        """
        leave = self._slots.acquire(principal)

        async def stream(outlet: EventSink) -> None:
            pieces = tell()
            closing = asyncio.ensure_future(outlet.wait_closed())
            coming: asyncio.Future[bytes | None] | None = None
            try:
                while not closing.done():
                    coming = asyncio.ensure_future(anext(pieces, None))
                    await asyncio.wait({coming, closing}, return_when=FIRST_COMPLETED)
                    if not coming.done() or (piece := coming.result()) is None:
                        return
                    if not await outlet.is_authorized():
                        return
                    outlet.write(piece)
                    if not await outlet.drain():
                        return
            finally:
                closing.cancel()
                if coming is not None:
                    coming.cancel()
                leave()

        return stream

    def _upto(self, principal: Principal, thread_id: str, outlet: EventSink) -> Upto:
        async def upto() -> int:
            if not await outlet.is_authorized():
                return NOTHING
            try:
                access = await self._reader.get_access(principal, thread_id)
            except ThreadNotFound:
                return NOTHING
            outlet.set_deadline(access.ends_at)
            return EVERYTHING if access.upto_event is None else access.upto_event

        return upto
