"""Splits documents into passages: sections with their heading, address and units."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from aitp_desk.knowledge.documents.anchors import AnchorIds, fragment
from aitp_desk.knowledge.documents.base import PAGE_BREAK, Document, Passage, Unit, UnitKind
from aitp_desk.knowledge.documents.blocks import (
    Block,
    Code,
    End,
    Heading,
    Item,
    Mark,
    Paragraph,
    Table,
    Term,
)
from aitp_desk.knowledge.documents.sentences import join_sentences, split_sentences
from aitp_desk.knowledge.sources.html.blocks import html_blocks
from aitp_desk.knowledge.sources.markdown.blocks import markdown_blocks
from aitp_desk.model.text import clean_name, clean_quote, drop_invisible, one_line

MAX_PASSAGE_CHARACTERS = 1800
"""A longer section becomes several passages with one address."""
MAX_UNIT_CHARACTERS = 2000
"""A longer sentence or row is cut: nothing that long answers a question."""
_CODE_CHARACTERS, _MOST_CODE_CHARACTERS = 800, 1000
"""Code becomes several units: by paragraphs from the first length, by lines from the second."""
_FENCE = "\n```"
_MOST_LANGUAGE, _MOST_LINE = 100, 1800
"""Characters of a code block's language, and of a line: with its fence a unit is not cut."""
LEAD_IN_ENDINGS = (":", "：")
"""A unit with such an ending announces the next one."""
MAX_TERM_CHARACTERS = 100
"""A longer term of a definition is cut when used as a heading."""
_FULL_LINE = 0.6
"""A line that is shorter than this share of the longest ends its paragraph."""
_CALLED = re.compile(r"([^(]{2,80}?)\s?\(")
_SEE = re.compile(r"([^.:]{1,100}): See (?:also )?([^.]{1,100}?)\.?")
_WORD = re.compile(r"\w")
"""Without a word, the rest of a paragraph around a code block is meaningless: ``.``."""
_DIVIDED = re.compile(r"([^\W\d_])-\n([a-zß-ÿ])")


class Section(msgspec.Struct, frozen=True):
    """A heading and the text up to the next one.

    Parameters:
        heading: empty for the text before the first heading.
        trail: the headings above it and its own, without the page's title.
        anchor: the heading's id in the page; empty before the first heading, and if it has none.
    """

    heading: str
    trail: tuple[str, ...]
    anchor: str
    blocks: tuple[Block, ...]


def split_blocks(document: Document) -> list[Block]:
    """Return the blocks of a document."""
    if document.kind == "markdown":
        return markdown_blocks(document.body)
    if document.kind == "html":
        return html_blocks(document.body)
    return [
        Paragraph(text) for part in re.split(r"\n\s*\n", document.body) if (text := one_line(part))
    ]


def split_pdf_page(text: str) -> list[str]:
    """Split a PDF page, given as lines, into paragraphs.

    A line that is much shorter than the longest ends its paragraph: it is a heading, a row or the
    last line of one. A word that is divided at a line's end is joined.
    """
    lines = [line.strip() for line in text.split("\n")]
    full = _FULL_LINE * max(map(len, lines))
    found = [""]
    for line in lines:
        found[-1] += f"{line}\n"
        if len(line) < full:
            found.append("")
    return [whole for part in found if (whole := one_line(_DIVIDED.sub(r"\1\2", part)))]


def _pages(document: Document) -> Iterator[Section]:
    """The pages of a PDF as sections without headings."""
    for number, text in enumerate(document.body.split(PAGE_BREAK), start=1):
        blocks = tuple(map(Paragraph, split_pdf_page(text)))
        yield Section("", (), f"page={number}", blocks)


