"""What operators see: tickets, conversations and the load, of all agents of one process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import msgspec

from aitp_desk.desk.calls.registry import ActionRegistry
from aitp_desk.desk.plugins.messages.plain_text import render_parts
from aitp_desk.desk.plugins.registry import NO_PLUGINS, PluginRegistry
from aitp_desk.desk.tickets.inbox_parts import PartViews, ShownPart
from aitp_desk.model.calls.action import Action
from aitp_desk.model.calls.call import ActionCall
from aitp_desk.model.conversation.note import Note
from aitp_desk.model.conversation.ticket import KeptTicket
from aitp_desk.model.errors import InvalidRequest, ThreadNotFound, UnknownAction
from aitp_desk.store.base import Store
from aitp_desk.store.reads import calls as call_reads
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.reads.console import thread_lists as console_threads
from aitp_desk.store.reads.console import threads as console_reads
from aitp_desk.store.reads.console import tickets as ticket_reads
from aitp_desk.store.reads.console.load import HOUR, load_of_hour
from aitp_desk.store.records.console import (
    LoadHour,
    ShownMessageRow,
    ThreadActor,
    ThreadFilter,
    ThreadLine,
    ThreadPage,
    TicketFilter,
    WaitingCount,
)
from aitp_desk.store.units.jobs.jobs import JOBS_EPOCH
from aitp_desk.store.units.privacy.erasure import ERASURES_EPOCH
from aitp_desk.store.units.tickets.tickets import TICKETS_EPOCH

MAX_HOURS = 7 * 24
"""How far back the load is told."""
LATE_SECONDS = 60
"""So long after its end an hour's figures do not change any more."""


class ShownCall(msgspec.Struct, frozen=True):
    """A call with what it would do.

    Parameters:
        action: as it is declared now; None where it is not any more.
    """

    call: ActionCall
    action: Action | None


class ShownTicket(msgspec.Struct, frozen=True):
    """A ticket with the call that it is about; None where it is about none."""

    ticket: KeptTicket
    call: ShownCall | None


class TicketPage(msgspec.Struct, frozen=True):
    """A part of a list of tickets.

    Parameters:
        next: behind which the list goes on; None where it ends here.
    """

    tickets: tuple[ShownTicket, ...]
    next: str | None


class ThreadHead(msgspec.Struct, frozen=True):
    """A thread without what was said there. See ``console_records.ThreadAtAGlance``."""

    line: ThreadLine
    actors: tuple[ThreadActor, ...]
    tickets: tuple[ShownTicket, ...]
    notes: tuple[Note, ...]
    last_event: int


class ShownMessage(msgspec.Struct, frozen=True):
    """Something that was said.

    Parameters:
        parts: what it says in words and besides them; none where it is words alone.
    """

    said: ShownMessageRow
    parts: tuple[ShownPart, ...]


class MessagePage(msgspec.Struct, frozen=True):
    """A part of what was said on a thread, the oldest first.

    Parameters:
        before: as of ``console_records.SaidPage``.
    """

    messages: tuple[ShownMessage, ...]
    before: str | None


