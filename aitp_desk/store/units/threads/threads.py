"""Opens threads, posts to them and changes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from aitp_desk.model.access.audit import AuditAction, Auditor, ObjectKind
from aitp_desk.model.access.principal import Principal, find_least, may_operate_threads
from aitp_desk.model.access.rule import AccessNeed
from aitp_desk.model.conversation.run import Run, RunState
from aitp_desk.model.conversation.thread import (
    Draft,
    Thread,
    ThreadUpdate,
)
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.store.base import Params, Work
from aitp_desk.store.records.capabilities import NewEffects
from aitp_desk.store.records.runs import NewRun
from aitp_desk.store.records.threads import (
    Fork,
    IdempotencyRecord,
    NewDraft,
    NewMessage,
    PostResult,
    settle_draft,
)
from aitp_desk.store.rows.threads import read_asker, read_run, to_json, write_asker
from aitp_desk.store.units.audit import note_audit
from aitp_desk.store.units.capabilities import check_effects, say_effects, write_effects
from aitp_desk.store.units.idempotency import look_up_once, remembering_once
from aitp_desk.store.units.threads.access import reach_thread, settle_speaker
from aitp_desk.store.units.threads.actors import (
    bound_to_others,
    check_bindings,
    note_bindings,
    set_actors,
)
from aitp_desk.store.units.threads.creation import add_thread
from aitp_desk.store.units.threads.tail import ThreadTail
from aitp_desk.store.units.tickets.handover import find_operator

AlsoWritten = Callable[[PostResult], Work[None]]
"""What is committed together with new messages, given where they are."""
CAP_SECONDS = 60 * 60
"""The period over which a thread's automatic runs are counted."""


def open_thread(
    *,
    thread: Thread,
    speaker: str,
    messages: Sequence[NewMessage],
    run: NewRun | None,
    idempotency: IdempotencyRecord | None,
    now: int,
    fork: Fork | None = None,
    by: Auditor | None = None,
    effects: NewEffects | None = None,
    also: AlsoWritten | None = None,
) -> Work[PostResult]:
    """Open a thread with actors, first messages and, if one must answer, a run.

    Parameters:
        thread: the first of its actors is the desk's agent, the others were added.
        speaker: the actor stamped on the opener's later messages that name none.
        messages: the opener's messages, with their speakers.
        run: the run to queue; None queues none. Of the messages only the last carries its id.
        idempotency: the idempotency key, if one was sent.
        fork: who forks the thread from its parent; None for one without a parent.
        by: who opens it. An audit entry is written if an operator forks another's thread, and
            if actors are bound to others; None writes none.
        effects: effects of capabilities on the messages.
        also: committed together with the thread.

    Raises:
        IdempotencyConflict: the key was used with another request.
        ThreadNotFound: there is no such parent, it is closed, or it is not the caller's.
        InvalidRequest, Forbidden: as ``actors.check_bindings``.
        RecordsMoved: records that the effects depend on have changed.
    """
    if idempotency is not None and (earlier := (yield from look_up_once(idempotency))) is not None:
        return earlier
    parent_seq = None
    is_visit = False
    if fork is not None:
        parent = yield from reach_thread(
            fork.parent_id,
            fork.principal,
            fork.idle_before,
            AccessNeed.READ,
            now=now,
            param="metadata.parent_id",
        )
        parent_seq = parent.seq if parent.access.upto_seq is None else parent.access.upto_seq
        is_visit = may_operate_threads(fork.principal) and parent.owner != fork.principal.id
    yield from check_bindings(thread.actors[1:], thread.owner, "metadata.actors")
    if effects is not None:
        yield from check_effects(effects)

    tail = ThreadTail(thread.id, now)
    last = len(messages) - 1
    run_id = None if run is None else run.id
    kept = tuple(
        tail.add_message(message, run_id if place == last else None)
        for place, message in enumerate(messages)
    )
    queued = None
    if run is not None:
        queued = queued_run(run, thread.id, now)
        tail.add_run_event(run.id, queued.state)
    replies = () if effects is None else say_effects(effects, tail)

    yield from add_thread(thread, speaker, tail, parent_seq)
    if run is not None and queued is not None:
        yield adding_run(queued, run.asked_by)
    yield from tail.write_additions()
    if fork is not None and is_visit:
        yield from note_audit(
            by, AuditAction.THREAD_LOOKED_AFTER, ObjectKind.THREAD, fork.parent_id
        )
    if effects is not None:
        yield from write_effects(effects, thread.id, now)
    bound = bound_to_others(thread.actors[1:], thread.owner)
    yield from note_bindings(by, AuditAction.ACTOR_BOUND, thread.id, len(bound))
    placed = PostResult(
        thread_id=thread.id,
        message_id=kept[-1].id if kept else None,
        run_id=run_id,
        messages=kept,
        replies=replies,
        run=queued,
        last_event=tail.event,
    )
    if idempotency is not None:
        yield remembering_once(idempotency, placed, now)
    if also is not None:
        yield from also(placed)
    return placed


