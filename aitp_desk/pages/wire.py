"""What pages look like on the wire: which form is wanted, headers, revalidation, errors in words.

Pure: headers and values in, a Reply out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import assert_never

import msgspec

from aitp_desk.announcing.accept import quality_of
from aitp_desk.announcing.tags import MANIFEST_TYPE
from aitp_desk.config import Site
from aitp_desk.model.errors import DeskError, ErrorKind
from aitp_desk.pages.assets import Asset
from aitp_desk.pages.render import render_error_page
from aitp_desk.protocols.refusal import refusal_headers, status_of
from aitp_desk.protocols.reply import HTML, JSON, Reply, has_version

_SOURCES = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "connect-src": "'self'",
    "img-src": "'self' data:",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}
POLICY = (
    "Content-Security-Policy",
    "; ".join(f"{directive} {source}" for directive, source in _SOURCES.items()),
)
"""Nothing is loaded from elsewhere, nothing inline runs, nobody may frame the page."""

FOREVER = ("Cache-Control", "public, max-age=31536000, immutable")
_REVALIDATE = ("Cache-Control", "no-cache")
_BY_ACCEPT = ("Vary", "Accept")


class Page(msgspec.Struct, frozen=True):
    """A rendered page and the tag by which a browser asks whether it has changed."""

    body: bytes
    tag: str


def tag_page(body: bytes) -> Page:
    """A page with its tag, a hash of its bytes."""
    return Page(body, f'"{hashlib.sha256(body).hexdigest()[:32]}"')


def reply_page(page: Page, headers: Mapping[str, str]) -> Reply:
    """A page, or 304 where the browser has it already (RFC 9110, section 13.1.2)."""
    return _reply_tagged(page, headers, HTML, POLICY)


def reply_manifest(manifest: Page, headers: Mapping[str, str]) -> Reply:
    """The manifest in the place of the home page (AHP 0.1, section 3.2)."""
    return _reply_tagged(manifest, headers, MANIFEST_TYPE)


def reply_asset(asset: Asset) -> Reply:
    """A file of the desk's own, to be kept for good."""
    return Reply(200, asset.body, asset.content_type, (FOREVER,))


def reply_error(error: DeskError, site: Site) -> Reply:
    """A refusal or a fault as a page."""
    status = status_of(error.kind)
    heading, advice = words_of(error.kind)
    body = render_error_page(
        site,
        status=status,
        heading=heading,
        message=error.message,
        advice=advice,
        home=f"{site.url}/" if error.kind is ErrorKind.WRONG_HOST else "/",
    )
    return Reply(status, body, HTML, (*refusal_headers(error), POLICY, _BY_ACCEPT))


def wants_html(headers: Mapping[str, str]) -> bool:
    """Whether the caller would rather have a page than JSON; one who does not say would not."""
    accept = headers.get("Accept", "")
    return quality_of(accept, "text/html")[0] > quality_of(accept, JSON)[0]


def words_of(kind: ErrorKind) -> tuple[str, str]:
    """What an error page says: what happened, and what the visitor may do now."""
    match kind:
        case (
            ErrorKind.ROUTE_NOT_FOUND
            | ErrorKind.THREAD_NOT_FOUND
            | ErrorKind.MESSAGE_NOT_FOUND
            | ErrorKind.RUN_NOT_FOUND
            | ErrorKind.ACTOR_NOT_FOUND
            | ErrorKind.AGENT_NOT_FOUND
            | ErrorKind.FILE_NOT_FOUND
            | ErrorKind.EVENTS_GONE
        ):
            return "There is no such page", (
                "It may have moved, or the address has a mistake. Ask the desk for what you were"
                " looking for."
            )
        case ErrorKind.METHOD_NOT_ALLOWED | ErrorKind.UNSUPPORTED_MEDIA:
            return "That does not work here", "This address is there to be read in a browser."
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
            return "The desk could not read that", "Begin again from the desk."
        case ErrorKind.REQUEST_TOO_LARGE:
            return "That is too much at once", "Send less, or ask in fewer words."
        case ErrorKind.NOT_AUTHENTICATED | ErrorKind.FORBIDDEN:
            return "This is not open to you", "What is open to everybody can be asked at the desk."
        case ErrorKind.WRONG_HOST:
            return "This desk stands elsewhere", "Use the address above."
        case ErrorKind.RATE_LIMITED:
            return "That was a lot at once", "Wait a moment, then load the page again."
        case ErrorKind.UNAVAILABLE | ErrorKind.REQUEST_TIMEOUT:
            return "The desk is busy", "Load the page again in a moment."
        case ErrorKind.INTERNAL:
            return "Something went wrong at the desk", "It is not your fault. Please try again."
        case _:
            assert_never(kind)


def _reply_tagged(
    page: Page, headers: Mapping[str, str], content_type: str, *extra: tuple[str, str]
) -> Reply:
    fixed = (("ETag", page.tag), _REVALIDATE, _BY_ACCEPT, *extra)
    if has_version(headers, page.tag):
        return Reply(304, content_type=content_type, headers=fixed)
    return Reply(200, page.body, content_type, fixed)
