"""The addresses of the site's resources: a thing each, as its declaration has it, in JSON.

They stand where the pages stand. Where the content has a page at an address, that is what stands
there: a page spells its address out, a resource has a template.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from aitp_desk.desk.desk import Desk
from aitp_desk.desk.resources import ResourceView
from aitp_desk.model.errors import DeskError
from aitp_desk.protocols.reply import (
    JSON,
    Call,
    Door,
    Handler,
    Reply,
    Route,
    has_version,
    version_of,
)

PagesAt = Callable[[Desk, str], tuple[str, ...]]
"""The media types of a page or a file at a path; none where neither stands there."""
_FOR_EVERYBODY = (("Cache-Control", "no-cache"),)
_FOR_ONE = (("Cache-Control", "private, no-cache"), ("Vary", "Authorization"))
_encode = msgspec.json.Encoder().encode


class ResourcesDoor:
    """The door to the resources of one desk.

    Parameters:
        get_page: answers with the page or the file that stands at an address.
        pages_at: says whether one does.
        render_error: refusals: a page for browsers.
    """

    def __init__(
        self,
        desk: Desk,
        *,
        get_page: Handler,
        pages_at: PagesAt,
        render_error: Callable[[DeskError, Mapping[str, str]], Reply],
    ) -> None:
        self._desk = desk
        self._below = f"/{desk.name}" if desk.name else ""
        self._get_page = get_page
        self._pages_at = pages_at
        self._render_error = render_error

    async def get_resource(self, desk: Desk, call: Call) -> Reply:
        """``GET`` a resource.

        Raises:
            whatever :meth:`aitp_desk.desk.resources.Resources.read` raises.
        """
        if self._pages_at(desk, call.path):
            return await self._get_page(desk, call)
        view = await desk.read_resource(call.principal, call.path.removeprefix(self._below))
        return _reply(view, call)

    def door(self) -> Door:
        """The door with its table of routes: a row for each type of resources."""
        routes = tuple(
            Route(
                "GET",
                f"{self._below}{type_.template}",
                self.get_resource,
                "static",
                gives_at=self._gives_at,
            )
            for type_ in self._desk.resource_types
        )
        name, desk = self._desk.name, self._desk
        if not name:
            return Door("resources", routes, (), self._render_error)
        return Door(f"resources of {name}", routes, (), self._render_error, desk)

    def _gives_at(self, desk: Desk, path: str) -> tuple[str, ...]:
        return self._pages_at(desk, path) or (JSON,)


def _reply(view: ResourceView, call: Call) -> Reply:
    body = _encode(view.data)
    tag = version_of(body)
    kept = _FOR_EVERYBODY if view.type.open_to == "anyone" else _FOR_ONE
    headers = (("ETag", tag), *kept)
    if has_version(call.headers, tag):
        return Reply(304, headers=headers)
    return Reply(200, body, headers=headers)
