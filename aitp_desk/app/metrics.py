"""The metric sources of the desks of a process and of their shared services."""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import get_args

from aitp_desk.app.desk_parts import DeskParts
from aitp_desk.app.services import Services
from aitp_desk.desk.access.site_agents import SITE_AGENT
from aitp_desk.desk.calls.metrics import call_figures
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.dialogue.answer_cache import CacheCounts
from aitp_desk.desk.limits.concurrency_slots import ConcurrencySlots
from aitp_desk.desk.maintenance.health_checks import HealthChecks
from aitp_desk.desk.maintenance.work_metrics import schedule_figures, ticket_figures
from aitp_desk.desk.runs.executor import RUN_SECONDS, RunExecutor
from aitp_desk.desk.runs.worker import RunWorker
from aitp_desk.http.metrics import RequestMetrics
from aitp_desk.model.calls.job import JobState
from aitp_desk.model.component import ComponentState
from aitp_desk.model.process_figures import ProcessFigures
from aitp_desk.observability.figures import (
    Figure,
    Histogram,
    counters,
    gauge,
    gauges,
    histogram,
)
from aitp_desk.observability.sources import Source
from aitp_desk.store.base import Store
from aitp_desk.store.reads import jobs as job_reads
from aitp_desk.store.reads import runs as run_reads

_STATM = Path("/proc/self/statm")
MOST_COUNTED = 10_000
"""Upper bound of runs counted of a kind; more are reported as this number."""


async def run_figures(
    store: Store, turns: Mapping[str, RunExecutor], clock: Callable[[], float]
) -> tuple[Figure, ...]:
    """Return the counts of waiting and ended runs, and their durations.

    Parameters:
        turns: the run executor of each desk of this process.
        clock: Unix seconds.
    """
    now = await run_reads.runs_not_over(store, MOST_COUNTED)
    since = now.get("queued", (0, 0))[1]
    ended: Counter[str] = Counter()
    seconds = Histogram(RUN_SECONDS)
    for one in turns.values():
        ended.update(one.ended)
        seconds.counts = [a + b for a, b in zip(seconds.counts, one.seconds.counts, strict=True)]
        seconds.total += one.seconds.total
    states = ("queued", "in_progress", "requires_action", "cancelling")
    return (
        gauges(
            "aitp_desk_runs",
            f"Unfinished runs, up to {MOST_COUNTED} of a state.",
            "state",
            {state: now.get(state, (0, 0))[0] for state in states},
        ),
        gauge(
            "aitp_desk_runs_oldest_seconds",
            "Waiting time of the first queued run.",
            max(0.0, clock() - since) if since else 0.0,
        ),
        counters(
            "aitp_desk_runs_ended_total",
            "Runs of this process, by outcome.",
            "how",
            {
                how: ended[how]
                for how in ("completed", "incomplete", "failed", "cancelled", "paused")
            },
        ),
        histogram("aitp_desk_run_seconds", "Duration of runs.", seconds),
    )


async def job_figures(store: Store, clock: Callable[[], float]) -> tuple[Figure, ...]:
    """Return how many jobs wait, for how long, and how many are dead.

    Parameters:
        clock: Unix seconds.
    """
    found = await job_reads.jobs_not_over(store, MOST_COUNTED)
    due = [since for (_, state), (_, since) in found.items() if state == JobState.QUEUED.value]
    counted = tuple(
        ({"kind": kind, "state": state}, count) for (kind, state), (count, _) in found.items()
    )
    return (
        Figure(
            "aitp_desk_jobs",
            "gauge",
            f"Waiting and running jobs, of the first {MOST_COUNTED}.",
            counted,
        ),
        gauge(
            "aitp_desk_jobs_oldest_seconds",
            "How late the first job is.",
            max(0.0, clock() - min(due, default=clock())),
        ),
        gauge(
            "aitp_desk_jobs_dead",
            f"Dead jobs, up to {job_reads.MOST_COUNTED}.",
            await job_reads.count_dead(store),
        ),
    )


def desk_figures(desks: Sequence[Desk]) -> tuple[Figure, ...]:
    """Return the figures of each site agent's content and answer cache."""

    def now(name: str, text: str, value: Callable[[Desk], float]) -> Figure:
        samples = tuple(({"agent": desk.name or SITE_AGENT}, value(desk)) for desk in desks)
        return Figure(name, "gauge", text, samples)

    def since_start(
        name: str, text: str, label: str, values: Callable[[CacheCounts], Mapping[str, int]]
    ) -> Figure:
        samples = tuple(
            ({"agent": desk.name or SITE_AGENT, label: key}, value)
            for desk in desks
            for key, value in values(desk.conversations.cache_counts).items()
        )
        return Figure(name, "counter", text, samples)

    return (
        since_start(
            "aitp_desk_cache_questions_total",
            "First questions, by source of the answer: cache, agent, or another "
            "caller's same question.",
            "outcome",
            lambda of: {"hit": of.hits, "miss": of.misses, "shared": of.shared},
        ),
        since_start(
            "aitp_desk_cache_dropped_total",
            "Answers removed from the cache, by reason.",
            "reason",
            lambda of: {
                "room": of.evicted_for_room,
                "age": of.evicted_by_age,
                "content": of.evicted_with_content,
            },
        ),
        now(
            "aitp_desk_cache_answers",
            "Cached answers.",
            lambda d: d.conversations.cache_counts.answers,
        ),
        now(
            "aitp_desk_cache_bytes",
            "Memory of cached answers.",
            lambda d: d.conversations.cache_counts.size,
        ),
        now(
            "aitp_desk_content_documents",
            "Pages of the content.",
            lambda desk: len(desk.knowledge.editions.documents),
        ),
        now(
            "aitp_desk_content_passages",
            "Passages of the content.",
            lambda desk: len(desk.knowledge.editions.library.passages),
        ),
        now(
            "aitp_desk_content_problems",
            "Content files that cannot be read.",
            lambda desk: len(desk.knowledge.editions.problems),
        ),
    )


async def component_figures(
    health_checks: HealthChecks, clock: Callable[[], float]
) -> tuple[Figure, ...]:
    """Return the state of each component, and the seconds since it changed.

    Parameters:
        clock: Unix seconds.
    """
    components, now = await health_checks.get_components(), clock()
    return (
        Figure(
            "aitp_desk_component",
            "gauge",
            "State of a component: 1 for its current state, 0 for the others.",
            tuple(
                ({"component": one.name, "state": state}, float(one.state == state))
                for one in components
                for state in get_args(ComponentState)
            ),
        ),
        gauges(
            "aitp_desk_component_seconds",
            "Time since the state of a component changed.",
            "component",
            {one.name: max(0.0, now - one.since) for one in components},
        ),
    )


def measure_process(
    meter: RequestMetrics, streams: ConcurrencySlots, worker: RunWorker, desks: Sequence[Desk]
) -> ProcessFigures:
    """Return what this process has done and is at, as its beats report it.

    Parameters:
        meter: counts requests.
        worker: executes the runs of all desks.
    """
    requests, errors = meter.count_all()
    caches = [desk.conversations.cache_counts for desk in desks]
    return ProcessFigures(
        requests=requests,
        errors=errors,
        questions=sum(one.hits + one.misses + one.shared for one in caches),
        runs=sum(one.ended.total() for one in worker.turns.values()),
        streams=streams.count_open(),
        memory=_resident_bytes(),
    )


def _resident_bytes() -> int:
    try:
        pages = _STATM.read_text().split()[1]
    except OSError:  # no Linux
        return 0
    return int(pages) * resource.getpagesize()


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
