"""Registers the health probes of a desk: its store, its worker, its site agents."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from aitp_desk.app.context import SiteAgentContext
from aitp_desk.app.health_probes import (
    probe_agent,
    probe_knowledge,
    probe_plugins,
    probe_sources,
    probe_store,
    probe_worker,
)
from aitp_desk.app.services import Services
from aitp_desk.desk.runs.worker import RunWorker


def register_health_probes(
    shared: Services, worker: RunWorker, houses: Sequence[SiteAgentContext]
) -> None:
    """Register a probe for each component.

    Parameters:
        worker: executes the runs of all desks.
        houses: the contexts of all site agents, the site's main one first. All have the same agent,
            over different content.
    """
    store, clock, checking = shared.store, shared.clock, shared.checking
    checking.add("store", partial(probe_store, store), "vital")
    work = partial(probe_worker, store, lambda: worker.is_working, clock)
    checking.add("jobs", work, "vital")
    checking.add("agent", partial(probe_agent, houses[0].agent))
    for house in houses:
        of = f":{house.name}" if house.name else ""
        knowledge, actions = f"knowledge{of}", f"actions{of}"
        checking.add(knowledge, partial(probe_knowledge, knowledge, house.knowledge))
        checking.add(actions, partial(probe_sources, actions, house.offers.notes))
    if shared.capabilities:
        checking.add("capabilities", partial(probe_plugins, shared.capabilities))
