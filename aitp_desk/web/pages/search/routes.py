"""The route of the search for pages and sections."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial

from aitp_desk.config import Site
from aitp_desk.desk.desk import Desk
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.search.headings import MAX_QUERY, HeadingEntry, HeadingIndex
from aitp_desk.model.errors import DeskError
from aitp_desk.protocols.base.accept import HTML_TYPE
from aitp_desk.protocols.base.protocol import (
    HTML,
    JSON,
    Call,
    Handler,
    ProtocolRoutes,
    Reply,
    Route,
    make_etag,
    matches_etag,
)
from aitp_desk.web.pages.blocks.brand import PLAIN, Brand
from aitp_desk.web.pages.csp import ON_PAGES
from aitp_desk.web.pages.search.wire import OBJECTS, encode_hits, render_results
from aitp_desk.web.pages.wire import wants_html

SEARCH_PATH = "/search"
MOST_TYPED = 8
"""How many results a list below the box has."""
MOST_ON_PAGE = 40
_MANY = 2000
"""A larger index is searched in a thread."""
RenderError = Callable[[DeskError, Mapping[str, str]], Reply]
_HEADERS = (("Cache-Control", "no-cache"), ("Vary", "Accept"), ("X-Robots-Tag", "noindex"))


class HeadingIndexes:
    """Holds the heading index of each language; it is made for the first search."""

    def __init__(self) -> None:
        self._indexes: dict[str, tuple[str, asyncio.Task[HeadingIndex]]] = {}

    async def find(self, library: Library, query: str, most: int) -> list[HeadingEntry]:
        """Search a library's titles and headings."""
        revision, build = self._indexes.get(library.language, ("", None))
        if build is None or revision != library.revision or _has_failed(build):
            build = asyncio.create_task(asyncio.to_thread(HeadingIndex, library))
            self._indexes[library.language] = (library.revision, build)
        index = await asyncio.shield(build)
        if len(index) > _MANY:
            return await asyncio.to_thread(index.find, query, most)
        return index.find(query, most)


def _has_failed(build: asyncio.Task[HeadingIndex]) -> bool:
    return build.done() and (build.cancelled() or build.exception() is not None)


class SearchHandlers:
    """Serves the search over titles and headings.

    Parameters:
        get_page: serves a page of the content that has the address of the search.
    """

    def __init__(self, site: Site, get_page: Handler, brand: Brand = PLAIN) -> None:
        self._site = site
        self._get_page = get_page
        self._brand = brand
        self._indexes = HeadingIndexes()

    async def get_results(self, desk: Desk, call: Call) -> Reply:
        """``GET /search?q=…``: pages and sections, as JSON or for browsers as a page.

        Without ``q`` it is the content's page of this address, if there is one.
        """
        query = call.query.get("q", "").strip()[:MAX_QUERY]
        editions = desk.knowledge.editions
        if "q" not in call.query and editions.document(SEARCH_PATH[1:]) is not None:
            return await self._get_page(desk, call)
        library = editions.find_library(call.query.get("lang", "")[:35])
        find = partial(self._indexes.find, library, query)
        if wants_html(call.headers):
            page = render_results(self._site, query, await find(MOST_ON_PAGE), self._brand)
            return _reply_tagged(call.headers, page, HTML, ON_PAGES)
        return _reply_tagged(call.headers, encode_hits(query, await find(MOST_TYPED)), JSON)

    def protocol(self, render_error: RenderError) -> ProtocolRoutes:
        """Return the route; it has a separate limit."""
        route = Route(
            "GET",
            SEARCH_PATH,
            self.get_results,
            "search",
            gives=(JSON, HTML_TYPE),
            is_open=True,
        )
        return ProtocolRoutes("search", (route,), (), render_error, objects=OBJECTS)


def _reply_tagged(
    headers: Mapping[str, str],
    body: bytes,
    content_type: str,
    extra: tuple[tuple[str, str], ...] = (),
) -> Reply:
    """Return the results, or 304 where the caller has them."""
    told = (("ETag", make_etag(body)), *_HEADERS, *extra)
    if matches_etag(headers, told[0][1]):
        return Reply(304, content_type=content_type, headers=told)
    return Reply(200, body, content_type, told)
