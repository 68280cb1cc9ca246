"""Runs as workers see them: taken up under a lease, paused for their callers, and ended once.

A run in progress whose lease has ended stays in progress and may be taken up by anyone; it answers
what it had to answer the first time. Only its last holder can end it, so that a worker that was
slow, or thought dead, finds its lease lost and writes nothing. A run that is being cancelled ends
cancelled, whatever its holder has to say. A run that waits for its caller is held by nobody; its
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
"""How often a run is taken up before it is given up."""
GIVEN_UP = "The desk tried to answer this several times and was interrupted each time."


def claim_runs(
    *, worker: str, now: int, lease_until: int, limit: int, left: Sequence[str] = ()
) -> Work[Claims]:
    """Take up runs: those whose lease has ended, then those that wait, oldest first.

    A run waits while another of its thread is at work. One whose lease has ended is ended instead
    where it had its last attempt, was being cancelled, or waited for its caller in vain. Some four
    statements a run.

    Parameters:
        worker: who takes them, a name that no other process uses.
        lease_until: Unix seconds; renew the lease before then.
        limit: at most so many of each sort.
        left: runs that wait on.
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
    along: ExtraStatements | None = None,
) -> Work[RunEnd | None]:
    """Complete a run with its replies; what it answers is answered.

    Parameters:
        usage: what models counted in all of the run.
        limit_met: the limit that leaves the run incomplete; None for one that is complete.
        person: whom the last reply says that they were asked; a run that is being cancelled asks
            nobody.
        effects: what capabilities want done with the replies.
        along: what else is written with it. Of neither anything is where the run is being
            cancelled.

    Returns:
        None when the lease was lost: somebody else answers, or has, and nothing was written.

    Raises:
        RecordsMoved: what the effects follow from has changed meanwhile.
        PreconditionFailed: what is written along cannot be any more.
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
            along=along,
        )
    )


def fail_run(*, claim: ClaimedRun, error: str, now: int) -> Work[RunEnd | None]:
    """Give a run up for good.

    Parameters:
        error: what a caller may read.

    Returns:
        None when the lease was lost, as in :func:`finish_run`.
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
    """Have a run wait for what its caller's tools give.

    Parameters:
        steps: those that are new; all but the last one are complete.
        owed: the calls of the last step whose results the caller owes.
        usage: what models counted in all of the run so far.
        expires_at: Unix seconds; the caller has until then.

    Returns:
        None when the lease was lost, as in :func:`finish_run`.
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
    """Hold a run for longer.

    Returns:
        How it stands: in progress, or being cancelled, and then its work should stop. None when
        it is not held any more: its work is in vain.
    """
    rows = yield "renew_lease", {**_holding(claim), "lease_until": lease_until}
    return RunState(rows[0][0]) if rows else None


def release_runs(*, worker: str | None) -> Work[int]:
    """End leases, so that the runs may be taken up at once.

    Parameters:
        worker: whose leases; a worker that stops in good order calls this last, and the attempt
            does not count. None for all, when the process that held them is gone; then it does.

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
    """Write a run's last state, and before it everything added to the thread."""
    check_move(run.state, state)
    tail.add_run_event(run.id, state)
    yield from tail.write()
    yield (
        "end_run",
        {
            "id": run.id,
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
    """Stop a fault of the program before it is written.

    Raises:
        RuntimeError: no run makes this move.
    """
    if new not in MOVES[old]:
        raise RuntimeError(f"A run cannot go from {old.value} to {new.value}.")


def _end_of_lapsed(state: RunState, attempts: int) -> RunState | None:
    """How a run ends whose lease has; None where it is taken up again.

    Parameters:
        attempts: those made since its caller last handed something in.
    """
    if state is RunState.CANCELLING:
        return RunState.CANCELLED
    if state is RunState.REQUIRES_ACTION:
        return RunState.EXPIRED
    return RunState.FAILED if attempts >= MAX_ATTEMPTS else None


def _claim(row: Row, worker: str, last_event: int, *, is_again: bool = False) -> ClaimedRun:
    """The claim of a run as ``lapsed_runs`` and ``claimable_runs`` give it."""
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
    along: ExtraStatements | None = None,
) -> Work[RunEnd | None]:
    held = yield from _held(claim, now)
    if held is None:
        return None
    run, tail = held
    if run.state is RunState.CANCELLING:
        state, replies, error = RunState.CANCELLED, (), None
        effects = along = None
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
    if along is not None:
        yield from along()
    if effects is not None:  # after the calls that they may be about
        yield from write_effects(effects, claim.thread_id, now)
    return RunEnd(ended, messages, tail.event)


def _held(claim: ClaimedRun, now: int) -> Work[tuple[Run, ThreadTail] | None]:
    """Return the run as it stands and the end of its thread; None when the lease was lost."""
    rows = yield "held_run", _holding(claim)
    if not rows:
        return None
    *run, seq, link, event = rows[0]
    return read_run(tuple(run)), ThreadTail(claim.thread_id, now, seq, link, event)


def _holding(claim: ClaimedRun) -> dict[str, object]:
    return {"id": claim.id, "worker": claim.worker, "attempt": claim.attempt}
