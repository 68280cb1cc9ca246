"""Page responses: negotiation, headers, revalidation, errors as text.

Pure: headers and values in, a Reply out.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from typing import assert_never

import msgspec

from aitp_desk.agent.generative.passages import estimate_tokens
from aitp_desk.config import Signals, Site
from aitp_desk.model.error_kind import ErrorKind
from aitp_desk.model.errors import DeskError
from aitp_desk.protocols.ahp.content import write_content_signal
from aitp_desk.protocols.ahp.manifest import CONTENT_PATH
from aitp_desk.protocols.base.accept import (
    HTML_TYPE,
    MARKDOWN_TYPE,
    choose_coding,
    find_quality,
    wants_markdown,
)
from aitp_desk.protocols.base.discovery_links import MANIFEST_PATH
from aitp_desk.protocols.base.errors import find_status, make_refusal_headers
from aitp_desk.protocols.base.protocol import (
    FOREVER,
    HTML,
    JSON,
    MARKDOWN,
    Call,
    Reply,
    make_etag,
    matches_etag,
)
from aitp_desk.web.pages.assets import Asset, zip_asset
from aitp_desk.web.pages.blocks.brand import PLAIN, Brand
from aitp_desk.web.pages.blocks.texts import ENGLISH, find_texts
from aitp_desk.web.pages.csp import ON_PAGES, make_page_headers
from aitp_desk.web.pages.full.cache import FullText
from aitp_desk.web.pages.renderer import render_error_page

TOKENS = "X-Markdown-Tokens"
"""The approximate number of tokens of a body, as in Cloudflare's Markdown for Agents."""

_REVALIDATE = ("Cache-Control", "no-cache")
_FOR_A_MINUTE = ("Cache-Control", "public, max-age=60")
_BY_ACCEPT = ("Vary", "Accept")
_SAID_BY_MESSAGE = frozenset({ErrorKind.WRONG_HOST, ErrorKind.INTERNAL})
"""Their messages contain an address, or the id of a fault."""


class Page(msgspec.Struct, frozen=True):
    """A rendered page.

    Parameters:
        tag: its ETag.
        tokens: the approximate number of tokens; None for HTML.
        zipped: the same as gzip, with its own ETag; None for a page that is sent plain.
    """

    body: bytes
    tag: str
    tokens: int | None = None
    zipped: Page | None = None

    @property
    def size(self) -> int:
        """What it takes in memory, in bytes."""
        return len(self.body) + (0 if self.zipped is None else self.zipped.size)


def tag_page(body: bytes) -> Page:
    """Make a page with its ETag, a hash of its bytes."""
    return Page(body, make_etag(body))


def zip_page(body: bytes) -> Page:
    """Make a page that is also sent as gzip."""
    zipped = tag_page(gzip.compress(body, mtime=0))
    return msgspec.structs.replace(tag_page(body), zipped=zipped)


def tag_markdown(text: str, tokens: int | None = None) -> Page:
    """Make a Markdown page with its ETag and number of tokens.

    Parameters:
        tokens: if they are counted already.
    """
    tokens = estimate_tokens(text) if tokens is None else tokens
    return msgspec.structs.replace(tag_page(text.encode()), tokens=tokens)


def reply_page(
    page: Page, headers: Mapping[str, str], signals: Signals, markdown: str, brand: Brand
) -> Reply:
    """Return a page with the chat, or 304 (RFC 9110, section 13.1.2).

    Parameters:
        markdown: the address of the page as Markdown.
        brand: whose logo the chat loads.
    """
    link = f'<{markdown}>; rel="alternate"; type="{MARKDOWN_TYPE}"'
    own = make_page_headers(brand.logo_origin)
    return _reply_tagged(page, headers, HTML, *own, _signal(signals), links=link)


def reply_api(page: Page, headers: Mapping[str, str], signals: Signals, document: str) -> Reply:
    """Return an OpenAPI document's page, or 304; it links to it (RFC 8631).

    Parameters:
        document: the address of the document.
    """
    link = f'<{document}>; rel="service-desc"; type="{JSON}"'
    return _reply_tagged(page, headers, HTML, *ON_PAGES, _signal(signals), links=link)


def reply_markdown(page: Page, headers: Mapping[str, str], signals: Signals, url: str) -> Reply:
    """Return a page as Markdown, or 304; ``X-Markdown-Tokens`` has its tokens.

    Parameters:
        url: the address of the page itself.
    """
    link = f'<{url}>; rel="canonical"'
    tokens = (TOKENS, str(page.tokens))
    return _reply_tagged(page, headers, MARKDOWN, tokens, _signal(signals), links=link)


def reply_content(page: Page, call: Call, signals: Signals) -> Reply:
    """Return ``/llms.txt``, or 304; shared caches may keep it for a minute."""
    tokens = (TOKENS, str(page.tokens))
    extra = (_FOR_A_MINUTE, tokens, _signal(signals))
    return _reply_tagged(page, call.headers, MARKDOWN, *extra)


def reply_full_content(text: FullText, call: Call, signals: Signals) -> Reply:
    """Return ``/llms-full.txt``, or 304; it is sent in pieces."""
    headers = (
        ("ETag", text.tag),
        _REVALIDATE,
        _BY_ACCEPT,
        (TOKENS, str(text.tokens)),
        _signal(signals),
    )
    if matches_etag(call.headers, text.tag):
        return Reply(304, content_type=MARKDOWN, headers=headers)
    length = ("Content-Length", str(text.size))
    return Reply(200, b"", MARKDOWN, (*headers, length), pieces=text.pieces())


