"""Calls of actions: each move of one, with what is said of it on its thread, is one commit."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from aitp_desk.model.access.audit import AuditAction, Auditor, ObjectKind, Outcome
from aitp_desk.model.calls.call import MOVES, ActionCall, CallError, CallState
from aitp_desk.model.conversation.thread import Thread
from aitp_desk.model.errors import PreconditionFailed
from aitp_desk.store.base import Work
from aitp_desk.store.records.capabilities import NewEffects
from aitp_desk.store.records.threads import NewMessage, Session
from aitp_desk.store.rows.calls import read_call, read_call_state, write_call
from aitp_desk.store.rows.threads import to_json
from aitp_desk.store.units.audit import note_audit
from aitp_desk.store.units.calls.payment import PAYING_SECONDS, give_back
from aitp_desk.store.units.capabilities import check_effects, write_effects
from aitp_desk.store.units.runs.tasks import tell_of_call
from aitp_desk.store.units.threads.creation import add_thread
from aitp_desk.store.units.threads.folded_threads import find_tail
from aitp_desk.store.units.threads.sessions import say_in_session
from aitp_desk.store.units.threads.tail import ThreadTail
from aitp_desk.store.units.tickets.requests import PersonAsked, settle_person
from aitp_desk.store.units.tickets.tickets import add_ticket, add_unknown_ticket

ExtraStatements = Callable[[], Work[None]]
"""Something else that is written in the same commit. What it refuses as a call begins, is not
called; later it refuses nothing."""

_NOTED = {
    CallState.SUCCEEDED: Outcome.DONE,
    CallState.FAILED: Outcome.FAILED,
    CallState.EXPIRED: Outcome.EXPIRED,
    CallState.UNKNOWN: Outcome.UNKNOWN,
}


class SessionTurn(msgspec.Struct, frozen=True):
    """What is said in a session as a call moves.

    Parameters:
        session: as it stands afterwards.
        said: the messages, in order.
        opens: the thread where this is its beginning; None where it is there.
        speaker: who speaks on it, for a visitor.
        effects: what capabilities want done with it; what they say comes after the messages.
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
    along: ExtraStatements | None = None,
) -> Work[None]:
    """Write down a call that is begun: it is to be carried out, or waits for something.

    Parameters:
        turn: what was said for it; None where it was not asked for in a session.
        by: in whose name it is noted; None notes nothing.
        now: Unix seconds.
        along: what is written in the same commit.

    Raises:
        RecordsMoved: what the turn's effects follow from has changed meanwhile.
        UnknownSession: the session's thread is not there any more.
    """
    yield from _say(turn, now)
    yield "add_call", write_call(call)
    yield from _do(turn, now)
    yield from _follow(call, by, now)
    if along is not None:
        yield from along()


def move_call(
    *,
    call: ActionCall,
    before: CallState,
    turn: SessionTurn | None,
    by: Auditor | None,
    now: int,
    along: ExtraStatements | None = None,
) -> Work[None]:
    """Write down a move of a call.

    Parameters:
        call: as it stands after it.
        before: how it stood before.
        turn, by, now, along: as in :func:`begin_call`.

    Raises:
        PreconditionFailed: it stands otherwise by now.
        RecordsMoved, UnknownSession: as there.
    """
    if call.state not in MOVES[before]:
        raise ValueError(f"A call that is {before.value} does not become {call.state.value}.")
    rows = yield "call", {"id": call.id}
    if not rows or read_call_state(rows[0]) is not before:
        raise PreconditionFailed("This was settled meanwhile.")
    yield from _say(turn, now)
    yield "move_call", {**write_call(call), "before": before.value}
    yield from _do(turn, now)
    yield from _follow(call, by, now)
    yield from tell_of_call(call.id, call.state, now)
    if along is not None:
        yield from along()


