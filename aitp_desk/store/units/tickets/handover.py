"""Assigns a thread to an operator or back to the agent.

While an operator has it, no run starts there, so that the agent does not interrupt. Parts of units.
"""

from __future__ import annotations

from aitp_desk.model.access.audit import AuditAction, Auditor, ObjectKind
from aitp_desk.model.conversation.run import MOVES, RunState
from aitp_desk.model.conversation.thread import Actor, Origin
from aitp_desk.model.conversation.ticket import OPERATORS, TicketState, get_operator
from aitp_desk.model.errors import PreconditionFailed
from aitp_desk.store.base import Work
from aitp_desk.store.rows.threads import read_presence, read_run
from aitp_desk.store.rows.tickets import read_ticket, write_ticket
from aitp_desk.store.units.audit import note_audit
from aitp_desk.store.units.runs.workers import end_run
from aitp_desk.store.units.threads.creation import adding_actor
from aitp_desk.store.units.threads.folded_threads import find_tail
from aitp_desk.store.units.threads.tail import ThreadTail

KEPT_SECONDS = 3 * 24 * 60 * 60
"""How long a thread's sessions are kept after an operator has taken it, or written there."""
TAKEN_OVER = "A person has taken this conversation over."
"""The error of a run that was to answer there."""


def find_operator(thread_id: str) -> Work[str | None]:
    """Return the actor of a thread's operator; None without one."""
    rows = yield "thread_operator", {"thread_id": thread_id}
    return rows[0][0] if rows else None


def check_unowned(thread_id: str) -> Work[None]:
    """Refuse to let the agent write while an operator has the thread.

    Raises:
        PreconditionFailed: an operator has the thread.
    """
    if (yield from find_operator(thread_id)) is not None:
        raise PreconditionFailed(f"{TAKEN_OVER} No run starts until it is handed back.")


def join_operator(thread_id: str, desk: str, operator: str | None, now: int) -> Work[str]:
    """Let the one who speaks for the site join a thread.

    Parameters:
        desk: at which the thread was opened.
        operator: a name; None for the desk itself, which is a participant already.

    Returns:
        The id of that actor; empty if there is no such thread.
    """
    ends = yield from find_tail(thread_id, desk)  # first, because it unfolds
    present = list(map(read_presence, (yield "actors_present", {"thread_id": thread_id})))
    if not present:
        return ""
    actor = present[0].actor.id
    if operator is None:
        return actor
    actor = f"{actor}/{OPERATORS}/{operator}"
    if not ends or any(one.is_desk and one.actor.id == actor for one in present):
        return actor
    tail = ThreadTail(thread_id, now, *ends[0][3:])
    tail.add_event("actor.joined", actor)
    position = (yield "last_position", {"thread_id": thread_id})[0][0] + 1
    yield adding_actor(thread_id, position, Actor(actor), Origin.DESK, tail.event)
    yield from tail.write()
    return actor


def hand_over(thread_id: str, desk: str, operator: str, now: int) -> Work[None]:
    """Assign a thread to an operator, and end its waiting runs.

    Does nothing if there is no such thread; call :func:`check_free` before.

    Parameters:
        desk, operator: as of :func:`join_operator`.
    """
    actor = yield from join_operator(thread_id, desk, operator, now)
    ends = yield from find_tail(thread_id, desk)
    if not actor or not ends or (yield from find_operator(thread_id)) is not None:
        return
    unfinished = yield "unfinished_runs", {"thread_id": thread_id}
    tail = ThreadTail(thread_id, now, *ends[0][3:])
    for run in map(read_run, unfinished):
        can_fail = RunState.FAILED in MOVES[run.state]
        state = RunState.FAILED if can_fail else RunState.CANCELLED
        yield from end_run(run, state, tail, TAKEN_OVER if can_fail else None)
    tail.add_event("thread.handed_over", actor)
    yield from tail.write()
    yield "hand_over", {"thread_id": thread_id, "operator": actor, "since": now}
    yield from keep_sessions(thread_id, now)


def keep_sessions(thread_id: str, now: int) -> Work[None]:
    """Keep a thread's sessions.

    Their visitor waits for an operator, or has an unread message.
    """
    yield "keep_sessions", {"thread_id": thread_id, "until": now + KEPT_SECONDS}


def check_free(thread_id: str, operator: str | None) -> Work[None]:
    """Refuse to take a thread from an operator.

    Raises:
        PreconditionFailed: another operator has it.
    """
    actor = yield from find_operator(thread_id)
    name = None if actor is None else get_operator(actor)
    if name not in (None, operator):
        raise PreconditionFailed(f"{name} has taken the conversation over; nothing was changed.")


def hand_back(thread_id: str, desk: str, now: int) -> Work[None]:
    """Return a thread to the agent; does nothing if no operator has it."""
    actor = yield from find_operator(thread_id)
    ends = yield from find_tail(thread_id, desk)
    if actor is None or not ends:
        return
    tail = ThreadTail(thread_id, now, *ends[0][3:])
    tail.add_event("thread.handed_back", actor)
    yield from tail.write()
    yield "hand_back", {"thread_id": thread_id}


def take_requests(thread_id: str, operator: str, by: Auditor) -> Work[None]:
    """Let an operator take the requests for a person of a thread."""
    for row in (yield "waiting_tickets_of_thread", {"thread_id": thread_id}):
        ticket = read_ticket(row)
        if ticket.kind.is_asked_for and ticket.state is TicketState.OPEN:
            yield "move_ticket", write_ticket(ticket.move(TicketState.TAKEN, taken_by=operator))
            yield from note_audit(by, AuditAction.TICKET_TAKEN, ObjectKind.TICKET, ticket.id)


def release_tickets(thread_id: str, by: Auditor) -> Work[None]:
    """Release the taken tickets of a thread to all operators."""
    for row in (yield "waiting_tickets_of_thread", {"thread_id": thread_id}):
        ticket = read_ticket(row)
        if ticket.state is TicketState.TAKEN:
            yield "move_ticket", write_ticket(ticket.move(TicketState.OPEN, taken_by=None))
            yield from note_audit(by, AuditAction.TICKET_RELEASED, ObjectKind.TICKET, ticket.id)
