"""Inserts tickets in the commit of the message or call that needs a person."""

from __future__ import annotations

from aitp_desk.model.calls.call import CALL_PREFIX, ActionCall
from aitp_desk.model.conversation.ticket import (
    LONGEST_NOTE,
    TICKET_PREFIX,
    StoredTicket,
    Ticket,
    TicketKind,
    TicketState,
    shorten,
    to_summary_line,
)
from aitp_desk.store.base import Work
from aitp_desk.store.records.jobs import NewJob
from aitp_desk.store.rows.tickets import write_ticket
from aitp_desk.store.units.jobs.jobs import JOBS_EPOCH, enqueue_job

TICKETS_EPOCH = "tickets"
"""The row of ``epochs`` that rises when a ticket changes or ends."""
NOTICE_KIND = "notice"
"""The kind of the jobs that notify operators of a ticket."""
WAITING = "Waiting for a person."
"""The progress that a caller reads until the call is answered."""


def hand_call_to_people(*, call_id: str, ticket: StoredTicket) -> Work[None]:
    """Hand a running call to operators. Does nothing if it has ended."""
    if (yield "set_call_progress", {"id": call_id, "progress": WAITING}):
        yield from add_ticket(ticket)


def add_unknown_ticket(call: ActionCall, now: int) -> Work[None]:
    """Ask operators for the outcome of an interrupted call: a part of a unit."""
    asked = Ticket(f"Was {call.action} done? The call was interrupted.")
    yield from add_ticket(ticket_of_call(call, TicketKind.UNKNOWN, asked, now))


def add_ticket(ticket: StoredTicket) -> Work[None]:
    """Insert a ticket and queue its notification: a part of a unit.

    If its call has one of its kind already, that stays.
    """
    yield "add_ticket", write_ticket(ticket)
    yield from enqueue_job(
        NewJob(
            id=f"job{ticket.id.removeprefix(TICKET_PREFIX)}",
            kind=NOTICE_KIND,
            ref=ticket.id,
            payload={},
            created_at=ticket.created_at,
            desk=ticket.desk,
            thread_id=ticket.thread_id,
            principal=ticket.principal,
        )
    )
    yield "raise_epoch", {"name": JOBS_EPOCH}


def ticket_of_call(
    call: ActionCall, kind: TicketKind, asked: Ticket, now: int, due_at: int | None = None
) -> StoredTicket:
    """Return the ticket of a call, with an id derived from the call's.

    A call has at most one ticket of a kind. A ticket that may not be the only one needs another id.

    Parameters:
        now, due_at: Unix seconds.
    """
    return StoredTicket(
        f"{TICKET_PREFIX}{call.id.removeprefix(CALL_PREFIX)}",
        call.desk,
        kind,
        TicketState.OPEN,
        to_summary_line(asked.about),
        now,
        shorten(asked.note, LONGEST_NOTE),
        call.thread_id,
        call.id,
        call.asked_by.party,
        due_at,
    )
