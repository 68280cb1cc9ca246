"""What is looked at to tell how a desk is: its store, its work, and what each site agent has."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from aitp_desk.app.context import House
from aitp_desk.app.health_probes import (
    look_at_agent,
    look_at_capabilities,
    look_at_knowledge,
    look_at_sources,
    look_at_store,
    look_at_worker,
)
from aitp_desk.app.services import Shared
from aitp_desk.desk.runs.worker import Worker


def look_at(shared: Shared, worker: Worker, houses: Sequence[House]) -> None:
    """Have all of it looked at.

    Parameters:
        worker: takes up the runs of all desks.
        houses: what each site agent has of its own, the site's own first. They have one agent, over
            different content.
    """
    store, clock, checking = shared.store, shared.clock, shared.checking
    checking.add("store", partial(look_at_store, store), "vital")
    work = partial(look_at_worker, store, lambda: worker.is_working, clock)
    checking.add("jobs", work, "vital")
    checking.add("agent", partial(look_at_agent, houses[0].agent))
    for house in houses:
        of = f":{house.name}" if house.name else ""
        knowledge, actions = f"knowledge{of}", f"actions{of}"
        checking.add(knowledge, partial(look_at_knowledge, knowledge, house.knowledge))
        checking.add(actions, partial(look_at_sources, actions, house.offers.notes))
    if shared.capabilities:
        checking.add("capabilities", partial(look_at_capabilities, shared.capabilities))
