"""Serves ``GET /health`` and ``GET /ready``, without a limit and for any host name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from aitp_desk.desk.desk import Desk
from aitp_desk.model.access.scope import is_operator_scope
from aitp_desk.model.errors import DeskError
from aitp_desk.protocols.base.protocol import Call, ProtocolRoutes, Reply, Route
from aitp_desk.protocols.health.objects import OBJECTS
from aitp_desk.protocols.health.wire import HEALTHY, render


async def get_health(_desk: Desk, _call: Call) -> Reply:
    """Return 200: the process answers."""
    return Reply(200, HEALTHY)


async def get_ready(desk: Desk, call: Call) -> Reply:
    """Return 200 if the desk is ready, else 503.

    It is ready when the store answers, the content is read and runs are processed. Only operators
    see the state of each part.
    """
    readiness = await desk.readiness.check()
    body = render(readiness, is_full=is_operator_scope(call.principal.scopes))
    return Reply(200 if readiness.ready else 503, body)


ROUTES = (
    Route("GET", "/health", get_health, counted=None),
    Route("GET", "/ready", get_ready, counted=None),
)


def make_routes(render_error: Callable[[DeskError, Mapping[str, str]], Reply]) -> ProtocolRoutes:
    """Return the routes, with another protocol's form of refusals."""
    return ProtocolRoutes("health", ROUTES, owns=(), render_error=render_error, objects=OBJECTS)
