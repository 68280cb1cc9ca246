"""Registers the health probes of a desk: its store, its worker, its site agents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import structlog

from aitp_desk.agent.base import Agent, LimitedAgent
from aitp_desk.app.services import Services
from aitp_desk.app.site_agents import SiteAgentContext
from aitp_desk.capability import Health
from aitp_desk.config import Config
from aitp_desk.desk.maintenance.process_health import ALL, probe_processes
from aitp_desk.desk.maintenance.readiness import JOBS_DEAD, TOKENS_SPENT
from aitp_desk.desk.plugins.registry import EnabledPlugin, PluginRegistry
from aitp_desk.desk.runs.worker import RunWorker
from aitp_desk.knowledge.snapshot import Knowledge
from aitp_desk.model.calls.job import JobState
from aitp_desk.model.component import Condition, Part
from aitp_desk.store.base import Store
from aitp_desk.store.contents.base import FileContents
from aitp_desk.store.engine.engines import find_engine
from aitp_desk.store.reads import jobs as job_reads
from aitp_desk.store.reads import runs as run_reads
from aitp_desk.store.reads import schedules as schedule_reads
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.units.keys.tokens import TOKENS_EPOCH

OLD_SECONDS = 300
"""Seconds past its due time after which waiting work counts as old."""
MAX_COUNTED = 1000
"""Upper bound of the jobs and runs that a probe counts."""
SHOWN = 3
"""How many problems a condition names."""

_log = structlog.get_logger()


async def probe_store(store: Store) -> tuple[Condition, ...]:
    """Report whether the store can be read; nothing works without it."""
    await reads.epoch(store, TOKENS_EPOCH)
    return (Condition(name="store", part="vital"),)


async def probe_worker(
    store: Store, is_working: Callable[[], bool], clock: Callable[[], float]
) -> tuple[Condition, ...]:
    """Report whether the worker runs, and whether jobs and runs wait for too long.

    Parameters:
        is_working: whether the worker claims runs and jobs.
        clock: Unix seconds.
    """
    if not is_working():
        stopped = "No jobs are executed. Read the log and restart the desk."
        return (Condition(name="jobs", state="down", reason=stopped, part="vital"),)
    return (
        _degraded_by("jobs", await _jobs_wrong(store, clock), part="vital"),
        _degraded_by("runs", await _runs_wrong(store, clock)),
    )


async def _jobs_wrong(store: Store, clock: Callable[[], float]) -> list[str]:
    wrong = [JOBS_DEAD] if await job_reads.count_dead(store) else []
    waiting = await job_reads.jobs_not_over(store, MAX_COUNTED)
    due = [at for (_, state), (_, at) in waiting.items() if state == JobState.QUEUED.value]
    if _is_old(min(due, default=0), clock):
        wrong.append(f"A job is more than {OLD_SECONDS // 60} minutes late.")
    failing = [one.name for one in await schedule_reads.schedules(store) if one.failures]
    if failing:
        shown = ", ".join(failing[:SHOWN])
        wrong.append(f"Schedules have failed: {shown} ('aitp-desk jobs list --schedules').")
    return wrong


async def _runs_wrong(store: Store, clock: Callable[[], float]) -> list[str]:
    queued = (await run_reads.runs_not_over(store, MAX_COUNTED)).get("queued", (0, 0))
    if _is_old(queued[1], clock):
        return [f"A visitor has waited more than {OLD_SECONDS // 60} minutes for an answer."]
    return []


async def probe_agent(agent: Agent) -> tuple[Condition, ...]:
    """Report whether the agent itself answers, or its stand-in."""
    stand_in = agent.stand_in if isinstance(agent, LimitedAgent) else None
    if stand_in is None:
        return (Condition(name="agent"),)
    return (_degraded_by("agent", (TOKENS_SPENT,)),)


async def probe_knowledge(name: str, knowledge: Knowledge) -> tuple[Condition, ...]:
    """Report whether every content file can be read.

    Parameters:
        name: of the component.
    """
    count = len(knowledge.editions.problems)
    wrong = [f"Files of the content cannot be read: {count} ('aitp-desk check')."] if count else []
    return (_degraded_by(name, wrong),)


async def probe_sources(name: str, notes: Callable[[], Sequence[str]]) -> tuple[Condition, ...]:
    """Report whether the sources of actions are available.

    Parameters:
        name: of the component.
        notes: returns the current problems of the sources.
    """
    return (_degraded_by(name, notes()),)


async def probe_plugins(capabilities: PluginRegistry) -> tuple[Condition, ...]:
    """Report the health of each capability, and of the outside systems that it watches."""
    return tuple(
        condition for enabled in capabilities.all for condition in _look_at_capability(enabled)
    )


def _look_at_capability(enabled: EnabledPlugin) -> Sequence[Condition]:
    name = f"capability:{enabled.slug}"
    try:
        own = _as_told(name, enabled.capability.health())
        watched = [
            _as_told(f"{enabled.slug}:{name}", health, part="elsewhere")
            for name, health in enabled.capability.watched().items()
        ]
    except Exception:  # noqa: BLE001 -- a fault of a plugin must not hide the health of the desk
        _log.exception("health_failed", capability=enabled.slug)
        silent = "Its health is unknown; see the log."
        return (Condition(name=name, state="down", reason=silent),)
    return (own, *watched)


def _as_told(name: str, health: Health | None, part: Part = "own") -> Condition:
    if health is None:
        return Condition(name=name, part=part)
    return Condition(name=name, state=health.state, reason=health.reason, part=part)


async def probe_files(contents: FileContents) -> tuple[Condition, ...]:
    """Report whether files can be kept and read."""
    if reason := await contents.probe():
        return (Condition(name="files", state="down", reason=reason),)
    return (Condition(name="files"),)


def _degraded_by(name: str, wrong: Sequence[str], part: Part = "own") -> Condition:
    if not wrong:
        return Condition(name=name, part=part)
    return Condition(name=name, state="degraded", reason=" ".join(wrong[:SHOWN]), part=part)


def _is_old(at: int, clock: Callable[[], float]) -> bool:
    """Return whether something waits for too long; ``at`` is 0 where nothing waits."""
    return bool(at) and clock() - at > OLD_SECONDS


def register_health_probes(
    config: Config,
    services: Services,
    worker: RunWorker,
    site_agents: Sequence[SiteAgentContext],
) -> None:
    """Register a probe for each component.

    Parameters:
        worker: executes the runs of all desks.
        site_agents: the contexts of all site agents, the main one first. All have the same agent,
            over different content.
    """
    store, clock, health_checks = services.store, services.clock, services.health_checks
    if find_engine(config.store.url).is_shared:
        health_checks.processes = services.processes
        health_checks.add(ALL, partial(probe_processes, services.processes))
    health_checks.add("store", partial(probe_store, store), "vital")
    work = partial(probe_worker, store, lambda: worker.is_working, clock)
    health_checks.add("jobs", work, "vital")
    health_checks.add("agent", partial(probe_agent, site_agents[0].agent))
    for site_agent in site_agents:
        of = f":{site_agent.name}" if site_agent.name else ""
        knowledge, actions = f"knowledge{of}", f"actions{of}"
        health_checks.add(knowledge, partial(probe_knowledge, knowledge, site_agent.knowledge))
        health_checks.add(actions, partial(probe_sources, actions, site_agent.offers.notes))
    health_checks.add("files", partial(probe_files, services.contents))
    if services.capabilities:
        health_checks.add("capabilities", partial(probe_plugins, services.capabilities))
