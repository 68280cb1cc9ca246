"""The console's routes of tickets (``/console/api/tickets``)."""

from __future__ import annotations

from collections.abc import Awaitable

from aitp_desk.auth.console_sessions import Session
from aitp_desk.desk.access.audit_log import AuditLog
from aitp_desk.desk.tickets.inbox import OperatorInbox, ShownTicket
from aitp_desk.desk.tickets.service import EscalationService
from aitp_desk.desk.tickets.similarity import TicketSimilarity
from aitp_desk.model.access.audit import AuditAction, ObjectKind
from aitp_desk.model.conversation.ticket import StoredTicket
from aitp_desk.model.errors import TicketNotFound
from aitp_desk.protocols.base.protocol import Call, Reply, Route
from aitp_desk.web.console.objects import (
    ConsoleReason,
    ConsoleTickets,
    ConsoleWords,
    EmptyBody,
)
from aitp_desk.web.console.operator import MAX_BODY, OperatorActions
from aitp_desk.web.console.sessions import SessionRoutes
from aitp_desk.web.console.tickets.wire import decode_ticket_filter, write_ticket
from aitp_desk.web.console.wire import decode_body, decode_limit, encode


class TicketsRoutes:
    """Lists tickets, assigns and ends them."""

    def __init__(
        self,
        inbox: OperatorInbox,
        escalation: EscalationService,
        operator_actions: OperatorActions,
        audit_log: AuditLog,
        similarity: TicketSimilarity,
    ) -> None:
        self._similarity = similarity
        self._audit_log = audit_log
        self._inbox = inbox
        self._escalation = escalation
        self._operator_actions = operator_actions

    async def list_all(self, session: Session, call: Call) -> Reply:
        """``GET tickets``: those that wait longest first, or those that ended last."""
        asked = decode_ticket_filter(call.query, session.operator, self._inbox.agents)
        await self._audit_log.note_operator_list(call.principal, "tickets", asked.text)
        page = await self._inbox.list_tickets(
            asked, call.query.get("after") or None, decode_limit(call.query)
        )
        data = [write_ticket(shown) for shown in page.items]
        return Reply(200, encode(ConsoleTickets(data, page.next)))

    async def show(self, _session: Session, call: Call) -> Reply:
        """``GET tickets/{ticket_id}``."""
        found = await self._find(call)
        await self._audit_log.note_operator_view(
            call.principal, AuditAction.TICKET_READ, ObjectKind.TICKET, found.ticket.id
        )
        return _reply(found)

    async def list_similar(self, _session: Session, call: Call) -> Reply:
        """``GET tickets/{ticket_id}/similar``: similar earlier ones, the most similar first."""
        found = await self._find(call)
        await self._audit_log.note_operator_list(call.principal, "tickets", "")
        similar = await self._similarity.find_similar_tickets(found.ticket)
        data = [write_ticket(ShownTicket(ticket, None)) for ticket in similar]
        return Reply(200, encode(ConsoleTickets(data, None)))

    async def take(self, session: Session, call: Call) -> Reply:
        """``POST tickets/{ticket_id}/take``: assigns it to this operator."""
        decode_body(call.body, EmptyBody)
        by = self._operator_actions.make_auditor(call)
        return await self._do(call, self._escalation.take_ticket(_id(call), session.operator, by))

    async def release(self, _session: Session, call: Call) -> Reply:
        """``POST tickets/{ticket_id}/release``: removes the assignment."""
        decode_body(call.body, EmptyBody)
        return await self._do(
            call,
            self._escalation.release_ticket(_id(call), self._operator_actions.make_auditor(call)),
        )

    async def answer(self, session: Session, call: Call) -> Reply:
        """``POST tickets/{ticket_id}/answer``: sends this text to the waiting visitor."""
        words = decode_body(call.body, ConsoleWords).words
        by = self._operator_actions.make_auditor(call)
        return await self._do(call, self._escalation.answer(_id(call), words, session.operator, by))

    async def close(self, session: Session, call: Call) -> Reply:
        """``POST tickets/{ticket_id}/close``: ends it without an answer."""
        reason = decode_body(call.body, ConsoleReason).reason
        by = self._operator_actions.make_auditor(call)
        return await self._do(call, self._escalation.close(_id(call), reason, session.operator, by))

    async def approve(self, session: Session, call: Call) -> Reply:
        """``POST tickets/{ticket_id}/approve``: carries out its call."""
        decode_body(call.body, EmptyBody)
        by = self._operator_actions.make_auditor(call)
        return await self._do(call, self._escalation.approve(_id(call), session.operator, by))

    async def decline(self, session: Session, call: Call) -> Reply:
        """``POST tickets/{ticket_id}/decline``: drops its call."""
        reason = decode_body(call.body, ConsoleReason).reason
        by = self._operator_actions.make_auditor(call)
        return await self._do(
            call, self._escalation.decline(_id(call), reason, session.operator, by)
        )

    def routes(self, signing_in: SessionRoutes) -> tuple[Route, ...]:
        """Return the routes."""
        acts = {
            "take": self.take,
            "release": self.release,
            "answer": self.answer,
            "close": self.close,
            "approve": self.approve,
            "decline": self.decline,
        }
        return (
            signing_in.route("GET", "tickets", self.list_all),
            signing_in.route("GET", "tickets/{ticket_id}", self.show),
            signing_in.route("GET", "tickets/{ticket_id}/similar", self.list_similar),
            *(
                signing_in.route("POST", f"tickets/{{ticket_id}}/{name}", act, MAX_BODY)
                for name, act in acts.items()
            ),
        )

    async def _do(self, call: Call, act: Awaitable[StoredTicket | None]) -> Reply:
        """Await an action on a ticket, notify followers, and show the ticket."""
        ticket = await act
        if ticket is not None:
            self._operator_actions.notify_change(ticket.thread_id)
        return _reply(await self._find(call))

    async def _find(self, call: Call) -> ShownTicket:
        shown = await self._inbox.read_ticket(_id(call))
        if shown is None:
            raise TicketNotFound("There is no ticket with this id.", param="ticket_id")
        return shown


def _id(call: Call) -> str:
    return call.params["ticket_id"]


def _reply(shown: ShownTicket) -> Reply:
    return Reply(200, encode(write_ticket(shown)))
