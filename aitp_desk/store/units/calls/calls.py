"""Commits each move of a call together with its messages on the thread."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from aitp_desk.model.access.audit import AuditAction, Auditor, ObjectKind, Outcome
from aitp_desk.model.calls.call import MOVES, ActionCall, CallError, CallState
from aitp_desk.model.conversation.thread import Thread
from aitp_desk.model.errors import PreconditionFailed
from aitp_desk.store.base import Work
from aitp_desk.store.records.capabilities import NewEffects
from aitp_desk.store.records.jobs import NewJob
from aitp_desk.store.records.threads import NewMessage, Session
from aitp_desk.store.rows.calls import read_call, read_call_state, write_call
from aitp_desk.store.rows.threads import to_json
from aitp_desk.store.units.audit import note_audit
from aitp_desk.store.units.calls.payment import PAYING_SECONDS, give_back
from aitp_desk.store.units.capabilities import check_effects, write_effects
from aitp_desk.store.units.jobs.jobs import enqueue_job
from aitp_desk.store.units.runs.tasks import tell_of_call
from aitp_desk.store.units.threads.creation import add_thread
from aitp_desk.store.units.threads.folded_threads import find_tail
from aitp_desk.store.units.threads.sessions import say_in_session
from aitp_desk.store.units.threads.tail import ThreadTail
from aitp_desk.store.units.tickets.requests import PersonAsked, settle_person
from aitp_desk.store.units.tickets.tickets import add_ticket, add_unknown_ticket

ExtraStatements = Callable[[], Work[None]]
"""Other statements in the same commit. If they raise as a call begins, it is not called; later they
raise nothing.
"""

_NOTED = {
    CallState.SUCCEEDED: Outcome.DONE,
    CallState.FAILED: Outcome.FAILED,
    CallState.EXPIRED: Outcome.EXPIRED,
    CallState.UNKNOWN: Outcome.UNKNOWN,
}


class SessionTurn(msgspec.Struct, frozen=True):
    """The messages in a session as a call moves.

    Parameters:
        session: its state afterwards.
        said: the messages, in order.
        opens: the thread if this begins it; None if it exists.
        speaker: who speaks on it, for a visitor.
        effects: effects of capabilities; their messages come after these.
    """

    session: Session
    said: tuple[NewMessage, ...]
    opens: Thread | None = None
    speaker: str = ""
    effects: NewEffects | None = None


def begin_call(
    *,
    call: ActionCall,
    turn: SessionTurn | None,
    by: Auditor | None,
    now: int,
    extra_statements: ExtraStatements | None = None,
) -> Work[None]:
    """Insert a new call: it is to be carried out, or waits for something.

    Parameters:
        turn: the messages for it; None if it was not requested in a session.
        by: in whose name it is recorded; None records nothing.
        now: Unix seconds.
        extra_statements: other statements of the same commit.

    Raises:
        RecordsMoved: records that the turn's effects depend on have changed.
        UnknownSession: the session's thread no longer exists.
    """
    yield from _say(turn, now)
    yield "add_call", write_call(call)
    yield from _do(turn, now)
    yield from _follow(call, by, now)
    if extra_statements is not None:
        yield from extra_statements()


def move_call(
    *,
    call: ActionCall,
    before: CallState,
    turn: SessionTurn | None,
    by: Auditor | None,
    now: int,
    extra_statements: ExtraStatements | None = None,
) -> Work[None]:
    """Update the state of a call.

    Parameters:
        call: its state after the move.
        before: its state before.
        turn, by, now, extra_statements: as in :func:`begin_call`.

    Raises:
        PreconditionFailed: its state has changed meanwhile.
        RecordsMoved, UnknownSession: as there.
    """
    if call.state not in MOVES[before]:
        raise ValueError(f"A call cannot go from {before.value} to {call.state.value}.")
    rows = yield "call", {"id": call.id}
    if not rows or read_call_state(rows[0]) is not before:
        raise PreconditionFailed("The state of this call has changed in the meantime.")
    yield from _say(turn, now)
    yield "move_call", {**write_call(call), "before": before.value}
    yield from _do(turn, now)
    yield from _follow(call, by, now)
    yield from tell_of_call(call.id, call.state, now)
    if extra_statements is not None:
        yield from extra_statements()


def end_accepted(
    *,
    call_id: str,
    end: Callable[[ActionCall], ActionCall],
    say: Callable[[ActionCall], NewMessage],
    by: Auditor,
    now: int,
    extra_statements: Callable[[ActionCall], ExtraStatements | None],
    stands: CallState = CallState.STARTED,
) -> Work[None]:
    """End a background call, and report it on its thread: a part of a unit.

    If it has ended already, or its thread is gone, nothing is changed or reported.

    Parameters:
        end: the ended call.
        say: the message about it; only for calls on a thread, except those whose run continues.
        by: in whose name it is recorded.
        now: Unix seconds.
        extra_statements: builds other statements of the same commit.
        stands: its state until then.
    """
    rows = yield "call", {"id": call_id}
    if not rows or read_call_state(rows[0]) is not stands:
        return
    call = end(read_call(rows[0]))
    is_told = call.run_id is None or call.accepted_at is not None  # otherwise its run reports it
    thread_id = call.thread_id if is_told else None
    ends = (yield from find_tail(thread_id, call.desk)) if thread_id else []
    if ends:
        tail = ThreadTail(thread_id or "", now, *ends[0][3:])
        tail.add_message(say(call))
        yield from tail.write()
    yield "move_call", {**write_call(call), "before": stands.value}
    yield from _follow(call, by, now)
    yield from tell_of_call(call.id, call.state, now)
    if (more := extra_statements(call)) is not None:
        yield from more()


def continue_call(*, call: ActionCall, job: NewJob) -> Work[None]:
    """Let a call continue in the background, with the job that follows it.

    If it has ended already, or its thread is gone, nothing is changed.

    Parameters:
        call: as it continues, a started one.
    """
    rows = yield "call", {"id": call.id}
    if not rows or read_call_state(rows[0]) is not CallState.STARTED:
        return
    yield "move_call", {**write_call(call), "before": CallState.STARTED.value}
    yield from enqueue_job(job)


def write_turn_whole(*, turn: SessionTurn, now: int) -> Work[None]:
    """Write a turn of a session in a separate unit.

    Raises:
        RecordsMoved: records that its effects depend on have changed.
        UnknownSession: the session's thread no longer exists.
    """
    yield from _say(turn, now)
    yield from _do(turn, now)


def write_turn_asking(*, turn: SessionTurn, person: PersonAsked, now: int) -> Work[NewMessage]:
    """Write a session's turn that asks for a person, with its ticket.

    The session is kept while it waits for the person.

    Parameters:
        turn: its last message is the desk's, and says so.

    Returns:
        That message as written.

    Raises:
        UnknownSession: the session's thread no longer exists.
    """
    *before, last = turn.said
    told, ticket = yield from settle_person(person, last)
    session = turn.session
    if ticket is not None:
        session = msgspec.structs.replace(session, kept_until=ticket.due_at or 0)
    turn = msgspec.structs.replace(turn, session=session, said=(*before, told))
    yield from _say(turn, now)
    yield from _do(turn, now)
    if ticket is not None:
        yield from add_ticket(ticket)
    return told


def forgetting_answer(call_id: str) -> ExtraStatements:
    """Return the part of a unit that clears a call's processed answer."""

    def write() -> Work[None]:
        yield "forget_answer", {"id": call_id}

    return write


