"""Builds the routes of resources, which lie among the pages."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from aitp_desk.desk.desk import Desk
from aitp_desk.protocols.base.protocol import ProtocolRoutes
from aitp_desk.protocols.openapi.wire import encode_called
from aitp_desk.protocols.openapi.wire import render_error as render_problem
from aitp_desk.protocols.resources import ResourceHandlers
from aitp_desk.web.pages.routes import PagesHandlers, list_media_types


def make_resource_routes(
    pages: PagesHandlers, desks: Iterable[Desk], *, calls: bool
) -> tuple[ProtocolRoutes, ...]:
    """Return the routes of each desk that has resources.

    Programs get refusals in the format of action calls.

    Parameters:
        calls: whether actions are callable over HTTP.
    """
    return tuple(
        ResourceHandlers(
            desk,
            get_page=pages.get_page_below if desk.name else pages.get_page,
            pages_at=list_media_types,
            calls=calls,
            render_error=partial(
                pages.render_error_or, partial(render_problem, below=desk.base_path)
            ),
            encode_call=partial(
                encode_called, site_url=desk.site.url, below=desk.base_path, goes_on=False
            ),
        ).protocol()
        for desk in desks
        if desk.resources.all_types
    )