class OperatorInbox:
    """Reads for operators. Whoever asks must be one.

    Parameters:
        registries: the actions of each agent, by its name; empty for the site's own.
        clock: Unix seconds.
        capabilities: tell what was said in messages of theirs, and how it stands.
    """

    def __init__(
        self,
        store: Store,
        registries: Mapping[str, ActionRegistry],
        clock: Callable[[], float],
        capabilities: PluginRegistry = NO_PLUGINS,
    ) -> None:
        self._showing = PartViews(capabilities, store, clock)
        self._store = store
        self._registries = registries
        self._clock = clock
        self._hours: dict[int, LoadHour] = {}
        self._counting = asyncio.Lock()

    @property
    def agents(self) -> tuple[str, ...]:
        """The names of the agents, the site's own first, which is empty."""
        return tuple(sorted(self._registries))

    async def list_tickets(self, asked: TicketFilter, after: str | None, limit: int) -> TicketPage:
        """List tickets: those that wait the oldest first, those that are over the newest first.

        Parameters:
            after: the ``next`` of the page before; None for the first.
            limit: how many a page has at most. It may have fewer, or none, and yet go on.

        Raises:
            InvalidRequest: ``after`` is none.
        """
        page = await console_reads.tickets(self._store, asked, after, limit)
        return TicketPage(await self._shown(page.tickets), page.next)

    async def read_ticket(self, ticket_id: str) -> ShownTicket | None:
        """Read a ticket; None where there is none."""
        kept = await ticket_reads.ticket(self._store, ticket_id)
        return None if kept is None else await self._show(kept)

    async def list_threads(self, asked: ThreadFilter, after: str | None, limit: int) -> ThreadPage:
        """List threads, those first on which something was said last; of a text, where it was said.

        Parameters:
            after, limit: as of :meth:`list_tickets`.

        Raises:
            InvalidRequest: ``after`` is none.
        """
        page = await console_threads.threads(self._store, asked, after, limit)
        return ThreadPage(tuple(map(self._told, page.lines)), page.next)

    async def read_thread(self, thread_id: str) -> ThreadHead:
        """Read a thread without what was said there.

        Raises:
            ThreadNotFound: there is no such thread.
        """
        found = await console_reads.thread(self._store, thread_id)
        if found is None:
            raise _no_thread()
        tickets = await self._shown(found.tickets)
        return ThreadHead(
            self._told(found.line), found.actors, tickets, found.notes, found.last_event
        )

    async def list_messages(self, thread_id: str, before: str | None, limit: int) -> MessagePage:
        """Read what was said on a thread, the newest or what came before a message.

        Raises:
            ThreadNotFound: there is no such thread.
            InvalidRequest: ``before`` is not the id of a message of it.
        """
        page = await console_reads.messages(
            self._store, thread_id, before=before, limit=limit, now=int(self._clock())
        )
        if page is None:
            raise _no_thread()
        shown = [
            ShownMessage(
                one, await self._showing.show_parts(thread_id, one.id, one.actor, one.content)
            )
            for one in page.messages
        ]
        return MessagePage(tuple(shown), page.before)

    async def list_notes(self, thread_id: str, after: str = "") -> tuple[Note, ...]:
        """Read the notes beside a thread, the oldest first.

        Parameters:
            after: id of the note behind which they begin.
        """
        return await console_reads.notes(self._store, thread_id, after)

    async def count_waiting(self, operator: str) -> WaitingCount:
        """Count the tickets that wait for a person.

        Parameters:
            operator: the name of whose are counted apart.
        """
        return await console_reads.waiting(self._store, operator, int(self._clock()))

    async def read_load(self, hours: int) -> tuple[LoadHour, ...]:
        """What happened in each of the last hours, the present one last, which is not over.

        An hour that is over is counted once for as long as the process lasts.

        Parameters:
            hours: at most ``MOST_HOURS``.

        Raises:
            InvalidRequest: that is no such number.
        """
        if not 1 <= hours <= MAX_HOURS:
            raise InvalidRequest(f"hours is a whole number from 1 to {MAX_HOURS}.", param="hours")
        now = int(self._clock())
        present = now - now % HOUR
        async with self._counting:
            for at in sorted(self._hours):
                if at <= present - MAX_HOURS * HOUR:
                    del self._hours[at]
            return tuple(
                [
                    await self._hour(at, now)
                    for at in range(present - (hours - 1) * HOUR, present + 1, HOUR)
                ]
            )

    async def read_version(self) -> int:
        """A number that grows when tickets or notes change, or who has which thread.

        It may grow without that, too.
        """
        epochs = (TICKETS_EPOCH, JOBS_EPOCH, ERASURES_EPOCH)
        return sum([await reads.epoch(self._store, name) for name in epochs])

    def _told(self, line: ThreadLine) -> ThreadLine:
        """A thread in a list, with what was said last in words."""
        if line.last is None:
            return line
        content = render_parts(line.last.content, self._showing.capabilities)
        return msgspec.structs.replace(
            line, last=msgspec.structs.replace(line.last, content=content)
        )

    async def _hour(self, at: int, now: int) -> LoadHour:
        if (kept := self._hours.get(at)) is not None:
            return kept
        counted = await load_of_hour(self._store, at)
        await asyncio.sleep(0)
        if now >= at + HOUR + LATE_SECONDS:
            self._hours[at] = counted
        return counted

    async def _shown(self, tickets: tuple[KeptTicket, ...]) -> tuple[ShownTicket, ...]:
        return tuple([await self._show(ticket) for ticket in tickets])

    async def _show(self, ticket: KeptTicket) -> ShownTicket:
        call = None
        if ticket.call_id is not None:
            call = await call_reads.call_by_id(self._store, ticket.call_id)
        return ShownTicket(ticket, None if call is None else self._with_action(call))

    def _with_action(self, call: ActionCall) -> ShownCall:
        registry = self._registries.get(call.desk)
        if registry is None:
            return ShownCall(call, None)
        try:
            return ShownCall(call, registry.get_action(call.action))
        except UnknownAction:
            return ShownCall(call, None)


def _no_thread() -> ThreadNotFound:
    return ThreadNotFound("There is no thread with this id.", param="thread_id")
