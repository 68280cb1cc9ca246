"""Jobs: queued in the commit that promises them, held under a lease while at work, and ended once.

    yield from enqueue_job(NewJob(...))

A worker that was slow, or thought dead, finds its lease lost and writes nothing. What a job makes
is committed together with its end, so that it is there once, however often the work was begun.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest

import msgspec

from aitp_desk.model.access.audit import AuditAction, Auditor, ObjectKind
from aitp_desk.model.calls.job import Job, JobState
from aitp_desk.model.errors import PreconditionFailed
from aitp_desk.store.base import Row, Work
from aitp_desk.store.records.jobs import ClaimedJob, NewJob, Room
from aitp_desk.store.rows.threads import read_job, to_json
from aitp_desk.store.units.audit import note_audit

JOBS_EPOCH = "jobs"
"""The row of ``epochs`` that rises when somebody else queues a job than the desk itself."""

ExtraStatements = Callable[[], Work[object]]
"""A unit of work that is committed together with a job's end."""


def enqueue_job(job: NewJob) -> Work[None]:
    """Queue a job: a part of a unit.

    Where one of its kind for what it is about is kept already, whatever became of it, nothing is
    changed. Wake the desk's jobs after the commit.
    """
    yield "add_job", {**msgspec.structs.asdict(job), "payload": to_json(job.payload)}


def claim_jobs(
    *, worker: str, now: int, lease_until: int, rooms: Sequence[Room], held: Sequence[str] = ()
) -> Work[tuple[ClaimedJob, ...]]:
    """Take up jobs: of each kind in turns, one of each who asked, those that wait longest first.

    A job whose last holder's lease has ended has failed once more by that. Some two statements a
    job.

    Parameters:
        worker: who takes them, a name that no other process uses.
        now: Unix seconds.
        lease_until: Unix seconds; renew the leases before then.
        rooms: how many of each kind.
        held: ids of those that the worker is at. It goes on with these, even where the clock says
            that their leases have ended.
    """
    taken: list[ClaimedJob] = []
    for room in rooms:
        rows = yield from _due(room, now, " ".join(held))
        if left := room.most - len(rows):
            far = {"kind": room.kind, "farthest": now + room.longest, "limit": left}
            rows = [*rows, *(yield "misdated_jobs", far)]
        for row in rows:
            claim = _claim(row, worker)
            yield (
                "take_job",
                {
                    "id": claim.id,
                    "attempt": claim.attempt,
                    "failures": claim.failures,
                    "worker": worker,
                    "lease_until": lease_until,
                },
            )
            taken.append(claim)
    return tuple(taken)


def _due(room: Room, now: int, held: str) -> Work[list[Row]]:
    """Find the jobs of a kind that are to be taken up."""
    askers = yield "askers", {"kind": room.kind, "held": held}
    turns = sorted(
        (who for who, due_at in askers if due_at is not None and due_at <= now),
        key=lambda who: (who <= room.last, who),
    )
    found: list[list[Row]] = []
    for who in turns:
        if (left := room.left_of(who)) > 0 and len(found) < room.most:
            due = {"kind": room.kind, "who": who, "held": held, "now": now, "limit": left}
            found.append((yield "due_jobs_of", due))
    in_turns = [row for turn in zip_longest(*found) for row in turn if row is not None]
    return in_turns[: room.most]


def renew_job(*, claim: ClaimedJob, lease_until: int) -> Work[bool]:
    """Hold a job for longer.

    Returns:
        Whether it is held still; if not, its work is in vain.
    """
    return bool((yield "renew_job", {**_holding(claim), "lease_until": lease_until}))


def finish_job(*, claim: ClaimedJob, now: int, also: ExtraStatements | None = None) -> Work[bool]:
    """Note that a job is done, and what it made.

    Parameters:
        now: Unix seconds.
        also: committed together with it.

    Returns:
        False when the lease was lost: nothing was written.

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
    """Have a job that failed wait for its next attempt.

    Parameters:
        failures: how often it has failed now.
        available_at: Unix seconds.
        error: why, in a sentence for the site's operators.

    Returns:
        False when the lease was lost, as in :func:`finish_job`.
    """
    if not (yield "held_job", _holding(claim)):
        return False
    waiting = {"id": claim.id, "failures": failures, "available_at": available_at, "error": error}
    yield "put_back_job", waiting
    return True


def bury_job(
    *, claim: ClaimedJob, failures: int, error: str, now: int, also: ExtraStatements | None = None
) -> Work[bool]:
    """Give a job up; it is kept for the site's operators to see, retry or drop.

    Parameters:
        failures, error, now: as in :func:`put_back_job` and :func:`finish_job`.
        also: committed together with it.

    Returns:
        False when the lease was lost, as in :func:`finish_job`.
    """
    if not (yield "held_job", _holding(claim)):
        return False
    if also is not None:
        yield from also()
    yield "bury_job", {"id": claim.id, "failures": failures, "error": error, "now": now}
    return True


def release_jobs(*, worker: str | None, kinds: Sequence[str]) -> Work[int]:
    """End leases, so that the jobs may be taken up at once.

    Parameters:
        worker: whose leases; a worker that stops in good order calls this last, and no job has
            failed by that. None for all, when the process that held them is gone; then each has.

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
    """Have a job taken up at once that was given up or waits for its next attempt.

    Parameters:
        by: who retries it; None notes nothing in the audit log.

    Returns:
        The job as it stood; None when there is no such job.

    Raises:
        PreconditionFailed: it is at work or done.
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
    """Forget a job that was given up.

    Parameters:
        by: who drops it; None notes nothing in the audit log.

    Returns:
        The job as it stood; None when there is no such job.

    Raises:
        PreconditionFailed: it was not given up: somebody may count on it.
    """
    rows = yield "job", {"id": job_id}
    if not rows:
        return None
    job = read_job(rows[0])
    if job.state is not JobState.DEAD:
        raise PreconditionFailed(
            f"The job is {job.state.words}; only one that is dead can be dropped."
        )
    yield "drop_job", {"id": job_id}
    yield from note_audit(by, AuditAction.JOB_DROPPED, ObjectKind.JOB, job_id)
    return job


def forget_jobs(*, state: JobState, before: int, limit: int) -> Work[int]:
    """Forget jobs that ended so before a time. Call it again while it returns ``limit``.

    Parameters:
        before: Unix seconds.

    Returns:
        How many were forgotten.
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


def _holding(claim: ClaimedJob) -> dict[str, object]:
    return {"id": claim.id, "worker": claim.worker, "attempt": claim.attempt}
