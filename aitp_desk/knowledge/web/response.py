"""Determines the format of an external response, and its text as UTF-8."""

from __future__ import annotations

from email.message import Message
from urllib.parse import urlsplit

from aitp_desk.egress import Fetched
from aitp_desk.knowledge.documents.base import SourceKind
from aitp_desk.knowledge.sources.charset import decode_text

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
