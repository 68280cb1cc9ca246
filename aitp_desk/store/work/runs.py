"""Runs: taken up by workers under a lease, and ended once.

A run in progress whose lease has ended stays in progress and may be taken up by anyone; it answers
what it had to answer the first time. Only its last holder can end it, so that a worker that was
slow, or thought dead, finds its lease lost and writes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.model.run import MOVES, Run, RunState
from aitp_desk.store.base import Work
from aitp_desk.store.records import ClaimedRun, Claims, Finished, NewMessage
from aitp_desk.store.work.tail import Tail

MAX_ATTEMPTS = 3
"""How often a run is taken up before it is given up."""
GIVEN_UP = "The desk tried to answer this several times and was interrupted each time."


def claim_runs(*, worker: str, now: int, lease_until: int, limit: int) -> Work[Claims]:
    """Take up runs: those whose lease has ended, then those that wait, oldest first.

    A run waits while another of its thread is in progress. One that had its last attempt is failed
    instead. Some four statements a run.

    Parameters:
        worker: who takes them, a name that no other process uses.
        lease_until: Unix seconds; renew the lease before then.
        limit: at most so many of each sort.
    """
    taken: list[ClaimedRun] = []
    failed: list[Run] = []
    rows = yield "lapsed_runs", {"now": now, "limit": limit}
    for run_id, thread_id, created_at, attempts, upto_seq, *end in rows:
        run = Run(run_id, thread_id, RunState.IN_PROGRESS, created_at, attempts)
        if attempts >= MAX_ATTEMPTS:
            ended = yield from _end(run, RunState.FAILED, Tail(thread_id, now, *end), GIVEN_UP)
            failed.append(ended)
        else:
            last_event = end[-1]
            claim = ClaimedRun(
                run_id, thread_id, worker, attempts + 1, created_at, upto_seq, last_event
            )
            yield from _take(claim, lease_until)
            taken.append(claim)

    rows = yield "claimable_runs", {"now": now, "limit": limit - len(taken)}
    for run_id, thread_id, created_at, last_seq, *end in rows:
        _check_move(RunState.QUEUED, RunState.IN_PROGRESS)
        tail = Tail(thread_id, now, last_seq, *end)
        tail.tell_run(run_id, RunState.IN_PROGRESS)
        claim = ClaimedRun(run_id, thread_id, worker, 1, created_at, last_seq, tail.event)
        yield from _take(claim, lease_until)
        yield from tail.write()
        taken.append(claim)
    return Claims(tuple(taken), tuple(failed))


def finish_run(
    *, claim: ClaimedRun, replies: Sequence[NewMessage], now: int
) -> Work[Finished | None]:
    """Complete a run with its replies.

    Returns:
        None when the lease was lost: somebody else answers, or has, and nothing was written.
    """
    return (yield from _end_held(claim, RunState.COMPLETED, now, replies=replies))


def fail_run(*, claim: ClaimedRun, error: str, now: int) -> Work[Finished | None]:
    """Give a run up for good.

    Parameters:
        error: what a caller may read.

    Returns:
        None when the lease was lost, as in :func:`finish_run`.
    """
    return (yield from _end_held(claim, RunState.FAILED, now, error=error))


def renew_lease(*, claim: ClaimedRun, lease_until: int) -> Work[bool]:
    """Hold a run for longer.

    Returns:
        Whether it is still held; if not, its work is in vain and should stop.
    """
    rows = yield "renew_lease", {**_holding(claim), "lease_until": lease_until}
    return bool(rows)


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


def _take(claim: ClaimedRun, lease_until: int) -> Work[None]:
    yield (
        "take_run",
        {**_holding(claim), "lease_until": lease_until, "upto_seq": claim.upto_seq},
    )


def _end_held(
    claim: ClaimedRun,
    state: RunState,
    now: int,
    *,
    replies: Sequence[NewMessage] = (),
    error: str | None = None,
) -> Work[Finished | None]:
    rows = yield "held_run", _holding(claim)
    if not rows:
        return None
    tail = Tail(claim.thread_id, now, *rows[0])
    messages = tuple(tail.say(reply, claim.id) for reply in replies)
    run = Run(claim.id, claim.thread_id, RunState.IN_PROGRESS, claim.created_at, claim.attempt)
    ended = yield from _end(run, state, tail, error)
    return Finished(ended, messages, tail.event)


def _end(run: Run, state: RunState, tail: Tail, error: str | None) -> Work[Run]:
    """Write a run's last state, and before it everything added to the thread."""
    _check_move(run.state, state)
    tail.tell_run(run.id, state)
    yield from tail.write()
    yield (
        "end_run",
        {"id": run.id, "state": state.value, "error": error, "finished_at": tail.now},
    )
    return Run(run.id, run.thread_id, state, run.created_at, run.attempts, error)


def _check_move(old: RunState, new: RunState) -> None:
    if new not in MOVES[old]:
        raise RuntimeError(f"A run cannot go from {old.value} to {new.value}.")


def _holding(claim: ClaimedRun) -> dict[str, object]:
    return {"id": claim.id, "worker": claim.worker, "attempt": claim.attempt}
