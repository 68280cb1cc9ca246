"""The operators' view of tickets, threads and load, for all agents of a process."""

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
from aitp_desk.model.conversation.ticket import StoredTicket
from aitp_desk.model.errors import InvalidRequest, ThreadNotFound, UnknownAction
from aitp_desk.store.base import Store
from aitp_desk.store.reads import calls as call_reads
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.reads.console import callers as caller_reads
from aitp_desk.store.reads.console import thread_lists as console_threads
from aitp_desk.store.reads.console import threads as console_reads
from aitp_desk.store.reads.console import tickets as ticket_reads
from aitp_desk.store.reads.console.load import HOUR, load_of_hour
from aitp_desk.store.records.console import (
    LoadHour,
    ShownMessageRow,
    ThreadAtAGlance,
    ThreadFilter,
    ThreadLine,
    TicketFilter,
    WaitingCount,
)
from aitp_desk.store.records.pages import Listing
from aitp_desk.store.units.jobs.jobs import JOBS_EPOCH
from aitp_desk.store.units.privacy.erasure import ERASURES_EPOCH
from aitp_desk.store.units.tickets.tickets import TICKETS_EPOCH

MAX_HOURS = 7 * 24
"""How many hours of load figures are available."""
LATE_SECONDS = 60
"""How long after its end an hour's figures may still change."""


class ShownCall(msgspec.Struct, frozen=True):
    """A call with the declaration of its action.

    Parameters:
        action: as declared now; None if it is not declared any more.
    """

    call: ActionCall
    action: Action | None


class ShownTicket(msgspec.Struct, frozen=True):
    """A ticket with its call; None if it has none.

    Parameters:
        asked_by_name: the name of the key or client that asks, if the owner has named it.
    """

    ticket: StoredTicket
    call: ShownCall | None
    asked_by_name: str | None = None


class ShownThread(msgspec.Struct, frozen=True):
    """A thread without its messages.

    Parameters:
        tickets: those of the thread, with their calls.
        owner_name: the name of the key or client that owns it, if the owner has named it.
    """

    thread: ThreadAtAGlance
    tickets: tuple[ShownTicket, ...]
    owner_name: str | None = None


class ShownMessage(msgspec.Struct, frozen=True):
    """A message as operators see it.

    Parameters:
        parts: its parts as text and structure; empty if all of them are plain text.
    """

    said: ShownMessageRow
    parts: tuple[ShownPart, ...]


