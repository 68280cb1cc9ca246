"""Serves the site's declared resources as JSON, one address each.

Resources share the addresses of pages. A page wins at its own address, because it names that
address exactly, while a resource has a template.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from aitp_desk.desk.desk import Desk
from aitp_desk.desk.dialogue.turn import CallStatus
from aitp_desk.desk.direct.resources import ResourceView
from aitp_desk.model.calls.action import Related
from aitp_desk.model.errors import DeskError
from aitp_desk.protocols.base.action_affordances import make_call_affordance
from aitp_desk.protocols.base.affordances import Representation
from aitp_desk.protocols.base.payments import x402_wire
from aitp_desk.protocols.base.protocol import (
    JSON,
    Call,
    Handler,
    ProtocolRoutes,
    Reply,
    Route,
    make_etag,
    matches_etag,
)

PagesAt = Callable[[Desk, str], tuple[str, ...]]
"""Returns the media types of a path's page or file; empty without one."""
_FOR_EVERYBODY = (("Cache-Control", "no-cache"),)
_FOR_ONE = (("Cache-Control", "private, no-cache"),)
_FOR_NOBODY_ELSE = ("Cache-Control", "private, no-store")
"""A resource that is paid for at each read must not be cached."""
_encode = msgspec.json.Encoder().encode


class ResourceHandlers:
    """Serves the resources of one desk.

    Parameters:
        get_page: answers with the page or the file at an address.
        pages_at: returns the media types of that page or file.
        calls: whether actions are called by plain HTTP.
        render_error: renders refusals, as a page for browsers.
        encode_call: encodes the status of a call that reads a paid resource.
    """

    def __init__(
        self,
        desk: Desk,
        *,
        get_page: Handler,
        pages_at: PagesAt,
        calls: bool,
        render_error: Callable[[DeskError, Mapping[str, str]], Reply],
        encode_call: Callable[[CallStatus], Reply],
    ) -> None:
        self._desk = desk
        self._below = desk.base_path
        self._get_page = get_page
        self._pages_at = pages_at
        self._calls = calls
        self._render_error = render_error
        self._encode_call = encode_call

    async def get_resource(self, desk: Desk, call: Call) -> Reply:
        """``GET`` a resource.

        Raises:
            DeskError: as :meth:`aitp_desk.desk.direct.resources.Resources.read`.
        """
        if self._pages_at(desk, call.path):
            return await self._get_page(desk, call)
        view = await self._read(desk, call)
        return _reply(view, call) if isinstance(view, ResourceView) else self._encode_call(view)

    async def get_described(self, desk: Desk, call: Call) -> Reply:
        """Return the same with a description."""
        if self._pages_at(desk, call.path):
            return await self._get_page(desk, call)
        view = await self._read(desk, call)
        if not isinstance(view, ResourceView):
            return self._encode_call(view)
        return msgspec.structs.replace(_reply(view, call), seen=self._see(view, call))

    async def _read(self, desk: Desk, call: Call) -> ResourceView | CallStatus:
        """Return the resource, or the status of the paid call that reads it."""
        payment = x402_wire.read_headers(call.headers)
        if payment is not None:
            call.release_slot()
        path = call.path.removeprefix(self._below)
        return await desk.paid_resources.read(call.principal, path, payment, call.allowance)

    def _see(self, view: ResourceView, call: Call) -> Representation:
        type_, at = view.type, self._below
        told = " ".join(part for part in (type_.summary, type_.description) if part)
        doings = (
            make_call_affordance(self._desk, one.action, known=one.arguments, price=one.cost)
            for one in view.actions
            if self._calls
            and (call.allowance is None or call.allowance.allows_action(one.action.name))
        )
        return Representation(
            told,
            tuple(doings),
            (Related("self", f"{at}{view.path}"), *map(self._place, view.related)),
        )

    def _place(self, link: Related) -> Related:
        """Return a link with the desk's base path, for its own resources."""
        is_own = any(
            one.template.match(link.href) is not None for one in self._desk.resources.all_types
        )
        return msgspec.structs.replace(link, href=self._below + link.href) if is_own else link

    def protocol(self) -> ProtocolRoutes:
        """Return the protocol with a route for each type of resources."""
        routes = tuple(
            Route(
                "GET",
                f"{self._below}{type_.template}",
                self.get_resource,
                "static",
                gives_at=self._gives_at,
                second=self.get_described,
            )
            for type_ in self._desk.resources.all_types
        )
        name, desk = self._desk.name, self._desk
        if not name:
            return ProtocolRoutes("resources", routes, (), self._render_error)
        return ProtocolRoutes(f"resources of {name}", routes, (), self._render_error, desk)

    def _gives_at(self, desk: Desk, path: str) -> tuple[str, ...]:
        return self._pages_at(desk, path) or (JSON,)


def _reply(view: ResourceView, call: Call) -> Reply:
    body = _encode(view.data)
    if view.is_paid:
        paid = (_FOR_NOBODY_ELSE, *x402_wire.make_response_headers(view.receipt))
        return Reply(200, body, headers=paid)
    tag = make_etag(body)
    kept = _FOR_EVERYBODY if view.type.open_to == "anyone" else _FOR_ONE
    headers = (("ETag", tag), *kept)
    if matches_etag(call.headers, tag):
        return Reply(304, headers=headers)
    return Reply(200, body, headers=headers)