def reply_asset(asset: Asset, headers: Mapping[str, str]) -> Reply:
    """Return a file of the desk's own, cacheable for ever."""
    body, coding = choose_coding(asset.body, zip_asset(asset), headers)
    return Reply(200, body, asset.content_type, (FOREVER, _BY_ACCEPT, *coding))


def reply_error(error: DeskError, site: Site, brand: Brand = PLAIN) -> Reply:
    """Render a refusal or a fault as a page."""
    status = find_status(error.kind)
    body = render_error_page(
        site,
        status=status,
        words=get_text_key(error.kind),
        message=error.message,
        is_needed=error.kind in _SAID_BY_MESSAGE,
        home=f"{site.url}/" if error.kind is ErrorKind.WRONG_HOST else "/",
        brand=brand,
    )
    return Reply(status, body, HTML, (*make_refusal_headers(error), *ON_PAGES, _BY_ACCEPT))


def reply_markdown_error(error: DeskError) -> Reply:
    """Render a refusal or a fault as Markdown, with links to continue."""
    heading = find_texts(ENGLISH).say(get_text_key(error.kind))
    text = (
        f"# {heading}\n\n{error.message}\n\n"
        f"- [All pages]({CONTENT_PATH})\n- [Capabilities]({MANIFEST_PATH})\n"
    )
    headers = (*make_refusal_headers(error), _BY_ACCEPT)
    return Reply(find_status(error.kind), text.encode(), MARKDOWN, headers)


def render_refusal(
    site: Site,
    render_json: Callable[[DeskError, Mapping[str, str]], Reply],
    error: DeskError,
    headers: Mapping[str, str],
    brand: Brand = PLAIN,
) -> Reply:
    """Render a refusal or a fault: as a page or Markdown if accepted.

    Parameters:
        render_json: renders it for all other callers.
    """
    if wants_markdown(headers.get("Accept", "")):
        return reply_markdown_error(error)
    if wants_html(headers):
        return reply_error(error, site, brand)
    return is_chosen_by_accept(render_json(error, headers))


def is_chosen_by_accept(refusal: Reply) -> Reply:
    """Mark a refusal that is no page as chosen by the Accept header."""
    return msgspec.structs.replace(refusal, headers=(*refusal.headers, _BY_ACCEPT))


def wants_markdown_page(call: Call) -> bool:
    """Return whether a page is requested as Markdown: by ``?markdown=true`` or Accept."""
    return call.query.get("markdown") == "true" or wants_markdown(call.headers.get("Accept", ""))


def wants_html(headers: Mapping[str, str]) -> bool:
    """Return whether the caller prefers a page to JSON; without a preference, not."""
    accept = headers.get("Accept", "")
    return find_quality(accept, HTML_TYPE)[0] > find_quality(accept, JSON)[0]


def get_text_key(kind: ErrorKind) -> str:
    """Return the text key of an error; with ``.advice``, of what to do now."""
    match kind:
        case (
            ErrorKind.ROUTE_NOT_FOUND
            | ErrorKind.RESOURCE_NOT_FOUND
            | ErrorKind.THREAD_NOT_FOUND
            | ErrorKind.MESSAGE_NOT_FOUND
            | ErrorKind.RUN_NOT_FOUND
            | ErrorKind.ACTOR_NOT_FOUND
            | ErrorKind.GRANT_NOT_FOUND
            | ErrorKind.CALL_NOT_FOUND
            | ErrorKind.TICKET_NOT_FOUND
            | ErrorKind.AGENT_NOT_FOUND
            | ErrorKind.FILE_NOT_FOUND
            | ErrorKind.EVENTS_GONE
        ):
            return "error.missing"
        case ErrorKind.METHOD_NOT_ALLOWED | ErrorKind.NOT_ACCEPTABLE | ErrorKind.UNSUPPORTED_MEDIA:
            return "error.unserved"
        case (
            ErrorKind.INVALID_REQUEST
            | ErrorKind.MISSING_FIELD
            | ErrorKind.UNKNOWN_VERSION
            | ErrorKind.PRECONDITION_FAILED
            | ErrorKind.UNKNOWN_ACTION
            | ErrorKind.UNSUPPORTED_TYPE
            | ErrorKind.UNKNOWN_SESSION
            | ErrorKind.SESSION_LIMIT
            | ErrorKind.IDEMPOTENCY_CONFLICT
            | ErrorKind.IDEMPOTENCY_IN_FLIGHT
        ):
            return "error.unread"
        case ErrorKind.REQUEST_TOO_LARGE:
            return "error.large"
        case ErrorKind.PAYMENT_REQUIRED:
            return "error.payment"
        case ErrorKind.NOT_AUTHENTICATED | ErrorKind.FORBIDDEN:
            return "error.closed"
        case ErrorKind.WRONG_HOST:
            return "error.elsewhere"
        case ErrorKind.RATE_LIMITED:
            return "error.often"
        case ErrorKind.UNAVAILABLE | ErrorKind.REQUEST_TIMEOUT:
            return "error.busy"
        case ErrorKind.INTERNAL:
            return "error.fault"
        case _:
            assert_never(kind)


def _signal(signals: Signals) -> tuple[str, str]:
    return "Content-Signal", write_content_signal(signals)


def _reply_tagged(
    page: Page,
    headers: Mapping[str, str],
    content_type: str,
    *extra: tuple[str, str],
    links: str = "",
) -> Reply:
    coding: tuple[tuple[str, str], ...] = ()
    if page.zipped is not None:
        page, coding = choose_coding(page, page.zipped, headers)
    told = (*{"ETag": page.tag, **dict((_REVALIDATE, _BY_ACCEPT, *extra))}.items(), *coding)
    if matches_etag(headers, page.tag):
        return Reply(304, content_type=content_type, headers=told, links=links)
    return Reply(200, page.body, content_type, told, links)