class OperatorInbox:
    """Reads for operators. The caller checks that the reader is an operator.

    Parameters:
        registries: the actions of each agent, by its name; empty for the site's own.
        clock: Unix seconds.
        capabilities: render their messages as text, and report the state of their requests.
    """

    def __init__(
        self,
        store: Store,
        registries: Mapping[str, ActionRegistry],
        clock: Callable[[], float],
        capabilities: PluginRegistry = NO_PLUGINS,
    ) -> None:
        self._part_views = PartViews(capabilities, store, clock)
        self._store = store
        self._registries = registries
        self._clock = clock
        self._hours: dict[int, LoadHour] = {}
        self._count_lock = asyncio.Lock()

    @property
    def agents(self) -> tuple[str, ...]:
        """The names of the agents. The site's own comes first; its name is empty."""
        return tuple(sorted(self._registries))

    async def list_tickets(
        self, asked: TicketFilter, after: str | None, limit: int
    ) -> Listing[ShownTicket]:
        """List tickets without their calls: open ones oldest first, ended ones newest first.

        Parameters:
            after: the ``next`` of the previous page; None for the first.
            limit: maximum number per page. A page may have fewer, or none, and yet have a
                successor.

        Raises:
            InvalidRequest: ``after`` is no valid cursor.
        """
        page = await console_reads.tickets(self._store, asked, after, limit)
        names = await self._name_callers(page.items)
        shown = [ShownTicket(one, None, names.get(one.principal or "")) for one in page.items]
        return Listing(tuple(shown), page.next)

    async def read_ticket(self, ticket_id: str) -> ShownTicket | None:
        """Return a ticket; None if it does not exist."""
        kept = await ticket_reads.ticket(self._store, ticket_id)
        return None if kept is None else (await self._shown((kept,)))[0]

    async def list_threads(
        self, asked: ThreadFilter, after: str | None, limit: int
    ) -> tuple[Listing[ThreadLine], Mapping[str, str]]:
        """List threads by their last message, newest first; a search, those with the text.

        Parameters:
            after, limit: as in :meth:`list_tickets`.

        Returns:
            Also the names of the keys and clients that own them, by id, as far as the owner has
            named them.

        Raises:
            InvalidRequest: ``after`` is no valid cursor.
        """
        page = await console_threads.threads(self._store, asked, after, limit)
        names = await caller_reads.names(self._store, (line.owner for line in page.items))
        return Listing(tuple(map(self._told, page.items)), page.next), names

    async def read_thread(self, thread_id: str) -> ShownThread:
        """Return a thread without its messages.

        Raises:
            ThreadNotFound: there is no such thread.
        """
        found = await console_reads.thread(self._store, thread_id)
        if found is None:
            raise _no_thread()
        line = self._told(found.line)
        names = await caller_reads.names(self._store, (line.owner,))
        return ShownThread(
            msgspec.structs.replace(found, line=line),
            await self._shown(found.tickets),
            names.get(line.owner or ""),
        )

    async def list_messages(
        self, thread_id: str, before: str | None, limit: int
    ) -> Listing[ShownMessage]:
        """Return the newest messages of a thread, or those before a given message.

        The oldest comes first; ``next`` is the ``before`` of the next page.

        Raises:
            ThreadNotFound: there is no such thread.
            InvalidRequest: ``before`` is not the id of a message of the thread.
        """
        page = await console_reads.messages(
            self._store, thread_id, before=before, limit=limit, now=int(self._clock())
        )
        if page is None:
            raise _no_thread()
        shown = [
            ShownMessage(
                one, await self._part_views.show_parts(thread_id, one.id, one.actor, one.content)
            )
            for one in page.items
        ]
        return Listing(tuple(shown), page.next)

    async def list_notes(self, thread_id: str, after: str = "") -> tuple[Note, ...]:
        """Return the notes on a thread, oldest first.

        Parameters:
            after: id of the note before the first one wanted.
        """
        return await console_reads.notes(self._store, thread_id, after)

    async def count_waiting(self, operator: str) -> WaitingCount:
        """Count the tickets that wait for an operator.

        Parameters:
            operator: the name of the operator whose tickets are counted separately.
        """
        return await console_reads.waiting(self._store, operator, int(self._clock()))

    async def read_load(self, hours: int) -> tuple[LoadHour, ...]:
        """Return the load figures of the last hours, oldest first.

        The current hour comes last and is incomplete.

        The figures of a past hour are counted once per process.

        Parameters:
            hours: at most ``MAX_HOURS``.

        Raises:
            InvalidRequest: ``hours`` is out of range.
        """
        if not 1 <= hours <= MAX_HOURS:
            raise InvalidRequest(
                (f"`hours` must be a whole number from 1 to {MAX_HOURS}."), param="hours"
            )
        now = int(self._clock())
        present = now - now % HOUR
        async with self._count_lock:
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
        """Return a number that grows when tickets, notes or thread assignments change.

        It may grow at other times as well.
        """
        epochs = (TICKETS_EPOCH, JOBS_EPOCH, ERASURES_EPOCH)
        return sum([await reads.epoch(self._store, name) for name in epochs])

    def _told(self, line: ThreadLine) -> ThreadLine:
        """Return a line of a thread list with its last message as plain text."""
        if line.last is None:
            return line
        content = render_parts(line.last.content, self._part_views.capabilities)
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

    async def _shown(self, tickets: tuple[StoredTicket, ...]) -> tuple[ShownTicket, ...]:
        names = await self._name_callers(tickets)
        return tuple([await self._show(one, names.get(one.principal or "")) for one in tickets])

    async def _name_callers(self, tickets: tuple[StoredTicket, ...]) -> Mapping[str, str]:
        return await caller_reads.names(self._store, (ticket.principal for ticket in tickets))

    async def _show(self, ticket: StoredTicket, name: str | None) -> ShownTicket:
        call = None
        if ticket.call_id is not None:
            call = await call_reads.call_by_id(self._store, ticket.call_id)
        return ShownTicket(ticket, None if call is None else self._with_action(call), name)

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
