"""The metric sources of the desks of a process and of their shared services."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from aitp_desk.app.component_figures import component_figures
from aitp_desk.app.desk_parts import DeskParts
from aitp_desk.app.figures import desk_figures, job_figures, run_figures
from aitp_desk.app.services import Services
from aitp_desk.desk.calls.metrics import call_figures
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.maintenance.work_metrics import schedule_figures, ticket_figures
from aitp_desk.desk.runs.worker import RunWorker
from aitp_desk.observability.sources import Source


def make_metric_sources(
    services: Services,
    worker: RunWorker,
    desks: Sequence[Desk],
    parts: Mapping[str, DeskParts],
) -> tuple[Source, ...]:
    """Return the metric sources, except those of the dispatcher and the store.

    Parameters:
        worker: executes the runs of all desks.
        parts: the parts of all desks, by name.
    """
    store, clock = services.store, services.clock
    return (
        partial(desk_figures, desks),
        partial(component_figures, services.health_checks, clock),
        partial(call_figures, {name: one.invoker.counts for name, one in parts.items()}),
        services.slots.figures,
        partial(run_figures, store, worker.turns, clock),
        partial(job_figures, store, clock),
        partial(schedule_figures, store, clock),
        partial(ticket_figures, store, clock),
    )
