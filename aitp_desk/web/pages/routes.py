"""The routes of the home page, content pages, and all content as one document."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

from aitp_desk.config import Site, Widget
from aitp_desk.desk.desk import Desk
from aitp_desk.knowledge.documents.base import Document, Passage
from aitp_desk.knowledge.documents.languages import drop_duplicates_by_language
from aitp_desk.knowledge.editions import Editions
from aitp_desk.model.errors import DeskError, RouteNotFound
from aitp_desk.model.web_address import canonical_path
from aitp_desk.protocols.ahp.content import (
    FULL_CONTENT_PATH,
    write_llms_txt,
)
from aitp_desk.protocols.ahp.manifest import CONTENT_PATH
from aitp_desk.protocols.base.accept import HTML_TYPE, MARKDOWN_TYPE
from aitp_desk.protocols.base.discovery_links import MANIFEST_PATH
from aitp_desk.protocols.base.protocol import (
    Call,
    Counted,
    Handler,
    ProtocolRoutes,
    Reply,
    Route,
    make_etag,
)
from aitp_desk.protocols.openapi.routes import DOCUMENT_PATH
from aitp_desk.web.pages.assets import ASSETS, ASSETS_PATH
from aitp_desk.web.pages.blocks.action_forms import list_offered_actions
from aitp_desk.web.pages.blocks.brand import PLAIN, Brand
from aitp_desk.web.pages.blocks.example_questions import (
    fits_path,
    list_example_questions,
    list_page_topics,
)
from aitp_desk.web.pages.blocks.template import Markup
from aitp_desk.web.pages.files import FileSender
from aitp_desk.web.pages.full.document import FullDocument, map_urls
from aitp_desk.web.pages.full.subprocess_render import write_pages
from aitp_desk.web.pages.home import render_home
from aitp_desk.web.pages.reference.page import render_api
from aitp_desk.web.pages.renderer import NOTHING, make_page_index, render_page
from aitp_desk.web.pages.wire import (
    Page,
    render_refusal,
    reply_api,
    reply_asset,
    reply_content,
    reply_full_content,
    reply_markdown,
    reply_page,
    tag_markdown,
    tag_page,
    wants_markdown_page,
    zip_page,
)

MAX_KEPT_BYTES = 16 * 1024 * 1024
"""Upper bound of all cached pages together."""


class PageCache:
    """Holds rendered pages by revision, path and form; evicts the least recently used."""

    def __init__(self, max_bytes: int = MAX_KEPT_BYTES) -> None:
        self._max_bytes = max_bytes
        self._size = 0
        self._pages: OrderedDict[tuple[str, str, str], Page] = OrderedDict()

    async def get_or_render(
        self, revision: str, path: str, form: str, render: Callable[[], Page]
    ) -> Page:
        """Return the page; render it in a thread if it is not cached.

        A thread, because a long page takes a second.

        Parameters:
            form: its media type.
        """
        key = (revision, path, form)
        page = self._pages.get(key)
        if page is not None:
            self._pages.move_to_end(key)
            return page
        page = await asyncio.to_thread(render)
        if key not in self._pages:
            self._pages[key] = page
            self._size += page.size
        while self._size > self._max_bytes:
            _, dropped = self._pages.popitem(last=False)
            self._size -= dropped.size
        return page


RenderError = Callable[[DeskError, Mapping[str, str]], Reply]
Describe = Callable[[], bytes]

_FORMS = (HTML_TYPE, MARKDOWN_TYPE)
_HOME_AS_MARKDOWN = "index.md"
_INDEX = ("/index", "/index.html")
"""Names of a folder's own page before ``.md``, by the llms.txt convention."""
API_PATH = "/docs"
"""The page about the API, for people."""


