"""Lets workers claim runs under a lease, pause them, and end them once.

A run in progress whose lease has expired stays in progress and may be claimed by any worker; it
answers the same messages as the first time. Only its last holder can end it, so that a worker that
was slow, or thought dead, finds its lease lost and writes nothing. A run that is being cancelled
ends cancelled, whatever its holder reports. A run that waits for its caller has no holder; its
lease is the time that the caller has.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from aitp_desk.model.conversation.run import MOVES, Run, RunState, RunUsage, ToolCall
from aitp_desk.model.conversation.run_step import Step
from aitp_desk.store.base import Row, Work
from aitp_desk.store.records.capabilities import NewEffects
from aitp_desk.store.records.runs import ClaimedRun, Claims, RunEnd
from aitp_desk.store.records.threads import NewMessage
from aitp_desk.store.rows.threads import read_asker, read_options, read_run, to_json
from aitp_desk.store.units.calls.calls import ExtraStatements
from aitp_desk.store.units.capabilities import check_effects, write_effects
from aitp_desk.store.units.runs.tasks import tell_of_run
from aitp_desk.store.units.threads.tail import ThreadTail
from aitp_desk.store.units.tickets.requests import PersonAsked, settle_person
from aitp_desk.store.units.tickets.tickets import add_ticket

MAX_ATTEMPTS = 3
"""How often a run is claimed before it fails."""
GIVEN_UP = "The desk tried to answer several times and was interrupted each time."


def claim_runs(
    *, worker: str, now: int, lease_until: int, limit: int, left: Sequence[str] = ()
) -> Work[Claims]:
    """Claim runs: those whose lease has expired, then those that wait, oldest first.

    A run waits while another of its thread is running. A run with an expired lease is ended instead
    if it had its last attempt, was being cancelled, or its caller did not respond. A run takes
    about four statements.

    Parameters:
        worker: who claims them, a name that no other process uses.
        lease_until: Unix seconds; renew the lease before then.
        limit: maximum number of runs of each sort.
        left: runs that continue to wait.
    """
    taken: list[ClaimedRun] = []
    ended: list[Run] = []
    rows = yield "lapsed_runs", {"now": now, "limit": limit}
    for row in rows:
        run_id, thread_id, stood, _, attempts, attempts_before, *_, seq, link, event = row
        last = _end_of_lapsed(RunState(stood), attempts - attempts_before)
        if last is None:
            claim = _claim(row, worker, event, is_again=True)
            yield from _take(claim, now, lease_until)
            taken.append(claim)
        else:
            run = read_run((yield "run", {"id": run_id})[0])
            tail = ThreadTail(thread_id, now, seq, link, event)
            error = GIVEN_UP if last is RunState.FAILED else None
            ended.append((yield from end_run(run, last, tail, error)))

    rows = yield (
        "claimable_runs",
        {"now": now, "limit": limit - len(taken), "left": " ".join(left)},
    )
    for row in rows:
        run_id, thread_id, *_, seq, link, event = row
        check_move(RunState.QUEUED, RunState.IN_PROGRESS)
        tail = ThreadTail(thread_id, now, seq, link, event)
        tail.add_run_event(run_id, RunState.IN_PROGRESS)
        claim = _claim(row, worker, tail.event)
        yield from _take(claim, now, lease_until)
        yield from tail.write()
        taken.append(claim)
    return Claims(tuple(taken), tuple(ended))


def finish_run(
    *,
    claim: ClaimedRun,
    replies: Sequence[NewMessage],
    now: int,
    usage: RunUsage | None = None,
    limit_met: str | None = None,
    person: PersonAsked | None = None,
    effects: NewEffects | None = None,
    extra_statements: ExtraStatements | None = None,
) -> Work[RunEnd | None]:
    """Complete a run with its replies and mark its messages as answered.

    Parameters:
        usage: token usage of models in the whole run.
        limit_met: the limit that leaves the run incomplete; None for a complete one.
        person: the person that the last reply says was asked; a run that is being cancelled asks
            none.
        effects: effects of capabilities on the replies.
        extra_statements: other statements of the same unit. Nothing is written if the run is being
            cancelled.

    Returns:
        None if the lease was lost: another worker answers, or has, and nothing was written.

    Raises:
        RecordsMoved: records that the effects depend on have changed.
        PreconditionFailed: what is written along is no longer possible.
    """
    state = RunState.COMPLETED if limit_met is None else RunState.INCOMPLETE
    return (
        yield from _end_held(
            claim,
            state,
            now,
            replies=replies,
            error=limit_met,
            usage=usage,
            person=person,
            effects=effects,
            extra_statements=extra_statements,
        )
    )


def fail_run(*, claim: ClaimedRun, error: str, now: int) -> Work[RunEnd | None]:
    """Fail a run permanently.

    Parameters:
        error: what a caller may read.

    Returns:
        None if the lease was lost, as in :func:`finish_run`.
    """
    return (yield from _end_held(claim, RunState.FAILED, now, error=error))


def pause_run(
    *,
    claim: ClaimedRun,
    steps: Sequence[Step],
    owed: Sequence[ToolCall],
    usage: RunUsage | None,
    expires_at: int,
    now: int,
) -> Work[RunEnd | None]:
    """Pause a run until its caller submits tool results.

    Parameters:
        steps: those that are new; all but the last one are complete.
        owed: the calls of the last step whose results the caller owes.
        usage: token usage of models in the run so far.
        expires_at: Unix seconds; the caller has until then.

    Returns:
        None if the lease was lost, as in :func:`finish_run`.
    """
    held = yield from _held(claim, now)
    if held is None:
        return None
    run, tail = held
    if run.state is RunState.CANCELLING:
        ended = yield from end_run(run, RunState.CANCELLED, tail, None, usage)
        return RunEnd(ended, (), tail.event)
    check_move(run.state, RunState.REQUIRES_ACTION)
    tail.add_run_event(run.id, RunState.REQUIRES_ACTION)
    yield from tail.write()
    for step in steps:
        yield (
            "add_step",
            {
                "run_id": step.run_id,
                "position": step.position,
                "id": step.id,
                "created_at": step.created_at,
                "completed_at": step.completed_at,
                "text": step.text,
                "calls": to_json(step.calls),
                "usage": None if step.usage is None else to_json(step.usage),
            },
        )
    yield (
        "pause_run",
        {
            "id": run.id,
            "thread_id": run.thread_id,
            "owed": to_json(owed),
            "usage": None if usage is None else to_json(usage),
            "expires_at": expires_at,
        },
    )
    paused = msgspec.structs.replace(
        run,
        state=RunState.REQUIRES_ACTION,
        usage=usage,
        expires_at=expires_at,
        owed=tuple(owed),
    )
    return RunEnd(paused, (), tail.event)


def renew_lease(*, claim: ClaimedRun, lease_until: int) -> Work[RunState | None]:
    """Extend the lease of a run.

    Returns:
        Its state: in progress, or being cancelled, and then its work should stop. None if
        it is no longer held: its result cannot be stored.
    """
    rows = yield "renew_lease", {**_holding(claim), "lease_until": lease_until}
    return RunState(rows[0][0]) if rows else None


def release_runs(*, worker: str | None) -> Work[int]:
    """End leases, so that the runs may be claimed at once.

    Parameters:
        worker: whose leases; a worker that stops in good order calls this last, and the attempt
            does not count. None for all, if the process that held them is gone; then it does.

    Returns:
        How many runs are free now.
    """
    if worker is None:
        rows = yield "release_all_runs", {}
    else:
        rows = yield "release_runs_of_worker", {"worker": worker}
    return len(rows)


def end_run(
    run: Run, state: RunState, tail: ThreadTail, error: str | None, usage: RunUsage | None = None
) -> Work[Run]:
    """Write a run's final state, after everything added to the thread."""
    check_move(run.state, state)
    tail.add_run_event(run.id, state)
    yield from tail.write()
    yield (
        "end_run",
        {
            "id": run.id,
            "thread_id": run.thread_id,
            "state": state.value,
            "error": error,
            "finished_at": tail.now,
            "usage": None if usage is None else to_json(usage),
        },
    )
    yield from tell_of_run(run.id, tail.now)
    return msgspec.structs.replace(
        run,
        state=state,
        error=error,
        usage=usage or run.usage,
        ended_at=tail.now,
        expires_at=None,
        owed=(),
    )


