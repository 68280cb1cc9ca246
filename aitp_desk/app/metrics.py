"""The metric sources of the desks of a process and of their shared services."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from aitp_desk.app.component_figures import component_figures
from aitp_desk.app.figures import desk_figures, job_figures, run_figures
from aitp_desk.app.services import Services
from aitp_desk.desk.calls.metrics import call_figures
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.dialogue.tools.agent_tools import AgentTools
from aitp_desk.desk.maintenance.work_metrics import schedule_figures, ticket_figures
from aitp_desk.desk.runs.worker import RunWorker
from aitp_desk.observability.sources import Source


def make_metric_sources(
    shared: Services, worker: RunWorker, desks: Sequence[Desk], tooling: Mapping[str, AgentTools]
) -> tuple[Source, ...]:
    """Return the metric sources, except those of the dispatcher and the store.

    Parameters:
        worker: executes the runs of all desks.
        tooling: calls their actions, by the names of the desks.
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
