"""Tells operators on platforms of tickets: the first time, and whenever one changes.

What a platform's operators know of a ticket is stored after each message. A job compares that with
the ticket and its conversation, and sends what is missing. So it does not matter where a ticket was
changed: here, in the console, by the command line, or by the end of its time.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec
import structlog

from aitp_desk.capability import Unanswered
from aitp_desk.desk.jobs.background_task import keep_running
from aitp_desk.desk.jobs.kinds import JobKind
from aitp_desk.desk.jobs.queue import JobQueue
from aitp_desk.desk.tickets.inbox import OperatorInbox, ShownMessage, ShownTicket
from aitp_desk.model.conversation.ticket import StoredTicket, TicketState
from aitp_desk.model.errors import StoreBusy, ThreadNotFound
from aitp_desk.model.ids import new_id
from aitp_desk.store.base import Store, StoreError, Work
from aitp_desk.store.reads.console import platforms as platform_reads
from aitp_desk.store.records.jobs import ClaimedJob, NewJob
from aitp_desk.store.records.operators import OperatorTicket, TicketChange
from aitp_desk.store.units.tickets.platforms import (
    SHOWN_KIND,
    note_told,
    put_ticket_controls,
    queue_ticket,
    show_ticket,
)
from aitp_desk.transports.base import Failed, TryLater
from aitp_desk.transports.host.failures import job_failure
from aitp_desk.transports.host.outbox import DELAYS
from aitp_desk.transports.host.registry import EnabledTransport
from aitp_desk.transports.messages import Outgoing
from aitp_desk.transports.operators.buttons import TicketButtons, offer_deeds
from aitp_desk.transports.operators.text import write_message, write_state, write_ticket
from aitp_desk.transports.wire.splitter import split_text

SECONDS = 180
AT_ONCE = 8
LOOK_SECONDS = 0.5
"""How often tickets are searched for changes that no job tells of."""
PAGE = 100
FIRST_MESSAGES = 5
"""How many messages of its conversation a ticket shows."""
EARLIER_REFS = 20

_log = structlog.get_logger()


class TicketFeed:
    """Tells operators on platforms of tickets.

    Parameters:
        transports: those of the site, by name.
        inbox: the operators' view of tickets.
        console: URL of the console; empty where there is none.
        clock: Unix seconds.
    """

    def __init__(
        self,
        transports: Mapping[str, EnabledTransport],
        *,
        inbox: OperatorInbox,
        store: Store,
        jobs: JobQueue,
        console: str,
        clock: Callable[[], float],
    ) -> None:
        self.transports = {name: one for name, one in transports.items() if one.common.operators}
        self.inbox = inbox
        self.store = store
        self._jobs = jobs
        self.console = console
        self.clock = clock
        self._wanted = asyncio.Event()

    def make_kind(self) -> JobKind:
        """Create the kind of job that tells of a ticket."""
        return JobKind(SHOWN_KIND, self.tell, SECONDS, DELAYS, AT_ONCE, in_order=True)

    def announce(self, ticket: StoredTicket) -> Work[None]:
        """Queue a job for each platform with operators: a part of a unit."""
        for name in self.transports:
            yield from show_ticket(ticket, name, self._job(ticket.id, name))

    def wake(self) -> None:
        """Look for changes now."""
        self._wanted.set()

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Queue jobs for changes while the context lasts."""
        async with keep_running(self._watch):
            yield

    async def _watch(self) -> None:
        while True:
            self._wanted.clear()
            try:
                await self._queue_changed()
            except (StoreBusy, StoreError) as error:
                _log.warning("tickets_not_told", reason=str(error))
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._wanted.wait()

    async def _queue_changed(self) -> None:
        found = [
            pair
            async for pair in platform_reads.tickets_behind(self.store, PAGE)
            if pair[1] in self.transports
        ]
        for ticket_id, name in found:
            job = self._job(ticket_id, name)
            if await self.store.run(queue_ticket, ticket_id=ticket_id, transport=name, job=job):
                self._jobs.wake()

    def _job(self, ticket_id: str, transport: str) -> NewJob:
        now = self.clock()
        return NewJob(
            id=new_id("job", now),
            kind=SHOWN_KIND,
            ref="",
            payload={},
            created_at=int(now),
            principal=f"{ticket_id} {transport}",
        )

    async def tell(self, claim: ClaimedJob) -> None:
        """Tell a platform's operators what has changed of a ticket.

        Raises:
            Retry: the platform does not take it now.
            GiveUp: it takes it at no time.
        """
        ticket_id, name, _ = claim.ref.split(" ")
        enabled = self.transports.get(name)
        shown = await self.inbox.read_ticket(ticket_id)
        known = await platform_reads.shown_ticket(self.store, ticket_id, name)
        if enabled is None or shown is None or known is None or known.is_over:
            return
        try:
            change = msgspec.json.decode(claim.payload, type=TicketChange)
            await _Telling(self, enabled, shown, known, change).run()
        except (Failed, Unanswered) as failure:
            raise job_failure(failure) from None