def check_move(old: RunState, new: RunState) -> None:
    """Reject a state transition that the program must not make.

    Raises:
        RuntimeError: no run makes this move.
    """
    if new not in MOVES[old]:
        raise RuntimeError(f"A run cannot go from {old.value} to {new.value}.")


def _end_of_lapsed(state: RunState, attempts: int) -> RunState | None:
    """Return how a run with an expired lease ends; None if it is claimed again.

    Parameters:
        attempts: those since its caller last submitted results.
    """
    if state is RunState.CANCELLING:
        return RunState.CANCELLED
    if state is RunState.REQUIRES_ACTION:
        return RunState.EXPIRED
    return RunState.FAILED if attempts >= MAX_ATTEMPTS else None


def _claim(row: Row, worker: str, last_event: int, *, is_again: bool = False) -> ClaimedRun:
    """Return the claim of a run from a row of ``lapsed_runs`` or ``claimable_runs``."""
    (
        run_id,
        thread_id,
        _,
        created_at,
        attempts,
        attempts_before,
        upto_seq,
        asked_by,
        options,
        *rest,
    ) = row
    return ClaimedRun(
        id=run_id,
        thread_id=thread_id,
        worker=worker,
        attempt=attempts + 1,
        created_at=created_at,
        upto_seq=upto_seq,
        last_event=last_event,
        answered_seq=rest[0],
        desk=rest[1],
        asked_by=read_asker(asked_by),
        options=read_options(options),
        is_resumed=attempts_before > 0,
        is_again=is_again,
    )