class _Cutter:
    """Splits a page at its headings. A first heading that opens the page is its title.

    The definition of a term is a section too, below the heading of its list.

    Parameters:
        rendered_here: whether the desk shows the page, and gives each heading an id; an external
            page has its own ids.
    """

    def __init__(self, rendered_here: bool) -> None:
        self._rendered_here = rendered_here
        self._anchors = AnchorIds()
        self._trail: list[Heading] = []
        self._heading, self._anchor, self._mark = "", "", ""
        self._terms: list[tuple[Term, str]] = []
        self._said = ""
        self._pending: list[Block] = []

    def cut(self, blocks: Iterable[Block]) -> Iterator[Section]:
        """Yield the sections, none of them empty."""
        opened = False
        for block in blocks:
            if isinstance(block, Heading):
                yield from self._end()
                self._open(block, is_title=not opened and block.level == 1)
                opened = True
            elif isinstance(block, Term):
                yield from self._end()
                self._leave(block.depth)
                self._terms.append((block, _name_of(block.text)))
                self._said, self._mark = block.text, ""
                opened = True
            elif isinstance(block, End):
                if not self._is_unexplained(block.depth):
                    yield from self._end()
                    self._leave(block.depth)
            elif isinstance(block, Mark):
                yield from self._end()
                self._mark = fragment(block.id)
            else:
                self._add(block)
                opened = True
        yield from self._end()

    def _open(self, heading: Heading, *, is_title: bool) -> None:
        if self._rendered_here:
            anchor = self._anchors.make_id(heading.text, heading.id)
            self._anchor = fragment(anchor) if anchor == heading.id else anchor
        else:
            self._anchor = fragment(heading.id)
        self._heading, self._mark = heading.text, ""
        self._terms.clear()
        if not is_title:
            above = (above for above in self._trail if above.level < heading.level)
            self._trail = [*above, heading]

    def _leave(self, depth: int) -> None:
        """End the definitions of a list and of nested lists."""
        while self._terms and self._terms[-1][0].depth >= depth:
            self._terms.pop()

    def _is_unexplained(self, depth: int) -> bool:
        """Return whether the last term of a list has no definition; the text after explains it."""
        return bool(self._said) and self._terms[-1][0].depth == depth

    def _add(self, block: Block) -> None:
        """Add a block; a definition begins with its term, so that it is readable alone."""
        if self._said:
            if isinstance(block, Paragraph):
                block = Paragraph(f"{self._said}: {block.text}")
            else:
                self._pending.append(Paragraph(self._said))
            self._said = ""
        self._pending.append(block)

    def _end(self) -> Iterator[Section]:
        if self._said:
            self._pending.append(Paragraph(self._said))
            self._said = ""
        if not self._pending:
            return
        names = [name for _, name in self._terms]
        ids = (fragment(term.id) for term, _ in reversed(self._terms) if term.id)
        yield Section(
            heading=names[-1] if names else self._heading,
            trail=(*(above.text for above in self._trail), *names),
            anchor=self._mark or next(ids, self._anchor),
            blocks=tuple(self._pending),
        )
        self._pending = []


def _name_of(term: str) -> str:
    """Return a term without parameters: ``max_connections`` of ``max_connections (integer)``."""
    name = _CALLED.match(term)
    return name[1] if name else term[:MAX_TERM_CHARACTERS]


def split_passages(document: Document) -> list[Passage]:
    """Return the passages of a document in order, numbered from 0."""
    found: list[Passage] = []
    for section in _sections_of(document):
        for units in _portions(list(split_units(section.blocks))):
            found.append(
                Passage(
                    number=len(found),
                    document=document.path,
                    title=document.title,
                    heading=clean_name(section.heading),
                    trail=tuple(map(clean_name, section.trail)),
                    anchor=section.anchor,
                    text=join_units(units),
                    units=tuple(units),
                )
            )
    return found


def _sections_of(document: Document) -> Iterator[Section]:
    if document.kind == "pdf":
        return _pages(document)
    # a generator makes the ids of headings in Markdown as the desk does
    has_usual_ids = not document.is_elsewhere or document.kind == "markdown"
    cut = _Cutter(has_usual_ids).cut(split_blocks(document))
    return _with_other_names(list(cut)) if document.kind == "html" else cut