def append_message(
    *,
    thread_id: str,
    principal: Principal,
    draft: Draft,
    message_id: str,
    salt: bytes,
    now: int,
    idle_before: int,
    run_id: str | None,
    max_auto_replies: int,
    capped: Callable[[], NewMessage] | None,
    idempotency: IdempotencyRecord | None,
    effects: NewEffects | None = None,
    first: Callable[[], Work[None]] | None = None,
    also: AlsoWritten | None = None,
) -> Work[PostResult]:
    """Add a visitor's message to a thread and ensure that a run answers it.

    The message is answered by the run that waits on its thread, else by a new one, queued even
    while another is in progress. A thread that reached its limit of runs within the hour gets a run
    that is ``capped`` from the start and one plain message, until a run may start again.

    On a thread that an operator has taken over no run is started.

    Parameters:
        salt: 16 random bytes for the message's digest.
        idle_before: Unix seconds; an anonymous thread last used before then is closed.
        run_id: id of the run, should one be started; None starts none.
        max_auto_replies: how many runs a thread may have within an hour.
        capped: makes the plain message for a thread at its cap; None if no run is started.
        idempotency: the idempotency key, if one was sent.
        effects: effects of capabilities on it.
        first: committed together with it; it may refuse.
        also: committed together with it.

    Raises:
        ThreadNotFound: there is none, it is closed, or it is not the caller's.
        IdempotencyConflict: the key was used with another request.
        Forbidden: the caller has left the thread.
        InvalidRequest, Forbidden: as ``thread.resolve_speaker``.
        RecordsMoved: records that the effects depend on have changed.
    """
    if first is not None:
        yield from first()
    reached = yield from reach_thread(thread_id, principal, idle_before, AccessNeed.WRITE, now=now)
    if idempotency is not None and (earlier := (yield from look_up_once(idempotency))) is not None:
        return earlier
    role, actor = yield from settle_speaker(thread_id, principal, draft, reached.speaker)
    if effects is not None:
        yield from check_effects(effects)

    tail = reached.tail(now)
    choice = None
    is_asked = run_id is not None and role == "user" and not (effects and effects.is_answered)
    if run_id and is_asked and (yield from find_operator(thread_id)) is None:
        choice = yield from _choose_run(run_id, thread_id, principal, max_auto_replies, now)
    run = None if choice is None else choice.run
    answered_by = None if run is None else run.id
    message = tail.add_message(
        settle_draft(NewDraft(message_id, salt, draft), role, actor, principal.party),
        answered_by,
    )
    replies = () if effects is None else say_effects(effects, tail)
    if choice is not None and choice.is_new:
        tail.add_run_event(choice.run.id, choice.run.state)
        if choice.run.state is RunState.CAPPED and capped is not None:
            replies = (*replies, tail.add_message(capped(), choice.run.id))
        yield adding_run(choice.run, principal)
    elif choice is not None and choice.asked_by is not None:
        asked_by = write_asker(choice.asked_by)
        asked = {"id": choice.run.id, "thread_id": thread_id, "asked_by": asked_by}
        yield "set_asked_by", asked
    yield from tail.write()
    if effects is not None:
        yield from write_effects(effects, thread_id, now)
        if effects.is_answered:
            yield "pass_over", {"thread_id": thread_id, "seq": tail.seq, "before": message.seq - 1}
    placed = PostResult(
        thread_id=thread_id,
        message_id=message_id,
        run_id=answered_by,
        messages=(message,),
        replies=replies,
        run=run,
        last_event=tail.event,
    )
    if idempotency is not None:
        yield remembering_once(idempotency, placed, now)
    if also is not None:
        yield from also(placed)
    return placed