class PagesHandlers:
    """Serves the pages of a site.

    Parameters:
        render_json: renders refusals for programs.
        data: the desk's data folder; None disables the cache on disk.
        described: returns the OpenAPI document; None where there is none.
        rows: method, path and text key of endpoints that the home page lists as well.
        widget: the owner's questions: of the home page, and of some pages by their paths.
    """

    def __init__(
        self,
        site: Site,
        *,
        render_json: RenderError,
        data: Path | None = None,
        described: Describe | None = None,
        rows: Sequence[tuple[str, str, str]] = (),
        overview: Handler | None = None,
        brand: Brand = PLAIN,
        widget: Widget | None = None,
    ) -> None:
        self._site = site
        self._render_json = render_json
        self._described = described
        self._rows = rows
        self._overview = overview
        self._brand = brand
        self._widget = widget or Widget()
        self._shelf = PageCache()
        self._files = FileSender()
        self._all_pages = FullDocument(site, data)

    async def get_home(self, desk: Desk, call: Call, inspector: Markup = NOTHING) -> Reply:
        """``GET /``: the home page, or ``/llms.txt`` where Markdown is preferred.

        Parameters:
            inspector: the panel that shows how answers were found.
        """
        editions = desk.knowledge.editions
        if wants_markdown_page(call):
            return await self._home_as_markdown(desk, call)

        def render() -> Page:
            has_api = self._described is not None and editions.document(API_PATH[1:]) is None
            api = API_PATH if has_api else ""
            pages = drop_duplicates_by_language(editions.documents)
            examples = self._list_examples(editions)
            return tag_page(
                render_home(
                    self._site,
                    pages,
                    examples,
                    self._rows,
                    api,
                    acts,
                    self._brand,
                    inspector,
                    self._widget.sign_in_url,
                )
            )

        acts = list_offered_actions(desk.registry.actions)
        revision = " ".join([editions.revision, *(act.name for act in acts)])
        page = await self._shelf.get_or_render(revision, "", HTML_TYPE, render)
        return reply_page(page, call.headers, desk.signals, CONTENT_PATH, self._brand)

    def _list_examples(self, editions: Editions, below: str = "") -> tuple[str, ...]:
        """Return the questions to suggest: the owner's, else some that the content answers.

        Parameters:
            below: the base path of a further agent, to which the owner's do not belong.
        """
        library = editions.library
        own = self._site.language.partition("-")[0].lower()
        asked = () if below else tuple(self._widget.in_language(own).suggestions)
        return asked or list_example_questions(library.documents, library.passages, self._site.name)

    def _list_topics(self, document: Document, outline: Iterable[Passage]) -> tuple[str, ...]:
        """Return what the chat of a page suggests; none where the owner's tables have its path."""
        if any(fits_path(table.path, document.url) for table in self._widget.paths):
            return ()
        return list_page_topics(outline)

    async def get_content(self, desk: Desk, call: Call) -> Reply:
        """``GET /llms.txt``: a line on each page (AHP 0.1, section 5.1)."""
        return reply_content(await self._content(desk.knowledge.editions), call, desk.signals)

    async def get_full_content(self, desk: Desk, call: Call) -> Reply:
        """``GET /llms-full.txt``: all pages in full, without pages from elsewhere."""
        text = await self._all_pages.text(desk.knowledge.editions)
        return reply_full_content(text, call, desk.signals)

    async def get_api(self, desk: Desk, call: Call) -> Reply:
        """``GET /docs``: what programs can call, unless the content has a page there."""
        return await self._api(desk, call, self._described, asks=True)

    async def _api(
        self, desk: Desk, call: Call, described: Describe | None, *, asks: bool
    ) -> Reply:
        editions = desk.knowledge.editions
        if described is None or editions.document(canonical_path(call.path)) is not None:
            return await self._page(desk, call, asks=asks)
        document = described()
        below = desk.base_path

        def render() -> Page:
            html = render_api(
                desk.site,
                document,
                below + DOCUMENT_PATH,
                self._list_examples(editions, below),
                self._brand,
                has_samples=not below,
            )
            return zip_page(html)

        revision = f"{make_etag(document)} {editions.revision}"
        page = await self._shelf.get_or_render(revision, below + API_PATH, HTML_TYPE, render)
        return reply_api(page, call.headers, desk.signals, below + DOCUMENT_PATH)

    async def get_asset(self, _desk: Desk, call: Call) -> Reply:
        """``GET /assets/desk/{name}``: a file that the desk's own pages load.

        Raises:
            RouteNotFound: none has this name.
        """
        asset = ASSETS.get(call.params["name"])
        own = self._brand.style
        if asset is None and own is not None and own.name == call.params["name"]:
            asset = own
        if asset is None:
            raise RouteNotFound(
                "The desk has no file with this name. Its pages link to the current files."
            )
        return reply_asset(asset, call.headers)

    async def get_page(self, desk: Desk, call: Call) -> Reply:
        """``GET /{path}``: a page of the content, or a file that a page declares.

        Raises:
            RouteNotFound: the content has no such page.
        """
        return await self._page(desk, call, asks=True)

    async def get_page_below(self, desk: Desk, call: Call) -> Reply:
        """``GET /{agent}/{path}``: a page of a further site agent.

        It has no chat: that asks the site's main agent, which does not know this page.

        Raises:
            RouteNotFound: the content has no such page.
        """
        return await self._page(desk, call, asks=False)

    async def _page(self, desk: Desk, call: Call, *, asks: bool) -> Reply:
        editions = desk.knowledge.editions
        path = canonical_path(call.path)
        local = editions.files.get(f"/{path}")
        if local is not None:
            return await self._files.reply(local, call)
        document = editions.document(path)
        as_markdown = wants_markdown_page(call)
        if document is None and path.endswith(".md"):
            if path == _HOME_AS_MARKDOWN and editions.document("index") is None:
                return await self._home_as_markdown(desk, call)
            document, as_markdown = _named(editions, path.removesuffix(".md")), True
        if document is None:
            raise RouteNotFound(
                f"There is no page at this address. {CONTENT_PATH} lists all pages; the manifest"
                f" at {MANIFEST_PATH} lists what else is served."
            )
        if as_markdown:
            return await self._page_as_markdown(desk, call, editions, document)
        found = document

        def render() -> Page:
            library = editions.find_library_of(found)
            topics = self._list_topics(found, library.outline(found.path)) if asks else None
            neighbours = make_page_index(self._site, editions.documents)
            offers = library.shelf.list_by_page(found.path)
            html = render_page(
                self._site,
                found,
                neighbours,
                topics,
                offers=offers,
                pictures=editions.files,
                brand=self._brand,
            )
            return tag_page(html)

        page = await self._shelf.get_or_render(editions.revision, document.path, HTML_TYPE, render)
        return reply_page(page, call.headers, desk.signals, document.markdown_url, self._brand)

    async def _page_as_markdown(
        self, desk: Desk, call: Call, editions: Editions, document: Document
    ) -> Reply:
        def render() -> Page:
            (page,) = write_pages(self._site, (document,), map_urls(editions))
            return tag_markdown(page.text, page.tokens)

        page = await self._shelf.get_or_render(
            editions.revision, document.path, MARKDOWN_TYPE, render
        )
        return reply_markdown(page, call.headers, desk.signals, self._site.url + document.url)

    async def _home_as_markdown(self, desk: Desk, call: Call) -> Reply:
        page = await self._content(desk.knowledge.editions)
        return reply_markdown(page, call.headers, desk.signals, f"{self._site.url}/")

    async def _content(self, editions: Editions) -> Page:
        def render() -> Page:
            text = write_llms_txt(self._site, editions.documents, editions.described)
            return tag_markdown(text)

        return await self._shelf.get_or_render(editions.revision, "", MARKDOWN_TYPE, render)

    def render_error(self, error: DeskError, headers: Mapping[str, str]) -> Reply:
        """Render a refusal or fault as a page or Markdown if accepted, else JSON."""
        return self.render_error_or(self._render_json, error, headers)

    def render_error_or(
        self, render_json: RenderError, error: DeskError, headers: Mapping[str, str]
    ) -> Reply:
        """Render the same, with JSON in another protocol's format."""
        return render_refusal(self._site, render_json, error, headers, self._brand)

    def protocol(self, inspector: Markup = NOTHING) -> ProtocolRoutes:
        """Return the routes of the pages.

        Parameters:
            inspector: the panel of the home page that shows how answers were found.
        """
        get_home = partial(self.get_home, inspector=inspector)
        routes = (
            _read("/", get_home, second=self._overview),
            # a page loads several: counted, they would leave an office's later visitors unstyled
            _read(ASSETS_PATH + "{name}", self.get_asset, gives_at=list_media_types, counted=None),
            *(() if self._described is None else (_read(API_PATH, self.get_api),)),
            _read("/{path:.*}", self.get_page, gives_at=list_media_types),
        )
        return ProtocolRoutes("pages", routes, owns=("/",), render_error=self.render_error)

    def protocol_below(
        self, name: str, desk: Desk, described: Describe | None = None
    ) -> ProtocolRoutes:
        """Return the routes of the pages of a further site agent, below its name.

        Parameters:
            described: returns its OpenAPI document; None where there is none.
        """

        async def get_api(desk: Desk, call: Call) -> Reply:
            """``GET /{agent}/docs``."""
            return await self._api(desk, call, described, asks=False)

        paths = (f"/{name}.md", f"/{name}/{{path:.*}}")
        homes = (f"/{name}", f"/{name}/")
        routes = (
            *(_read(home, self.get_page_below, second=self._overview) for home in homes),
            *(() if described is None else (_read(f"/{name}{API_PATH}", get_api),)),
            *(_read(path, self.get_page_below, gives_at=list_media_types) for path in paths),
        )
        return ProtocolRoutes(f"pages of {name}", routes, (f"/{name}/",), self.render_error, desk)

    def content_routes(self, render_error: RenderError, desk: Desk) -> ProtocolRoutes:
        """Return the routes of the content documents of AHP's MODE1.

        Parameters:
            render_error: renders refusals in AHP's format.
            desk: the site's main one.
        """
        served = ((CONTENT_PATH, self.get_content), (FULL_CONTENT_PATH, self.get_full_content))
        routes = tuple(
            msgspec.structs.replace(_read(path, handler, (MARKDOWN_TYPE,)), is_page=False)
            for path, handler in served
        )
        owns = (CONTENT_PATH, FULL_CONTENT_PATH)
        ahead = partial(self._all_pages.write_ahead, desk)
        return ProtocolRoutes("content", routes, owns, render_error, background=ahead)


