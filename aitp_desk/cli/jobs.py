"""``aitp-desk jobs``: what a desk has promised to do, also while it serves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aitp_desk.cli.arguments import fail, mistakes_told
from aitp_desk.cli.data import (
    at_the_machine,
    desk_data,
    desk_store,
    present_database,
    present_keys,
)
from aitp_desk.cli.moments import minute_of, second_of

if TYPE_CHECKING:
    from aitp_desk.model.job import Job
    from aitp_desk.store.base import Work


@click.group()
def jobs() -> None:
    """See what a desk has still to do or has given up; have it tried again, or drop it."""


@jobs.command(name="list")
@desk_data
@desk_store
@click.option("--dead", "dead_only", is_flag=True, help="Only what was given up.")
@click.option("--json", "as_json", is_flag=True, help="A JSON object a line.")
def list_(data: Path, url: str, *, dead_only: bool, as_json: bool) -> None:
    """List the jobs that are kept, the oldest first; never what they carry.

    A line tells the id, the kind, what it is about, when it was made, how it stands, how often it
    was taken up, and why it failed last. Times are UTC.
    """
    with mistakes_told():
        from aitp_desk.store import job_reads
        from aitp_desk.store.sqlite import SqliteStore

        database = present_database(data, url)

        async def show() -> None:
            async with SqliteStore.open(database) as store:
                async for kept in job_reads.jobs(store, dead_only=dead_only):
                    click.echo(_in_json(kept) if as_json else _in_line(kept))

        asyncio.run(show())


@jobs.command()
@desk_data
@desk_store
@click.argument("job_id", metavar="ID")
def retry(data: Path, url: str, job_id: str) -> None:
    """Try a job again that was given up, or that waits for its next attempt.

    A serving desk takes it up within a second, another one at its next start. It has all its
    attempts again.
    """
    with mistakes_told():
        from aitp_desk.store.work.jobs import retry_job

        kept = _change(data, url, retry_job, job_id)
        click.echo(f"Retrying job {kept.id} ({kept.kind} of {kept.ref}).")


@jobs.command()
@desk_data
@desk_store
@click.argument("job_id", metavar="ID")
def drop(data: Path, url: str, job_id: str) -> None:
    """Forget a job that was given up; it is never done."""
    with mistakes_told():
        from aitp_desk.store.work.jobs import drop_job

        kept = _change(data, url, drop_job, job_id)
        click.echo(f"Dropped job {kept.id} ({kept.kind} of {kept.ref}).")


def _change(data: Path, url: str, unit: Callable[..., Work[Job | None]], job_id: str) -> Job:
    from aitp_desk.store.sqlite import SqliteStore

    database, keys = present_database(data, url), present_keys(data, url)

    async def change() -> Job | None:
        async with SqliteStore.open(database) as store:
            return await store.run(unit, job_id=job_id, by=at_the_machine(keys))

    kept = asyncio.run(change())
    if kept is None:
        fail([f"There is no job {job_id!r}; 'aitp-desk jobs list' shows them."])
    return kept


def _in_line(kept: Job) -> str:
    parts = [
        kept.id,
        kept.kind,
        kept.ref,
        f"made {minute_of(kept.created_at)}",
        _state(kept),
        f"taken up {kept.attempts} {'time' if kept.attempts == 1 else 'times'}",
    ]
    if kept.last_error is not None:
        parts.append(" ".join(kept.last_error.split()))
    return "  ".join(parts)


def _state(kept: Job) -> str:
    from aitp_desk.model.job import JobState

    if kept.finished_at is not None:
        return f"{kept.state.words} {minute_of(kept.finished_at)}"
    if kept.state is JobState.QUEUED and kept.available_at:
        return f"queued for {minute_of(kept.available_at)}"
    return kept.state.words


def _in_json(kept: Job) -> str:
    import msgspec

    from aitp_desk.model.job import JobState

    waits = kept.state is JobState.QUEUED and kept.available_at
    told = {
        "id": kept.id,
        "kind": kept.kind,
        "ref": kept.ref,
        "agent": kept.desk or None,
        "state": kept.state.value,
        "created_at": second_of(kept.created_at),
        "next_at": second_of(kept.available_at) if waits else None,
        "attempts": kept.attempts,
        "failures": kept.failures,
        "last_error": kept.last_error,
        "finished_at": None if kept.finished_at is None else second_of(kept.finished_at),
    }
    return msgspec.json.encode(told).decode()
