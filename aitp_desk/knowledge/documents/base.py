"""Defines documents, their passages, and problems with content.

These are values. :class:`~aitp_desk.knowledge.library.Library` is one immutable snapshot of them
with its index; :class:`~aitp_desk.knowledge.snapshot.Knowledge` holds the present snapshot.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any, Literal
from urllib.parse import quote, unquote, urlsplit

import msgspec

from aitp_desk.model.text import clean_name

DocumentKind = Literal["markdown", "text", "html", "pdf"]
SourceKind = Literal["markdown", "text", "html", "pdf", "rst", "notebook", "feed", "openapi"]
"""The format of a file; most formats are converted to HTML when they are read."""
PAGE_BREAK = "\f"
"""Separates the pages in the body of a PDF."""
UnitKind = Literal["sentence", "item", "row", "code"]


class Problem(msgspec.Struct, frozen=True):
    """A file or an external page that could not be read, or only partly.

    Parameters:
        source: the file, relative to the content folder, joined by ``/``; of an external page
            its address.
        message: what is wrong and how to fix it, in one or two sentences.
        line: line of the file, from 1, if known.
    """

    source: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}:{self.line}"
        return f"{place}: {self.message}"


def is_elsewhere(path: str) -> bool:
    """Return whether a document's path or source is the address of an external page.

    A file of the folder cannot look like one: its path has no empty part.
    """
    return path.startswith(("https://", "http://"))


def get_page_path(source: str) -> str:
    """Return the path of the page of a file: ``policies/returns.md`` → ``policies/returns``.

    The source of an external page is its address, and so is its path.
    """
    if is_elsewhere(source):
        return source
    place = PurePosixPath(source)
    parts = [*place.parent.parts, place.stem]
    if len(parts) > 1 and parts[-1].lower() == "index":
        parts.pop()
    return "/".join(quote(part, safe="") for part in parts)


class Document(msgspec.Struct, frozen=True):
    """A file of the site's content, or an external page.

    Parameters:
        path: address without the leading ``/`` and without the file's extension,
            percent-encoded as in a URL: ``policies/returns``. An ``index`` file takes its
            folder's path;
            the one at the top is ``index``. Of an external page its absolute address.
        source: the file, relative to the content folder, joined by ``/``; of a page its address.
        title: from the front matter, else the first heading, else the file's name.
        description: one line from the front matter (HTML: the meta element), else empty.
        kind: the format of ``body``.
        body: Markdown or text without front matter; for HTML the cleaned main content as HTML; for
            PDF the text of its pages, separated by form feeds.
        front: the parsed front matter; HTML and text have none.
        updated: date of the content from the front matter, ISO 8601, else None.
        language: tag of its language (BCP 47); empty for the site's own.
        version_of: path of the page that it is a version of; empty if it is none.
        pictures: the addresses of its pictures, as written.
        schema_object: what an HTML page declares of its subject as JSON-LD; empty for nothing.
    """

    path: str
    source: str
    title: str
    description: str
    kind: DocumentKind
    body: str
    front: dict[str, Any] = {}
    updated: str | None = None
    language: str = ""
    version_of: str = ""
    pictures: tuple[str, ...] = ()
    schema_object: dict[str, Any] = {}

    @property
    def url(self) -> str:
        """Address of the page, beginning with ``/``; of an external page an absolute URL."""
        return _url(self.path)

    @property
    def markdown_url(self) -> str:
        """Address of the page as Markdown; of an external page, which has none, its address."""
        return self.url if self.is_elsewhere else f"{self.url}.md"

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is an external page. The desk links to such a page and does not show it."""
        return is_elsewhere(self.path)

    @property
    def name(self) -> str:
        """The name of its file: ``returns`` of ``policies/returns``."""
        if not self.is_elsewhere:
            return self.path.rpartition("/")[2]
        return urlsplit(self.path).path.rstrip("/").rpartition("/")[2].partition(".")[0]

    @property
    def folder(self) -> str:
        """Its folder: ``policies`` of ``policies/returns``; of an external page its server's name.

        The folder's name is not percent-encoded.
        """
        if not self.is_elsewhere:
            return clean_name(unquote(self.path.rpartition("/")[0]))
        return urlsplit(self.path).netloc


class Unit(msgspec.Struct, frozen=True):
    """The smallest part that an answer quotes: a sentence, list item, table row or code block.

    Parameters:
        text: as an answer shows it. A table row names its columns:
            ``Standard – Delivery time: 3 days; Price: $5``.
        lead: the text before it that belongs to it: the sentence that opens a list or a code
            block, the item above a nested one, the columns of a table.
        opens: whether it begins a paragraph, a list, a table or a code block.
        mark: the mark before a list item: ``-`` or its number (:class:`blocks.Item`). Of a further
            part of a long code block the blank lines before it.
    """

    kind: UnitKind
    text: str
    lead: str = ""
    opens: bool = False
    mark: str = "-"


class Passage(msgspec.Struct, frozen=True):
    """A section of a document: what a source points to.

    Parameters:
        number: index in the library, from 0.
        document: path of its document.
        title: the document's title.
        heading: the section's own heading; empty before the first one.
        trail: the headings above it and its own, outermost first, without the document's title.
        anchor: id of the heading in the page, unique in the document; empty before the first, and
            if an external page has none. In a PDF its page: ``page=3`` (RFC 8118).
        text: the section without its heading and without its subsections, as plain text.
        units: the same text in units.
    """

    number: int
    document: str
    title: str
    heading: str
    trail: tuple[str, ...]
    anchor: str
    text: str
    units: tuple[Unit, ...]

    @property
    def url(self) -> str:
        """Address of the section, in the form of :attr:`Document.url`."""
        url = _url(self.document)
        return f"{url}#{self.anchor}" if self.anchor else url

    @property
    def name(self) -> str:
        """The title of a source: the document, and the section by its heading or page."""
        if self.anchor.startswith("page=") and not self.heading:
            return f"{self.title}, {self.anchor.replace('=', ' ')}"
        if not self.heading or self.title.endswith(self.heading):
            return self.title
        return f"{self.title}: {self.heading}"


class Hit(msgspec.Struct, frozen=True):
    """A found passage.

    Parameters:
        score: its relevance, higher is better; comparable within one search only.
    """

    passage: Passage
    score: float


def _url(path: str) -> str:
    return path if is_elsewhere(path) else f"/{path}"