def end_accepted(
    *,
    call_id: str,
    end: Callable[[ActionCall], ActionCall],
    say: Callable[[ActionCall], NewMessage],
    by: Auditor,
    now: int,
    along: Callable[[ActionCall], ExtraStatements | None],
    stands: CallState = CallState.STARTED,
) -> Work[None]:
    """End a call that goes on by itself, and say so on its thread: a part of a unit.

    Where it has ended already, or its thread has gone, nothing is changed or said.

    Parameters:
        end: the call as it then stands.
        say: what is said of it; only of calls on a thread, and not of those whose run goes on.
        by: in whose name it is noted.
        now: Unix seconds.
        along: makes what else is written in the same commit.
        stands: how it stands until then.
    """
    rows = yield "call", {"id": call_id}
    if not rows or read_call_state(rows[0]) is not stands:
        return
    call = end(read_call(rows[0]))
    is_told = call.run_id is None or call.accepted_at is not None  # else its run tells of it
    thread_id = call.thread_id if is_told else None
    ends = (yield from find_tail(thread_id, call.desk)) if thread_id else []
    if ends:
        tail = ThreadTail(thread_id or "", now, *ends[0][3:])
        tail.add_message(say(call))
        yield from tail.write()
    yield "move_call", {**write_call(call), "before": stands.value}
    yield from _follow(call, by, now)
    yield from tell_of_call(call.id, call.state, now)
    if (more := along(call)) is not None:
        yield from more()


def write_turn_whole(*, turn: SessionTurn, now: int) -> Work[None]:
    """Write down a turn of a session by itself.

    Raises:
        RecordsMoved: what its effects follow from has changed meanwhile.
        UnknownSession: the session's thread is not there any more.
    """
    yield from _say(turn, now)
    yield from _do(turn, now)


def write_turn_asking(*, turn: SessionTurn, person: PersonAsked, now: int) -> Work[NewMessage]:
    """Write down a turn of a session in which a person is asked, and that ticket.

    The session is kept for as long as the person is waited for.

    Parameters:
        turn: its last message is the desk's, and says so.

    Returns:
        That message as it was written.

    Raises:
        UnknownSession: the session's thread is not there any more.
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
    """Make the part of a unit that takes note that an answer to a call was heard."""

    def write() -> Work[None]:
        yield "forget_answer", {"id": call_id}

    return write


def one_after_another(*parts: ExtraStatements | None) -> ExtraStatements | None:
    """Make one of several things that are written in the same commit; None where there is none."""
    given = [part for part in parts if part is not None]

    def write() -> Work[None]:
        for part in given:
            yield from part()

    return write if given else None


def tell_progress(*, call_id: str, progress: str) -> Work[None]:
    """Write down how far a call is, while it is at work."""
    yield "set_call_progress", {"id": call_id, "progress": progress}


def expire_waiting(*, error: CallError, now: int, limit: int) -> Work[int]:
    """End calls that have waited too long for an argument, to be agreed to, or to be paid.

    Parameters:
        error: what is said of them.
        now: Unix seconds.
        limit: so many at most.

    Returns:
        How many it were; where they are ``limit`` there may be more.
    """
    ends = {"error": to_json(error), "now": now, "limit": limit}
    ended = yield "expire_waiting_calls", ends
    unpaid = yield "expire_unpaid_calls", {**ends, "before": now - PAYING_SECONDS}
    return max(len(ended), len(unpaid))


def _say(turn: SessionTurn | None, now: int) -> Work[None]:
    """Place what is said on the session's thread, and write down where the session stands.

    Raises:
        RecordsMoved: what its effects follow from has changed meanwhile.
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
    """Write what capabilities want done with what is said; of calls, which are there by then."""
    if turn is not None and turn.effects is not None:
        yield from write_effects(turn.effects, turn.session.thread_id, now)


def _follow(call: ActionCall, by: Auditor | None, now: int) -> Work[None]:
    """Note in the audit log that a call is carried out, or waits for approval, or how it ended.

    What nobody knows the end of, people are to look at; what failed and was paid goes back.
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
