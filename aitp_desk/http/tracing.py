"""The dispatcher with a span for each request, by the conventions for HTTP servers.

A span names the template of the route. It holds neither path nor query: they may contain an id that
opens a thread.
"""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import urlsplit

from aitp_desk.http.dispatcher import Dispatcher, Response
from aitp_desk.http.metrics import METHODS
from aitp_desk.http.request import Request
from aitp_desk.observability.tracing import Attributes, span

_UNKNOWN_METHOD = "_OTHER"


class TracedDispatcher(Dispatcher):
    """Answers requests, and records a span for each."""

    async def handle_request(self, request: Request) -> Response:
        """Answer one request. Raises nothing but cancellation."""
        heading = request.heading
        method = heading.method if heading.method in METHODS else _UNKNOWN_METHOD
        site = urlsplit(heading.desk.site.url)
        attributes: dict[str, str | int] = {
            "http.request.method": method,
            "url.scheme": site.scheme,
            "server.address": site.hostname or "",
        }
        name = "HTTP" if method == _UNKNOWN_METHOD else method
        if heading.route is not None:
            attributes["http.route"] = heading.route.path
            name = f"{name} {heading.route.path}"
        caller = heading.headers if self.is_trusted_proxy(request.peer) else {}
        with span(name, attributes, kind="server", caller=caller) as made:
            outgoing = await super().handle_request(request)
            made.note(_told(outgoing))
            if outgoing.reply.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                made.fail(str(outgoing.reply.status))
        return outgoing


def _told(outgoing: Response) -> Attributes:
    told: dict[str, str | int] = {"http.response.status_code": outgoing.reply.status}
    if outgoing.request_id:
        told["aitp_desk.request_id"] = outgoing.request_id
    return told
