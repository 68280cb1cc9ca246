"""Lets operators take over and return threads, and add notes.

A request for a person goes with its thread. A ticket of a call waits for a separate answer.
"""

from __future__ import annotations

from aitp_desk.model.access.audit import AuditAction, Auditor, ObjectKind
from aitp_desk.model.conversation.note import Note
from aitp_desk.model.conversation.thread import Origin
from aitp_desk.model.conversation.ticket import TicketState
from aitp_desk.model.errors import PreconditionFailed, ThreadNotFound
from aitp_desk.store.base import Work
from aitp_desk.store.records.capabilities import NewEffects
from aitp_desk.store.records.threads import IdempotencyRecord, NewMessage, PostResult
from aitp_desk.store.rows.notes import write_note
from aitp_desk.store.rows.tickets import read_ticket, write_ticket
from aitp_desk.store.units.audit import note_audit
from aitp_desk.store.units.capabilities import check_effects, say_effects, write_effects
from aitp_desk.store.units.idempotency import look_up_once, remembering_once
from aitp_desk.store.units.runs.tasks import tell_of_words
from aitp_desk.store.units.threads.deletion import withdraw_message
from aitp_desk.store.units.threads.folded_threads import find_tail, unfold_thread
from aitp_desk.store.units.threads.tail import ThreadTail
from aitp_desk.store.units.tickets.answers import TicketMessage
from aitp_desk.store.units.tickets.handover import (
    TAKEN_OVER,
    check_free,
    find_operator,
    hand_back,
    hand_over,
    join_operator,
    keep_sessions,
    release_tickets,
    take_requests,
)
from aitp_desk.store.units.tickets.tickets import TICKETS_EPOCH


def take_thread(*, thread_id: str, operator: str, now: int, by: Auditor) -> Work[None]:
    """Let an operator take a thread itself, and the requests for a person there.

    Parameters:
        operator: the name.
        now: Unix seconds.
        by: who takes it.

    Raises:
        ThreadNotFound: there is no such thread.
        PreconditionFailed: another operator has it.
    """
    desk = yield from _find_desk(thread_id)
    yield from check_free(thread_id, operator)
    yield from hand_over(thread_id, desk, operator, now)
    if (yield "take_for_itself", {"thread_id": thread_id}):
        yield from note_audit(by, AuditAction.THREAD_TAKEN, ObjectKind.THREAD, thread_id)
    yield from take_requests(thread_id, operator, by)
    yield "raise_epoch", {"name": TICKETS_EPOCH}


def release_thread(*, thread_id: str, now: int, by: Auditor) -> Work[None]:
    """Return a thread to the agent, and release its taken tickets to all operators.

    Parameters:
        now: Unix seconds.
        by: who returns it.

    Raises:
        ThreadNotFound: there is no such thread.
        PreconditionFailed: no operator has it.
    """
    desk = yield from _find_desk(thread_id)
    if (yield from find_operator(thread_id)) is None:
        raise PreconditionFailed(
            "No operator has taken the conversation over; nothing was changed."
        )
    yield from hand_back(thread_id, desk, now)
    yield from release_tickets(thread_id, by)
    yield from note_audit(by, AuditAction.THREAD_RELEASED, ObjectKind.THREAD, thread_id)
    yield "raise_epoch", {"name": TICKETS_EPOCH}


def speak_on_thread(
    *,
    thread_id: str,
    said: TicketMessage,
    now: int,
    by: Auditor,
    effects: NewEffects | None = None,
    idempotency: IdempotencyRecord | None = None,
) -> Work[None]:
    """Let an operator write on a thread that they have.

    Parameters:
        now: Unix seconds.
        by: who writes.
        effects: effects of capabilities on the message.
        idempotency: the idempotency key, if one was sent; a replay writes nothing.

    Raises:
        IdempotencyConflict: the key was used with another request.
        ThreadNotFound: there is no such thread.
        PreconditionFailed: they do not have it.
        RecordsMoved: records that the effects depend on have changed.
    """
    if idempotency is not None and (yield from look_up_once(idempotency)) is not None:
        return
    desk = yield from _find_desk(thread_id)
    yield from _check_held(thread_id, said.operator)
    if effects is not None:
        yield from check_effects(effects)
    yield from _speak(thread_id, desk, said, now, effects=effects)
    if effects is not None:
        yield from write_effects(effects, thread_id, now)
    if idempotency is not None:
        yield remembering_once(idempotency, PostResult(thread_id, said.id, None), now)
    yield from note_audit(by, AuditAction.THREAD_SPOKEN, ObjectKind.THREAD, thread_id)
    yield "raise_epoch", {"name": TICKETS_EPOCH}


