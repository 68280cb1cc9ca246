"""Reads jobs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from aitp_desk.model.calls.job import Job
from aitp_desk.store.base import Store
from aitp_desk.store.records.jobs import JobCapacity
from aitp_desk.store.rows.threads import read_job

PAGE_ROWS = 200
MOST_COUNTED = 100
"""Dead jobs are counted up to this number."""


async def job(store: Store, job_id: str) -> Job | None:
    """Read a job."""
    rows = await store.read("job", {"id": job_id})
    return read_job(rows[0]) if rows else None


async def jobs(store: Store, *, dead_only: bool) -> AsyncIterator[Job]:
    """Read all stored jobs, the oldest first; for the command line."""
    statement, after = "dead_jobs" if dead_only else "jobs_after", ""
    while rows := await store.read(statement, {"after": after, "limit": PAGE_ROWS}):
        for row in rows:
            yield read_job(row)
        after = rows[-1][0]


async def count_dead(store: Store) -> int:
    """Count the dead jobs, up to :data:`MOST_COUNTED`."""
    rows = await store.read("count_dead_jobs", {"limit": MOST_COUNTED})
    count: int = rows[0][0]
    return count


async def jobs_not_over(store: Store, limit: int) -> dict[tuple[str, str], tuple[int, int]]:
    """Count the waiting and running jobs, up to a bound.

    Returns:
        By kind and state how many, and Unix seconds when the first of them was or is due.
    """
    rows = await store.read("jobs_not_over", {"limit": limit})
    return {(kind, state): (count, since) for kind, state, count, since in rows}


async def next_due(
    store: Store, capacities: Sequence[JobCapacity], held: Sequence[str]
) -> int | None:
    """Return when a worker may claim the next job, in Unix seconds.

    None means never.

    Jobs of other workers count with the end of their lease.

    Parameters:
        capacities: the worker's free capacity by kind.
        held: ids of the jobs that the worker holds.
    """
    due = [
        due_at
        for capacity in capacities
        for who, due_at in await store.read(
            "job_principals_in_order" if capacity.in_order else "job_principals",
            {"kind": capacity.kind, "held": " ".join(held)},
        )
        if due_at is not None and capacity.left_of(who) > 0
    ]
    return min(due, default=None)
