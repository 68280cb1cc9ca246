"""Does what the buttons below tickets are for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from aitp_desk.desk.tickets.bindings import BoundOperator, OperatorBindings
from aitp_desk.desk.tickets.inbox import OperatorInbox, ShownTicket
from aitp_desk.desk.tickets.service import EscalationService
from aitp_desk.desk.tickets.takeover import Takeover
from aitp_desk.model.conversation.ticket import StoredTicket, TicketState, get_operator
from aitp_desk.model.errors import DeskError, Forbidden, RateLimited, StoreBusy, Unavailable
from aitp_desk.store.base import Store
from aitp_desk.store.records.operators import Deed, PressedButton, TicketControl
from aitp_desk.store.units.tickets.platforms import await_answer, put_ticket_controls
from aitp_desk.transports.events import Incoming
from aitp_desk.transports.host.registry import EnabledTransport
from aitp_desk.transports.host.texts import say
from aitp_desk.transports.operators.buttons import is_grave, offer_confirmation
from aitp_desk.transports.operators.notices import OperatorNotices
from aitp_desk.transports.operators.text import (
    NO_TICKET,
    NOT_BOUND,
    NOTICES,
    OTHERS_BUTTON,
    OWN_CALL,
    WRITE_ANSWER,
    write_question,
)

ANSWER_SECONDS = 900
"""How long the next reply of an operator who has pressed Answer is the answer."""
NEWEST_MESSAGES = 50
"""Among how many messages of a conversation those of an operator are searched."""
PASSING = (RateLimited, Unavailable, StoreBusy)
"""Refusals after which the event is handled again."""


class OperatorServices(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What the deeds of operators need of the desk.

    Parameters:
        notify_change: notifies those who follow a thread, and the operators.
        clock: Unix seconds.
    """

    store: Store
    inbox: OperatorInbox
    bindings: OperatorBindings
    escalation: EscalationService
    takeover: Takeover
    notify_change: Callable[[str | None], None]
    clock: Callable[[], float]


