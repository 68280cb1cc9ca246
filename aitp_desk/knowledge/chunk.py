"""Documents as passages: a section by its heading, with its address and its smallest pieces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import quote

import msgspec

from aitp_desk.knowledge.base import PAGE_BREAK, Document, Passage, Unit, UnitKind
from aitp_desk.knowledge.blocks import Block, Code, Heading, Item, Paragraph, Table, plain
from aitp_desk.knowledge.html import html_blocks
from aitp_desk.knowledge.markdown import markdown_blocks
from aitp_desk.knowledge.sentences import sentences

MAX_PASSAGE_CHARACTERS = 1800
"""A longer section becomes several passages with one address."""
MAX_UNIT_CHARACTERS = 2000
"""A longer sentence, row or code block is cut: nothing that long answers a question."""

_FULL_LINE = 0.6
"""A line that is shorter than this share of the longest ends its paragraph."""
_DIVIDED = re.compile(r"([^\W\d_])-\n([a-zß-ÿ])")
_DROPPED = re.compile(r"[^\w\- ]")
_IN_FRAGMENT = "-._~!$&'()*+,;=:@/?%"
"""What stands in a fragment as it is (RFC 3986, section 3.5)."""


def slug(text: str) -> str:
    """A heading's id as GitHub makes it: lower case, spaces to hyphens, other signs dropped."""
    return _DROPPED.sub("", text.strip().lower()).replace(" ", "-")


class Anchors:
    """Hands out the ids of one page's headings, each once: ``notes``, ``notes-1``, ``notes-2``.

    Whoever renders the page calls it for every heading in order, so that sources point to them.
    """

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def take(self, heading: str) -> str:
        """The id of the next heading of the page."""
        first = slug(heading) or "section"
        anchor = first
        while anchor in self._taken:
            self._taken[first] += 1
            anchor = f"{first}-{self._taken[first]}"
        self._taken[anchor] = 0
        return anchor


class Section(msgspec.Struct, frozen=True):
    """A heading and what stands between it and the next one.

    Parameters:
        heading: empty for what stands before the first heading.
        trail: the headings above it and its own; the page's own title is left out.
        anchor: the heading's id in the page; empty before the first heading, and where it has none.
    """

    heading: str
    trail: tuple[str, ...]
    anchor: str
    blocks: tuple[Block, ...]


def blocks_of(document: Document) -> list[Block]:
    """What a document is made of."""
    if document.kind == "markdown":
        return markdown_blocks(document.body)
    if document.kind == "html":
        return html_blocks(document.body)
    return [
        Paragraph(text) for part in re.split(r"\n\s*\n", document.body) if (text := plain(part))
    ]


def paragraphs_of_page(text: str) -> list[str]:
    """The paragraphs of a page of a PDF, of which only the lines are known.

    A line that is much shorter than the longest ends its paragraph: it is a heading, a row or the
    last line of one. A word that is divided at a line's end is put together.
    """
    lines = [line.strip() for line in text.split("\n")]
    full = _FULL_LINE * max(map(len, lines))
    found = [""]
    for line in lines:
        found[-1] += f"{line}\n"
        if len(line) < full:
            found.append("")
    return [joined for part in found if (joined := plain(_DIVIDED.sub(r"\1\2", part)))]


def _pages(document: Document) -> Iterator[Section]:
    """The pages of a PDF as sections without headings."""
    for number, text in enumerate(document.body.split(PAGE_BREAK), start=1):
        blocks = tuple(map(Paragraph, paragraphs_of_page(text)))
        yield Section("", (), f"page={number}", blocks)


