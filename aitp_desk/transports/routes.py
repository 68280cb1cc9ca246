"""Serves the addresses at which platforms call the desk: ``/transports/NAME/HOOK``."""

from __future__ import annotations

from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterator,
    Mapping,
    Sequence,
)
from http import HTTPStatus
from typing import Any

from aitp_desk.capability import Request, Unanswered
from aitp_desk.desk.desk import Desk
from aitp_desk.model.errors import DeskError
from aitp_desk.protocols.base.protocol import (
    ANY_TYPE,
    Call,
    Handler,
    ProtocolRoutes,
    Reply,
    Route,
)
from aitp_desk.transports.base import Delivery, Endpoint, HookResult, Host, Method, Step, Transport
from aitp_desk.transports.host.intake import EventIntake
from aitp_desk.transports.host.registry import EnabledTransport
from aitp_desk.transports.pages.html import ON_PAGES

TRANSPORTS_PATH = "/transports/"

KeepBytes = Callable[[str, str, bytes], Awaitable[None]]
"""Keeps bytes of a transport, given its name and their key."""
Start = Callable[[Coroutine[Any, Any, None]], object]
"""Starts work in the background; what it raises is logged."""


class TransportHooks:
    """Receives the requests of platforms.

    Parameters:
        intake: stores events.
        keep: keeps bytes that came with them.
        start: starts what follows a response.
        clock: Unix seconds.
    """

    def __init__(
        self, intake: EventIntake, *, keep: KeepBytes, start: Start, clock: Callable[[], float]
    ) -> None:
        self._intake = intake
        self._keep = keep
        self._start = start
        self._clock = clock

    def make_routes(
        self,
        transports: Sequence[EnabledTransport],
        pages: Sequence[Route],
        render_error: Callable[[DeskError, Mapping[str, str]], Reply],
    ) -> tuple[ProtocolRoutes, ...]:
        """Return the routes of all hooks, after those of pages.

        The sender is anonymous here: the hook itself verifies its proof.
        """
        hooks = (
            route
            for enabled in transports
            for name, endpoint in enabled.transport.endpoints().items()
            for route in self._routes_of(enabled.name, name, endpoint)
        )
        routes = (*pages, *hooks)
        return (ProtocolRoutes("transports", routes, (TRANSPORTS_PATH,), render_error),)

    def _routes_of(self, transport: str, name: str, endpoint: Endpoint) -> Iterator[Route]:
        path = f"{TRANSPORTS_PATH}{transport}/{name}"
        for method in endpoint.methods:
            handler = self._make_handler(transport, endpoint, method)
            most = 0 if method == "GET" else endpoint.max_bytes
            for address in (path, f"{path}/{{rest:.*}}") if endpoint.has_paths else (path,):
                yield Route(
                    method,
                    address,
                    handler,
                    None,
                    most,
                    media_type=ANY_TYPE,
                    identifies=False,
                    is_hot=endpoint.repeats_heads,
                )

    def _make_handler(self, transport: str, endpoint: Endpoint, method: Method) -> Handler:
        async def handle_hook(_desk: Desk, call: Call) -> Reply:
            """``/transports/{name}/{hook}``."""
            found = endpoint.read(
                Delivery(
                    method=method,
                    body=call.body,
                    headers={name.lower(): value for name, value in call.headers.items()},
                    query=call.query,
                    now=int(self._clock()),
                    path=call.params.get("rest", ""),
                )
            )
            result = found if isinstance(found, HookResult) else await found
            for key, data in result.kept.items():
                await self._keep(transport, key, data)
            await self._intake.receive(transport, result.events)
            if result.follow_up is not None:
                self._start(result.follow_up())
            reply = result.reply
            headers = ON_PAGES if reply.content_type.startswith("text/html") else ()
            return Reply(reply.status, reply.body, reply.content_type, headers)

        return handle_hook


async def check_hooks(name: str, transport: Transport) -> AsyncIterator[Step]:
    """Try whether the desk answers at each hook that only takes messages.

    Without the platform's proof nothing is delivered: a hook is read with a method that it does not
    take, and the desk says which it takes.
    """
    for hook, endpoint in transport.endpoints().items():
        if "GET" not in endpoint.methods:
            yield await _check_hook(f"{TRANSPORTS_PATH}{name}/{hook}", endpoint, transport.host)


async def _check_hook(path: str, endpoint: Endpoint, host: Host) -> Step:
    url = f"{host.url}{path}"
    what = f"The desk answers at {url}."
    try:
        answer = await host.send(Request(url=url))
    except Unanswered as error:
        detail = f"{error.reason} Start the desk, and see that site.url leads to it."
        return Step(what=what, is_done=False, detail=detail)
    allowed = {one.strip() for one in answer.headers.get("allow", "").split(",")}
    if answer.status == HTTPStatus.METHOD_NOT_ALLOWED and allowed >= set(endpoint.methods):
        return Step(what=what, is_done=True)
    detail = f"Another program answers with status {answer.status}: site.url must lead to the desk."
    return Step(what=what, is_done=False, detail=detail)
