"""Serves ``GET /metrics``: the desk's figures for operators (scope ``operator``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from aitp_desk.desk.access.scopes import check_operator
from aitp_desk.desk.desk import Desk
from aitp_desk.model.errors import DeskError
from aitp_desk.observability.sources import MetricsCollector
from aitp_desk.protocols.base.protocol import Call, ProtocolRoutes, Reply, Route

METRICS_PATH = "/metrics"


def make_routes(
    collector: MetricsCollector, render_error: Callable[[DeskError, Mapping[str, str]], Reply]
) -> tuple[ProtocolRoutes, ...]:
    """Return the route, with another protocol's form of refusals.

    Parameters:
        collector: collects the figures.
    """

    async def get_metrics(_desk: Desk, call: Call) -> Reply:
        """Return all figures in the requested form."""
        from aitp_desk.protocols.metrics.wire import render

        check_operator(call.principal)
        accept = call.get_list_header("Accept")
        body, content_type = render(await collector.figures(), accept, collector.labels)
        return Reply(200, body, content_type)

    route = Route("GET", METRICS_PATH, get_metrics, counted="static", gives=("text/plain",))
    return (ProtocolRoutes("metrics", (route,), owns=(), render_error=render_error),)
