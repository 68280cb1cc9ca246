"""Does what operators press and write on a platform.

Who acts is looked up at every action: a person whose key was revoked, or who was never bound to
one, gets a refusal, and nothing happens. The rest is as in the console, by the same services.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress

import structlog

from aitp_desk.desk.desk import Desk
from aitp_desk.desk.jobs.kinds import Retry
from aitp_desk.desk.tickets.bindings import BoundOperator, OperatorBindings, find_code
from aitp_desk.desk.tickets.service import EscalationService
from aitp_desk.desk.tickets.takeover import Takeover
from aitp_desk.model.conversation.ticket import StoredTicket, TicketKind, TicketState
from aitp_desk.model.errors import (
    DeskError,
    MessageNotFound,
    StoreBusy,
    ThreadNotFound,
    Unavailable,
)
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.reads.console import platforms as platform_reads
from aitp_desk.store.records.jobs import ClaimedJob
from aitp_desk.store.records.operators import TicketControl
from aitp_desk.store.records.threads import IdempotencyRecord
from aitp_desk.store.records.transports import EDITS
from aitp_desk.transports.events import (
    Choice,
    Incoming,
    MessageEdit,
    MessageRemoval,
    TextMessage,
)
from aitp_desk.transports.host.drafts import VIA
from aitp_desk.transports.host.registry import EnabledTransport
from aitp_desk.transports.host.texts import say
from aitp_desk.transports.operators.deeds import (
    PASSING,
    OperatorServices,
    TicketDeeds,
    was_done,
)
from aitp_desk.transports.operators.feed import TicketFeed
from aitp_desk.transports.operators.notices import OperatorNotices
from aitp_desk.transports.operators.replies import Reply, read_reply
from aitp_desk.transports.operators.text import (
    BIND_PRIVATELY,
    BIND_PROVEN,
    BOUND,
    NO_TICKET,
    NOT_BOUND,
    NOT_CHANGED,
    NOT_REMOVED,
    NOTE_MARK,
    NOTED,
    OVER,
    PRESS_INSTEAD,
)

_log = structlog.get_logger()


class OperatorHandler:
    """Does what operators press and write.

    Parameters:
        feed: tells them what has become of it.
        bindings: finds who acts as whom.
        desks: of all site agents.
        changed: notifies the followers of a thread.
    """

    def __init__(
        self,
        feed: TicketFeed,
        bindings: OperatorBindings,
        *,
        escalation: EscalationService,
        takeover: Takeover,
        desks: Sequence[Desk],
        changed: Callable[[str], None],
    ) -> None:
        self.feed = feed
        self.bindings = bindings
        self.store = feed.store
        self.inbox = feed.inbox
        self.escalation = escalation
        self.takeover = takeover
        self.desks = desks
        self._changed = changed
        self.clock = feed.clock
        self.services = OperatorServices(
            store=feed.store,
            inbox=feed.inbox,
            bindings=bindings,
            escalation=escalation,
            takeover=takeover,
            notify_change=self.notify_change,
            clock=feed.clock,
        )

    async def handle(
        self, enabled: EnabledTransport, incoming: Incoming, claim: ClaimedJob
    ) -> bool:
        """Handle an event if it is an operator's.

        Returns:
            Whether it was; another event is a visitor's.
        """
        handling = _Handling(self, enabled, incoming, claim)
        match incoming.event:
            case TextMessage() as message:
                if (code := find_code(message.text)) is not None:
                    await handling.bind(code)
                    return True
                ticket_id = await self._find_ticket(enabled, incoming, message.answers_ref)
                if ticket_id is None and self._may_answer(enabled, incoming, message.answers_ref):
                    if await platform_reads.is_telling(self.store, enabled.name):
                        raise Retry("It may answer a ticket that is being shown.", after=1)
                    # what was being shown may have got its name since
                    ticket_id = await self._find_ticket(enabled, incoming, message.answers_ref)
                if ticket_id is None:
                    return False
                await handling.take_reply(ticket_id, message)
                return True
            case Choice() as choice:
                control = await platform_reads.ticket_control(self.store, choice.token)
                if control is None:
                    return False
                await handling.press(control)
                return True
            case MessageEdit() as edit:
                return await handling.take_edit(edit)
            case MessageRemoval() as removal:
                return await handling.remove(removal)
            case _:
                return False

    async def _find_ticket(
        self, enabled: EnabledTransport, incoming: Incoming, answers: str
    ) -> str | None:
        """Return the id of the ticket that a message is about."""
        room, address = enabled.common.operators, incoming.conversation
        if not room:
            return None
        if answers:
            found = await platform_reads.ticket_of_message(
                self.store, enabled.name, address, answers
            )
            if found is not None:
                return found
        if address == room:
            return None
        place, root = enabled.transport.divide(address)
        if place == room and root:
            found = await platform_reads.ticket_of_message(self.store, enabled.name, room, root)
            if found is not None:
                return found
        return await platform_reads.ticket_at(self.store, enabled.name, address)

    def _may_answer(self, enabled: EnabledTransport, incoming: Incoming, answers: str) -> bool:
        """Return whether a message answers another one in the operators' room."""
        place, root = enabled.transport.divide(incoming.conversation)
        room = enabled.common.operators
        return bool(room) and place == room and bool(answers or root)

    def notify_change(self, thread_id: str | None) -> None:
        """Notify those who follow a thread, and the operators."""
        for desk in self.desks:
            desk.on_people_acted()
        if thread_id is not None:
            self._changed(thread_id)
        self.feed.wake()


