"""Stores which processes serve a database, and who ends what a dead one began."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from aitp_desk.model.component import ComponentState
from aitp_desk.model.process_figures import ProcessFigures
from aitp_desk.store.base import Row, Work


class ProcessBeat(msgspec.Struct, frozen=True):
    """The last beat of a process.

    Parameters:
        number: how many there were.
        name: for people; empty for a process of an older version.
        state: its health.
        begun: Unix seconds.
        figures: what it has done; None for a process of an older version.
    """

    process: str
    number: int
    name: str
    state: ComponentState
    begun: int
    figures: ProcessFigures | None


def keep_process(
    *, process: str, name: str, state: ComponentState, begun: int, figures: ProcessFigures
) -> Work[Sequence[ProcessBeat]]:
    """Add to the beats of a process, and read those of all."""
    yield (
        "keep_process",
        {
            "id": process,
            "name": name,
            "state": state,
            "begun": begun,
            "figures": msgspec.json.encode(figures).decode(),
        },
    )
    return [_read(row) for row in (yield "processes", {})]


def _read(row: Row) -> ProcessBeat:
    process, number, name, state, begun, told = row
    figures = msgspec.json.decode(told, type=ProcessFigures) if told else None
    return ProcessBeat(process, number, name, state, begun, figures)


def release_work(*, process: str) -> Work[int]:
    """End the leases of a process that is gone.

    Others may claim its work at once; each counts as an attempt. Should the process wake, it finds
    its leases lost.

    Returns:
        How many runs, jobs and schedules are free now.
    """
    freed = 0
    for name in ("release_runs_of_dead", "release_jobs_of_dead", "release_schedules_of_dead"):
        freed += len((yield name, {"process": process}))
    return freed


def drop_process(*, process: str) -> Work[None]:
    """Delete a process that is gone."""
    yield "drop_process", {"id": process}


def take_call(*, call_id: str, before: str, process: str) -> Work[bool]:
    """Hand a running call to another process; return whether it was still the first one's.

    Parameters:
        before: id of the process that has begun it.
        process: id of the process that ends it.
    """
    rows = yield "take_call", {"id": call_id, "before": before, "process": process}
    return bool(rows)