class _Telling:
    """What one job tells of one ticket.

    An attempt after a crash sends the same messages under the same ids: those of the ticket as it
    was when the job was queued. Else operators could answer a message that the desk does not know.
    """

    def __init__(
        self,
        feed: TicketFeed,
        enabled: EnabledTransport,
        shown: ShownTicket,
        known: OperatorTicket,
        change: TicketChange,
    ) -> None:
        self._feed = feed
        self._enabled = enabled
        self._transport = enabled.transport
        self._is_over = shown.ticket.is_over
        self._ticket = msgspec.structs.replace(
            shown.ticket, state=TicketState(change.state), taken_by=change.taken_by or None
        )
        self._shown = msgspec.structs.replace(shown, ticket=self._ticket)
        self._known = known
        self._upto = change.seq
        self._now = int(feed.clock())

    async def run(self) -> None:
        ticket = self._ticket
        state = {"state": ticket.state.value, "taken_by": ticket.taken_by or ""}
        if not self._known.state:
            if self._is_over and not self._known.seq:  # nobody here has waited for it
                await self._note({**state, "is_over": True})
                return
            await self._begin(state)
        elif (self._known.state, self._known.taken_by) != (state["state"], state["taken_by"]):
            await self._send(
                write_state(ticket),
                self._deeds(),
                {**state, "is_over": ticket.is_over},
            )
        if ticket.state is TicketState.TAKEN and ticket.thread_id is not None:
            await self._pass_on(ticket.thread_id)

    async def _begin(self, state: Mapping[str, Any]) -> None:
        messages = await self._newest()
        if not self._known.seq:
            await self._note({"seq": messages[-1].said.seq if messages else 1})
        messages = tuple(one for one in messages if one.said.seq <= self._known.seq)
        link = f"{self._feed.console}#/tickets/{self._ticket.id}" if self._feed.console else ""
        text = write_ticket(self._shown, messages, link)
        await self._send(text, self._deeds(), {**state, "seq": self._known.seq})

    async def _newest(self) -> tuple[ShownMessage, ...]:
        if self._ticket.thread_id is None:
            return ()
        try:
            page = await self._feed.inbox.list_messages(
                self._ticket.thread_id, None, FIRST_MESSAGES
            )
        except ThreadNotFound:
            return ()
        return page.items

    async def _pass_on(self, thread_id: str) -> None:
        """Send what was said on the thread since, other than here."""
        failure: Failed | None = None
        for message in await self._said_since(thread_id):
            seq = {"seq": message.said.seq}
            text = write_message(message, self._enabled.name)
            if not text:
                self._known = msgspec.structs.replace(self._known, **seq)
                continue
            try:
                await self._send(text, TicketButtons(), seq)
            except TryLater:
                raise
            except Failed as failed:  # the next ones may be taken
                failure = failed
                await self._note(seq)
        await self._note({})
        if failure is not None:
            raise failure

    async def _said_since(self, thread_id: str) -> list[ShownMessage]:
        """Return the messages after the last one that they have, oldest first."""
        found: list[ShownMessage] = []
        before: str | None = None
        with suppress(ThreadNotFound):
            while True:
                page = await self._feed.inbox.list_messages(thread_id, before, PAGE)
                newer = [one for one in page.items if one.said.seq > self._known.seq]
                found = [*(one for one in newer if one.said.seq <= self._upto), *found]
                before = page.next
                if before is None or len(newer) < len(page.items):
                    break
        return found

    def _deeds(self) -> TicketButtons:
        return offer_deeds(self._ticket, self._enabled.name, self._now)

    async def _send(self, text: str, offered: TicketButtons, told: Mapping[str, Any]) -> None:
        """Send a message, and store what it tells."""
        known, room = self._known, self._enabled.common.operators
        address = known.address or room
        await self._feed.store.run(put_ticket_controls, controls=offered.kept)
        earlier = await platform_reads.messages_about(
            self._feed.store, known.ticket, self._enabled.name, EARLIER_REFS
        )
        name = hashlib.sha256(f"{known.ticket} {known.steps} {sorted(told.items())}".encode())
        refs: list[tuple[str, str]] = []
        pieces = split_text(text, self._transport.bounds.characters) or ("…",)
        for part, piece in enumerate(pieces):
            sent = await self._enabled.send(
                Outgoing(
                    id=f"{name.hexdigest()[:32]}-{part}",
                    conversation=address,
                    recipient=room,
                    text=piece,
                    answers_ref=earlier[0] if earlier else "",
                    previous_refs=(*earlier, *dict.fromkeys(ref for _, ref in refs)),
                    buttons=offered.buttons if part == len(pieces) - 1 else (),
                    subject=f"Ticket: {self._ticket.about}",
                    is_reply=False,
                    last_heard=self._now,
                    is_for_operators=True,
                )
            )
            address = sent.conversation or address  # a reply may come from either
            refs += dict.fromkeys(((address, sent.message_ref), (room, sent.message_ref)))
        steps = known.steps + 1
        self._known = msgspec.structs.replace(known, **told, address=address, steps=steps)
        await self._feed.store.run(note_told, told=self._known, refs=refs, now=self._now)

    async def _note(self, told: Mapping[str, Any]) -> None:
        """Store what needs no message."""
        self._known = msgspec.structs.replace(self._known, **told)
        await self._feed.store.run(note_told, told=self._known, refs=(), now=self._now)