def _with_other_names(cut: list[Section]) -> Iterator[Section]:
    """Yield the sections of a page; ``GIL: See interpreter lock`` adds a name to the other."""
    by_heading = {section.heading.casefold(): section for section in cut}
    names: dict[str, list[str]] = {}
    for section in cut:
        block = section.blocks[0]
        seen = _SEE.fullmatch(block.text) if isinstance(block, Paragraph) else None
        if seen and len(section.blocks) == 1 and seen[1] == section.heading:
            other = seen[2].casefold()
            if other in by_heading and other != section.heading.casefold():
                names.setdefault(other, []).append(section.heading)
    named_others = {name for named in names.values() for name in named}
    for section in cut:
        if section.heading in named_others:
            continue
        if named := names.get(section.heading.casefold()):
            heading = f"{section.heading} ({', '.join(named)})"
            trail = (*section.trail[:-1], heading)
            yield msgspec.structs.replace(section, heading=heading, trail=trail)
        else:
            yield section


def split_units(blocks: Sequence[Block]) -> Iterator[Unit]:
    """Yield a section's sentences, list items, table rows and code blocks in order."""
    lead = ""
    parents: dict[int, str] = {}
    before: Block | None = None
    for block in blocks:
        if isinstance(block, Paragraph):
            found = [said for said in split_sentences(block.text) if _WORD.search(said)]
            yield from (_unit("sentence", said, opens=not at) for at, said in enumerate(found))
            lead = found[-1] if found else ""
            parents.clear()
        elif isinstance(block, Item):
            above = parents.get(block.depth - 1, "") if block.depth > 1 else lead
            parents[block.depth] = block.text
            opens = not isinstance(before, Item)
            yield _unit("item", block.text, above, opens=opens, mark=block.mark)
        elif isinstance(block, Table):
            columns = " ".join(filter(None, block.header))
            for at, row in enumerate(filter(any, block.rows)):
                yield _unit("row", _row(block.header, row), columns, opens=not at)
        elif isinstance(block, Code):
            for at, (part, gap) in enumerate(_split_code(block.text)):
                text = f"```{block.language[:_MOST_LANGUAGE]}\n{part}\n```"
                yield _unit("code", text, lead, opens=not at, mark=gap)
        before = block


def _split_code(code: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a code block, each with the blank lines before.

    Long code is split between its paragraphs, and a long paragraph between its lines.
    """
    part, gap, wait = "", "", ""
    for whole in code.split("\n"):
        line = whole[:_MOST_LINE]
        if not line.strip():
            wait += "\n"
            continue
        size = len(part) + len(line)
        if part and size > (_CODE_CHARACTERS if wait else _MOST_CODE_CHARACTERS):
            yield part, gap
            part, gap = line, wait
        else:
            part = f"{part}\n{wait}{line}" if part else line
        wait = ""
    yield part, gap


def _unit(kind: UnitKind, text: str, lead: str = "", *, opens: bool, mark: str = "-") -> Unit:
    text, lead = text[:MAX_UNIT_CHARACTERS], lead[:MAX_UNIT_CHARACTERS]
    text = drop_invisible(text) if kind == "code" else clean_quote(text)
    return Unit(kind, text, clean_quote(lead), opens, mark)


def _row(header: Sequence[str], cells: Sequence[str]) -> str:
    """Return a row as text: ``Standard – Where: Alaska; Price: $12.95``."""
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
    """Split a section that is too long for one passage, between its units.

    A unit that announces the next one stays with it.
    """
    portion: list[Unit] = []
    size = 0
    for unit in units:
        if portion and size + len(unit.text) > MAX_PASSAGE_CHARACTERS:
            announced = len(portion) > 1 and portion[-1].text.endswith(LEAD_IN_ENDINGS)
            next_portion = [portion.pop()] if announced else []
            yield portion
            portion, size = next_portion, sum(len(one.text) for one in next_portion)
        portion.append(unit)
        size += len(unit.text)
    if portion:
        yield portion


def join_units(units: Sequence[Unit]) -> str:
    """Join units to text: sentences of a paragraph in a row, all else on separate lines."""
    text = ""
    before = ""
    for unit in units:
        if text and unit.kind == before == "sentence" and not unit.opens:
            text = join_sentences((text, unit.text))
            continue
        if unit.kind == before == "code" and not unit.opens:
            text = text.removesuffix(_FENCE) + unit.mark + unit.text[unit.text.index("\n") :]
            continue
        if text:
            text += "\n\n" if unit.kind == "sentence" and unit.opens else "\n"
        text += f"{unit.mark} {unit.text}".lstrip() if unit.kind == "item" else unit.text
        before = unit.kind
    return text
