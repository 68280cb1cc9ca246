"""Commits a call that must be paid, with its payment request on the thread."""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.model.calls.call import ActionCall
from aitp_desk.model.conversation.thread import Thread
from aitp_desk.model.errors import ThreadNotFound
from aitp_desk.store.base import Work
from aitp_desk.store.records.capabilities import NewEffects
from aitp_desk.store.records.threads import NewMessage
from aitp_desk.store.rows.calls import write_call
from aitp_desk.store.units.calls.calls import ExtraStatements
from aitp_desk.store.units.capabilities import check_effects, say_effects, write_effects
from aitp_desk.store.units.runs.tasks import tell_of_call
from aitp_desk.store.units.threads.creation import add_thread
from aitp_desk.store.units.threads.folded_threads import find_tail
from aitp_desk.store.units.threads.tail import ThreadTail


def begin_unpaid(
    *,
    call: ActionCall,
    said: Sequence[NewMessage],
    effects: NewEffects,
    opens: Thread | None,
    speaker: str,
    now: int,
    extra_statements: ExtraStatements | None,
) -> Work[None]:
    """Insert a call that waits for payment, and request that on its thread.

    Parameters:
        said: the message that requests it.
        effects: effects of capabilities on that message.
        opens: the thread, if this begins it; None if it exists, or ``extra_statements`` opens it.
        speaker: who speaks on it, for a visitor.
        now: Unix seconds.
        extra_statements: other statements of the same commit.

    Raises:
        RecordsMoved: records that the effects depend on have changed.
        ThreadNotFound: the thread no longer exists.
    """
    yield from check_effects(effects)
    if extra_statements is not None:
        yield from extra_statements()
    thread_id = call.thread_id or ""
    ends = [] if opens is not None else (yield from find_tail(thread_id, call.desk))
    if opens is None and not ends:
        raise ThreadNotFound("The thread of this call no longer exists.", param="thread_id")
    tail = ThreadTail(thread_id, now, *ends[0][3:]) if ends else ThreadTail(thread_id, now)
    for message in said:
        tail.add_message(message)
    say_effects(effects, tail)
    if opens is not None:
        yield from add_thread(opens, speaker, tail)
        yield from tail.write_additions()
    else:
        yield from tail.write()
    yield "add_call", write_call(call)
    yield from write_effects(effects, thread_id, now)
    yield from tell_of_call(call.id, call.state, now)