def _take(claim: ClaimedRun, now: int, lease_until: int) -> Work[None]:
    yield (
        "take_run",
        {**_holding(claim), "now": now, "lease_until": lease_until, "upto_seq": claim.upto_seq},
    )


def _end_held(
    claim: ClaimedRun,
    state: RunState,
    now: int,
    *,
    replies: Sequence[NewMessage] = (),
    error: str | None = None,
    usage: RunUsage | None = None,
    person: PersonAsked | None = None,
    effects: NewEffects | None = None,
    extra_statements: ExtraStatements | None = None,
) -> Work[RunEnd | None]:
    held = yield from _held(claim, now)
    if held is None:
        return None
    run, tail = held
    if run.state is RunState.CANCELLING:
        state, replies, error = RunState.CANCELLED, (), None
        effects = extra_statements = None
    if effects is not None:
        yield from check_effects(effects)
    if replies and person is not None:
        *before, last = replies
        told, ticket = yield from settle_person(person, last)
        replies = (*before, told)
        if ticket is not None:
            yield from add_ticket(ticket)
    if effects is not None:
        replies = (*replies, *effects.said)
    messages = tuple(tail.add_message(reply, claim.id) for reply in replies)
    ended = yield from end_run(run, state, tail, error, usage)
    if messages or state is RunState.COMPLETED:
        yield "set_answered", {"thread_id": claim.thread_id, "seq": claim.upto_seq}
    if extra_statements is not None:
        yield from extra_statements()
    if effects is not None:  # after the calls that they may concern
        yield from write_effects(effects, claim.thread_id, now)
    return RunEnd(ended, messages, tail.event)


def _held(claim: ClaimedRun, now: int) -> Work[tuple[Run, ThreadTail] | None]:
    """Return the current run and the end of its thread; None if the lease was lost."""
    rows = yield "held_run", _holding(claim)
    if not rows:
        return None
    *run, seq, link, event = rows[0]
    return read_run(tuple(run)), ThreadTail(claim.thread_id, now, seq, link, event)


def _holding(claim: ClaimedRun) -> dict[str, object]:
    return {
        "id": claim.id,
        "thread_id": claim.thread_id,
        "worker": claim.worker,
        "attempt": claim.attempt,
    }
