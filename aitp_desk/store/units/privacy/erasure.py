"""Erases a person's messages and the derived data in small units.

Each unit is complete and may be repeated, so an interrupted erasure is finished by running it
again. A message's position, digest and link stay, and so does its sender: the chain remains valid,
and a second erasure finds the same threads.
"""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.model.access.audit import AuditAction, Auditor, ObjectKind, Outcome
from aitp_desk.model.conversation.run import MOVES, RunState
from aitp_desk.model.ids import digest_thread
from aitp_desk.store.base import Row, Work
from aitp_desk.store.reads.privacy.erasure import AttachedFile, ErasureCounts, Person
from aitp_desk.store.rows.threads import read_run
from aitp_desk.store.units.audit import note_audit
from aitp_desk.store.units.calls.payment import give_back_unbegun, leave_at_work
from aitp_desk.store.units.keys.tokens import TOKENS_EPOCH
from aitp_desk.store.units.runs.workers import end_run
from aitp_desk.store.units.threads.summaries import BEFORE_ALL, forget_summaries
from aitp_desk.store.units.threads.tail import ThreadTail
from aitp_desk.store.units.transports import (
    RETRACTION_KIND,
    erase_conversations,
    retract_message,
)

ERASURES_EPOCH = "erasures"
"""The row of ``epochs`` that rises with every erasure."""
WORDS_ERASED = "The data of the run was erased."
"""The error of a run that was to answer erased messages."""


def erase_messages(*, thread_id: str, message_ids: Sequence[str], now: int) -> Work[ErasureCounts]:
    """Delete the content of messages, and the pending questions of sessions."""
    end = yield "thread_end", {"thread_id": thread_id}
    if not end:
        return ErasureCounts()
    tail = ThreadTail(thread_id, now, *end[0])
    seqs: list[int] = []
    for id_ in message_ids:
        if rows := (yield "erase_message", {"thread_id": thread_id, "id": id_}):
            yield "delete_sealed_of_message", {"message_id": id_}
            yield "delete_feedback_of_message", {"thread_id": thread_id, "message_id": id_}
            seqs.append(rows[0][0])
            tail.add_event("message.deleted", id_)
            yield from retract_message(thread_id, id_, now)
    if seqs:
        yield from forget_summaries(thread_id, min(seqs))
        yield "forget_pending_of_thread", {"thread_id": thread_id}
        yield from tail.write()
    return ErasureCounts(messages=len(seqs))


def erase_files(*, files: Sequence[AttachedFile]) -> Work[ErasureCounts]:
    """Delete files that have no owner or belong to the principal who attached them."""
    dropped = 0
    for file in files:
        found = {"id": file.file_id, "whose": file.whose}
        yield "erase_file_parts", found
        dropped += len((yield "erase_file", found))
    return ErasureCounts(files=dropped)


def erase_around(
    *,
    thread_id: str,
    since: int,
    is_opener: bool,
    whose: str,
    is_fork: bool,
    now: int,
) -> Work[ErasureCounts]:
    """Delete the data around a person's messages, and end the runs that use them.

    Parameters:
        since: Unix seconds of the first of them; steps are deleted of runs that were unfinished
            then.
        is_opener: whether the thread's metadata is the person's.
        whose: id of the principal or actor; empty for all visitors.
        is_fork: whether the messages are on the parent of this fork. The declarations and
            idempotency keys of callers here are then not this person's.
    """
    end = yield "thread_end", {"thread_id": thread_id}
    if not end:
        return ErasureCounts()
    unfinished = yield "unfinished_runs", {"thread_id": thread_id}
    tail = ThreadTail(thread_id, now, *end[0])
    for run in map(read_run, unfinished):
        can_fail = RunState.FAILED in MOVES[run.state]
        state = RunState.FAILED if can_fail else RunState.CANCELLED
        yield from end_run(run, state, tail, WORDS_ERASED if can_fail else None)
    steps = yield "erase_steps", {"thread_id": thread_id, "since": since}
    found = {"thread_id": thread_id, "since": since, "whose": whose}
    yield from give_back_unbegun("unbegun_paid_calls_on_thread", found, now)
    yield from leave_at_work("paid_calls_at_work_on_thread", found, now)
    jobs = yield "drop_jobs_of_thread", {"thread_id": thread_id, "since": since}
    calls = yield "erase_calls_on_thread", found
    sealed = yield "delete_sealed_of_thread", found
    yield "erase_tickets_on_thread", found
    yield "erase_notes", found
    yield "erase_feedback", found
    yield "erase_records_on_thread", found
    yield "close_records_on_thread", {"thread_id": thread_id}
    yield "erase_task_turns", {"thread_id": thread_id, "since": since}
    yield "delete_pushes_of_thread", {"thread_id": thread_id}
    notes = (yield "erase_thread_metadata", {"thread_id": thread_id}) if is_opener else []
    keys: list[Row] = []
    if not is_fork:
        yield "erase_declared", {"thread_id": thread_id, "whose": whose}
        keys = yield "erase_once", {"thread_id": thread_id, "whose": whose}
    yield "erase_transport_bytes", {"whose": digest_thread(thread_id)}
    yield from forget_summaries(thread_id, BEFORE_ALL)
    yield "forget_pending_of_thread", {"thread_id": thread_id}
    return ErasureCounts(
        steps=len(steps),
        calls=len(calls),
        sealed=len(sealed),
        notes=len(notes),
        keys=len(keys),
        jobs=len(jobs),
        ended=len(unfinished),
    )