class _Handling:
    """The handling of one event of an operator."""

    def __init__(
        self,
        handler: OperatorHandler,
        enabled: EnabledTransport,
        incoming: Incoming,
        claim: ClaimedJob,
    ) -> None:
        self._handler = handler
        self._store = handler.store
        self._enabled = enabled
        self._incoming = incoming
        self._claim = claim
        self._now = int(handler.clock())
        self._notices = OperatorNotices(handler.store, enabled, incoming, claim, self._now)

    async def bind(self, code: str) -> None:
        """Bind the sender to the key that a code was made for."""
        bindings, name = self._handler.bindings, self._enabled.name
        if not (self._incoming.is_private and self._incoming.is_proven):
            await bindings.spend(name, code)
            told = BIND_PRIVATELY if self._incoming.is_proven else BIND_PROVEN
            await self._notices.tell(told)
            return
        try:
            operator = await bindings.bind(name, self._incoming.sender, code)
        except (Unavailable, StoreBusy):
            raise
        except DeskError as error:
            await self._notices.tell(str(error))
            return
        await self._notices.tell(BOUND.format(name=operator.name))

    async def press(self, control: TicketControl) -> None:
        """Do what a button is for."""
        operator = await self._operator()
        deeds = TicketDeeds(
            self._handler.services, self._enabled, self._incoming, self._notices, self._claim.ref
        )
        await deeds.press(control, operator)

    # What operators write

    async def take_reply(self, ticket_id: str, message: TextMessage) -> None:
        """Say a reply to the visitor."""
        operator = await self._operator()
        if operator is None:
            await self._notices.tell(NOT_BOUND, ticket_id=ticket_id)
            return
        shown = await self._handler.inbox.read_ticket(ticket_id)
        desks = {one.name: one for one in self._handler.desks}
        if shown is None or shown.ticket.desk not in desks:  # its agent may have been removed
            await self._notices.tell(NO_TICKET)
            return
        ref = message.message_ref
        if ref and await self._ticket_of(ref) is not None:
            return
        desk, failures = desks[shown.ticket.desk], self._claim.failures
        reply = await read_reply(
            shown.ticket, message, self._enabled, self._incoming, desk, failures
        )
        if reply.notice:
            await self._notices.tell(reply.notice, ticket_id=ticket_id, part="files")
        if not reply.text:
            return
        try:
            await self._say(shown.ticket, reply, operator, ref)
            if ref:
                await self._notices.name(ticket_id, self._incoming.conversation, ref)
        except PASSING:
            raise
        except DeskError as error:
            await self._notices.tell(str(error), ticket_id=ticket_id)

    async def _say(
        self, ticket: StoredTicket, reply: Reply, operator: BoundOperator, ref: str
    ) -> None:
        text, attachments = reply.text, reply.attachments
        by = self._handler.bindings.make_auditor(operator)
        once = self._once(operator, ref and self._key(ref), text)
        if text.startswith(NOTE_MARK) and ticket.thread_id is not None:
            words = text.removeprefix(NOTE_MARK)
            await self._handler.takeover.note(ticket.thread_id, words, operator.name, by, once)
            await self._notices.tell(NOTED, ticket_id=ticket.id)
        elif await reads.is_used(self._store, once):
            return  # the ticket may have ended since
        elif await self._is_answer(ticket):
            if not (was_done(ticket, TicketState.ANSWERED, operator) and ticket.answer == text):
                await self._handler.escalation.answer(
                    ticket.id, text, operator.name, by, attachments
                )
        elif ticket.is_over:
            await self._notices.tell(OVER, ticket_id=ticket.id)
            return
        elif ticket.thread_id is None:
            await self._notices.tell(PRESS_INSTEAD, ticket_id=ticket.id)
            return
        else:
            await self._handler.escalation.take_ticket(ticket.id, operator.name, by)
            notes = {VIA: self._enabled.name}
            await self._handler.takeover.say(
                ticket.thread_id, text, operator.name, by, once, notes, attachments
            )
        self._handler.notify_change(ticket.thread_id)

    async def take_edit(self, edit: MessageEdit) -> bool:
        """Say what an operator has changed; return whether it is a reply."""
        operator = await self._operator()
        if operator is None or not edit.message_ref or not edit.text.strip():
            return False
        asked = self._once(operator, self._key(edit.message_ref), "")
        said = await platform_reads.said_reply(self._store, asked)
        if said is None:
            ticket_id = await self._ticket_of(edit.message_ref)
            if ticket_id is not None:
                await self._notices.tell(NOT_CHANGED, ticket_id=ticket_id)
            return ticket_id is not None
        by = self._handler.bindings.make_auditor(operator)
        language = self._incoming.language or self._handler.desks[0].site.language
        text = say("edited", language, text=edit.text.removeprefix(NOTE_MARK).strip())
        once, takeover = self._once(operator, "", text), self._handler.takeover
        try:
            if said.message_id is None or edit.text.startswith(NOTE_MARK):
                await takeover.note(said.thread_id, text, operator.name, by, once)
                await self._notices.tell(NOTED)
            else:
                notes = {VIA: self._enabled.name, EDITS: said.message_id}
                await takeover.say(said.thread_id, text, operator.name, by, once, notes)
        except PASSING:
            raise
        except DeskError as error:
            await self._notices.tell(f"{NOT_CHANGED} {error}")
        else:
            self._handler.notify_change(said.thread_id)
        return True

    async def remove(self, removal: MessageRemoval) -> bool:
        """Delete what an operator has deleted here; return whether it is a reply."""
        operator = await self._operator()
        if operator is None or not removal.message_ref:
            return False
        asked = self._once(operator, self._key(removal.message_ref), "")
        said = await platform_reads.said_reply(self._store, asked)
        if said is None or said.message_id is None:  # an answer that ended its ticket, or a note
            ticket_id = await self._ticket_of(removal.message_ref)
            if ticket_id is not None:
                await self._notices.tell(NOT_REMOVED, ticket_id=ticket_id)
            return ticket_id is not None
        by = self._handler.bindings.make_auditor(operator)
        with suppress(ThreadNotFound, MessageNotFound):  # it is gone already
            await self._handler.takeover.withdraw(
                said.thread_id, said.message_id, operator.name, by
            )
        for desk in self._handler.desks:
            desk.sessions.evict_thread(said.thread_id)  # the next turn reloads it
        self._handler.notify_change(said.thread_id)
        return True

    def _key(self, ref: str) -> str:
        """Return the idempotency key of a reply that a platform calls so."""
        room = self._enabled.transport.divide(self._incoming.conversation)[0]
        return f"reply {self._enabled.name} {room} {ref}"

    def _once(self, operator: BoundOperator, key: str, text: str) -> IdempotencyRecord:
        """Return what keeps an event from saying a text twice, after a crash.

        Parameters:
            key: empty for the event's own.
        """
        digest = hashlib.sha256(text.encode()).digest()
        return IdempotencyRecord(
            f"principal {operator.principal.id}", key or self._claim.ref, digest
        )

    async def _is_answer(self, ticket: StoredTicket) -> bool:
        """Return whether a reply ends a ticket: it has no conversation, or Answer was pressed."""
        if ticket.kind is TicketKind.APPROVAL:
            return False
        if ticket.thread_id is None:
            return True
        known = await platform_reads.shown_ticket(self._store, ticket.id, self._enabled.name)
        return (
            known is not None
            and known.answerer == self._incoming.sender
            and self._now < known.answerer_until
        )

    # What they are told

    async def _operator(self) -> BoundOperator | None:
        return await self._handler.bindings.find(
            self._enabled.name, self._incoming.sender, is_proven=self._incoming.is_proven
        )

    async def _ticket_of(self, ref: str) -> str | None:
        """Return the id of the ticket that a reply was said to."""
        address = self._incoming.conversation
        return await platform_reads.ticket_of_message(self._store, self._enabled.name, address, ref)
