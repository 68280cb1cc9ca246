"""Approves calls: one commit holds the approval and the job that executes the call."""

from __future__ import annotations

from collections.abc import Callable

from aitp_desk.model.access.audit import AuditAction, Auditor, ObjectKind
from aitp_desk.model.calls.call import ActionCall, CallState
from aitp_desk.model.conversation.ticket import StoredTicket, TicketKind, TicketState
from aitp_desk.model.errors import Forbidden, PreconditionFailed
from aitp_desk.store.base import Work
from aitp_desk.store.records.jobs import NewJob
from aitp_desk.store.rows.calls import read_call, read_call_state, write_call
from aitp_desk.store.rows.tickets import read_ticket, write_ticket
from aitp_desk.store.units.audit import note_audit
from aitp_desk.store.units.jobs.jobs import JOBS_EPOCH, enqueue_job
from aitp_desk.store.units.tickets.answers import TicketMessage, check_waits, let_go, say_on_thread
from aitp_desk.store.units.tickets.handover import join_operator
from aitp_desk.store.units.tickets.tickets import TICKETS_EPOCH

APPROVED = "Approved"
"""The answer of a ticket that approved a call."""


def approve_call(
    *,
    ticket_id: str,
    said: TicketMessage,
    now: int,
    by: Auditor,
    job: Callable[[ActionCall], NewJob],
) -> Work[StoredTicket | None]:
    """Approve the call of a ticket, which is then carried out.

    It has as much time as it had when it was accepted.

    Parameters:
        said: the message about it on its thread.
        now: Unix seconds.
        by: who approves it.
        job: makes the job that carries it out.

    Returns:
        The ended ticket; None if there is no such ticket.

    Raises:
        PreconditionFailed: the ticket, or its call, has ended; or it asks for no approval.
        Forbidden: the call is the approver's.
    """
    rows = yield "ticket", {"id": ticket_id}
    if not rows:
        return None
    ticket = read_ticket(rows[0])
    check_waits(ticket, said.operator)
    check_asks_approval(ticket)
    if ticket.principal == by.principal:
        raise Forbidden(
            "You cannot approve a call that you requested. Another operator must approve it."
        )
    found = yield "call", {"id": ticket.call_id}
    if not found or read_call_state(found[0]) is not CallState.WAITING_APPROVAL:
        raise PreconditionFailed("The call of this ticket has ended; nothing was changed.")
    call = read_call(found[0])
    lasts = call.expires_at - (call.accepted_at or call.created_at)
    call = call.move(CallState.STARTED, progress="", expires_at=now + lasts)
    approved = ticket.move(
        TicketState.ANSWERED, answer=APPROVED, ended_by=said.operator, ended_at=now
    )
    yield "move_ticket", write_ticket(approved)
    yield "move_call", {**write_call(call), "before": CallState.WAITING_APPROVAL.value}
    yield from enqueue_job(job(call))
    actor = yield from join_operator(ticket.thread_id or "", ticket.desk, said.operator, now)
    yield from say_on_thread(approved, said, actor, now)
    if ticket.state is TicketState.TAKEN:
        yield from let_go(ticket, now)
    yield from note_audit(by, AuditAction.TICKET_APPROVED, ObjectKind.TICKET, ticket_id)
    yield "raise_epoch", {"name": TICKETS_EPOCH}
    yield "raise_epoch", {"name": JOBS_EPOCH}
    return approved


def check_asks_approval(ticket: StoredTicket) -> None:
    """Refuse to approve or decline a ticket that asks for something else.

    Raises:
        PreconditionFailed: it does.
    """
    if ticket.kind is not TicketKind.APPROVAL:
        raise PreconditionFailed("The ticket asks for no approval; answer it, or close it.")
