"""What the site knows: documents, the passages that answers are taken from, what was unreadable.

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
"""What a file is written in; most of it becomes HTML when it is read."""
PAGE_BREAK = "\f"
"""Parts the pages in the body of a PDF."""
UnitKind = Literal["sentence", "item", "row", "code"]


class Problem(msgspec.Struct, frozen=True):
    """A file or a page from elsewhere that could not be read, or not wholly.

    Parameters:
        source: the file, relative to the content folder, joined by ``/``; of a page its address.
        message: what is wrong and what would be right, in one or two sentences.
        line: line of the file, from 1, where one can be named.
    """

    source: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}:{self.line}"
        return f"{place}: {self.message}"


def is_elsewhere(path: str) -> bool:
    """Whether a document's path or source is the address of a page on another server.

    No file of the folder is called so: its path has no empty part.
    """
    return path.startswith(("https://", "http://"))


def get_page_path(source: str) -> str:
    """The path of the page made from a file: ``policies/returns.md`` → ``policies/returns``.

    The source of a page from elsewhere is its address, and so is its path.
    """
    if is_elsewhere(source):
        return source
    place = PurePosixPath(source)
    parts = [*place.parent.parts, place.stem]
    if len(parts) > 1 and parts[-1].lower() == "index":
        parts.pop()
    return "/".join(quote(part, safe="") for part in parts)


class Document(msgspec.Struct, frozen=True):
    """One file of the site's content, or one page from elsewhere.

    Parameters:
        path: address without the leading ``/`` and without the file's extension, percent-encoded
            where an URL needs it: ``policies/returns``. An ``index`` file takes its folder's path;
            the one at the top is ``index``. Of a page from elsewhere its absolute address.
        source: the file, relative to the content folder, joined by ``/``; of a page its address.
        title: from the front matter, else the first heading, else the file's name.
        description: one line from the front matter (HTML: the meta element), else empty.
        kind: what ``body`` is written in.
        body: Markdown or text without front matter; for HTML the cleaned main content as HTML; for
            PDF the text of its pages, parted by form feeds.
        front: the front matter as it was read; HTML and text have none.
        updated: date of the content from the front matter, ISO 8601, else None.
        language: tag of its language (BCP 47); empty for the site's own.
        version_of: path of the page that it is a version of; empty where it is none.
        pictures: the addresses of the pictures that it shows, as it writes them.
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

    @property
    def url(self) -> str:
        """Address of the page on the site, beginning with ``/``; from elsewhere an absolute URL."""
        return _url(self.path)

    @property
    def markdown_url(self) -> str:
        """Address of the page as Markdown; of one from elsewhere, which has none here, its own."""
        return self.url if self.is_elsewhere else f"{self.url}.md"

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is a page on another server, which the desk links to and does not show."""
        return is_elsewhere(self.path)

    @property
    def name(self) -> str:
        """What its file is called: ``returns`` of ``policies/returns``."""
        if not self.is_elsewhere:
            return self.path.rpartition("/")[2]
        return urlsplit(self.path).path.rstrip("/").rpartition("/")[2].partition(".")[0]

    @property
    def folder(self) -> str:
        """Where it lies: ``policies`` of ``policies/returns``; from elsewhere its server's name.

        As the folder is called, not percent-encoded.
        """
        if not self.is_elsewhere:
            return clean_name(unquote(self.path.rpartition("/")[0]))
        return urlsplit(self.path).netloc


class Unit(msgspec.Struct, frozen=True):
    """The smallest thing that an answer quotes: a sentence, a list item, a table row, a code block.

    Parameters:
        text: as it reads in an answer. A table row names its columns:
            ``Standard – Delivery time: 3 days; Price: $5``.
        lead: what stands before it and belongs to it: the sentence that opens a list or a code
            block, the item above a nested one, the columns of a table.
        opens: whether it begins a paragraph, a list, a table or a code block.
        mark: what stands before a list item: ``-`` or its number (:class:`blocks.Item`).
    """

    kind: UnitKind
    text: str
    lead: str = ""
    opens: bool = False
    mark: str = "-"


class Passage(msgspec.Struct, frozen=True):
    """A section of a document: what a source points to.

    Parameters:
        number: place in the library, from 0.
        document: path of its document.
        title: the document's title.
        heading: the section's own heading; empty before the first one.
        trail: the headings above it and its own, outermost first, without the document's title.
        anchor: id of the heading in the page, unique in the document; empty before the first, and
            where a page from elsewhere has none. In a PDF its page: ``page=3`` (RFC 8118).
        text: the section without its heading and without its subsections, as plain text.
        units: the same text in pieces.
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
        """Address of the section, as :attr:`Document.url` is one of the page."""
        url = _url(self.document)
        return f"{url}#{self.anchor}" if self.anchor else url

    @property
    def name(self) -> str:
        """How a source is titled: the document, and the section by its heading or page."""
        if self.anchor.startswith("page=") and not self.heading:
            return f"{self.title}, {self.anchor.replace('=', ' ')}"
        if not self.heading or self.heading == self.title:
            return self.title
        return f"{self.title}: {self.heading}"


class Hit(msgspec.Struct, frozen=True):
    """A passage that was found.

    Parameters:
        score: how well it fits, higher is better; comparable within one search only.
    """

    passage: Passage
    score: float


def _url(path: str) -> str:
    return path if is_elsewhere(path) else f"/{path}"
