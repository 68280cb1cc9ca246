"""Runs one round: requests every listed page, and stores the results."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from email.message import Message
from urllib.parse import urlsplit

import msgspec

from aitp_desk.config import Web
from aitp_desk.egress import Egress, EgressError, Fetched
from aitp_desk.knowledge.documents.base import Problem, SourceKind
from aitp_desk.knowledge.sources.charset import decode_text
from aitp_desk.knowledge.web.copies import PageCopies, PageCopy, RoundOutcome
from aitp_desk.knowledge.web.page_list import PageList
from aitp_desk.knowledge.web.robots import PageDisallowed, RobotsRules, RobotsUnavailable
from aitp_desk.knowledge.web.time_limit import MAX_SECONDS, can_be_read

_KINDS: dict[str, SourceKind] = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
    "text/plain": "text",
    "application/pdf": "pdf",
    "application/rss+xml": "feed",
    "application/atom+xml": "feed",
}


class ContentMissing(Exception):
    """The response has no readable content; the message says how to fix it."""


def read_answer(fetched: Fetched) -> tuple[SourceKind, bytes]:
    """Return a response's format by its media type, and its text as UTF-8; a PDF unchanged.

    Raises:
        ContentMissing: it is neither HTML nor Markdown nor text nor PDF.
    """
    declared = Message()
    said = fetched.headers.get("Content-Type", "")
    declared["Content-Type"] = said.encode("ascii", "replace").decode()  # Message takes no other
    media = declared.get_content_type() if declared["Content-Type"] else "none at all"
    try:
        charset = declared.get_content_charset() or ""
    except (TypeError, ValueError):
        charset = ""  # inconsistent parts of a parameter (RFC 2231, section 3)
    kind = _KINDS.get(media)
    if kind is None:
        raise ContentMissing(
            f"Its media type is {media[:80]}; pages are HTML, Markdown, text or PDF."
        )
    if kind == "pdf":
        return kind, fetched.body
    if kind == "text" and urlsplit(fetched.url).path.lower().endswith((".md", ".markdown")):
        kind = "markdown"
    return kind, decode_text(fetched.body, charset, is_html=kind in {"html", "feed"}).encode()


AT_ONCE = 8
"""The most concurrent requests, to all servers together."""
MAX_TOTAL_BYTES = 256 * 1024 * 1024
"""The most bytes of all pages together; further ones are left out."""
TRIED_AT_ONCE = 2
"""The most pages that are tested at once."""
_GONE = frozenset({404, 410})


class RoundCounts(msgspec.Struct, frozen=True):
    """The outcome of a round, in numbers of pages.

    Parameters:
        listed: requested pages.
        changed: new or changed pages.
        kept: pages with a copy now.
        problems: how many problems there are.
    """

    listed: int
    changed: int
    kept: int
    problems: int


async def run_round(settings: Web, egress: Egress, copies: PageCopies) -> RoundCounts:
    """Read all pages once, and keep the outcome.

    A page that has gone (404, 410), that ``robots.txt`` asks not to read or that is no content is
    dropped; the last copy of an unreachable page stays. Both are problems.
    """
    manners = RobotsRules(egress, settings.page_seconds)
    try:
        return await _Round(settings, egress, copies, manners).run()
    finally:
        await manners.close()


class _Round:
    """The state of one round."""

    def __init__(
        self, settings: Web, egress: Egress, copies: PageCopies, manners: RobotsRules
    ) -> None:
        self._settings = settings
        self._egress = egress
        self._copies = copies
        self._manners = manners
        self._known: dict[str, PageCopy] = {}
        self._found: dict[str, PageCopy] = {}
        self._problems: dict[str, Problem] = {}
        self._size = 0
        self._trials = asyncio.Semaphore(TRIED_AT_ONCE)

    async def run(self) -> RoundCounts:
        kept = await asyncio.to_thread(self._copies.read)
        self._known = {copy.url: copy for copy in kept.copies}
        listing = PageList(self._settings, self._egress, self._manners)
        await listing.fill()
        listing.add_known((url, copy.via) for url, copy in self._known.items())
        pages = listing.pages
        todo = iter(pages.items())
        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(self._work(todo))
        outcome = RoundOutcome(
            tuple(self._found[url] for url in pages if url in self._found),
            (*listing.problems, *(self._problems[url] for url in pages if url in self._problems)),
        )
        await asyncio.to_thread(self._copies.commit, outcome)
        changed = sum(
            self._known.get(url) is None or self._known[url].body != copy.body
            for url, copy in self._found.items()
        )
        return RoundCounts(len(pages), changed, len(self._found), len(outcome.problems))

    async def _work(self, todo: Iterator[tuple[str, str]]) -> None:
        for url, via in todo:
            known = self._known.get(url)
            if known is not None and await asyncio.to_thread(self._copies.body, known) is None:
                known = None
            try:
                found = await self._page(url, via, known)
            except (PageDisallowed, ContentMissing) as error:
                self._tell(url, f"{str(error).rstrip('.')}. It is left out.")
                continue
            except (EgressError, RobotsUnavailable) as error:
                self._tell(url, f"{str(error).rstrip('.')}. {_what_stays(known)}")
                found = known
            if found is None:
                continue
            if self._size + found.size > MAX_TOTAL_BYTES:
                self._tell(url, f"All pages together have more than {MAX_TOTAL_BYTES} bytes.")
                continue
            self._size += found.size
            self._found[url] = msgspec.structs.replace(found, via=via)

    async def _page(self, url: str, via: str, known: PageCopy | None) -> PageCopy | None:
        """Request one page.

        Returns:
            Its copy, new or old; None if it has gone.

        Raises:
            PageDisallowed, ContentMissing, EgressError, RobotsUnavailable: it cannot be read.
        """
        async with self._manners.turn(url):
            fetched = await self._egress.fetch(
                url,
                max_bytes=self._settings.max_bytes,
                seconds=self._settings.page_seconds,
                headers=_conditions(known),
                approve=self._manners.check_allowed,
            )
        if fetched.status in _GONE:
            self._tell(url, f"The page no longer exists (status {fetched.status}) and is left out.")
            return None
        if fetched.status == 304 and known is not None:
            return known
        if fetched.status != 200:
            self._tell(url, f"It responds with status {fetched.status}. {_what_stays(known)}")
            return known
        kind, body = await asyncio.to_thread(read_answer, fetched)
        copy = await asyncio.to_thread(self._keep, url, via, fetched, kind, body)
        if known is None or (known.kind, known.body) != (kind, copy.body):
            async with self._trials:
                if not await can_be_read(kind, body):
                    raise ContentMissing(
                        f"It takes more than {MAX_SECONDS:g} seconds or 1 GiB to read."
                    )
        return copy

    def _keep(
        self, url: str, via: str, fetched: Fetched, kind: SourceKind, body: bytes
    ) -> PageCopy:
        return PageCopy(
            url=url,
            via=via,
            address=fetched.url,
            kind=kind,
            body=self._copies.write_body(body),
            size=len(body),
            etag=_sendable(fetched.headers.get("ETag", "")),
            modified=_sendable(fetched.headers.get("Last-Modified", "")),
        )

    def _tell(self, url: str, message: str) -> None:
        self._problems[url] = Problem(url, message)


def _conditions(known: PageCopy | None) -> dict[str, str]:
    """Return conditional headers, so that a server need not resend (RFC 9110, section 13.1)."""
    headers = {"Accept": "text/html, text/markdown, text/plain;q=0.9, */*;q=0.1"}
    if known is not None and known.etag:
        headers["If-None-Match"] = known.etag
    if known is not None and known.modified:
        headers["If-Modified-Since"] = known.modified
    return headers


def _sendable(value: str) -> str:
    """Return a header's value if it can be sent back, or an empty one."""
    return value if value.isascii() and value.isprintable() and len(value) <= 1024 else ""


def _what_stays(known: PageCopy | None) -> str:
    return "Its last copy is used." if known else "There is no copy of it yet."
