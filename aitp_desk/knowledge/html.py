"""The main content of HTML pages: without menus, scripts and what is hidden."""

from __future__ import annotations

import msgspec
import nh3
from selectolax.lexbor import LexborHTMLParser, LexborNode

from aitp_desk.knowledge.blocks import Block, Code, Heading, Item, Paragraph, Table, plain

_NOISE = (
    "script, style, noscript, template, svg, iframe, object, form, dialog, nav, "
    '[hidden], [aria-hidden="true"], [style*="display:none"], [style*="display: none"], .ahp-notice'
)
_FRAME = "header, footer, aside"
_MAIN = ("main", '[role="main"]', "article")
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = {
    "p", "div", "section", "article", "main", "blockquote", "figure", "figcaption", "dl", "dt",
    "dd", "ul", "ol", "li", "table", "pre", "hr", "details", "summary", "header", "address",
    "center", "footer", "aside", "hgroup",
    *_HEADINGS,
}  # fmt: skip


_WITH_IDS = {**nh3.ALLOWED_ATTRIBUTES, **{name: {"id"} for name in _HEADINGS}}


class Page(msgspec.Struct, frozen=True):
    """What was read from an HTML page; ``body`` is safe to place into another page."""

    title: str
    description: str
    body: str


def read_html(text: str, *, with_ids: bool = False) -> Page:
    """Find a page's title, its meta description and its main content.

    The body holds no script, no style, no event handler and no dangerous link.

    Parameters:
        with_ids: keep the ids by which links lead to a heading; they become the heading's own.
    """
    tree = LexborHTMLParser(text)
    described = tree.css_first('meta[name="description"]')
    titled = tree.css_first("title")
    for node in tree.css(_NOISE):
        node.decompose()
    named_main = (tree.css_first(name) for name in _MAIN)
    main = next((node for node in named_main if node is not None), None)
    if main is None:
        for node in tree.css(_FRAME):
            node.decompose()
        main = tree.body
    if with_ids and main:
        _give_ids(main)
    heading = main.css_first("h1") if main else None
    named = heading or titled
    return Page(
        title=plain(named.text()) if named else "",
        description=plain(described.attributes.get("content") or "") if described else "",
        body=nh3.clean(main.html or "", attributes=_WITH_IDS if with_ids else None).strip()
        if main
        else "",
    )


def html_blocks(html: str) -> list[Block]:
    """The blocks of a piece of HTML, in order."""
    body = LexborHTMLParser(html).body
    if body is None:
        return []
    for node in body.css(_NOISE):
        node.decompose()
    reader = _Reader()
    reader.walk(body)
    return reader.found


class _Reader:
    """Walks the tree with a stack of its own: a page may nest deeper than Python may recurse."""

    def __init__(self) -> None:
        self.found: list[Block] = []
        self.text: list[str] = []
        self.lists = 0
        self.items = 0

    def walk(self, root: LexborNode) -> None:
        stack: list[tuple[LexborNode, bool]] = [(root, False)]
        while stack:
            node, leaving = stack.pop()
            name = node.tag or ""
            if leaving:
                self._leave(name)
            elif name == "-text":
                self.text.append(node.text() or "")
            elif not self._whole(node, name):
                self._enter(name)
                stack.append((node, True))
                stack.extend(
                    (child, False) for child in reversed(list(node.iter(include_text=True)))
                )
        self._flush()

    def _whole(self, node: LexborNode, name: str) -> bool:
        """Read at once what has no blocks inside that matter."""
        if name == "br":
            self.text.append(" ")
        elif name in _HEADINGS:
            self._flush()
            text = plain(node.text())
            if text:
                self.found.append(Heading(_HEADINGS[name], text, node.attributes.get("id") or ""))
        elif name == "pre":
            self._flush()
            self.found.append(Code(node.text().strip("\n")))
        elif name == "table":
            self._flush()
            self.found.extend(_table(node))
        else:
            return False
        return True

    def _enter(self, name: str) -> None:
        if name in _BLOCKS:
            self._flush()
        if name in {"ul", "ol"}:
            self.lists += 1
        elif name == "li":
            self.items += 1

    def _leave(self, name: str) -> None:
        if name in _BLOCKS:
            self._flush()
        if name in {"ul", "ol"}:
            self.lists -= 1
        elif name == "li":
            self.items -= 1

    def _flush(self) -> None:
        text = plain("".join(self.text))
        self.text = []
        if not text:
            return
        if self.items:
            self.found.append(Item(text, max(self.lists, 1)))
        else:
            self.found.append(Paragraph(text))


def _give_ids(main: LexborNode) -> None:
    """Give each heading the id that leads to it: its own, one within it, or its section's."""
    for heading in main.css(", ".join(_HEADINGS)):
        within = heading.css_first("[id]")
        parent = heading.parent
        opens = parent is not None and parent.mem_id != main.mem_id and _opens(heading, parent)
        named = (heading, within, parent if opens else None)
        ids = (node.attributes.get("id") for node in named if node is not None)
        heading.attrs["id"] = next((id for id in ids if id), "")


def _opens(heading: LexborNode, parent: LexborNode) -> bool:
    first = next(parent.iter(), None)
    return first is not None and first.mem_id == heading.mem_id


def _table(node: LexborNode) -> list[Block]:
    header: tuple[str, ...] = ()
    rows: list[tuple[str, ...]] = []
    for row in node.css("tr"):
        cells = tuple(plain(cell.text(separator=" ")) for cell in row.css("th, td"))
        if not rows and not header and not row.css("td"):
            header = cells
        elif cells:
            rows.append(cells)
    return [Table(header, tuple(rows))] if rows else []
