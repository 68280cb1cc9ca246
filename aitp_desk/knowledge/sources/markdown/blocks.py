"""Converts Markdown (CommonMark and tables) to blocks of plain text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from aitp_desk.knowledge.documents.addresses import address_of
from aitp_desk.knowledge.documents.blocks import Block, Code, Heading, Item, Paragraph, Table, plain
from aitp_desk.knowledge.sources.html.blocks import html_blocks
from aitp_desk.knowledge.sources.html.cross_references import mark_references

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_HEADING_LINE = re.compile(r"^ {0,3}#{1,6}\s+\S", re.MULTILINE)


def markdown_blocks(body: str) -> list[Block]:
    """Return the blocks of a Markdown text, in order."""
    return _Reader(_parser().parse(body)).blocks()


def first_heading(body: str) -> str:
    """Return the text of the first heading, or the empty string."""
    if not _HEADING_LINE.search(body) and "\n=" not in body and "\n-" not in body:
        return ""
    tokens = _parser().parse(body)
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            return inline_text(inline)
    return ""


def markdown_html(body: str) -> str:
    """Return a Markdown text as HTML."""
    return str(_parser().render(body))


@cache
def _parser() -> MarkdownIt:
    """Return the parser; created late, because a desk with a valid index starts without it."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


def inline_text(inline: Token) -> str:
    """Return an inline token as plain text: no marks, links as their text, no images."""
    return plain("".join(_pieces(inline.children or ())))


def _pieces(children: Iterable[Token]) -> Iterable[str]:
    href, told = "", ""
    for child in children:
        if child.type in {"text", "code_inline"}:
            told += child.content
            yield child.content
        elif child.type == "link_open":
            href, told = str(child.attrs.get("href") or ""), ""
        elif child.type == "link_close":
            yield address_of(href, told)
        elif child.type in {"softbreak", "hardbreak"} or (
            child.type == "html_inline" and child.content.lower().startswith("<br")
        ):
            yield " "


def _linked(inline: Token) -> int:
    """Return the length of the text of an inline token's links."""
    depth = length = 0
    for child in inline.children or ():
        depth += child.nesting if child.type.startswith("link_") else 0
        length += len(child.content) if depth else 0
    return length


class _Reader:
    """Traverses the flat list of tokens once."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.found: list[Block] = []
        self.depth = 0
        self.item: list[str] = []
        self.linked = 0
        """The length of the links of the item."""
        self.links: dict[int, float] = {}
        """The share of link text of the blocks that have links, by their places."""
        self.marks: list[str] = []
        """The mark of the next item of each open list."""

    def blocks(self) -> list[Block]:
        at = 0
        while at < len(self.tokens):
            at = self._read(at)
        if not self.links:
            return self.found
        shares = [self.links.get(place, 0.0) for place in range(len(self.found))]
        marked = zip(self.found, mark_references(self.found, shares), strict=True)
        return [block for block, refers in marked if not refers]

    def _read(self, at: int) -> int:
        """Read the block at a token; return where the next begins."""
        token = self.tokens[at]
        if token.type == "table_open":
            return self._table(at)
        if token.type == "heading_open":
            self.found.append(Heading(int(token.tag[1]), inline_text(self.tokens[at + 1])))
            return at + 3
        if token.type in {"bullet_list_open", "ordered_list_open"}:
            self._end_item()
            self.depth += 1
            self.marks.append("-")
        elif token.type in {"bullet_list_close", "ordered_list_close"}:
            self.depth -= 1
            self.marks.pop()
        elif token.type in {"list_item_open", "list_item_close"}:
            self._end_item()
            if token.type == "list_item_open":
                self.marks[-1] = f"{token.info}." if token.info else "-"
        elif token.type == "inline":
            self._text(inline_text(token), _linked(token))
        elif token.type in {"fence", "code_block"}:
            self._end_item()
            language = token.info.split()[0] if token.info.split() else ""
            self.found.append(Code(token.content.rstrip("\n"), language))
        elif token.type == "html_block":
            self._end_item()
            self.found.extend(html_blocks(token.content))
        return at + 1

    def _text(self, text: str, linked: int) -> None:
        if not text:
            return
        if self.depth:
            self.item.append(text)
            self.linked += linked
        else:
            self._add(Paragraph(text), linked)

    def _add(self, block: Paragraph | Item, linked: int) -> None:
        if linked:
            self.links[len(self.found)] = linked / len(block.text)
        self.found.append(block)

    def _end_item(self) -> None:
        if self.item:
            mark = self.marks[-1] if self.marks else "-"
            self._add(Item(" ".join(self.item), max(self.depth, 1), mark), self.linked)
            self.linked = 0
            if mark != "-":
                self.marks[-1] = ""
            self.item = []

    def _table(self, at: int) -> int:
        rows: list[list[str]] = []
        header: list[str] = []
        while self.tokens[at].type != "table_close":
            token = self.tokens[at]
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "inline":
                rows[-1].append(inline_text(token))
            elif token.type == "thead_close":
                header = rows.pop()
            at += 1
        self.found.append(Table(tuple(header), tuple(tuple(row) for row in rows)))
        return at + 1
