"""Lets operators take tickets, write for them and end them; expires tickets.

Everything that waits for a ticket resumes in the same commit: its call ends, its push notifications
are queued, and the thread gets the message of the operator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import msgspec

from aitp_desk.model.access.audit import AuditAction, Auditor, ObjectKind, Outcome
from aitp_desk.model.calls.call import ActionCall, CallError, CallState
from aitp_desk.model.conversation.thread import Attachment, Origin
from aitp_desk.model.conversation.ticket import Answered, StoredTicket, TicketKind, TicketState
from aitp_desk.model.error_kind import FailureCode
from aitp_desk.model.errors import PreconditionFailed
from aitp_desk.store.base import Work
from aitp_desk.store.records.operators import PressedButton
from aitp_desk.store.records.threads import NewMessage
from aitp_desk.store.rows.calls import read_call_state
from aitp_desk.store.rows.threads import to_json
from aitp_desk.store.rows.tickets import read_ticket, write_ticket
from aitp_desk.store.units.audit import note_audit
from aitp_desk.store.units.calls.calls import ExtraStatements, end_accepted
from aitp_desk.store.units.jobs.jobs import JOBS_EPOCH
from aitp_desk.store.units.runs.tasks import tell_of_words
from aitp_desk.store.units.threads.folded_threads import find_tail
from aitp_desk.store.units.threads.tail import ThreadTail
from aitp_desk.store.units.tickets.handover import (
    TAKEN_OVER,
    check_free,
    hand_back,
    hand_over,
    join_operator,
    keep_sessions,
    take_requests,
)
from aitp_desk.store.units.tickets.platforms import await_answer, is_new_press
from aitp_desk.store.units.tickets.tickets import TICKETS_EPOCH

CLOSED = "It was closed without an answer."
OVERDUE = "The ticket was not taken in time."
NO_PERSON = "A person was asked and closed this without an answer."
NOBODY_CAME = "A person was asked, but has not answered in time."
"""The message of a conversation that waited for a person who did not come."""
DECLINED = "It was declined; nothing was done."
UNAPPROVED = "The call was not approved in time; nothing was done."

_NOTED = {
    TicketState.ANSWERED: (AuditAction.TICKET_ANSWERED, Outcome.DONE),
    TicketState.CLOSED: (AuditAction.TICKET_CLOSED, Outcome.DONE),
    TicketState.EXPIRED: (AuditAction.TICKET_CLOSED, Outcome.EXPIRED),
}
_WAITS = {
    TicketKind.ACTION: CallState.STARTED,
    TicketKind.UNKNOWN: CallState.UNKNOWN,
    TicketKind.APPROVAL: CallState.WAITING_APPROVAL,
}
"""The state of the call of an open ticket."""


class TicketMessage(msgspec.Struct, frozen=True):
    """A message about a ticket on its thread.

    Parameters:
        id: ``msg_…``, new.
        salt: 16 random bytes (``model/conversation/chain.py``).
        words: empty for the standard text of such an end.
        operator: the name of the sender; None for the desk.
        notes: metadata of the message.
        attachments: files that go with it.
    """

    id: str
    salt: bytes
    words: str
    operator: str | None
    notes: Mapping[str, str] = MappingProxyType({})
    attachments: tuple[Attachment, ...] = ()


def end_ticket(
    *,
    ticket_id: str,
    state: TicketState,
    said: TicketMessage,
    now: int,
    by: Auditor,
    extra_statements: Callable[[ActionCall], ExtraStatements | None],
) -> Work[StoredTicket | None]:
    """End a ticket, and what waits for it.

    Parameters:
        state: how it ends.
        now: Unix seconds.
        by: who ends it.
        extra_statements: builds other statements for the end of a call.

    Returns:
        The ended ticket; None if there is no such ticket.

    Raises:
        PreconditionFailed: it, or its call, has ended; it asks for approval, not for an answer; or
            another operator has taken it or its thread.
    """
    rows = yield "ticket", {"id": ticket_id}
    if not rows:
        return None
    ticket = read_ticket(rows[0])
    check_waits(ticket, said.operator)
    if state is not TicketState.EXPIRED:
        yield from _check_call(ticket, state)
    if said.operator is not None and ticket.thread_id is not None:
        yield from check_free(ticket.thread_id, said.operator)
    ended = ticket.move(
        state, answer=said.words, ended_by=said.operator, ended_at=now, asked_from=None
    )
    yield "move_ticket", write_ticket(ended)
    thread_id = ticket.thread_id or ""
    actor = yield from join_operator(thread_id, ticket.desk, said.operator, now)
    if ticket.kind in (TicketKind.ACTION, TicketKind.APPROVAL):
        yield from end_accepted(
            call_id=ticket.call_id or "",
            stands=_WAITS[ticket.kind],
            end=partial(_end_call, ended, now),
            say=partial(_say, ended, said, actor),
            by=by,
            now=now,
            extra_statements=extra_statements,
        )
    elif ticket.kind.is_asked_for:
        yield from say_on_thread(ended, _in_the_end(said, state), actor, now)
    elif said.words:
        told = CallError(FailureCode.UNKNOWN.value, said.words)
        yield "tell_unknown_call", {"id": ticket.call_id, "error": to_json(told)}
        yield from say_on_thread(ended, said, actor, now)
    if ticket.state is TicketState.TAKEN:
        yield from let_go(ticket, now)
    action, outcome = _noted(ended)
    yield from note_audit(by, action, ObjectKind.TICKET, ticket_id, outcome)
    yield "raise_epoch", {"name": TICKETS_EPOCH}
    yield "raise_epoch", {"name": JOBS_EPOCH}
    return ended


def take_ticket(
    *, ticket_id: str, operator: str, now: int, by: Auditor, pressed: PressedButton | None = None
) -> Work[StoredTicket | None]:
    """Let an operator take a ticket, and its thread.

    Parameters:
        operator: the name.
        now: Unix seconds.
        by: who takes it.
        pressed: the press of a button, if it was one; a repeated one changes nothing.

    Returns:
        The updated ticket; None if there is no such ticket.

    Raises:
        PreconditionFailed: it has ended, or another operator has taken it or its thread.
    """
    rows = yield "ticket", {"id": ticket_id}
    if not rows:
        return None
    ticket = read_ticket(rows[0])
    if pressed is not None and not (yield from is_new_press(ticket_id, pressed)):
        return ticket
    check_waits(ticket, operator)
    if ticket.state is TicketState.TAKEN:
        return ticket
    taken = ticket.move(TicketState.TAKEN, taken_by=operator)
    if ticket.thread_id is not None:
        yield from check_free(ticket.thread_id, operator)
        yield from hand_over(ticket.thread_id, ticket.desk, operator, now)
    yield "move_ticket", write_ticket(taken)
    yield from note_audit(by, AuditAction.TICKET_TAKEN, ObjectKind.TICKET, ticket_id)
    if ticket.thread_id is not None:
        yield from take_requests(ticket.thread_id, operator, by)
    yield "raise_epoch", {"name": TICKETS_EPOCH}
    return taken


def speak_for_ticket(
    *, ticket_id: str, said: TicketMessage, now: int, by: Auditor
) -> Work[StoredTicket | None]:
    """Let an operator write on the thread of a ticket that they have taken.

    Parameters:
        now: Unix seconds.
        by: who writes.

    Returns:
        as :func:`take_ticket`.

    Raises:
        PreconditionFailed: this operator has not taken it, or it has no thread.
    """
    rows = yield "ticket", {"id": ticket_id}
    if not rows:
        return None
    ticket = read_ticket(rows[0])
    check_waits(ticket, said.operator)
    if ticket.taken_by is None:
        raise PreconditionFailed("No operator has taken the ticket; take it first.")
    if ticket.thread_id is None:
        raise PreconditionFailed("The ticket has no conversation; answer the ticket instead.")
    actor = yield from join_operator(ticket.thread_id, ticket.desk, said.operator, now)
    yield from say_on_thread(ticket, said, actor, now)
    yield from keep_sessions(ticket.thread_id, now)
    yield from note_audit(by, AuditAction.TICKET_SPOKEN, ObjectKind.TICKET, ticket_id)
    yield "raise_epoch", {"name": TICKETS_EPOCH}
    return ticket


def release_ticket(
    *, ticket_id: str, now: int, by: Auditor, pressed: PressedButton | None = None
) -> Work[StoredTicket | None]:
    """Release a taken ticket to all operators, and its thread to the agent.

    The next reply on the button's platform is nobody's answer any more.

    Parameters:
        now: Unix seconds.
        by: who releases it.
        pressed: as of :func:`take_ticket`.

    Returns:
        as :func:`take_ticket`.

    Raises:
        PreconditionFailed: it is not taken.
    """
    rows = yield "ticket", {"id": ticket_id}
    if not rows:
        return None
    ticket = read_ticket(rows[0])
    if pressed is not None:
        if not (yield from is_new_press(ticket_id, pressed)):
            return ticket
        yield from await_answer(
            ticket_id=ticket_id, transport=pressed.transport, person="", until=0
        )
    if ticket.state is not TicketState.TAKEN:
        raise PreconditionFailed(f"The ticket is {ticket.state.value}; nothing was changed.")
    released = ticket.move(TicketState.OPEN, taken_by=None)
    yield "move_ticket", write_ticket(released)
    yield from let_go(ticket, now, whole=ticket.kind.is_asked_for)
    yield from note_audit(by, AuditAction.TICKET_RELEASED, ObjectKind.TICKET, ticket_id)
    yield "raise_epoch", {"name": TICKETS_EPOCH}
    return released


def let_go(ticket: StoredTicket, now: int, *, whole: bool = False) -> Work[None]:
    """Return a ticket's thread to the agent, unless another ticket of it is taken.

    Parameters:
        whole: whether also a thread that was itself taken is returned.
    """
    if ticket.thread_id is None:
        return
    held = yield "thread_operator", {"thread_id": ticket.thread_id}
    is_for_itself = bool(held) and bool(held[0][1])
    others = yield "other_taken_ticket", {"thread_id": ticket.thread_id, "id": ticket.id}
    if not others and (whole or not is_for_itself):
        yield from hand_back(ticket.thread_id, ticket.desk, now)


def check_waits(ticket: StoredTicket, operator: str | None) -> None:
    """Refuse to change a ticket that has ended, or that another operator has taken.

    Raises:
        PreconditionFailed: it is so.
    """
    if ticket.is_over:
        raise PreconditionFailed(f"The ticket is {ticket.state.value}; nothing was changed.")
    if operator is not None and ticket.taken_by not in (None, operator):
        raise PreconditionFailed(f"{ticket.taken_by} has taken the ticket; nothing was changed.")


def _in_the_end(said: TicketMessage, state: TicketState) -> TicketMessage:
    """Return the message of a conversation that no longer waits for a person."""
    nothing = NOBODY_CAME if state is TicketState.EXPIRED else NO_PERSON
    return msgspec.structs.replace(said, words=said.words or nothing)


def _check_call(ticket: StoredTicket, state: TicketState) -> Work[None]:
    if ticket.kind.is_asked_for:
        return
    if ticket.kind is TicketKind.APPROVAL and state is TicketState.ANSWERED:
        raise PreconditionFailed("The ticket asks for approval; approve or decline it.")
    rows = yield "call", {"id": ticket.call_id}
    if not rows or read_call_state(rows[0]) is not _WAITS[ticket.kind]:
        raise PreconditionFailed("The call of this ticket has ended; nothing was changed.")


def _noted(ended: StoredTicket) -> tuple[AuditAction, Outcome]:
    if ended.kind is TicketKind.APPROVAL and ended.state is TicketState.CLOSED:
        return AuditAction.TICKET_DECLINED, Outcome.DONE
    return _NOTED[ended.state]


def _end_call(ticket: StoredTicket, now: int, call: ActionCall) -> ActionCall:
    """Return the call of a ticket that has ended."""
    asks_approval = ticket.kind is TicketKind.APPROVAL
    match ticket.state:
        case TicketState.ANSWERED:
            result = msgspec.to_builtins(Answered(ticket.answer, ticket.ended_by or ""))
            state, told = CallState.SUCCEEDED, None
        case TicketState.EXPIRED:
            result, state = None, CallState.EXPIRED
            told = CallError(FailureCode.EXPIRED.value, UNAPPROVED if asks_approval else OVERDUE)
        case _ if asks_approval:
            result, state = None, CallState.FAILED
            told = CallError(FailureCode.DECLINED.value, ticket.answer or DECLINED)
        case _:
            result, state = None, CallState.FAILED
            told = CallError(FailureCode.CLOSED.value, ticket.answer or CLOSED)
    # outside the thread, where an actor says it, only this names the author
    text = f"{ticket.ended_by}: {ticket.answer}" if told is None else ""
    return call.move(state, result=result, text=text, error=told, progress="", ended_at=now)


def say_on_thread(ticket: StoredTicket, said: TicketMessage, actor: str, now: int) -> Work[None]:
    """Add a message about a ticket to its thread, if it has one.

    Parameters:
        actor: id of the sender.
    """
    ends = (yield from find_tail(ticket.thread_id, ticket.desk)) if ticket.thread_id else []
    if ends:
        tail = ThreadTail(ticket.thread_id or "", now, *ends[0][3:])
        tail.add_message(_message(ticket, said, actor, said.words))
        yield from tail.write()
        yield from tell_of_words(ticket.thread_id or "", TAKEN_OVER, now)


def _say(ticket: StoredTicket, said: TicketMessage, actor: str, call: ActionCall) -> NewMessage:
    words = ticket.answer if call.error is None else call.error.message
    return _message(ticket, said, actor, words)


def _message(ticket: StoredTicket, said: TicketMessage, actor: str, words: str) -> NewMessage:
    of_call = {"call": ticket.call_id} if ticket.call_id else {}
    return NewMessage(
        said.id,
        said.salt,
        "assistant",
        actor,
        Origin.DESK,
        (words,),
        attachments=said.attachments,
        metadata={**said.notes, "ticket": ticket.id, **of_call},
    )
