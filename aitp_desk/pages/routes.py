"""The addresses that people open: the home page, the content's pages, the desk's own files."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping
from urllib.parse import quote, unquote

from aitp_desk.announcing.accept import wants_manifest
from aitp_desk.config import Site
from aitp_desk.desk.desk import Desk
from aitp_desk.knowledge.languages import listed
from aitp_desk.model.errors import DeskError, RouteNotFound
from aitp_desk.pages.assets import ASSETS, ASSETS_PATH
from aitp_desk.pages.examples import example_questions, page_topics
from aitp_desk.pages.files import FileSender
from aitp_desk.pages.home import render_home
from aitp_desk.pages.render import neighbours_of, render_page
from aitp_desk.pages.wire import (
    Page,
    reply_asset,
    reply_error,
    reply_manifest,
    reply_page,
    tag_page,
    wants_html,
)
from aitp_desk.protocols.reply import Call, Door, Reply, Route

MAX_KEPT_BYTES = 16 * 1024 * 1024
"""Rendered pages are kept up to this size together."""

RenderError = Callable[[DeskError, Mapping[str, str]], Reply]


class Shelf:
    """Rendered pages by revision and path, the least used dropped first."""

    def __init__(self, max_bytes: int = MAX_KEPT_BYTES) -> None:
        self._max_bytes = max_bytes
        self._size = 0
        self._pages: OrderedDict[tuple[str, str], Page] = OrderedDict()

    async def page(self, revision: str, path: str, render: Callable[[], bytes]) -> Page:
        """The page, rendered where it is not kept, in a thread: a long one takes a second."""
        key = (revision, path)
        page = self._pages.get(key)
        if page is not None:
            self._pages.move_to_end(key)
            return page
        page = tag_page(await asyncio.to_thread(render))
        if key not in self._pages:
            self._pages[key] = page
            self._size += len(page.body)
        while self._size > self._max_bytes:
            _, dropped = self._pages.popitem(last=False)
            self._size -= len(dropped.body)
        return page


class PagesDoor:
    """The door of one desk.

    Parameters:
        site: whose pages these are.
        manifest: gives the AHP manifest, for agents that ask for it at the home page; the same
            object until it changes.
        render_json: refusals for callers that want no page.
    """

    def __init__(
        self, site: Site, *, manifest: Callable[[], bytes], render_json: RenderError
    ) -> None:
        self._site = site
        self._manifest = manifest
        self._tagged = tag_page(b"")
        self._render_json = render_json
        self._shelf = Shelf()
        self._files = FileSender()

    async def get_home(self, desk: Desk, call: Call) -> Reply:
        """``GET /``: the home page, or the manifest where the Accept header prefers it."""
        if wants_manifest(call.headers.get("Accept", "")):
            manifest = self._manifest()
            if manifest is not self._tagged.body:
                self._tagged = tag_page(manifest)
            return reply_manifest(self._tagged, call.headers)
        editions = desk.knowledge.editions

        def render() -> bytes:
            library = editions.library
            examples = example_questions(library.documents, library.passages)
            return render_home(self._site, listed(editions.documents), examples)

        return reply_page(await self._shelf.page(editions.revision, "", render), call.headers)

    async def get_asset(self, desk: Desk, call: Call) -> Reply:
        """``GET /assets/{name}``: a file of the desk's own; other names may be content."""
        asset = ASSETS.get(call.params["name"])
        return reply_asset(asset) if asset else await self.get_page(desk, call)

    async def get_page(self, desk: Desk, call: Call) -> Reply:
        """``GET /{path}``: a page of the content, or a file that a page declares.

        Raises:
            RouteNotFound: the content has no such page.
        """
        return await self._page(desk, call, asks=True)

    async def get_page_below(self, desk: Desk, call: Call) -> Reply:
        """``GET /{agent}/{path}``: a page of a further site agent.

        It has no box to ask: that asks the site's own agent, which does not know this page.

        Raises:
            RouteNotFound: the content has no such page.
        """
        return await self._page(desk, call, asks=False)

    async def _page(self, desk: Desk, call: Call, *, asks: bool) -> Reply:
        editions = desk.knowledge.editions
        path = _canonical(call.path)
        local = editions.files.get(f"/{path}")
        if local is not None:
            return await self._files.reply(local, call.method, call.headers)
        document = editions.document(path)
        if document is None:
            raise RouteNotFound(
                "There is no page at this address, and nothing else is served here."
            )

        def render() -> bytes:
            passages = editions.holding(document).passages
            topics = page_topics(document, passages) if asks else None
            neighbours = neighbours_of(self._site, editions.documents)
            return render_page(self._site, document, neighbours, topics)

        page = await self._shelf.page(editions.revision, document.path, render)
        return reply_page(page, call.headers)

    def render_error(self, error: DeskError, headers: Mapping[str, str]) -> Reply:
        """A refusal or a fault: a page for browsers, JSON for everybody else."""
        if wants_html(headers):
            return reply_error(error, self._site)
        return self._render_json(error, headers)

    def door(self) -> Door:
        """The door with its table of routes."""
        routes = (
            Route("GET", "/", self.get_home, counted="static"),
            Route("GET", ASSETS_PATH + "{name}", self.get_asset, counted="static"),
            Route("GET", "/{path:.*}", self.get_page, counted="static"),
        )
        return Door("pages", routes, owns=("/",), render_error=self.render_error)

    def door_below(self, name: str, desk: Desk) -> Door:
        """The door to the pages of a further site agent, which stand below its name."""
        routes = (
            Route("GET", f"/{name}", self.get_page_below, counted="static"),
            Route("GET", f"/{name}/{{path:.*}}", self.get_page_below, counted="static"),
        )
        return Door(f"pages of {name}", routes, (f"/{name}/",), self.render_error, desk)


def _canonical(path: str) -> str:
    """A requested path as documents are named: every part percent-encoded in one way."""
    return "/".join(quote(unquote(part), safe="") for part in path.strip("/").split("/"))
