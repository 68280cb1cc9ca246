"""Serves the documents about the whole site."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from aitp_desk.desk.desk import Desk
from aitp_desk.model.errors import DeskError, RouteNotFound
from aitp_desk.protocols.base.accept import HTML_TYPE, find_quality
from aitp_desk.protocols.base.protocol import (
    JSON,
    TEXT,
    Call,
    Handler,
    ProtocolRoutes,
    Reply,
    Route,
    make_etag,
    matches_etag,
)
from aitp_desk.web.discovery.catalog import (
    CATALOG_PATH,
    INDEX_PATH,
    LINKSET,
    LINKSET_TYPE,
    METADATA,
    RELATION,
    CatalogEntry,
    CatalogLink,
    write_linkset,
    write_list,
)
from aitp_desk.web.discovery.crawlers import (
    ROBOTS_PATH,
    SITEMAP_PATH,
    write_robots,
    write_sitemap,
)
from aitp_desk.web.discovery.security_txt import (
    POLICY_PAGES,
    SECURITY_PATH,
    read_own_file,
    write_security_txt,
)

KEPT_SECONDS = 300
"""How long clients may cache the documents."""
_TEXT_TYPE = TEXT.partition(";")[0]
_XML_TYPE = "application/xml"
_LINK = f'<{CATALOG_PATH}>; rel="{RELATION}"'


class DiscoveryHandlers:
    """Serves the documents of one site.

    Parameters:
        folder: of its content, which may have a ``security.txt`` of the owner's.
        entries: the catalog: the site's first, then one for each API.
        clock: Unix seconds.
        render_error: renders refusals.
    """

    def __init__(
        self,
        folder: Path,
        entries: Sequence[CatalogEntry],
        clock: Callable[[], float],
        render_error: Callable[[DeskError, Mapping[str, str]], Reply],
    ) -> None:
        self._folder = folder
        self._entries = tuple(entries)
        self._clock = clock
        self._render_error = render_error
        self._sitemap = ("", b"")

    async def get_robots(self, desk: Desk, call: Call) -> Reply:
        """``GET /robots.txt`` (RFC 9309)."""
        return _reply(call, write_robots(desk.site, desk.signals).encode(), TEXT)

    async def get_sitemap(self, desk: Desk, call: Call) -> Reply:
        """``GET /sitemap.xml``: the pages that ``/llms.txt`` lists as the site's own."""
        editions = desk.knowledge.editions
        if self._sitemap[0] != editions.revision:
            pages = [page for page in editions.documents if not page.is_elsewhere]
            text = await asyncio.to_thread(write_sitemap, desk.site, pages)
            self._sitemap = (editions.revision, text.encode())
        return _reply(call, self._sitemap[1], _XML_TYPE)

    async def get_security(self, desk: Desk, call: Call) -> Reply:
        """``GET /.well-known/security.txt`` (RFC 9116).

        Raises:
            RouteNotFound: the owner has neither a file nor a contact.
        """
        body = await self._security(desk)
        if not body:
            raise RouteNotFound("This site names no contact for security reports.")
        return _reply(call, body, TEXT)

    async def get_catalog(self, desk: Desk, call: Call) -> Reply:
        """``GET /.well-known/api-catalog`` and ``/.well-known/`` (RFC 9727)."""
        site, *apis = self._entries
        if await self._security(desk):
            link = CatalogLink(
                href=f"{desk.site.url}{SECURITY_PATH}",
                type=_TEXT_TYPE,
                title="How to report a vulnerability",
            )
            links = {**site.links, METADATA: (*site.links[METADATA], link)}
            site = replace(site, links=links)
        if _prefers_text(call.get_list_header("Accept")):
            reply = _reply(call, write_list((site, *apis)).encode(), TEXT)
        else:
            reply = _reply(call, write_linkset(desk.site.url, (site, *apis)), LINKSET)
        return replace(reply, headers=(*reply.headers, ("Vary", "Accept")), links=_LINK)

    async def _security(self, desk: Desk) -> bytes:
        """Return the owner's file, else the desk's own; empty without a contact."""
        own = await asyncio.to_thread(read_own_file, self._folder)
        if own:
            return own
        find = desk.knowledge.editions.document
        pages = (page for page in map(find, POLICY_PAGES) if page is not None)
        policy = next((page.url for page in pages), "")
        return write_security_txt(desk.site, policy, self._clock()).encode()

    def protocol(self) -> ProtocolRoutes:
        """Return the routes."""
        catalog = (LINKSET_TYPE, JSON, _TEXT_TYPE, HTML_TYPE)
        served: tuple[tuple[str, Handler, tuple[str, ...]], ...] = (
            (ROBOTS_PATH, self.get_robots, (_TEXT_TYPE,)),
            (SITEMAP_PATH, self.get_sitemap, (_XML_TYPE,)),
            (SECURITY_PATH, self.get_security, (_TEXT_TYPE,)),
            (CATALOG_PATH, self.get_catalog, catalog),
            (INDEX_PATH, self.get_catalog, catalog),
        )
        read = partial(Route, "GET", counted="static", is_open=True)
        return ProtocolRoutes(
            "discovery",
            tuple(read(path, handler, gives=gives) for path, handler, gives in served),
            owns=(),
            render_error=self._render_error,
        )


def _prefers_text(accept: str) -> bool:
    """Return whether a caller prefers a text or a page to JSON."""
    wanted = max(
        weight if named else 0.0
        for weight, named in (find_quality(accept, text) for text in (_TEXT_TYPE, HTML_TYPE))
    )
    return wanted > max(find_quality(accept, one)[0] for one in (LINKSET_TYPE, JSON))


def _reply(call: Call, body: bytes, content_type: str) -> Reply:
    """Return a document that clients may cache and revalidate."""
    tag = make_etag(body)
    headers = (("ETag", tag), ("Cache-Control", f"public, max-age={KEPT_SECONDS}"))
    if matches_etag(call.headers, tag):
        return Reply(304, headers=headers, content_type=content_type)
    return Reply(200, body, content_type, headers)
