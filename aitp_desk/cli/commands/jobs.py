"""``aitp-desk jobs``: a desk's jobs and schedules, also while it serves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aitp_desk.cli.arguments import fail, mistakes_told
from aitp_desk.cli.data import (
    desk_data,
    desk_store,
    json_lines,
    make_local_auditor,
    require_keys,
    run_in_store,
)
from aitp_desk.model.text import write_count
from aitp_desk.model.timestamps import write_minute, write_optional_timestamp, write_timestamp

if TYPE_CHECKING:
    from aitp_desk.model.calls.job import Job
    from aitp_desk.model.calls.schedule import StoredSchedule
    from aitp_desk.store.base import Store, Work


@click.group()
def jobs() -> None:
    """List a desk's waiting and dead jobs; retry, drop or run them."""


@jobs.command(name="list")
@desk_data
@desk_store
@click.option(
    "--dead", "dead_only", is_flag=True, help="Only dead jobs, whose attempts have all failed."
)
@click.option("--schedules", "of_schedules", is_flag=True, help="The schedules.")
@json_lines
def list_(data: Path, url: str, *, dead_only: bool, of_schedules: bool, as_json: bool) -> None:
    """List the jobs without their payload, the oldest first.

    Each line has the id, kind, subject, time of creation, state, number of attempts and last
    error. Times are UTC. With --schedules each line has a recurring job, its interval, last result
    and next time.
    """
    with mistakes_told():
        from aitp_desk.store.reads import jobs as job_reads
        from aitp_desk.store.reads import schedules as schedule_reads

        if dead_only and of_schedules:
            fail(["A schedule is never dead; leave out --dead or --schedules."])

        async def show(store: Store) -> None:
            if of_schedules:
                for one in await schedule_reads.schedules(store):
                    click.echo(_schedule_in_json(one) if as_json else _schedule_in_line(one))
                return
            async for kept in job_reads.jobs(store, dead_only=dead_only):
                click.echo(_in_json(kept) if as_json else _in_line(kept))

        run_in_store(data, url, show)


@jobs.command()
@desk_data
@desk_store
@click.argument("job_id", metavar="ID")
def retry(data: Path, url: str, job_id: str) -> None:
    """Retry a dead job, or one that waits for its next attempt.

    It starts within a second, or when the desk starts, with all its attempts again.
    """
    with mistakes_told():
        from aitp_desk.store.units.jobs.jobs import retry_job

        kept = _change(data, url, retry_job, job_id)
        click.echo(f"Retrying job {kept.id} ({kept.kind} of {kept.ref}).")


@jobs.command()
@desk_data
@desk_store
@click.argument("job_id", metavar="ID")
def drop(data: Path, url: str, job_id: str) -> None:
    """Drop a dead job; it will never run."""
    with mistakes_told():
        from aitp_desk.store.units.jobs.jobs import drop_job

        kept = _change(data, url, drop_job, job_id)
        click.echo(f"Dropped job {kept.id} ({kept.kind} of {kept.ref}).")


@jobs.command(name="run")
@desk_data
@desk_store
@click.argument("name", metavar="NAME")
def run_(data: Path, url: str, name: str) -> None:
    """Run a schedule of 'jobs list --schedules' now.

    It starts within a second, or when the desk starts.
    """
    with mistakes_told():
        from aitp_desk.store.units.jobs.schedules import hasten_schedule

        by = make_local_auditor(require_keys(data, url))
        if not run_in_store(data, url, lambda store: store.run(hasten_schedule, name=name, by=by)):
            fail([f"There is no schedule {name!r}; see 'aitp-desk jobs list --schedules'."])
        click.echo(f"{name} starts within a second, or when the desk starts.")


def _change(data: Path, url: str, unit: Callable[..., Work[Job | None]], job_id: str) -> Job:
    by = make_local_auditor(require_keys(data, url))
    kept = run_in_store(data, url, lambda store: store.run(unit, job_id=job_id, by=by))
    if kept is None:
        fail([f"There is no job {job_id!r}; list them with 'aitp-desk jobs list'."])
    return kept


def _in_line(kept: Job) -> str:
    parts = [
        kept.id,
        kept.kind,
        kept.ref,
        f"created {write_minute(kept.created_at)}",
        _state(kept),
        f"tried {write_count(kept.attempts, 'time')}",
    ]
    if kept.last_error is not None:
        parts.append(" ".join(kept.last_error.split()))
    return "  ".join(parts)


def _state(kept: Job) -> str:
    from aitp_desk.model.calls.job import JobState

    if kept.finished_at is not None:
        return f"{kept.state.words} {write_minute(kept.finished_at)}"
    if kept.state is JobState.QUEUED and kept.available_at:
        return f"queued for {write_minute(kept.available_at)}"
    return kept.state.words


def _in_json(kept: Job) -> str:
    import msgspec

    from aitp_desk.model.calls.job import JobState

    waits = kept.state is JobState.QUEUED and kept.available_at
    told = {
        "id": kept.id,
        "kind": kept.kind,
        "ref": kept.ref,
        "agent": kept.desk or None,
        "state": kept.state.value,
        "created_at": write_timestamp(kept.created_at),
        "next_at": write_timestamp(kept.available_at) if waits else None,
        "attempts": kept.attempts,
        "failures": kept.failures,
        "last_error": kept.last_error,
        "finished_at": None if kept.finished_at is None else write_timestamp(kept.finished_at),
    }
    return msgspec.json.encode(told).decode()


def _schedule_in_line(kept: StoredSchedule) -> str:
    parts = [kept.name, f"every {_length(kept.every)}"]
    if kept.leased_by is not None and kept.began_at is not None:
        parts.append(f"running since {write_minute(kept.began_at)}")
    elif kept.ended_at is None:
        parts.append("never run")
    if kept.done_at is not None:
        parts.append(f"last run {write_minute(kept.done_at)}: {kept.did}")
    if kept.leased_by is None:
        parts.append(f"next {write_minute(kept.due_at)}" if kept.due_at else "next now")
    if kept.failures:
        parts.append(f"failed {write_count(kept.failures, 'time')}")
    if kept.last_error is not None:
        parts.append(" ".join(kept.last_error.split()))
    return "  ".join(parts)


def _length(seconds: int) -> str:
    """Write a duration of whole minutes or hours, for people."""
    return f"{seconds // 3600} h" if seconds % 3600 == 0 else f"{seconds // 60} min"


def _schedule_in_json(kept: StoredSchedule) -> str:
    import msgspec

    told = {
        "name": kept.name,
        "every_seconds": kept.every,
        "at_work": kept.leased_by is not None,
        "began_at": write_optional_timestamp(kept.began_at),
        "ended_at": write_optional_timestamp(kept.ended_at),
        "done_at": write_optional_timestamp(kept.done_at),
        "did": kept.did,
        "runs": kept.runs,
        "failures": kept.failures,
        "last_error": kept.last_error,
        "next_at": write_timestamp(kept.due_at) if kept.due_at and kept.leased_by is None else None,
    }
    return msgspec.json.encode(told).decode()
