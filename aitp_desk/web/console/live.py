"""The console's event streams: waiting tickets, and the events of a conversation.

Each stream counts against the desk's limit, and ends with the session that opened it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import msgspec

from aitp_desk.auth.console_sessions import Session
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.events.broadcaster import Broadcaster
from aitp_desk.desk.events.channel import EventSink
from aitp_desk.desk.jobs.background_task import run_in_background
from aitp_desk.desk.limits.concurrency_slots import ConcurrencySlots
from aitp_desk.desk.threads.streams import Stream
from aitp_desk.desk.tickets.inbox import OperatorInbox, ShownThread
from aitp_desk.model.errors import ThreadNotFound
from aitp_desk.protocols.aitp.threads.events_wire import decode_after
from aitp_desk.protocols.base.protocol import EVENT_STREAM, Call, Reply
from aitp_desk.protocols.base.sse import KEEPALIVE, UNBUFFERED, write_frame
from aitp_desk.store.base import StoreError
from aitp_desk.web.console.pulse import LOOK_SECONDS, ChangeSignal
from aitp_desk.web.console.threads.events_wire import TICKETS, ConsoleEventFormat, note_event
from aitp_desk.web.console.wire import encode

APART_SECONDS: Final = 0.5
"""Shortest time between two ``changed`` events: operators see a change within a second."""
SAID_SECONDS: Final = 1.0
"""How often a thread is polled for messages of sessions, which send no notification."""


class LiveStreams:
    """Opens the console's streams.

    Parameters:
        desks: of all site agents, by their names.
        slots: limits open streams.
        heartbeat: the longest silence on a stream, in seconds.
        event_format: the event format, in the same bytes for all followers of a thread.
    """

    def __init__(
        self,
        inbox: OperatorInbox,
        desks: Mapping[str, Desk],
        pulse: ChangeSignal,
        slots: ConcurrencySlots,
        heartbeat: float,
        event_format: ConsoleEventFormat,
        events: Broadcaster,
    ) -> None:
        self._inbox = inbox
        self._desks = desks
        self._pulse = pulse
        self._slots = slots
        self._heartbeat = heartbeat
        self._event_format = event_format
        self._events = events

    async def follow_waiting(self, session: Session, call: Call) -> Reply:
        """``GET live``: how many tickets wait, now and after each change."""
        leave = self._slots.acquire(call.principal)

        async def stream(outlet: EventSink) -> None:
            try:
                async with self._pulse.watch() as changed:
                    await self._tell_waiting(outlet, session.operator, changed)
            finally:
                leave()

        return _reply(stream)

    async def follow_thread(self, _session: Session, call: Call) -> Reply:
        """``GET threads/{thread_id}/events``: events of a thread, its notes and tickets."""
        thread_id = call.params["thread_id"]
        after, param = decode_after(call.headers, call.query)
        shown = await self._inbox.read_thread(thread_id)
        desk = self._desks.get(shown.thread.line.agent)
        if desk is None:
            raise ThreadNotFound(
                "The agent of this conversation is no longer served.", param="thread_id"
            )
        principal = msgspec.structs.replace(call.principal, desk=desk.name)
        follow = await desk.streams.open_thread(
            principal, thread_id, after, self._event_format, param=param, in_words=False
        )

        async def stream(outlet: EventSink) -> None:
            async with (
                self._pulse.watch() as changed,
                run_in_background(lambda: self._tell_beside(outlet, shown, changed)),
                run_in_background(lambda: self._look_at(thread_id)),
            ):
                await follow(outlet)

        return _reply(stream)

    async def _look_at(self, thread_id: str) -> None:
        while True:
            await asyncio.sleep(SAID_SECONDS)
            self._events.poll_thread(thread_id)

    async def _tell_waiting(self, outlet: EventSink, operator: str, changed: asyncio.Event) -> None:
        closure = asyncio.ensure_future(outlet.wait_closed())
        now = asyncio.get_running_loop().time
        changed.set()
        told_at = now() - APART_SECONDS
        try:
            while not closure.done():
                if not await outlet.is_authorized():
                    outlet.close()
                elif changed.is_set() and now() >= told_at + APART_SECONDS:
                    with suppress(StoreError):  # retried on the next turn
                        waiting = await self._inbox.count_waiting(operator)
                        changed.clear()
                        outlet.write(write_frame("changed", encode(waiting)))
                        told_at = now()
                elif now() >= told_at + self._heartbeat:
                    outlet.write(KEEPALIVE)
                    told_at = now()
                await _first_of(closure, changed)
        finally:
            closure.cancel()

    async def _tell_beside(
        self, outlet: EventSink, shown: ShownThread, changed: asyncio.Event
    ) -> None:
        """Send what visitors do not see: notes, and changes of tickets."""
        thread, standing = shown.thread, _standing(shown)
        noted = thread.notes[-1].id if thread.notes else ""
        changed.set()
        while True:
            await changed.wait()
            changed.clear()
            with suppress(StoreError, ThreadNotFound):  # the stream itself reports its end
                notes = await self._inbox.list_notes(thread.line.id, noted)
                newest = _standing(await self._inbox.read_thread(thread.line.id))
                if not await outlet.is_authorized():
                    return
                for note in notes:
                    outlet.write(note_event(note))
                    noted = note.id
                if newest != standing:
                    standing = newest
                    outlet.write(TICKETS)


def _reply(stream: Stream) -> Reply:
    return Reply(200, content_type=EVENT_STREAM, headers=UNBUFFERED, stream=stream)


def _standing(thread: ShownThread) -> tuple[tuple[str, ...], ...]:
    """Return the state of a thread's tickets and their calls, for comparison."""
    return tuple(
        (
            shown.ticket.id,
            shown.ticket.state.value,
            shown.ticket.taken_by or "",
            *(
                ()
                if shown.call is None
                else (shown.call.call.state.value, shown.call.call.progress)
            ),
        )
        for shown in thread.tickets
    )


async def _first_of(closure: asyncio.Future[None], changed: asyncio.Event) -> None:
    """Wait until the client is gone or something has changed, at most ``LOOK_SECONDS``.

    A change that is already pending, but may not be sent yet, does not end the wait.
    """
    waiting = None if changed.is_set() else asyncio.ensure_future(changed.wait())
    awaited: set[asyncio.Future[Any]] = {closure} if waiting is None else {closure, waiting}
    try:
        await asyncio.wait(awaited, timeout=LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
    finally:
        if waiting is not None:
            waiting.cancel()
