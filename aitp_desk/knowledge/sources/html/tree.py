"""Makes, finds and removes elements of an HTML page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from html import escape

from selectolax.lexbor import LexborHTMLParser, LexborNode

from aitp_desk.model.text import one_line

_OFTEN = 3
"""A term that a page has this many times is no name: "Default value"."""
_XHTML = re.compile(r"<\?xml\b|\bxmlns=[\"']http://www\.w3\.org/1999/xhtml[\"']")
_OPENING = 2000
"""A page says within so many characters that it is XHTML."""
_VOID = "area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr"
_EMPTY = re.compile(rf"<(?!(?:{_VOID})\b)([a-zA-Z][\w:-]*)([^<>]*)/>")


def parse_page(text: str) -> LexborHTMLParser:
    """Parse a page of HTML or XHTML.

    In XHTML ``<a id="prices"/>`` is complete. HTML knows no such elements: all that follows would
    be in it.
    """
    if _XHTML.search(text[:_OPENING]):
        text = _EMPTY.sub(r"<\1\2></\1>", text)
    return LexborHTMLParser(text)


def make_element(tag: str, content: str, *, id: str = "") -> LexborNode:
    """Return a new element, to be put into a tree.

    Parameters:
        content: HTML.
    """
    named = f' id="{escape(id)}"' if id else ""
    return LexborHTMLParser(f"<{tag}{named}>{content}</{tag}>").css(tag)[0]


def remove_node(node: LexborNode) -> None:
    """Remove a node from its tree; nodes within it may still be held and removed as well."""
    # decompose() would free the nodes within, which a list of nodes may hold too
    node.replace_with("")


def is_within(node: LexborNode, tags: Collection[str]) -> bool:
    """Return whether a node is one of these elements, or in one."""
    above: LexborNode | None = node
    while above is not None and above.tag not in tags:
        above = above.parent
    return above is not None


def find_fields(root: LexborNode) -> frozenset[str]:
    """Return the terms that name a field of many things, without a colon.

    They are in definition lists, repeat on the page, and have no id.
    """
    terms = [one_line(term.text()).rstrip(":") for term in root.css("dt:not([id], :has([id]))")]
    return frozenset(term for term, count in Counter(terms).items() if count >= _OFTEN)


def is_column_name(cell: LexborNode | None) -> bool:
    """Return whether a cell names its column."""
    row = cell.parent if cell is not None and cell.tag in {"td", "th"} else None
    return row is not None and names_columns(row)


def names_columns(row: LexborNode) -> bool:
    """Return whether a row is the first of its table and wholly bold."""
    cells = row.css("td, th")
    return len(cells) > 1 and _is_first(row) and all(map(_is_bold, cells))


def _is_first(row: LexborNode) -> bool:
    above: LexborNode | None = row
    while above is not None and above.tag != "table":
        above = above.parent
    first = above.css_first("tr") if above is not None else None
    return first is not None and first.mem_id == row.mem_id


def _is_bold(cell: LexborNode) -> bool:
    bold = cell.css_first("b, strong")
    return bold is not None and one_line(bold.text()) == one_line(cell.text()) != ""
