"""Registers the health probes of a desk: its store, its worker, its site agents."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from aitp_desk.app.health_probes import (
    probe_agent,
    probe_knowledge,
    probe_plugins,
    probe_sources,
    probe_store,
    probe_worker,
)
from aitp_desk.app.services import Services
from aitp_desk.app.site_agents import SiteAgentContext
from aitp_desk.desk.runs.worker import RunWorker


def register_health_probes(
    services: Services, worker: RunWorker, site_agents: Sequence[SiteAgentContext]
) -> None:
    """Register a probe for each component.

    Parameters:
        worker: executes the runs of all desks.
        site_agents: the contexts of all site agents, the main one first. All have the same agent,
            over different content.
    """
    store, clock, health_checks = services.store, services.clock, services.health_checks
    health_checks.add("store", partial(probe_store, store), "vital")
    work = partial(probe_worker, store, lambda: worker.is_working, clock)
    health_checks.add("jobs", work, "vital")
    health_checks.add("agent", partial(probe_agent, site_agents[0].agent))
    for site_agent in site_agents:
        of = f":{site_agent.name}" if site_agent.name else ""
        knowledge, actions = f"knowledge{of}", f"actions{of}"
        health_checks.add(knowledge, partial(probe_knowledge, knowledge, site_agent.knowledge))
        health_checks.add(actions, partial(probe_sources, actions, site_agent.offers.notes))
    if services.capabilities:
        health_checks.add("capabilities", partial(probe_plugins, services.capabilities))
