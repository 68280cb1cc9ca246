"""Leases schedules: one process on a database runs each.

A schedule's work may be started twice: by a process that was thought dead, and by the one that took
over. So its work is units that determine themselves what is still to be done.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import msgspec

from aitp_desk.model.access.audit import AuditAction, Auditor, ObjectKind
from aitp_desk.model.calls.schedule import StoredSchedule
from aitp_desk.model.errors import PreconditionFailed
from aitp_desk.store.base import Work
from aitp_desk.store.units.audit import note_audit
from aitp_desk.store.units.jobs.jobs import JOBS_EPOCH


class ScheduleRun(msgspec.Struct, frozen=True):
    """An execution of a schedule by a process.

    Parameters:
        worker: the process.
        run: its number.
        failures: how often it has failed since its last success.
    """

    name: str
    worker: str
    run: int
    failures: int


def set_schedules(
    *, every: Mapping[str, int], at_once: Collection[str] = (), is_shared: bool = True
) -> Work[None]:
    """Store which schedules exist; others are deleted.

    Parameters:
        every: by name, the seconds from the end of an execution to the start of the next.
        at_once: which of them are due now, whenever they were last executed.
        is_shared: whether another process may be executing one; else a lease is of a dead one, and
            those of ``at_once`` do not wait for its end.
    """
    for row in (yield "schedules", {}):
        if row[0] not in every:
            yield "drop_schedule", {"name": row[0]}
    for name, seconds in every.items():
        yield "add_schedule", {"name": name, "every": seconds}
    for name in at_once:
        if not is_shared:
            yield "free_schedule", {"name": name}
        yield "hasten_schedule", {"name": name}


def claim_schedules(
    *, due: Collection[StoredSchedule], worker: str, now: int, lease_seconds: int
) -> Work[tuple[ScheduleRun, ...]]:
    """Claim schedules that were read and are due.

    Only those that have not changed since: a claim may wait for longer than another process takes
    to claim one and to end its execution, and would execute it once more.

    Parameters:
        due: those whose time has come, and those whose process has lost its lease, which counts as
            a failure.
        worker: the process, by a unique name.
        now: Unix seconds.
    """
    taken = []
    for row in (yield "schedules", {}):
        kept = StoredSchedule(*row)
        if kept not in due:
            continue
        failures = kept.failures + (kept.leased_by is not None)
        taken.append(ScheduleRun(kept.name, worker, kept.runs + 1, failures))
        yield (
            "take_schedule",
            {
                "name": kept.name,
                "failures": failures,
                "worker": worker,
                "lease_until": now + lease_seconds,
                "now": now,
            },
        )
    return tuple(taken)


def renew_schedule(*, run: ScheduleRun, lease_until: int) -> Work[bool]:
    """Extend the lease of a schedule.

    Returns:
        Whether it is still held; if not, another process may hold it.
    """
    return bool((yield "renew_schedule", {**_holding(run), "lease_until": lease_until}))


def end_well(*, run: ScheduleRun, now: int, did: int) -> Work[bool]:
    """Store that an execution succeeded.

    Parameters:
        did: how many items it processed.

    Returns:
        False if the lease was lost: nothing was written.
    """
    return bool((yield "end_schedule_well", {**_holding(run), "now": now, "did": did}))


def end_badly(*, run: ScheduleRun, now: int, due_at: int, error: str) -> Work[bool]:
    """Store that an execution failed.

    Parameters:
        due_at: Unix seconds; it is not started again before.
        error: why, in a sentence for the site's operators.

    Returns:
        as :func:`end_well`.
    """
    end = {**_holding(run), "now": now, "due_at": due_at, "error": error}
    return bool((yield "end_schedule_badly", end))


def release_schedules(*, worker: str) -> Work[None]:
    """Release what a process holds that stops in good order; this is no failure."""
    for row in (yield "schedules", {}):
        yield "release_schedule", {"name": row[0], "worker": worker}


def hasten_schedule(*, name: str, by: Auditor | None = None) -> Work[bool]:
    """Make a schedule due at once.

    Parameters:
        by: who requests that; None writes no audit entry.

    Returns:
        Whether there is one of this name.

    Raises:
        PreconditionFailed: a process is running it.
    """
    rows = yield "schedule", {"name": name}
    if not rows:
        return False
    if StoredSchedule(*rows[0]).leased_by is not None:
        raise PreconditionFailed(f"{name} is already running.")
    yield "hasten_schedule", {"name": name}
    yield "raise_epoch", {"name": JOBS_EPOCH}
    yield from note_audit(by, AuditAction.SCHEDULE_HASTENED, ObjectKind.SCHEDULE, name)
    return True


def _holding(run: ScheduleRun) -> dict[str, object]:
    return {"name": run.name, "worker": run.worker, "run": run.run}