def update_thread(
    *,
    thread_id: str,
    principal: Principal,
    update: ThreadUpdate,
    now: int,
    idle_before: int,
    by: Auditor | None = None,
) -> Work[None]:
    """Replace a thread's metadata and, if given, its participants.

    Parameters:
        by: as of ``actors.join_thread``.

    Raises:
        ThreadNotFound: there is none, it is closed, or it is not the caller's.
        Forbidden: the thread is another principal's to change.
        InvalidRequest: the parent is another.
        Forbidden, InvalidRequest: as ``actors.join_thread``.
    """
    reached = yield from reach_thread(thread_id, principal, idle_before, AccessNeed.MANAGE, now=now)
    if update.parent_id is not None:
        rows = yield "forked_at", {"thread_id": thread_id}
        if not rows or rows[0][0] != update.parent_id:
            raise InvalidRequest(
                "`metadata.parent_id` is set when the thread is opened and cannot be changed.",
                param="metadata.parent_id",
            )
    if update.actors is not None:
        yield from set_actors(reached, principal, update.actors, now, by)
    yield (
        "set_thread_metadata",
        {"thread_id": thread_id, "metadata": to_json(update.metadata), "updated_at": now},
    )


def queued_run(run: NewRun, thread_id: str, now: int) -> Run:
    """Return a new run in its queued state."""
    return Run(
        run.id,
        thread_id,
        RunState.QUEUED,
        now,
        agent=run.agent,
        options=run.options,
        metadata=run.metadata,
    )


def adding_run(run: Run, asked_by: Principal) -> tuple[str, Params]:
    """Return the statement that inserts a new run.

    Parameters:
        asked_by: its principal.
    """
    return (
        "add_run",
        {
            "id": run.id,
            "thread_id": run.thread_id,
            "state": run.state.value,
            "created_at": run.created_at,
            "finished_at": run.created_at if run.is_over else None,
            "asked_by": write_asker(asked_by),
            "started_by": asked_by.party,
            "agent": run.agent,
            "options": None if run.options is None else to_json(run.options),
            "metadata": to_json(run.metadata) if run.metadata else "{}",
        },
    )


class _Choice(msgspec.Struct, frozen=True):
    """The run that answers the next message.

    Parameters:
        is_new: whether it is still to be written.
        asked_by: its principal from now on, if that changes.
    """

    run: Run
    is_new: bool = False
    asked_by: Principal | None = None


def _choose_run(
    run_id: str, thread_id: str, principal: Principal, max_auto_replies: int, now: int
) -> Work[_Choice]:
    waiting = yield "waiting_run", {"thread_id": thread_id}
    if waiting:
        before = read_asker(waiting[0][-1])
        least = find_least(before, principal)
        return _Choice(read_run(waiting[0]), asked_by=None if least == before else least)
    recent = yield "count_recent_runs", {"thread_id": thread_id, "since": now - CAP_SECONDS}
    if recent[0][0] < max_auto_replies:
        return _Choice(Run(run_id, thread_id, RunState.QUEUED, now), is_new=True)
    newest = yield "newest_run", {"thread_id": thread_id}
    if newest and (run := read_run(newest[0])).state is RunState.CAPPED:
        return _Choice(run)
    return _Choice(Run(run_id, thread_id, RunState.CAPPED, now, ended_at=now), is_new=True)
