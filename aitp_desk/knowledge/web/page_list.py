"""Lists the pages to read: those of the settings, then those of the sitemaps."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from urllib.parse import urldefrag, urlsplit

from aitp_desk.config import Web
from aitp_desk.egress import AddressRefused, Egress, EgressError, Fetched
from aitp_desk.knowledge.documents.base import Problem
from aitp_desk.knowledge.web.robots import PageDisallowed, RobotsRules, RobotsUnavailable
from aitp_desk.knowledge.web.sitemap import (
    MAX_SITEMAP_BYTES,
    Sitemap,
    SitemapError,
    read_sitemap,
)

MAX_SITEMAPS = 50
"""The most sitemaps of a round, including those that other sitemaps list."""
MAX_DEPTH = 2
"""A sitemap may list sitemaps, and these may not."""


class PageList:
    """The pages of a round, collected by :meth:`fill`.

    Parameters:
        settings: the configured pages and sitemaps.
        egress: the client.
        manners: the rules of servers.

    Attributes:
        pages: each address with the setting that lists it, in order.
        problems: problems with the lists.
        incomplete: the sitemaps of the settings that could not be read completely: their
            earlier pages may still exist.
    """

    def __init__(self, settings: Web, egress: Egress, manners: RobotsRules) -> None:
        self._settings = settings
        self._egress = egress
        self._manners = manners
        self._read: set[str] = set()
        self._is_full = False
        self.pages: dict[str, str] = {}
        self.problems: list[Problem] = []
        self.incomplete: set[str] = set()

    async def fill(self) -> None:
        """Read the sitemaps, and list the pages."""
        for url in self._settings.urls:
            self._add(url, url)
        for url in self._settings.sitemaps:
            await self._follow(url, via=url, depth=1)

    def add_known(self, pages: Iterable[tuple[str, str]]) -> None:
        """Also list pages of an earlier round whose sitemap could not be read.

        Parameters:
            pages: each address with the setting that listed it.
        """
        for url, via in pages:
            if via in self.incomplete and not self._add(url, via):
                return

    def _add(self, url: str, via: str) -> bool:
        """List a page unless the limit is reached."""
        page = urldefrag(url).url
        if page in self.pages:
            return True
        if len(self.pages) >= self._settings.max_pages:
            self._is_full = True
            self._tell(
                via,
                f"There are more than {self._settings.max_pages} pages; the others are left out."
                " Raise content.web.max_pages to read them.",
            )
            return False
        self.pages[page] = via
        return True

    async def _follow(self, url: str, *, via: str, depth: int) -> None:
        """Read one sitemap, and those that it lists."""
        if url in self._read or self._is_full:
            return
        if len(self._read) >= MAX_SITEMAPS:
            self._tell(via, f"More than {MAX_SITEMAPS} sitemaps are listed; the others are left.")
            self.incomplete.add(via)
            return
        self._read.add(url)
        try:
            fetched = await self._fetch(url)
            sitemap = await asyncio.to_thread(read_sitemap, fetched.body)
        except (_Unread, SitemapError) as error:
            self._tell(url, f"The sitemap is not read. {error}")
            self.incomplete.add(via)
            return
        own = {_origin(url), _origin(fetched.url)}
        for page in await asyncio.to_thread(self._of_site, sitemap.pages, own, url):
            if not self._add(page, via):
                return
        await self._follow_all(sitemap, own, url, via, depth)

    async def _follow_all(
        self, sitemap: Sitemap, own: set[str], url: str, via: str, depth: int
    ) -> None:
        if sitemap.sitemaps and depth >= MAX_DEPTH:
            self._tell(url, "It is a list of sitemaps within another list, and is not read.")
            return
        for further in await asyncio.to_thread(self._of_site, sitemap.sitemaps, own, url):
            await self._follow(further, via=via, depth=depth + 1)

    async def _fetch(self, url: str) -> Fetched:
        try:
            async with self._manners.turn(url):
                fetched = await self._egress.fetch(
                    url,
                    max_bytes=MAX_SITEMAP_BYTES,
                    seconds=self._settings.page_seconds,
                    approve=self._manners.check_allowed,
                )
        except EgressError as error:
            raise _Unread(str(error)) from None
        except (PageDisallowed, RobotsUnavailable) as error:
            raise _Unread(f"{error}.") from None
        if fetched.status != 200:
            raise _Unread(f"It responds with status {fetched.status}.")
        return fetched

    def _of_site(self, addresses: tuple[str, ...], own: set[str], url: str) -> list[str]:
        """Return the addresses that a sitemap may list: those on the same server, in order."""
        found = [address for address in addresses if self._is_of_site(address, own)]
        if len(found) < len(addresses):
            self._tell(
                url,
                f"{len(addresses) - len(found)} of its {len(addresses)} addresses are not on its"
                " own server and left out; list such pages in content.web.urls.",
            )
        return found

    def _is_of_site(self, address: str, own: set[str]) -> bool:
        try:
            self._egress.check(address)
        except AddressRefused:
            return False
        return _origin(address) in own

    def _tell(self, source: str, message: str) -> None:
        problem = Problem(source, message)
        if problem not in self.problems:
            self.problems.append(problem)


class _Unread(Exception):
    """A sitemap could not be fetched; the message says why."""


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()
