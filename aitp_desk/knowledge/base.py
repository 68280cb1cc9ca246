"""What the site knows: documents, the passages that answers are taken from, what was unreadable.

These are values. :class:`~aitp_desk.knowledge.library.Library` is one immutable snapshot of them
with its index; :class:`~aitp_desk.knowledge.watch.Knowledge` holds the present snapshot.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

DocumentKind = Literal["markdown", "text", "html"]
UnitKind = Literal["sentence", "item", "row", "code"]


class Problem(msgspec.Struct, frozen=True):
    """A file that could not be read, or not wholly.

    Parameters:
        source: the file, relative to the content folder, joined by ``/``.
        message: what is wrong and what would be right, in one or two sentences.
        line: line of the file, from 1, where one can be named.
    """

    source: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}:{self.line}"
        return f"{place}: {self.message}"


class Document(msgspec.Struct, frozen=True):
    """One file of the site's content.

    Parameters:
        path: address without the leading ``/`` and without the file's extension, percent-encoded
            where an URL needs it: ``policies/returns``. An ``index`` file takes its folder's path;
            the one at the top is ``index``.
        source: the file, relative to the content folder, joined by ``/``.
        title: from the front matter, else the first heading, else the file's name.
        description: one line from the front matter (HTML: the meta element), else empty.
        kind: what ``body`` is written in.
        body: Markdown or text without front matter; for HTML the cleaned main content as HTML.
        front: the front matter as it was read; HTML and text have none.
        updated: date of the content from the front matter, ISO 8601, else None.
    """

    path: str
    source: str
    title: str
    description: str
    kind: DocumentKind
    body: str
    front: dict[str, Any] = {}
    updated: str | None = None

    @property
    def url(self) -> str:
        """Address of the page on the site."""
        return f"/{self.path}"


class Unit(msgspec.Struct, frozen=True):
    """The smallest thing that an answer quotes: a sentence, a list item, a table row, a code block.

    Parameters:
        text: as it reads in an answer. A table row names its columns:
            ``Standard – Delivery time: 3 days; Price: $5``.
        lead: what stands before it and belongs to it: the sentence that opens a list or a code
            block, the item above a nested one, the columns of a table.
    """

    kind: UnitKind
    text: str
    lead: str = ""


class Passage(msgspec.Struct, frozen=True):
    """A section of a document: what a source points to.

    Parameters:
        number: place in the library, from 0.
        document: path of its document.
        title: the document's title.
        heading: the section's own heading; empty before the first one.
        trail: the headings above it and its own, outermost first, without the document's title.
        anchor: id of the heading in the page, unique in the document; empty before the first.
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
        """Address of the section on the site."""
        return f"/{self.document}#{self.anchor}" if self.anchor else f"/{self.document}"

    @property
    def name(self) -> str:
        """How a source is titled: the document, and the section where it has a heading."""
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
