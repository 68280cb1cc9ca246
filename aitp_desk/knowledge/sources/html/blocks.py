"""Converts HTML to blocks of plain text, in order."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import compress
from operator import not_

from selectolax.lexbor import LexborHTMLParser, LexborNode

from aitp_desk.knowledge.documents.addresses import address_of
from aitp_desk.knowledge.documents.blocks import (
    LONG_DEFINITION,
    NOTES,
    Block,
    Code,
    End,
    Heading,
    Item,
    Mark,
    Paragraph,
    Table,
    Term,
    size_of,
)
from aitp_desk.knowledge.sources.html.cross_references import A_LINK, mark_references
from aitp_desk.knowledge.sources.html.frame import NOISE
from aitp_desk.knowledge.sources.html.tree import find_fields, names_columns, remove_node
from aitp_desk.model.text import one_line

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = {
    "p", "div", "section", "article", "main", "blockquote", "figure", "figcaption", "dl", "dt",
    "dd", "ul", "ol", "li", "table", "pre", "hr", "details", "summary", "header", "address",
    "center", "footer", "aside", "hgroup", "tbody", "thead", "tfoot", "tr", "td", "th", "caption",
    *_HEADINGS,
}  # fmt: skip
_LARGE = "table, h1, h2, h3, h4, h5, h6"
_LAYOUT_ROLES = {"presentation", "none"}
_ADDRESSES = ("mailto:", "tel:")
"""An address to write to or to call is said nowhere else than in its link."""
_LINKS = 'a[href]:not([href^="mailto:"], [href^="tel:"])'
"""Links to pages."""
_TOP = "#top"
"""A link to the top of any page."""
_FOOTNOTE = re.compile(r"\[?(?:\d{1,3}|[*†‡§])\]?")
_GENERATED = re.compile(r"id[a-z]?\d+")
"""An id that DocBook makes up; after the next build it is another one."""
_ROW_OF_LINKS = 3
"""This many of them in a row are a menu or a table of contents."""
_PAGE_OF_LINKS, _LONG_PAGE = 0.6, 2000
"""A page with at least this many characters and this share of links is an index."""
_ENTRIES = 0.85
_SENTENCE_END = (".", "!", "?", ":", "…")
_MAX_SPAN = 20
_MOST_NAMES = 1000
_NUMBER = re.compile(r"[0-9]{1,5}")
"""Consecutive terms share a definition up to this many characters; a longer row is a list of names.
"""


def html_blocks(html: str, *, has_menus: bool = True) -> list[Block]:
    """Return the blocks of a piece of HTML, in order.

    The terms of definition lists become sections if they have an id or are explained in full,
    unless they name a field of many things ("Default value"), and items otherwise.

    Parameters:
        has_menus: whether rows of links are left out as menus and tables of contents: their words
            occur elsewhere, with their content.
    """
    body = LexborHTMLParser(html).body
    if body is None:
        return []
    for node in body.css(NOISE):
        remove_node(node)
    reader = _Reader(find_fields(body))
    reader.walk(body)
    return reader.blocks(has_menus=has_menus)


class _Reader:
    """Traverses the tree with an explicit stack: a page may nest deeper than Python may recurse."""

    def __init__(self, fields: Collection[str] = ()) -> None:
        self.fields = fields
        self.found: list[Block] = []
        self.shares: list[float] = []
        """The share of link text of each block."""
        self.text: list[str] = []
        self.linked = 0
        self.in_links = 0
        self.lists: list[int | None] = []
        """The number of the last item of each open list; None for unordered lists."""
        self.mark = "-"
        self.items = 0
        self.definitions: list[int] = []
        """The beginnings of the open definition lists."""
        self.prefix = ""

    def blocks(self, *, has_menus: bool) -> list[Block]:
        """Return the blocks, without navigation."""
        referring = mark_references(self.found, self.shares)
        if not has_menus:
            return list(compress(self.found, map(not_, referring)))
        sizes = [size_of(block) for block in self.found]
        total = sum(sizes)
        links = sum(size * share for size, share in zip(sizes, self.shares, strict=True))
        is_index = total > _LONG_PAGE and (links > _PAGE_OF_LINKS * total or self._is_register())
        kept: list[Block] = []
        row: list[Block] = []
        for block, share, refers in zip(self.found, self.shares, referring, strict=True):
            if refers:
                continue
            if share >= A_LINK:
                row.append(block)
                continue
            if len(row) < _ROW_OF_LINKS and not is_index:
                kept += row
            row = []
            if not is_index or isinstance(block, Heading) or _is_said(block):
                kept.append(block)
        return kept if len(row) >= _ROW_OF_LINKS or is_index else kept + row

    def _is_register(self) -> bool:
        """Return whether nearly each entry is a link, and hardly any is a sentence."""
        said = [
            share > 0
            for block, share in zip(self.found, self.shares, strict=True)
            if not isinstance(block, Heading | Mark | End)
        ]
        sentences = sum(map(_is_said, self.found))
        return sum(said) > _ENTRIES * len(said) and sentences < (1 - _ENTRIES) * len(said)

    def walk(self, root: LexborNode) -> None:
        stack: list[tuple[LexborNode, bool]] = [(root, False)]
        while stack:
            node, leaving = stack.pop()
            name = node.tag or ""
            if leaving:
                self._leave(name, node)
            elif name == "-text":
                text = node.text() or ""
                self.text.append(text)
                if self.in_links:
                    self.linked += len(text.strip())
            elif not self._whole(node, name):
                self._enter(name, node)
                stack.append((node, True))
                stack.extend(
                    (child, False) for child in reversed(list(node.iter(include_text=True)))
                )
        self._flush()

    def _whole(self, node: LexborNode, name: str) -> bool:
        """Read an element without relevant inner blocks at once."""
        if name == "br":
            self.text.append(" ")
        elif name in _HEADINGS:
            self._flush()
            self._heading(node, name)
        elif name == "pre":
            self._flush()
            for line_break in node.css("br"):
                line_break.replace_with("\n")
            self._add(Code(node.text().strip("\n"), _language_of(node)))
        elif name == "table" and not _is_layout(node):
            self._flush()
            table = _table(node)
            if table.rows:
                self._caption(node)
                self._add(table, _share_of_links(node))
        elif name == "dt":
            self._flush()
            self._term(node)
        elif name == "a":
            return self._link(node)
        else:
            return False
        return True

    def _caption(self, table: LexborNode) -> None:
        """Read the caption of a table, which announces its rows."""
        caption = table.css_first("caption")
        said = one_line(caption.text()) if caption is not None else ""
        if said:
            self._add(Paragraph(said if said.endswith(_SENTENCE_END) else f"{said}:"))

    def _heading(self, node: LexborNode, name: str) -> None:
        text = one_line(node.text())
        id = node.attributes.get("id") or ""
        is_in_a_box = node.parent is not None and node.parent.tag != "body"
        if text.rstrip(":").lower() in NOTES and is_in_a_box and not id:
            self.prefix = f"{text.rstrip(':')}: "
        elif text:
            self._add(Heading(_HEADINGS[name], text, id))

    def _term(self, node: LexborNode) -> None:
        text = one_line(node.text()).rstrip(":")
        if not text:
            return
        within = node.css_first("[id]") if not node.attributes.get("id") else node
        id = (within.attributes.get("id") if within is not None else "") or ""
        before = self.found[-1] if self.found else None
        share = _share_of_links(node)
        if isinstance(before, Term) and share < A_LINK and len(before.text) < _MOST_NAMES:
            # several terms with one definition: an option and its short form
            self.found[-1] = Term(f"{before.text}, {text}", before.id or id, before.depth)
        else:
            self._add(Term(text, id, max(len(self.definitions), 1)), share)

    def _link(self, node: LexborNode) -> bool:
        """Return whether a link was read: a link target, or the number of a footnote."""
        attributes = node.attributes
        text = node.text()
        name = attributes.get("name") or ""
        is_target = name and not text.strip() and not _GENERATED.fullmatch(name)
        if is_target and not self.items and self._is_between_sentences():
            self._flush()
            self._add(Mark(name))
            return True
        href = attributes.get("href") or ""
        return href == _TOP or (href.startswith("#") and bool(_FOOTNOTE.fullmatch(text.strip())))

    def _is_between_sentences(self) -> bool:
        before = "".join(self.text).strip()
        return not before or before.endswith(_SENTENCE_END)

    def _enter(self, name: str, node: LexborNode) -> None:
        if name in _BLOCKS:
            self._flush()
        if name in {"ul", "ol"}:
            self.lists.append(_start_of(node))
        elif name == "li":
            self.items += 1
            self.mark = self._next_mark(node)
        elif name == "dl":
            self.definitions.append(len(self.found))
        elif name == "a":
            self.in_links += _is_link(node)

    def _next_mark(self, node: LexborNode) -> str:
        """Return the mark of the next item: its number in an ordered list."""
        last = self.lists[-1] if self.lists else None
        if last is None:
            return "-"
        value = node.attributes.get("value") or ""
        self.lists[-1] = number = int(value) if _NUMBER.fullmatch(value) else last + 1
        return f"{number}."

    def _leave(self, name: str, node: LexborNode) -> None:
        if name in _BLOCKS:
            self._flush()
        if name in {"ul", "ol"}:
            self.lists.pop()
        elif name == "li":
            self.items -= 1
        elif name == "dl":
            self._close_definitions(self.definitions.pop())
        elif name == "a" and "href" in node.attributes:
            self.in_links -= _is_link(node)
            self.text.append(address_of(node.attributes["href"] or "", node.text()))

    def _close_definitions(self, start: int) -> None:
        """Convert the short definitions of a finished list to items."""
        items = _as_items(self.found[start:], self.shares[start:])
        if items is not None:
            del self.found[start:], self.shares[start:]
            for item, share in items:
                self._add(item, share)
        elif self._has_fields(start):
            told = [*zip(self.found[start:], self.shares[start:], strict=True)]
            del self.found[start:], self.shares[start:]
            for block, share in told:
                self._add_field(block, share)
        else:
            self._add(End(len(self.definitions) + 1))

    def _has_fields(self, start: int) -> bool:
        terms = [block for block in self.found[start:] if isinstance(block, Term)]
        return bool(terms) and all(not term.id and term.text in self.fields for term in terms)

    def _add_field(self, block: Block, share: float) -> None:
        """Add a block of a field: its name opens the text that follows."""
        if isinstance(block, Term):
            self.prefix = f"{block.text}: "
        elif isinstance(block, Paragraph) and self.prefix:
            text, self.prefix = self.prefix + block.text, ""
            self._add(Paragraph(text), share)
        else:
            self._add(block, share)

    def _flush(self) -> None:
        text = one_line("".join(self.text))
        linked, self.linked = self.linked, 0
        self.text = []
        if not text:
            return
        begins_an_item = self.items and self.mark
        if text.rstrip(":").lower() in NOTES and not begins_an_item:
            self.prefix = f"{text.rstrip(':')}: "
            return
        share = min(linked / len(text), 1.0)
        text, self.prefix = self.prefix + text, ""
        if self.items:
            self._add(Item(text, max(len(self.lists), 1), self.mark), share)
            self.mark = ""
        else:
            self._add(Paragraph(text), share)

    def _add(self, block: Block, share: float = 0.0) -> None:
        if self.prefix:  # "Example:" before a block of code
            prefix, self.prefix = self.prefix.rstrip(), ""
            self._add(Paragraph(prefix))
        self.found.append(block)
        self.shares.append(share)


def _language_of(code: LexborNode) -> str:
    """Return the language that a code block names; that of Markdown is a class."""
    within = code.css_first('code[class^="language-"]')
    named = (within.attributes["class"] or "").removeprefix("language-") if within else ""
    return code.attributes.get("data-language") or named


def _start_of(node: LexborNode) -> int | None:
    """Return the number before the first item of a list; None for an unordered list."""
    if node.tag != "ol" or (node.attributes.get("type") or "1") != "1":
        return None
    start = node.attributes.get("start") or ""
    return int(start) - 1 if _NUMBER.fullmatch(start) else 0


def _as_items(found: list[Block], shares: list[float]) -> list[tuple[Item, float]] | None:
    """Return terms and definitions as lines; None if one is a link target or long."""
    items: list[tuple[Item, float]] = []
    for block, share in zip(found, shares, strict=True):
        if isinstance(block, Term) and not (block.id and any(map(str.isalpha, block.text))):
            items.append((Item(block.text), share))
        elif isinstance(block, Paragraph | Item) and items:
            term, before = items[-1]
            colon = "" if ": " in term.text else ":"
            told, said = len(term.text), len(block.text)
            linked = (told * before + said * share) / (told + said)
            items[-1] = Item(f"{term.text}{colon} {block.text}"), linked
        else:
            return None
        if len(items[-1][0].text) > LONG_DEFINITION:
            return None
    return items


def _is_said(block: Block) -> bool:
    """Return whether a block is a sentence. Sentences are rare on a page of links."""
    return isinstance(block, Paragraph | Item) and block.text.endswith(_SENTENCE_END)


def _is_link(node: LexborNode) -> bool:
    """Return whether a node leads to a page; a CSS selector would match what is in it, too."""
    href = node.attributes.get("href")
    return href is not None and not href.startswith(_ADDRESSES)


def _share_of_links(node: LexborNode) -> float:
    size = len(one_line(node.text()))
    return sum(len(one_line(link.text())) for link in node.css(_LINKS)) / size if size else 0.0


def _is_layout(table: LexborNode) -> bool:
    """Return whether a table is only layout."""
    if (table.attributes.get("role") or "") in _LAYOUT_ROLES:
        return True
    first = table.css_first("tr")
    large = _LARGE if first is not None and names_columns(first) else f"{_LARGE}, dl"
    # checked in the children: a selector also finds the node itself
    if any(part.css_first(large) is not None for part in table.iter()):
        return True
    if table.css_first("th") is not None:
        return False
    rows = table.css("tr")
    return len(rows) < 2 or all(len(row.css("td")) < 2 for row in rows)


def _table(node: LexborNode) -> Table:
    """Return a table with its cells in their columns: a cell over several rows is repeated."""
    header: tuple[str, ...] = ()
    rows: list[tuple[str, ...]] = []
    from_above: dict[int, tuple[str, int]] = {}
    for row in node.css("tr"):
        cells: list[str] = []
        for cell in row.css("th, td"):
            _fill_from_above(cells, from_above)
            text = _cell(cell)
            width = _span(cell, "colspan")
            if height := _span(cell, "rowspan") - 1:
                from_above[len(cells)] = (text, height)
            cells += [text, *[""] * (width - 1)]
        _fill_from_above(cells, from_above)
        if not cells:
            continue
        if not rows and (row.css_first("td") is None or (not header and names_columns(row))):
            header = header or tuple(cells)
        else:
            rows.append(tuple(cells))
    return Table(header, tuple(rows))


def _fill_from_above(cells: list[str], from_above: dict[int, tuple[str, int]]) -> None:
    while (above := from_above.pop(len(cells), None)) is not None:
        text, left = above
        if left > 1:
            from_above[len(cells)] = (text, left - 1)
        cells.append(text)


def _span(cell: LexborNode, name: str) -> int:
    said = cell.attributes.get(name) or ""
    return min(max(int(said), 1), _MAX_SPAN) if said.isascii() and said.isdigit() else 1


def _cell(cell: LexborNode) -> str:
    if cell.css_first("p, br, div, ul, ol, pre, blockquote") is None:
        return one_line(cell.text())
    reader = _Reader()
    reader.walk(cell)
    said = ""
    for block in reader.found:
        if isinstance(block, Paragraph | Item | Code):
            joint = "; " if said[-1:].isalnum() or said.endswith((")", "]")) else " "
            said = f"{said}{joint}{block.text}" if said else block.text
    return one_line(said + reader.prefix)