def _read(
    path: str,
    handler: Handler,
    gives: tuple[str, ...] = _FORMS,
    gives_at: Callable[[Desk, str], tuple[str, ...]] | None = None,
    second: Handler | None = None,
    counted: Counted | None = "static",
) -> Route:
    """Return a public route for reading."""
    return Route(
        "GET",
        path,
        handler,
        counted=counted,
        is_page=True,
        gives=gives,
        gives_at=gives_at,
        is_open=True,
        second=second,
    )


def list_media_types(desk: Desk, path: str) -> tuple[str, ...]:
    """Return the media types of a page or file; empty where neither exists."""
    asset = ASSETS.get(path.removeprefix(ASSETS_PATH))
    if asset is not None:
        return (asset.content_type.partition(";")[0],)
    editions, path = desk.knowledge.editions, canonical_path(path)
    local = editions.files.get(f"/{path}")
    if local is not None:
        return (local.media_type,)
    is_page = (
        path == _HOME_AS_MARKDOWN
        or editions.document(path) is not None
        or (path.endswith(".md") and _named(editions, path.removesuffix(".md")) is not None)
    )
    return _FORMS if is_page else ()


def _named(editions: Editions, path: str) -> Document | None:
    """Return the document that a path names before ``.md``, also as a folder's index."""
    for ending in ("", *_INDEX):
        if path.endswith(ending) and (document := editions.document(path.removesuffix(ending))):
            return document
    return None
