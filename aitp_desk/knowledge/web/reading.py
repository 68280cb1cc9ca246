"""What an answer from elsewhere holds: which kind of content, its text as UTF-8."""

from __future__ import annotations

import codecs
import re
from email.message import Message
from urllib.parse import urlsplit

from aitp_desk.egress import Fetched
from aitp_desk.knowledge.base import DocumentKind

_KINDS: dict[str, DocumentKind] = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
    "text/plain": "text",
    "application/pdf": "pdf",
}
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_META = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{2,40})", re.IGNORECASE)
_META_BYTES = 1024
"""Where HTML declares its encoding (WHATWG HTML, section 4.2.5.4)."""
_ENCODINGS = re.compile(
    r"utf-(8|16(-[lb]e)?)|ascii|iso(8859-\d+|2022_jp)|cp(125\d|866|932|949)|koi8-[ru]"
    r"|shift_jis|euc_(jp|kr)|gb(2312|k|18030)|big5|mac-(roman|cyrillic)"
)
"""The encodings of text, by Python's names for them; it also knows some that are none."""


class NoContent(Exception):
    """The answer holds nothing that can be read; the message says what would be right."""


def read_answer(fetched: Fetched) -> tuple[DocumentKind, bytes]:
    """Tell an answer's kind by its media type, and return its text as UTF-8; a PDF as it is.

    Raises:
        NoContent: it is neither HTML nor Markdown nor text nor PDF.
    """
    declared = Message()
    said = fetched.headers.get("Content-Type", "")
    declared["Content-Type"] = said.encode("ascii", "replace").decode()  # Message reads no other
    media = declared.get_content_type() if declared["Content-Type"] else "none at all"
    try:
        charset = declared.get_content_charset() or ""
    except (TypeError, ValueError):
        charset = ""  # parts of a parameter (RFC 2231, section 3) that do not fit together
    kind = _KINDS.get(media)
    if kind is None:
        raise NoContent(f"Its media type is {media[:80]}; pages are HTML, Markdown, text or PDF.")
    if kind == "pdf":
        return kind, fetched.body
    if kind == "text" and urlsplit(fetched.url).path.lower().endswith((".md", ".markdown")):
        kind = "markdown"
    return kind, _decoded(fetched.body, charset, is_html=kind == "html").encode()


def _decoded(body: bytes, charset: str, *, is_html: bool) -> str:
    for mark, encoding in _BOMS:
        if body.startswith(mark):
            return body.removeprefix(mark).decode(encoding, "replace")
    encoding = _encoding(charset)
    if not encoding and is_html and (declared := _META.search(body[:_META_BYTES])):
        encoding = _encoding(declared[1].decode("ascii", "replace"))
    if encoding:
        return body.decode(encoding, "replace")
    try:
        return body.decode()
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def _encoding(name: str) -> str:
    """Python's name of a declared encoding, or nothing where it cannot be one of a text."""
    try:
        known = codecs.lookup(name.strip()).name
    except (LookupError, ValueError):
        return ""
    if known in {"iso8859-1", "ascii"}:
        return "cp1252"  # what pages so declared are written in (WHATWG Encoding, section 4.2)
    return known if _ENCODINGS.fullmatch(known) else ""