def withdraw_words(
    *, thread_id: str, message_id: str, operator: str, now: int, by: Auditor
) -> Work[None]:
    """Let an operator delete what they have said on a thread, and its corrections.

    They need not have the thread any more.

    Parameters:
        now: Unix seconds.
        by: who deletes it.

    Raises:
        ThreadNotFound, MessageNotFound: it is not there any more.
        Forbidden: another operator has said it.
    """
    desk = yield from _find_desk(thread_id)
    tail = ThreadTail(thread_id, now, *(yield from find_tail(thread_id, desk))[0][3:])
    yield from withdraw_message(message_id, operator, tail)
    yield from note_audit(by, AuditAction.THREAD_WITHDRAWN, ObjectKind.THREAD, thread_id)


def resolve_thread(*, thread_id: str, said: TicketMessage, now: int, by: Auditor) -> Work[None]:
    """Let an operator return a thread, and end the requests for a person there.

    They are answered with the message; without one they are closed.

    Parameters:
        now: Unix seconds.
        by: who returns it.

    Raises:
        as :func:`speak_on_thread`.
    """
    desk = yield from _find_desk(thread_id)
    yield from _check_held(thread_id, said.operator)
    waiting = yield "waiting_tickets_of_thread", {"thread_id": thread_id}
    asked_for = [one for one in map(read_ticket, waiting) if one.kind.is_asked_for]
    if said.words:
        notes = {"ticket": asked_for[0].id} if asked_for else {}
        yield from _speak(thread_id, desk, said, now, notes)
    state, action = TicketState.CLOSED, AuditAction.TICKET_CLOSED
    if said.words:
        state, action = TicketState.ANSWERED, AuditAction.TICKET_ANSWERED
    for ticket in asked_for:
        ended = ticket.move(
            state, answer=said.words, ended_by=said.operator, ended_at=now, asked_from=None
        )
        yield "move_ticket", write_ticket(ended)
        yield from note_audit(by, action, ObjectKind.TICKET, ticket.id)
    yield from hand_back(thread_id, desk, now)
    yield from release_tickets(thread_id, by)
    yield from note_audit(by, AuditAction.THREAD_RESOLVED, ObjectKind.THREAD, thread_id)
    yield "raise_epoch", {"name": TICKETS_EPOCH}


def add_note(
    *, note: Note, by: Auditor | None, idempotency: IdempotencyRecord | None = None
) -> Work[None]:
    """Add an operator's note to a thread.

    Parameters:
        by: who writes it; None writes no audit entry.
        idempotency: as of :func:`speak_on_thread`.

    Raises:
        ThreadNotFound: there is no such thread.
        IdempotencyConflict: the key was used with another request.
    """
    if idempotency is not None and (yield from look_up_once(idempotency)) is not None:
        return
    yield from _find_desk(note.thread_id)
    yield "add_note", write_note(note)
    if idempotency is not None:
        yield remembering_once(idempotency, PostResult(note.thread_id, None, None), note.created_at)
    yield from note_audit(by, AuditAction.THREAD_NOTED, ObjectKind.THREAD, note.thread_id)
    yield "raise_epoch", {"name": TICKETS_EPOCH}


def _find_desk(thread_id: str) -> Work[str]:
    """Return at which desk a thread was opened; a folded one is unfolded."""
    rows = yield "thread_desk", {"thread_id": thread_id}
    if not rows and (yield from unfold_thread(thread_id=thread_id)):
        rows = yield "thread_desk", {"thread_id": thread_id}
    if not rows:
        raise ThreadNotFound("There is no thread with this id.", param="thread_id")
    desk: str = rows[0][0]
    return desk


def _check_held(thread_id: str, operator: str | None) -> Work[None]:
    if (yield from find_operator(thread_id)) is None:
        raise PreconditionFailed("The agent answers this conversation; take it over first.")
    yield from check_free(thread_id, operator)


def _speak(
    thread_id: str,
    desk: str,
    said: TicketMessage,
    now: int,
    notes: dict[str, str] | None = None,
    effects: NewEffects | None = None,
) -> Work[None]:
    actor = yield from join_operator(thread_id, desk, said.operator, now)
    tail = ThreadTail(thread_id, now, *(yield from find_tail(thread_id, desk))[0][3:])
    words, notes = (said.words,), {**said.notes, **(notes or {})}
    tail.add_message(
        NewMessage(
            said.id,
            said.salt,
            "assistant",
            actor,
            Origin.DESK,
            words,
            attachments=said.attachments,
            metadata=notes,
        )
    )
    if effects is not None:
        say_effects(effects, tail)
    yield from tail.write()
    yield from tell_of_words(thread_id, TAKEN_OVER, now)
    yield from keep_sessions(thread_id, now)
