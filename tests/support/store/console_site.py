"""A site whose operators look at its threads and tickets, for tests of the store."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from aitp_desk.desk.calls.registry import ActionRegistry
from aitp_desk.desk.tickets.inbox import OperatorInbox
from aitp_desk.desk.tickets.service import EscalationService
from aitp_desk.desk.tickets.takeover import Takeover
from aitp_desk.model.calls.action import Action, Safety
from aitp_desk.model.calls.call import ActionCall
from aitp_desk.model.conversation.thread import Attachment, Origin, Thread
from aitp_desk.model.conversation.ticket import StoredTicket, TicketKind, TicketState
from aitp_desk.model.ids import new_id
from aitp_desk.store.base import Store, Work
from aitp_desk.store.records.console import ThreadFilter, TicketFilter
from aitp_desk.store.records.threads import NewMessage, Session
from aitp_desk.store.rows.calls import write_call
from aitp_desk.store.units.threads.folded_threads import find_tail, fold_turn
from aitp_desk.store.units.threads.tail import ThreadTail
from aitp_desk.store.units.threads.threads import open_thread
from aitp_desk.store.units.tickets.tickets import add_ticket
from tests.support.access.audit_log import somebody
from tests.support.store.messages import DESK, NOW, first_turn, salt_for

BY = somebody(principal="key:anna")

ALL = ThreadFilter()

EVERY = TicketFilter("all")

QUOTE = Action("quote", "Quotes.", "async", safety=Safety("irreversible", "many"))


class Site:
    """A store with conversations; whatever happens there happens a second after the last."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.now = float(NOW)
        content: Any = SimpleNamespace(editions=SimpleNamespace(types=()))
        registries = {"": ActionRegistry(content, (QUOTE,)), "sales": ActionRegistry(content)}
        self.sees = OperatorInbox(store, registries, lambda: self.now)
        self.steps = Takeover(store, lambda: self.now)
        self.ends = EscalationService(store, lambda: self.now)

    def next_id(self, prefix: str) -> str:
        self.now += 1
        return new_id(prefix, self.now)

    async def thread(self, *texts: str, owner: str | None = None, desk: str = "") -> str:
        """Open a thread on which a visitor says this."""
        thread = Thread(self.next_id("thread"), owner, int(self.now), {}, (DESK,), desk=desk)
        await self.store.run(
            open_thread,
            thread=thread,
            speaker=owner or "visitor",
            messages=[self._message(text) for text in texts],
            run=None,
            idempotency=None,
            now=int(self.now),
        )
        return thread.id

    async def folded(self, question: str = "?", reply: str = "!") -> str:
        """Have a first turn that is kept in one row."""
        thread = Thread(self.next_id("thread"), None, int(self.now), {}, (DESK,))
        at = int(self.now)
        session = Session(self.next_id("session"), thread.id, None, 1, at, at)
        turn = first_turn(session, question, reply, recorded_at=self.now)
        await self.store.run(fold_turn, **turn)
        return thread.id

    async def post(
        self, thread_id: str, text: str, *, by_desk: bool = False, files: tuple[str, ...] = ()
    ) -> str:
        """Say something on a thread; the message's id."""
        message = self._message(text, by_desk=by_desk, files=files)
        desk = (await self.store.read("thread_desk", {"thread_id": thread_id}))[0][0]
        await self.store.run(
            _say, thread_id=thread_id, desk=desk, message=message, now=int(self.now)
        )
        return message.id

    async def ticket(self, about: str = "A person, please.", **of: Any) -> str:
        """Have a ticket made."""
        id_ = self.next_id("ticket")
        given = {"desk": "", "kind": TicketKind.REQUEST, "state": TicketState.OPEN, **of}
        ticket = StoredTicket(id_, about=about, created_at=int(self.now), **given)
        await self.store.run(add_ticket, ticket=ticket)
        return id_

    async def tickets(self, asked: TicketFilter = EVERY, limit: int = 50) -> list[str]:
        """The ids of all tickets that are asked for, page by page."""
        found: list[str] = []
        after = None
        while True:
            page = await self.sees.list_tickets(asked, after, limit)
            assert len(page.items) <= limit
            found += [one.ticket.id for one in page.items]
            if (after := page.next) is None:
                return found

    async def threads(self, asked: ThreadFilter = ALL, limit: int = 50) -> list[str]:
        """The ids of all threads that are asked for, page by page."""
        found: list[str] = []
        after = None
        while True:
            page, _ = await self.sees.list_threads(asked, after, limit)
            assert len(page.items) <= limit
            found += [line.id for line in page.items]
            if (after := page.next) is None:
                return found

    def _message(
        self, text: str, *, by_desk: bool = False, files: tuple[str, ...] = ()
    ) -> NewMessage:
        id_ = self.next_id("msg")
        attached = tuple(map(Attachment, files))
        if by_desk:
            return NewMessage(
                id_, salt_for(id_), "assistant", DESK.id, Origin.DESK, (text,), attached
            )
        return NewMessage(id_, salt_for(id_), "user", "visitor", Origin.VISITOR, (text,), attached)


def _say(*, thread_id: str, desk: str, message: NewMessage, now: int) -> Work[None]:
    tail = ThreadTail(thread_id, now, *(yield from find_tail(thread_id, desk))[0][3:])
    tail.add_message(message)
    yield from tail.write()


def _add_call(*, call: ActionCall) -> Work[None]:
    yield "add_call", write_call(call)
