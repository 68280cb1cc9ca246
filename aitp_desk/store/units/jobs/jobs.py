"""Queues jobs, leases them to workers, and ends each once.

    yield from enqueue_job(NewJob(...))

A job is queued in the commit that promises it. A worker that was slow, or thought dead, finds its
lease lost and writes nothing. The results of a job are committed together with its end, so that
they exist once, however often the work was started.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest

import msgspec

from aitp_desk.model.access.audit import AuditAction, Auditor, ObjectKind
from aitp_desk.model.calls.job import Job, JobState
from aitp_desk.model.errors import PreconditionFailed
from aitp_desk.store.base import Row, Work
from aitp_desk.store.records.jobs import ClaimedJob, JobCapacity, NewJob
from aitp_desk.store.rows.threads import read_job, to_json
from aitp_desk.store.units.audit import note_audit

JOBS_EPOCH = "jobs"
"""The row of ``epochs`` that rises when another process than the desk queues a job."""

_PRINCIPAL = 4
"""The place of the principal in the rows of jobs to claim."""

ExtraStatements = Callable[[], Work[object]]
"""A unit of work that is committed together with a job's end."""


def enqueue_job(job: NewJob) -> Work[None]:
    """Queue a job: a part of a unit.

    If a job of its kind exists for its subject, in any state, nothing is changed. Wake the desk's
    jobs after the commit.
    """
    yield "add_job", {**msgspec.structs.asdict(job), "payload": to_json(job.payload)}


def hasten_job(*, kind: str, ref: str, now: int) -> Work[None]:
    """Make a waiting job due: a part of a unit, or one itself.

    Wake the desk's jobs after the commit.

    Parameters:
        now: Unix seconds.
    """
    yield "hasten_job", {"kind": kind, "ref": ref, "now": now}


def claim_jobs(
    *,
    worker: str,
    now: int,
    lease_until: int,
    capacities: Sequence[JobCapacity],
    held: Sequence[str] = (),
) -> Work[tuple[ClaimedJob, ...]]:
    """Claim jobs: for each kind one per principal in turn, longest waiting first.

    An expired lease of a job counts as a failure.

    Parameters:
        worker: who claims them, a name that no other process uses.
        now: Unix seconds.
        lease_until: Unix seconds; renew the leases before then.
        capacities: the free capacity for each kind.
        held: ids of those that the worker holds. They are not claimed, even if their leases have
            expired by the clock.
    """
    taken: list[ClaimedJob] = []
    for capacity in capacities:
        rows = yield from _due(capacity, now, " ".join(held))
        left = capacity.most - len(rows)
        if left and not capacity.in_order:
            far = {"kind": capacity.kind, "farthest": now + capacity.longest, "limit": left}
            rows = [*rows, *(yield "misdated_jobs", far)]
        claims = [_claim(row, worker) for row in rows]
        if claims:
            yield "take_job", tuple(_take(claim, lease_until) for claim in claims)
        taken += claims
    return tuple(taken)


def _due(capacity: JobCapacity, now: int, held: str) -> Work[list[Row]]:
    """Find the jobs of a kind that can be claimed."""
    farthest = now + capacity.longest
    statement = "job_principals_in_order" if capacity.in_order else "job_principals"
    principals = yield statement, {"kind": capacity.kind, "held": held}
    turns = sorted(
        (
            who
            for who, due_at in principals
            if due_at is not None and (due_at <= now or (capacity.in_order and due_at > farthest))
        ),
        key=lambda who: (who <= capacity.last, who),
    )
    common = {"kind": capacity.kind, "held": held, "now": now}
    asked = [
        common | {"who": who} | ({"farthest": farthest} if capacity.in_order else {"limit": left})
        for who in turns
        if (left := capacity.left_of(who)) > 0
    ]
    found: dict[str, list[Row]] = {}
    if asked:
        statement = "first_job_of" if capacity.in_order else "due_jobs_of"
        for row in (yield statement, tuple(asked[: capacity.most])):
            found.setdefault(row[_PRINCIPAL] or "", []).append(row)
    in_turns = [row for turn in zip_longest(*found.values()) for row in turn if row is not None]
    return in_turns[: capacity.most]


def renew_job(*, claim: ClaimedJob, lease_until: int) -> Work[bool]:
    """Extend the lease of a job.

    Returns:
        Whether it is still held; if not, its result cannot be stored.
    """
    return bool((yield "renew_job", {**_holding(claim), "lease_until": lease_until}))


def finish_job(*, claim: ClaimedJob, now: int, also: ExtraStatements | None = None) -> Work[bool]:
    """Mark a job as done, and write its results.

    Parameters:
        now: Unix seconds.
        also: committed together with it.

    Returns:
        False if the lease was lost: nothing was written.

    Raises:
        whatever ``also`` does; nothing was written.
    """
    if not (yield "held_job", _holding(claim)):
        return False
    if also is not None:
        yield from also()
    yield "finish_job", {"id": claim.id, "now": now}
    return True


