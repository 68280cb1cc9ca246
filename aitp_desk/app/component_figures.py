"""Figures of the health of each component."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

from aitp_desk.desk.maintenance.health_checks import HealthChecks
from aitp_desk.model.component import ComponentState
from aitp_desk.observability.figures import Figure, gauges


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
            "How a part of the desk is: 1 for its state, 0 for the others.",
            tuple(
                ({"component": one.name, "state": state}, float(one.state == state))
                for one in components
                for state in get_args(ComponentState)
            ),
        ),
        gauges(
            "aitp_desk_component_seconds",
            "How long a part of the desk has been in its state.",
            "component",
            {one.name: max(0.0, now - one.since) for one in components},
        ),
    )