def sections(blocks: Iterable[Block], *, rendered_here: bool = True) -> Iterator[Section]:
    """Split a page at its headings. A first heading that opens the page is its title.

    Parameters:
        rendered_here: whether the desk shows the page, and gives each heading an id; a page from
            elsewhere has the ids that it has.
    """
    anchors = Anchors()
    trail: list[Heading] = []
    heading, anchor = "", ""
    pending: list[Block] = []
    opened = False
    for block in blocks:
        if not isinstance(block, Heading):
            pending.append(block)
            opened = True
            continue
        if pending:
            yield Section(heading, _names(trail), anchor, tuple(pending))
            pending = []
        anchor = anchors.take(block.text) if rendered_here else quote(block.id, safe=_IN_FRAGMENT)
        heading = block.text
        if opened or block.level > 1:
            trail = [above for above in trail if above.level < block.level] + [block]
        opened = True
    if pending:
        yield Section(heading, _names(trail), anchor, tuple(pending))


def passages_of(document: Document, *, number: int = 0) -> list[Passage]:
    """The passages of a document in order, numbered from ``number``."""
    found: list[Passage] = []
    for section in _sections_of(document):
        for units in _portions(list(units_of(section.blocks))):
            found.append(
                Passage(
                    number=number + len(found),
                    document=document.path,
                    title=document.title,
                    heading=section.heading,
                    trail=section.trail,
                    anchor=section.anchor,
                    text=_joined(units),
                    units=tuple(units),
                )
            )
    return found


def _sections_of(document: Document) -> Iterator[Section]:
    if document.kind == "pdf":
        return _pages(document)
    return sections(blocks_of(document), rendered_here=not document.is_elsewhere)


def units_of(blocks: Sequence[Block]) -> Iterator[Unit]:
    """The sentences, list items, table rows and code blocks of a section, in order."""
    lead = ""
    parents: dict[int, str] = {}
    for block in blocks:
        if isinstance(block, Paragraph):
            found = sentences(block.text)
            yield from (_unit("sentence", sentence) for sentence in found)
            lead = found[-1] if found else ""
            parents.clear()
        elif isinstance(block, Item):
            above = parents.get(block.depth - 1, "") if block.depth > 1 else lead
            parents[block.depth] = block.text
            yield _unit("item", block.text, above)
        elif isinstance(block, Table):
            for row in block.rows:
                yield _unit("row", _row(block.header, row), " ".join(filter(None, block.header)))
        elif isinstance(block, Code):
            yield _unit("code", f"```{block.language}\n{block.text}\n```", lead)


def _unit(kind: UnitKind, text: str, lead: str = "") -> Unit:
    return Unit(kind, text[:MAX_UNIT_CHARACTERS], lead)


def _row(header: Sequence[str], cells: Sequence[str]) -> str:
    """A row as it reads without its table: ``Standard – Where: Alaska; Price: $12.95``."""
    if len(cells) <= 2:
        return ": ".join(filter(None, cells))
    heads = [*header, *[""] * (len(cells) - len(header))]
    rest = [
        f"{head}: {cell}" if head else cell
        for head, cell in zip(heads[1:], cells[1:], strict=False)
        if cell
    ]
    return f"{cells[0]} – {'; '.join(rest)}"


def _portions(units: list[Unit]) -> Iterator[list[Unit]]:
    """Split a section that is too long for one passage, between its units."""
    portion: list[Unit] = []
    size = 0
    for unit in units:
        if portion and size + len(unit.text) > MAX_PASSAGE_CHARACTERS:
            yield portion
            portion, size = [], 0
        portion.append(unit)
        size += len(unit.text)
    if portion:
        yield portion


def _joined(units: Sequence[Unit]) -> str:
    """The units as text again: sentences run on, everything else has a line of its own."""
    lines: list[str] = []
    running = False
    for unit in units:
        if unit.kind == "sentence" and running:
            lines[-1] += " " + unit.text
        else:
            lines.append(f"- {unit.text}" if unit.kind == "item" else unit.text)
        running = unit.kind == "sentence"
    return "\n".join(lines)


def _names(trail: Sequence[Heading]) -> tuple[str, ...]:
    return tuple(heading.text for heading in trail)