def put_back_job(*, claim: ClaimedJob, failures: int, available_at: int, error: str) -> Work[bool]:
    """Reschedule a failed job for its next attempt.

    Parameters:
        failures: how often it has failed now.
        available_at: Unix seconds.
        error: why, in a sentence for the site's operators.

    Returns:
        False if the lease was lost, as in :func:`finish_job`.
    """
    if not (yield "held_job", _holding(claim)):
        return False
    waiting = {"id": claim.id, "failures": failures, "available_at": available_at, "error": error}
    yield "put_back_job", waiting
    return True


def bury_job(
    *, claim: ClaimedJob, failures: int, error: str, now: int, also: ExtraStatements | None = None
) -> Work[bool]:
    """Mark a job as dead.

    It is kept, so that the site's operators can inspect, retry or delete it.

    Parameters:
        failures, error, now: as in :func:`put_back_job` and :func:`finish_job`.
        also: committed together with it.

    Returns:
        False if the lease was lost, as in :func:`finish_job`.
    """
    if not (yield "held_job", _holding(claim)):
        return False
    if also is not None:
        yield from also()
    yield "bury_job", {"id": claim.id, "failures": failures, "error": error, "now": now}
    return True


def release_jobs(*, worker: str | None, kinds: Sequence[str]) -> Work[int]:
    """End leases, so that the jobs may be claimed at once.

    Parameters:
        worker: whose leases; a worker that stops in good order calls this last, and no job has
            failed by that. None for all, if the process that held them is gone; then each has.

    Returns:
        How many jobs are free now.
    """
    freed = 0
    for kind in kinds:
        if worker is None:
            freed += len((yield "release_all_jobs", {"kind": kind}))
        else:
            freed += len((yield "release_jobs_of_worker", {"kind": kind, "worker": worker}))
    return freed


def retry_job(*, job_id: str, by: Auditor | None = None) -> Work[Job | None]:
    """Make a job due now that is dead or waits for an attempt.

    Parameters:
        by: who retries it; None writes no audit entry.

    Returns:
        The job before the change; None if there is no such job.

    Raises:
        PreconditionFailed: it is running or done.
    """
    rows = yield "job", {"id": job_id}
    if not rows:
        return None
    job = read_job(rows[0])
    if job.state not in (JobState.QUEUED, JobState.DEAD):
        raise PreconditionFailed(f"The job is {job.state.words}; there is nothing to retry.")
    yield "requeue_job", {"id": job_id}
    yield "raise_epoch", {"name": JOBS_EPOCH}
    yield from note_audit(by, AuditAction.JOB_RETRIED, ObjectKind.JOB, job_id)
    return job


def drop_job(*, job_id: str, by: Auditor | None = None) -> Work[Job | None]:
    """Delete a dead job.

    Parameters:
        by: who deletes it; None writes no audit entry.

    Returns:
        The job before the change; None if there is no such job.

    Raises:
        PreconditionFailed: it is not dead: a caller may depend on it.
    """
    rows = yield "job", {"id": job_id}
    if not rows:
        return None
    job = read_job(rows[0])
    if job.state is not JobState.DEAD:
        raise PreconditionFailed(f"The job is {job.state.words}; only a dead job can be dropped.")
    yield "drop_job", {"id": job_id}
    yield from note_audit(by, AuditAction.JOB_DROPPED, ObjectKind.JOB, job_id)
    return job


def forget_jobs(*, state: JobState, before: int, limit: int) -> Work[int]:
    """Delete jobs that ended in a state before a time.

    Repeat while it returns ``limit``.

    Parameters:
        before: Unix seconds.

    Returns:
        How many were deleted.
    """
    gone = {"state": state.value, "before": before, "limit": limit}
    return len((yield "forget_jobs", gone))


def _claim(row: Row, worker: str) -> ClaimedJob:
    id_, kind, ref, desk, principal, payload, created_at, attempts, failures, state = row
    lapsed = state == JobState.AT_WORK.value
    return ClaimedJob(
        id=id_,
        kind=kind,
        ref=ref,
        desk=desk,
        principal=principal,
        payload=payload,
        created_at=created_at,
        attempt=attempts + 1,
        failures=failures + lapsed,
        worker=worker,
        was_lost=lapsed,
    )


def _take(claim: ClaimedJob, lease_until: int) -> dict[str, object]:
    return {
        "id": claim.id,
        "attempt": claim.attempt,
        "failures": claim.failures,
        "worker": claim.worker,
        "lease_until": lease_until,
    }


def _holding(claim: ClaimedJob) -> dict[str, object]:
    return {"id": claim.id, "worker": claim.worker, "attempt": claim.attempt}
