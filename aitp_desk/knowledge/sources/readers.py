"""Reads one file: Markdown with front matter, text, HTML or PDF text.

Anything that prevents that is a :class:`Problem` with a fix.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

import msgspec
from selectolax.lexbor import LexborHTMLParser

from aitp_desk.knowledge.documents.base import (
    PAGE_BREAK,
    Document,
    Problem,
    SourceKind,
    get_page_path,
    is_elsewhere,
)
from aitp_desk.knowledge.sources.admission import KEY_MATERIAL, ContentFile
from aitp_desk.knowledge.sources.charset import decode_file
from aitp_desk.knowledge.sources.formats.base import FormatError
from aitp_desk.knowledge.sources.formats.feed import feed_html
from aitp_desk.knowledge.sources.formats.notebook import notebook_markdown
from aitp_desk.knowledge.sources.formats.openapi import openapi_markdown
from aitp_desk.knowledge.sources.formats.plain_text import text_html
from aitp_desk.knowledge.sources.front_matter import split_commented, split_front
from aitp_desk.knowledge.sources.html.depth import MAX_DEPTH, flatten
from aitp_desk.knowledge.sources.html.inline import drop_hidden, may_hide
from aitp_desk.knowledge.sources.html.page import read_html
from aitp_desk.knowledge.sources.markdown.blocks import first_heading, markdown_html
from aitp_desk.knowledge.sources.markdown.dialects import to_commonmark
from aitp_desk.knowledge.sources.pdf.texts import PdfText
from aitp_desk.model.text import clean_name, drop_invisible, one_line

_NAMES = frozenset({"title", "description", "alt", "tags", "filename", "schema", "describes"})
"""Members of the front matter that are shown as names."""


def read_document(found: ContentFile, payload: bytes, problems: list[Problem]) -> Document | None:
    """Return the document of a file that is no PDF; None if there is none.

    Parameters:
        problems: receives what is wrong with the file.
    """
    try:
        text = decode_file(payload, is_html=found.kind in {"html", "feed"})
    except UnicodeDecodeError as error:
        line = payload.count(b"\n", 0, error.start) + 1
        right = "declare its encoding or save it" if found.kind == "html" else "save it"
        message = f"The file is not UTF-8 here; {right} as UTF-8."
        problems.append(Problem(found.source, message, line))
        return None
    if "\0" in text:
        problems.append(Problem(found.source, "The file contains NUL characters: it is not text."))
        return None
    if text.lstrip().startswith(KEY_MATERIAL):
        problems.append(
            Problem(found.source, "The file contains a key and is never published; move it away.")
        )
        return None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    front: dict[str, Any] = {}
    if ".. title:" in text:
        front, text = split_commented(text)
    if front.get("draft"):
        return None
    document: Document | None
    if found.kind == "html":
        document = _read_html(found, text, problems)
    elif found.kind in _TO_HTML:
        document = _read_as_html(found, text, problems)
    elif found.kind == "markdown" or found.kind in _TO_MARKDOWN:
        document = _read_markdown(found, text, problems)
    elif (html := text_html(text, _title_of_name(found.source))) is not None:
        document = _read_html(found, html, problems, has_bars=False)
    else:
        document = Document(
            path=get_page_path(found.source),
            source=found.source,
            title=_title_of_name(found.source),
            description="",
            kind="text",
            body=text,
        )
    if document is not None and front:
        document = msgspec.structs.replace(
            document,
            title=_line(front["title"]),
            description=_line(front.get("description")) or document.description,
            front={**front, **document.front},
        )
    if document is not None and not document.body.strip():
        problems.append(Problem(found.source, "The file has no text; write some or remove it."))
        return None
    return document


def _read_html(
    found: ContentFile, text: str, problems: list[Problem], *, has_bars: bool = True
) -> Document:
    text, too_deep = flatten(text)
    if too_deep is not None:
        problems.append(
            Problem(
                found.source,
                f"From here on elements are nested more than {MAX_DEPTH} deep and "
                "are read as text; close the open ones.",
                too_deep,
            )
        )
    page = read_html(text, rendered_here=not is_elsewhere(found.source), has_bars=has_bars)
    return Document(
        path=get_page_path(found.source),
        source=found.source,
        title=page.title or _title_of_name(found.source),
        description=page.description,
        kind="html",
        body=page.body,
        schema_object=page.schema_object,
    )


def _read_as_html(found: ContentFile, text: str, problems: list[Problem]) -> Document | None:
    """Read a document in a format that is converted to HTML; errors become problems."""
    try:
        return _read_html(found, _TO_HTML[found.kind](text), problems, has_bars=False)
    except FormatError as error:
        problems.append(Problem(found.source, str(error)))
    return None


def _rst_html(text: str) -> str:
    from aitp_desk.knowledge.sources.formats.rst import rst_html

    return rst_html(text)


_TO_HTML: dict[SourceKind, Callable[[str], str]] = {"rst": _rst_html, "feed": feed_html}
"""The converters of formats to HTML; their libraries are imported late."""
_TO_MARKDOWN: dict[SourceKind, Callable[[str], str]] = {
    "notebook": notebook_markdown,
    "openapi": openapi_markdown,
}
"""The converters of formats to Markdown."""


def _read_markdown(found: ContentFile, text: str, problems: list[Problem]) -> Document | None:
    if found.kind in _TO_MARKDOWN:
        try:
            text = _TO_MARKDOWN[found.kind](text)
        except FormatError as error:
            problems.append(Problem(found.source, str(error)))
            return None
    front, body = split_front(found.source, text, problems)
    if front.get("draft") is True:
        return None
    body = to_commonmark(body, is_mdx=found.source.lower().endswith(".mdx"), front=front)
    title = _line(front.get("title")) or first_heading(body) or _title_of_name(found.source)
    shown = drop_hidden(body) if may_hide(body) else None
    if shown is None and "<summary" in body:  # its answers are sections, as in an HTML page
        shown = read_html(f"<main>{markdown_html(body)}</main>", has_headings=True).body
    dates = (front.get(key) for key in ("updated", "last_updated", "modified", "date"))
    return Document(
        path=get_page_path(found.source),
        source=found.source,
        title=title,
        description=_line(front.get("description")),
        kind="markdown" if shown is None else "html",
        body=body if shown is None else shown,
        front=front,
        updated=next((str(date) for date in dates if isinstance(date, str) and date), None),
    )


def read_pdf(found: ContentFile, text: PdfText, problems: list[Problem]) -> Document | None:
    """Return the document of a PDF; as :func:`read_document`.

    Parameters:
        text: extracted from it.
    """
    if text.problem:
        problems.append(Problem(found.source, text.problem))
        return None
    if len(text.pages) < text.count:
        read, count = len(text.pages), text.count
        problems.append(
            Problem(
                found.source, f"Of its {count} pages the first {read} are read; split the file."
            )
        )
    if not any(map(str.strip, text.pages)):
        problems.append(
            Problem(
                found.source, "The PDF has no text, only pictures of it; recognise the text (OCR)."
            )
        )
        return None
    return Document(
        path=get_page_path(found.source),
        source=found.source,
        title=_line(text.title) or _title_of_name(found.source),
        description="",
        kind="pdf",
        body=PAGE_BREAK.join(text.pages),
    )


def clean_document(document: Document) -> Document:
    """Return a document whose names load nothing and whose texts have nothing hidden."""
    return msgspec.structs.replace(
        document,
        title=clean_name(document.title) or _title_of_name(document.source),
        description=clean_name(document.description),
        body=drop_invisible(document.body),
        front=_clean_front(document.front),
        updated=document.updated and clean_name(document.updated),
        pictures=_pictures_of(document),
        schema_object=_clean_front(document.schema_object),
    )


def _pictures_of(document: Document) -> tuple[str, ...]:
    """Return the addresses of the pictures of a page, each once."""
    body = document.body
    if document.kind == "markdown" and ("![" in body or "<img" in body):
        body = markdown_html(body)
    elif document.kind != "html" or "<img" not in body:
        return ()
    sources = (node.attributes.get("src") for node in LexborHTMLParser(body).css("img[src]"))
    return tuple(dict.fromkeys(filter(None, sources)))


def _clean_front(value: Any, key: str = "") -> Any:
    if isinstance(value, str):
        return clean_name(value) if key in _NAMES else drop_invisible(value)
    if isinstance(value, dict):
        below = key if key in _NAMES else ""
        return {clean_name(name): _clean_front(item, below or name) for name, item in value.items()}
    if isinstance(value, list):
        return [_clean_front(item, key) for item in value]
    return value


def _line(value: object) -> str:
    return one_line(value) if isinstance(value, str) else ""


def _title_of_name(source: str) -> str:
    place = PurePosixPath(source)
    name = place.parent.name if place.stem.lower() == "index" and place.parent.name else place.stem
    words = name.replace("_", " ").replace("-", " ").split()
    title = " ".join(words) or name
    return clean_name(title[:1].upper() + title[1:])
