"""The routes of the chat component: loader, files, settings, and the page for frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

from aitp_desk.config import Config
from aitp_desk.config.rules.widget import LOGO_TYPES
from aitp_desk.desk.desk import Desk
from aitp_desk.model.errors import DeskError, RouteNotFound
from aitp_desk.protocols.base.accept import choose_coding
from aitp_desk.protocols.base.protocol import (
    FOREVER,
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
from aitp_desk.web.pages.blocks.example_questions import list_example_questions
from aitp_desk.web.widget.assets import (
    COMPONENT,
    DECLARATION,
    TYPES,
    ComponentFile,
    read_component,
    read_logo,
    zip_file,
)
from aitp_desk.web.widget.wire import (
    LOGO_PATH,
    find_language,
    find_logo_origin,
    write_loader,
    write_page,
    write_settings,
    write_visitor,
)

WIDGET_PATH = "/widget"
LOADER_PATH = "/widget.js"
DECLARATION_PATH = "/widget.d.ts"
SETTINGS_PATH = "/widget/settings.json"
VISITOR_PATH = "/widget/visitor"
_JAVASCRIPT = TYPES[".js"]
_REVALIDATE = ("Cache-Control", "no-cache")
OPEN_CHAT = ("chat", "open")
"""The note of the chat's threads in their metadata, until the visitor begins another."""
_MEDIA_TYPES = tuple(kind.partition(";")[0] for kind in TYPES.values() if kind != HTML)
RenderError = Callable[[DeskError, Mapping[str, str]], Reply]


class WidgetHandlers:
    """Serves the chat component.

    Parameters:
        config: the site's, with its address, the settings of the chat, and limits of uploads.
    """

    def __init__(self, config: Config) -> None:
        self._site = config.site
        self._widget = config.widget
        self._config = config
        self._logo = read_logo(config.widget.logo, config.folder)
        self._settings: dict[str, bytes] = {}
        self._revision = ""

    @cached_property
    def _loader(self) -> ComponentFile:
        version, _ = read_component()
        return zip_file(write_loader(version, self._widget, self._site), _JAVASCRIPT)

    async def get_loader(self, _desk: Desk, call: Call) -> Reply:
        """``GET /widget.js``: defines the element ``<aitp-chat>``."""
        body, coding = choose_coding(self._loader.body, self._loader.zipped, call.headers)
        return _reply_tagged(body, _JAVASCRIPT, call, *coding)

    async def get_declaration(self, _desk: Desk, call: Call) -> Reply:
        """``GET /widget.d.ts``: the element for TypeScript."""
        return _reply_tagged((COMPONENT / DECLARATION).read_bytes(), TYPES[".ts"], call)

    async def get_settings(self, desk: Desk, call: Call) -> Reply:
        """``GET /widget/settings.json``: title, greeting, suggestions and notices.

        ``lang`` is the visitor's language, by default the site's.
        """
        language = find_language(call.query.get("lang", ""), self._widget, self._site)
        return _reply_tagged(self._write_settings(desk, language), JSON, call)

    async def get_visitor(self, desk: Desk, call: Call) -> Reply:
        """``GET /widget/visitor``: the caller's id, and its open chat of another device.

        Raises:
            ScopeMissing: the caller's credential does not open threads.
        """
        found = await desk.reader.find_last_used(call.principal, OPEN_CHAT)
        return Reply(200, write_visitor(call.principal.owner, found))

    async def get_file(self, _desk: Desk, call: Call) -> Reply:
        """``GET /widget/{version}/{name}``: a module, style sheet or catalogue.

        Raises:
            RouteNotFound: no file has this name, or the version is outdated.
        """
        version, files = read_component()
        file = files.get(call.params["name"])
        if file is None or call.params["version"] != version:
            raise RouteNotFound("The chat has no file of this name and version.")
        body, coding = choose_coding(file.body, file.zipped, call.headers)
        return Reply(200, body, file.content_type, (FOREVER, *coding))

    async def get_logo(self, _desk: Desk, call: Call) -> Reply:
        """``GET /widget/logo``: the picture in the heading of the chat.

        Raises:
            RouteNotFound: the owner has set no file.
        """
        if self._logo is None:
            raise RouteNotFound("The chat has no logo.")
        return _reply_tagged(self._logo.body, self._logo.content_type, call)

    async def get_page(self, _desk: Desk, call: Call) -> Reply:
        """``GET /widget``: a page with nothing but the chat, for frames."""
        version, _ = read_component()
        page = write_page(version, self._widget, self._site, call.query.get("lang", ""))
        return _reply_tagged(page, HTML, call, *self._on_page())

    def _on_page(self) -> tuple[tuple[str, str], ...]:
        """Return the security headers of the page: only the owner's sites may frame it."""
        ancestors = " ".join(("'self'", *self._widget.origins))
        pictures = " ".join(("'self'", *find_logo_origin(self._widget.logo)))
        policy = (
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
            f" img-src {pictures}; base-uri 'none'; form-action 'none';"
            f" frame-ancestors {ancestors}; require-trusted-types-for 'script';"
            " trusted-types 'none'"
        )
        return ("Content-Security-Policy", policy), ("X-Robots-Tag", "noindex")

    def _write_settings(self, desk: Desk, language: str) -> bytes:
        editions = desk.knowledge.editions
        if self._revision != editions.revision:
            self._revision = editions.revision
            self._settings = {}
        if language not in self._settings:
            library = editions.find_library(language)
            examples = list_example_questions(library.documents, library.passages, desk.site.name)
            self._settings[language] = write_settings(
                self._widget.in_language(language),
                self._site,
                examples,
                self._config.files,
                retention_days=self._config.retention.threads_days,
                answer_minutes=self._config.tickets.answer_minutes,
                has_people=self._config.tickets.people != "off",
            )
        return self._settings[language]

    def protocol(self, render_error: RenderError) -> ProtocolRoutes:
        """Return the routes; every page of the component's sites may read them."""
        routes = (
            _read(LOADER_PATH, self.get_loader, (_JAVASCRIPT.partition(";")[0],)),
            _read(DECLARATION_PATH, self.get_declaration, ("text/plain",)),
            _read(SETTINGS_PATH, self.get_settings, (JSON,)),
            Route("GET", VISITOR_PATH, self.get_visitor, "static", is_for_widget=True),
            _read(LOGO_PATH, self.get_logo, tuple(dict.fromkeys(LOGO_TYPES.values()))),
            _read(WIDGET_PATH, self.get_page, ("text/html",)),
            _read(f"{WIDGET_PATH}/{{version}}/{{name:.*}}", self.get_file, _MEDIA_TYPES),
        )
        return ProtocolRoutes("widget", routes, (f"{WIDGET_PATH}/",), render_error)


def _read(path: str, handler: Handler, gives: tuple[str, ...]) -> Route:
    """Return a public route that counts against no limit: a first opening reads many files."""
    return Route("GET", path, handler, None, gives=gives, is_open=True, is_for_widget=True)


def _reply_tagged(body: bytes, content_type: str, call: Call, *headers: tuple[str, str]) -> Reply:
    """Return a body that browsers revalidate, or 304."""
    tag = make_etag(body)
    told = (("ETag", tag), _REVALIDATE, *headers)
    if matches_etag(call.headers, tag):
        return Reply(304, content_type=content_type, headers=told)
    return Reply(200, body, content_type, told)