def one_after_another(*parts: ExtraStatements | None) -> ExtraStatements | None:
    """Combine several parts of a unit into one; None if there is none."""
    given = [part for part in parts if part is not None]

    def write() -> Work[None]:
        for part in given:
            yield from part()

    return write if given else None


def tell_progress(*, call_id: str, progress: str) -> Work[None]:
    """Update the progress of a running call."""
    yield "set_call_progress", {"id": call_id, "progress": progress}


def expire_waiting(*, error: CallError, now: int, limit: int) -> Work[int]:
    """End calls that waited too long for an argument, a confirmation or a payment.

    Parameters:
        error: the error that they end with.
        now: Unix seconds.
        limit: maximum number of calls.

    Returns:
        How many; if they are ``limit`` there may be more.
    """
    ends = {"error": to_json(error), "now": now, "limit": limit}
    ended = yield "expire_waiting_calls", ends
    unpaid = yield "expire_unpaid_calls", {**ends, "before": now - PAYING_SECONDS}
    return max(len(ended), len(unpaid))


def _say(turn: SessionTurn | None, now: int) -> Work[None]:
    """Add messages to the session's thread, and update the session.

    Raises:
        RecordsMoved: records that its effects depend on have changed.
    """
    if turn is None:
        return
    session = turn.session
    effects = turn.effects
    said = turn.said
    if effects is not None:
        yield from check_effects(effects)
        said = (*said, *effects.said)
    if turn.opens is not None:
        tail = ThreadTail(session.thread_id, now)
        for message in said:
            tail.add_message(message)
        yield from add_thread(turn.opens, turn.speaker, tail)
        yield from tail.write_additions()
        yield "set_answered", {"thread_id": session.thread_id, "seq": tail.seq}
        yield "add_session", msgspec.structs.asdict(session)
    else:
        yield from say_in_session(session, said, now)


def _do(turn: SessionTurn | None, now: int) -> Work[None]:
    """Write the effects of capabilities; the calls that they concern exist by then."""
    if turn is not None and turn.effects is not None:
        yield from write_effects(turn.effects, turn.session.thread_id, now)


def _follow(call: ActionCall, by: Auditor | None, now: int) -> Work[None]:
    """Record a call's new state in the audit log.

    A call with an unknown outcome gets a ticket; a paid call that failed is refunded.
    """
    if call.state is CallState.UNKNOWN:
        yield from add_unknown_ticket(call, now)
    if call.state in (CallState.FAILED, CallState.EXPIRED):
        yield from give_back(call, now)
    if call.state in (CallState.STARTED, CallState.WAITING_APPROVAL):
        yield from note_audit(by, AuditAction.ACTION_CALLED, ObjectKind.CALL, call.id)
    elif call.state in _NOTED:
        outcome = _NOTED[call.state]
        yield from note_audit(by, AuditAction.ACTION_ENDED, ObjectKind.CALL, call.id, outcome)
