"""Writes all pages of a site as one document, on request or ahead."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import AbstractAsyncContextManager
from functools import cache
from hashlib import sha256
from pathlib import Path

import msgspec
import structlog

from aitp_desk.agent.generative.passages import estimate_tokens
from aitp_desk.config import Site
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.jobs.background_task import keep_running
from aitp_desk.knowledge.editions import Editions
from aitp_desk.protocols.ahp.content import write_llms_full_head, write_llms_full_page
from aitp_desk.web.pages.full.cache import FILE, FullText, FullTextCache
from aitp_desk.web.pages.full.subprocess_render import RenderedPage, write_pages

LARGE_PASSAGES = 1000
"""Sites with this many passages get the document ahead of the first request."""
SETTLED_SECONDS = 5.0
"""How long after the start, or after a change of the content, that begins."""
_WRITERS = ("aitp-desk", "html-to-markdown")
"""The document depends on the versions of these packages."""

_log = structlog.get_logger(__name__)


class FullDocument:
    """The document of all pages.

    Parameters:
        data: the desk's data folder; None disables the copy on disk.
    """

    def __init__(self, site: Site, data: Path | None) -> None:
        self._site = site
        self._texts = FullTextCache(data / FILE if data is not None else None)

    async def text(self, editions: Editions) -> FullText:
        """Return the document, without pages from elsewhere, which are not the site's.

        Raises:
            Unavailable: it cannot be written now.
        """

        def write() -> Generator[RenderedPage]:
            own = (one.path for one in editions.documents if not one.is_elsewhere)
            whole = filter(None, map(editions.document, own))
            opening = write_llms_full_head(self._site)
            yield RenderedPage(opening, estimate_tokens(opening))
            for page in write_pages(self._site, whole, map_urls(editions)):
                yield RenderedPage(write_llms_full_page(page.text), page.tokens)

        made_from = msgspec.json.encode((editions.revision, self._site, _versions()))
        return await self._texts.get(sha256(made_from).hexdigest(), write)

    def write_ahead(self, desk: Desk) -> AbstractAsyncContextManager[None]:
        """Write a large site's document in the background, ahead of requests.

        Parameters:
            desk: of the site.
        """
        return keep_running(lambda: self._write_ahead(desk))

    async def _write_ahead(self, desk: Desk) -> None:
        while True:
            await asyncio.sleep(SETTLED_SECONDS)
            editions = desk.knowledge.editions
            if len(editions.library.passages) >= LARGE_PASSAGES:
                try:
                    await self.text(editions)
                except Exception as error:  # noqa: BLE001 -- a request for it reports the error
                    _log.warning("pages.not_written_ahead", reason=str(error))
            if desk.knowledge.editions is editions:
                await desk.knowledge.replaced()


@cache
def _versions() -> tuple[str, ...]:
    """Return the versions of the writers; they are looked up in files."""
    from importlib.metadata import version  # not needed at the start

    return tuple(map(version, _WRITERS))


def map_urls(editions: Editions) -> dict[str, str]:
    """Return the address of each document by its source."""
    return {document.source: document.url for document in editions.documents}
