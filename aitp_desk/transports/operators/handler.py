"""Does what operators press and write on a platform.

Who acts is looked up at every action: a person whose key was revoked, or who was never bound to
one, gets a refusal, and nothing happens. The rest is as in the console, by the same services.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Sequence

import structlog

from aitp_desk.desk.desk import Desk
from aitp_desk.desk.jobs.kinds import Retry
from aitp_desk.desk.tickets.bindings import BoundOperator, OperatorBindings, find_code
from aitp_desk.desk.tickets.inbox import ShownTicket
from aitp_desk.desk.tickets.service import EscalationService
from aitp_desk.desk.tickets.takeover import Takeover
from aitp_desk.model.conversation.ticket import StoredTicket, TicketKind, TicketState, get_operator
from aitp_desk.model.errors import DeskError, Forbidden, RateLimited, StoreBusy, Unavailable
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.reads.console import platforms as platform_reads
from aitp_desk.store.records.jobs import ClaimedJob
from aitp_desk.store.records.operators import Deed, TicketControl
from aitp_desk.store.records.threads import IdempotencyRecord
from aitp_desk.store.units.tickets.platforms import await_answer, put_ticket_controls
from aitp_desk.transports.events import Choice, Incoming, MessageEdit, TextMessage
from aitp_desk.transports.host.drafts import EDITS, VIA
from aitp_desk.transports.host.registry import EnabledTransport
from aitp_desk.transports.host.texts import say
from aitp_desk.transports.operators.buttons import is_grave, offer_confirmation
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
    NOTE_MARK,
    NOTED,
    NOTICES,
    OTHERS_BUTTON,
    OVER,
    OWN_CALL,
    PRESS_INSTEAD,
    WRITE_ANSWER,
    write_question,
)

ANSWER_SECONDS = 900
"""How long the next reply of an operator who has pressed Answer is the answer."""
NEWEST_MESSAGES = 50
"""Among how many messages of a conversation those of an operator are searched."""
_PASSING = (RateLimited, Unavailable, StoreBusy)
"""Refusals after which the event is handled again."""

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
        operator = await self._operator()
        if operator is None:
            await self._notices.acknowledge(NOT_BOUND)
            return
        if control.expires_at < self._now or control.transport != self._enabled.name:
            await self._notices.acknowledge(say("choice_over", self._incoming.language))
            return
        if control.person not in ("", self._incoming.sender):
            await self._notices.acknowledge(OTHERS_BUTTON)
            return
        shown = await self._handler.inbox.read_ticket(control.ticket)
        if shown is None:
            await self._notices.acknowledge(NO_TICKET)
            return
        try:
            notice = await self._do(control.deed, shown, operator)
        except _PASSING:
            raise
        except DeskError as error:
            await self._notices.acknowledge(str(error))
            return
        self._handler.notify_change(shown.ticket.thread_id)
        await self._notices.acknowledge(notice)

    async def _do(self, deed: Deed, shown: ShownTicket, operator: BoundOperator) -> str:
        """Do what a button is for, and return the notice for the operator.

        Raises:
            DeskError: it is not possible any more, or not for this operator.
        """
        ticket, services = shown.ticket, self._handler.escalation
        by = self._handler.bindings.make_auditor(operator)
        match deed:
            case Deed.TAKE:
                return await self._change(services.take_ticket(ticket.id, operator.name, by))
            case Deed.RELEASE:
                if ticket.state is TicketState.OPEN:
                    return NOTICES[TicketState.OPEN]
                await self._expect_answer(ticket, "")
                return await self._change(services.release_ticket(ticket.id, by))
            case Deed.ANSWER:
                await self._change(services.take_ticket(ticket.id, operator.name, by))
                await self._expect_answer(ticket, self._incoming.sender)
                await self._notices.tell(
                    WRITE_ANSWER.format(name=operator.name), ticket_id=ticket.id
                )
                return ""
            case Deed.APPROVE | Deed.CONFIRM:
                return await self._approve(deed, shown, operator)
            case _ if _was_done(ticket, TicketState.CLOSED, operator):
                return NOTICES[TicketState.CLOSED]
            case Deed.CLOSE:
                return await self._close(ticket, operator)
            case Deed.DECLINE:
                return await self._change(services.decline(ticket.id, "", operator.name, by))

    async def _close(self, ticket: StoredTicket, operator: BoundOperator) -> str:
        """Close a ticket; a visitor to whom this operator has spoken gets no message."""
        by = self._handler.bindings.make_auditor(operator)
        thread_id = ticket.thread_id
        is_theirs = ticket.state is TicketState.TAKEN and ticket.taken_by == operator.name
        if thread_id is not None and ticket.kind.is_asked_for and is_theirs:
            page = await self._handler.inbox.list_messages(thread_id, None, NEWEST_MESSAGES)
            if any(get_operator(one.said.actor) == operator.name for one in page.messages):
                await self._handler.takeover.resolve(thread_id, "", operator.name, by)
                return NOTICES[TicketState.CLOSED]
        return await self._change(self._handler.escalation.close(ticket.id, "", operator.name, by))

    async def _change(self, change: Awaitable[StoredTicket | None]) -> str:
        changed = await change
        return NO_TICKET if changed is None else NOTICES[changed.state]

    async def _approve(self, deed: Deed, shown: ShownTicket, operator: BoundOperator) -> str:
        """Approve a call; ask again first if it is grave."""
        ticket = shown.ticket
        if _was_done(ticket, TicketState.ANSWERED, operator):
            return NOTICES[TicketState.ANSWERED]
        if ticket.principal in operator.contacts:
            raise Forbidden(OWN_CALL)
        if deed is Deed.APPROVE and is_grave(shown) and not ticket.is_over:
            await self._ask_again(shown)
            return ""
        by = self._handler.bindings.make_auditor(operator)
        return await self._change(self._handler.escalation.approve(ticket.id, operator.name, by))

    async def _ask_again(self, shown: ShownTicket) -> None:
        ticket = shown.ticket
        offered = offer_confirmation(ticket, self._enabled.name, self._incoming.sender, self._now)
        await self._store.run(put_ticket_controls, controls=offered.kept)
        price = None if shown.call is None else shown.call.call.price
        text = write_question(
            ticket.about,
            shown.asked_by_name or ticket.principal or "an unknown caller",
            "nothing" if price is None else str(price),
        )
        await self._notices.tell(text, ticket_id=ticket.id, buttons=offered.buttons)

    async def _expect_answer(self, ticket: StoredTicket, person: str) -> None:
        """Store whose next reply is the answer; empty for nobody's."""
        await self._store.run(
            await_answer,
            ticket_id=ticket.id,
            transport=self._enabled.name,
            person=person,
            until=self._now + ANSWER_SECONDS,
        )

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
        except _PASSING:
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
            if not (_was_done(ticket, TicketState.ANSWERED, operator) and ticket.answer == text):
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
        except _PASSING:
            raise
        except DeskError as error:
            await self._notices.tell(f"{NOT_CHANGED} {error}")
        else:
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


def _was_done(ticket: StoredTicket, state: TicketState, operator: BoundOperator) -> bool:
    """Return whether this operator has ended a ticket so, perhaps before a crash."""
    return ticket.state is state and ticket.ended_by == operator.name
