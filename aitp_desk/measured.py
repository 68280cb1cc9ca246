"""What tells figures of the desks of a process, and of what these share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from aitp_desk.desk.call_counts import call_figures
from aitp_desk.desk.component_figures import component_figures
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.measuring import Source, desk_figures, job_figures, run_figures
from aitp_desk.desk.tooling import Tooling
from aitp_desk.desk.work_figures import schedule_figures, ticket_figures
from aitp_desk.desk.working import Worker
from aitp_desk.shared import Shared


def make_sources(
    shared: Shared, worker: Worker, desks: Sequence[Desk], tooling: Mapping[str, Tooling]
) -> tuple[Source, ...]:
    """What is asked for figures beside the front and the store itself.

    Parameters:
        worker: takes up the runs of all desks.
        tooling: what calls their actions, by the names of the desks.
    """
    store, clock = shared.store, shared.clock
    return (
        partial(desk_figures, desks),
        partial(component_figures, shared.checking, clock),
        partial(call_figures, {name: one.invoking.counts for name, one in tooling.items()}),
        shared.places.figures,
        partial(run_figures, store, worker.turns, clock),
        partial(job_figures, store, clock),
        partial(schedule_figures, store, clock),
        partial(ticket_figures, store, clock),
    )