class TicketDeeds:
    """What one pressed button does.

    It may be done again after a crash, or to confirm it again. What another operator has done since
    then stays: a ticket is taken or released once by a press.

    Parameters:
        notices: tell the operator what has become of it.
        event: names the press.
    """

    def __init__(
        self,
        services: OperatorServices,
        enabled: EnabledTransport,
        incoming: Incoming,
        notices: OperatorNotices,
        event: str,
    ) -> None:
        self._services = services
        self._enabled = enabled
        self._incoming = incoming
        self._notices = notices
        self._pressed = PressedButton(enabled.name, event)
        self._now = int(services.clock())

    async def press(self, control: TicketControl, operator: BoundOperator | None) -> None:
        """Do what a button is for, and say so.

        Parameters:
            operator: who has pressed it; None for a person who is no operator.
        """
        if operator is None:
            await self._notices.acknowledge(NOT_BOUND)
            return
        if control.expires_at < self._now or control.transport != self._enabled.name:
            await self._notices.acknowledge(say("choice_over", self._incoming.language))
            return
        if control.person not in ("", self._incoming.sender):
            await self._notices.acknowledge(OTHERS_BUTTON)
            return
        shown = await self._services.inbox.read_ticket(control.ticket)
        if shown is None:
            await self._notices.acknowledge(NO_TICKET)
            return
        try:
            notice = await self._do(control.deed, shown, operator)
        except PASSING:
            raise
        except DeskError as error:
            await self._notices.acknowledge(str(error))
            return
        self._services.notify_change(shown.ticket.thread_id)
        await self._notices.acknowledge(notice)

    async def _do(self, deed: Deed, shown: ShownTicket, operator: BoundOperator) -> str:
        """Do what a button is for, and return the notice for the operator.

        Raises:
            DeskError: it is not possible any more, or not for this operator.
        """
        ticket, escalation = shown.ticket, self._services.escalation
        by = self._services.bindings.make_auditor(operator)
        match deed:
            case Deed.TAKE:
                taking = escalation.take_ticket(ticket.id, operator.name, by, self._pressed)
                return await self._change(taking, TicketState.TAKEN)
            case Deed.RELEASE:
                if ticket.state is TicketState.OPEN:
                    return NOTICES[TicketState.OPEN]
                releasing = escalation.release_ticket(ticket.id, by, self._pressed)
                return await self._change(releasing, TicketState.OPEN)
            case Deed.ANSWER:
                return await self._ask_for_answer(ticket, operator)
            case Deed.APPROVE | Deed.CONFIRM:
                return await self._approve(deed, shown, operator)
            case _ if was_done(ticket, TicketState.CLOSED, operator):
                return NOTICES[TicketState.CLOSED]
            case Deed.CLOSE:
                return await self._close(ticket, operator)
            case Deed.DECLINE:
                declining = escalation.decline(ticket.id, "", operator.name, by)
                return await self._change(declining, TicketState.CLOSED)

    async def _change(self, change: Awaitable[StoredTicket | None], state: TicketState) -> str:
        return NO_TICKET if await change is None else NOTICES[state]

    async def _ask_for_answer(self, ticket: StoredTicket, operator: BoundOperator) -> str:
        by = self._services.bindings.make_auditor(operator)
        taken = await self._services.escalation.take_ticket(
            ticket.id, operator.name, by, self._pressed
        )
        if taken is None:
            return NO_TICKET
        if taken.taken_by != operator.name:  # it was taken by this press, and is another's now
            return NOTICES[TicketState.TAKEN]
        await self._services.store.run(
            await_answer,
            ticket_id=ticket.id,
            transport=self._enabled.name,
            person=self._incoming.sender,
            until=self._now + ANSWER_SECONDS,
        )
        await self._notices.tell(WRITE_ANSWER.format(name=operator.name), ticket_id=ticket.id)
        return ""

    async def _close(self, ticket: StoredTicket, operator: BoundOperator) -> str:
        """Close a ticket; a visitor to whom this operator has spoken gets no message."""
        by = self._services.bindings.make_auditor(operator)
        thread_id = ticket.thread_id
        is_theirs = ticket.state is TicketState.TAKEN and ticket.taken_by == operator.name
        if thread_id is not None and ticket.kind.is_asked_for and is_theirs:
            page = await self._services.inbox.list_messages(thread_id, None, NEWEST_MESSAGES)
            if any(get_operator(one.said.actor) == operator.name for one in page.items):
                await self._services.takeover.resolve(thread_id, "", operator.name, by)
                return NOTICES[TicketState.CLOSED]
        closing = self._services.escalation.close(ticket.id, "", operator.name, by)
        return await self._change(closing, TicketState.CLOSED)

    async def _approve(self, deed: Deed, shown: ShownTicket, operator: BoundOperator) -> str:
        """Approve a call; ask again first if it is grave."""
        ticket = shown.ticket
        if was_done(ticket, TicketState.ANSWERED, operator):
            return NOTICES[TicketState.ANSWERED]
        if ticket.principal in operator.contacts:
            raise Forbidden(OWN_CALL)
        if deed is Deed.APPROVE and is_grave(shown) and not ticket.is_over:
            await self._ask_again(shown)
            return ""
        by = self._services.bindings.make_auditor(operator)
        approving = self._services.escalation.approve(ticket.id, operator.name, by)
        return await self._change(approving, TicketState.ANSWERED)

    async def _ask_again(self, shown: ShownTicket) -> None:
        ticket = shown.ticket
        offered = offer_confirmation(ticket, self._enabled.name, self._incoming.sender, self._now)
        await self._services.store.run(put_ticket_controls, controls=offered.kept)
        price = None if shown.call is None else shown.call.call.price
        text = write_question(
            ticket.about,
            shown.asked_by_name or ticket.principal or "an unknown caller",
            "nothing" if price is None else str(price),
        )
        await self._notices.tell(text, ticket_id=ticket.id, buttons=offered.buttons)


def was_done(ticket: StoredTicket, state: TicketState, operator: BoundOperator) -> bool:
    """Return whether this operator has ended a ticket so, perhaps before a crash."""
    return ticket.state is state and ticket.ended_by == operator.name
