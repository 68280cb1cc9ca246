"""The console's view of the desk's health (``/console/api/health``)."""

from __future__ import annotations

from aitp_desk.auth.console_sessions import Session
from aitp_desk.desk.maintenance.health_checks import HealthChecks
from aitp_desk.model.component import Component, state_of
from aitp_desk.protocols.base.protocol import Call, Reply
from aitp_desk.web.console.objects import ConsoleComponent, ConsoleHealth
from aitp_desk.web.console.wire import encode, write_timestamp


class HealthRoutes:
    """Serves the health of the desk."""

    def __init__(self, health_checks: HealthChecks) -> None:
        self._health_checks = health_checks

    async def show(self, _session: Session, _call: Call) -> Reply:
        """``GET health``: of the desk and of each component."""
        components = await self._health_checks.get_components()
        data = [_write_component(one) for one in components]
        return Reply(200, encode(ConsoleHealth(state_of(components), data)))


def _write_component(component: Component) -> ConsoleComponent:
    """Write a component; ``elsewhere`` marks an outside system that is only watched."""
    return ConsoleComponent(
        component.name,
        component.state,
        write_timestamp(component.since),
        component.reason,
        component.part == "elsewhere",
    )