def erase_runs(*, thread_id: str, run_ids: Sequence[str], whose: str) -> Work[ErasureCounts]:
    """Delete a person's requests of runs, and that they requested them or submitted results.

    The replies to them are found by these, so it comes after those are gone.

    Parameters:
        whose: as in :func:`erase_around`.
    """
    runs = 0
    for run_id in run_ids:
        runs += len((yield "erase_run", {"thread_id": thread_id, "id": run_id}))
    yield "erase_givers", {"thread_id": thread_id, "whose": whose}
    return ErasureCounts(runs=runs)


def erase_apart(*, person: Person, by: Auditor, limit: int) -> Work[ErasureCounts]:
    """Delete the grants of a person, and their data that belongs to no message.

    These are their calls, sealed values, idempotency keys, jobs and conversations on platforms,
    also on threads on which the person may never have written, and on deleted ones.

    Parameters:
        limit: maximum number of grants.

    Returns:
        How much; if the grants are ``limit`` there may be more.
    """
    found = {"whose": person.principal, "thread_id": person.thread_id or ""}
    statement = "erase_grants_of_thread" if person.id is None else "erase_grants"
    grants = yield statement, {**found, "limit": limit}
    if grants:
        yield "raise_epoch", {"name": TOKENS_EPOCH}
    for grant_id, thread_id in grants:
        yield "raise_access_epoch", {"thread_id": thread_id}
        yield from note_audit(by, AuditAction.GRANT_REVOKED, ObjectKind.GRANT, grant_id)
    keys = yield ("erase_once" if person.thread_id else "erase_own_once"), found
    if person.id is not None:
        yield from give_back_unbegun("unbegun_paid_calls_of", found, by.at)
        yield from leave_at_work("paid_calls_at_work_of", found, by.at)
    if person.thread_id is None:
        # those that delete on platforms what is erased go on
        yield "disown_jobs", {"kind": RETRACTION_KIND, "whose": person.principal}
    jobs = yield "drop_jobs_of_principal", found
    yield from erase_conversations(principal=found["whose"], thread_id=found["thread_id"])
    calls = [] if person.id is None else (yield "erase_own_calls", found)
    sealed = [] if person.id is None else (yield "delete_sealed_of_principal", found)
    if person.id is not None:
        yield "erase_own_tickets", found
        yield "erase_own_feedback", found
    return ErasureCounts(
        calls=len(calls),
        sealed=len(sealed),
        grants=len(grants),
        keys=len(keys),
        jobs=len(jobs),
    )


def note_erasure(*, person: Person, by: Auditor, outcome: Outcome, count: int) -> Work[None]:
    """Record that an erasure begins or ends; a running desk clears its caches then.

    Parameters:
        count: how much was erased.
    """
    yield "raise_epoch", {"name": ERASURES_EPOCH}
    if person.id is not None:
        yield from note_audit(by, AuditAction.ERASED, ObjectKind.ACTOR, person.id, outcome, count)
    else:
        thread_id = person.thread_id or ""
        yield from note_audit(by, AuditAction.ERASED, ObjectKind.THREAD, thread_id, outcome, count)
