"""Turns the HTML of a message into text.

It is read by a scanner over tags, not into a tree: what a tree must repeat to follow the rules for
wrongly nested elements is up to 250 times the source (`<p><b a=1><b a=2>…</p>`, then `<p>`
repeated), and a stranger chooses the source. The time is proportional to the source; what a reader
does not see is left out.

Source: WHATWG HTML, sections 13.2.5 and 15.3 (parsing and rendering).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from html import unescape
from typing import ClassVar

_TAG = re.compile(
    r"<(?:!--.*?(?:--!?>|\Z)"
    r"|(?P<raw>script|style|title|textarea|template|svg|math|xml)\b[^>]*>.*?(?:</(?P=raw)\b|\Z)"
    r"|[!?][^>]*>?"
    r"|(?P<end>/?)(?P<name>[a-z][^\s/>]*+)"
    r"(?P<attributes>(?:[^>=]++|=\s*+\"[^\"]*+(?:\"|\Z)|=\s*+'[^']*+(?:'|\Z)|=)*+)>?)",
    re.DOTALL | re.IGNORECASE,
)
_ATTRIBUTE = re.compile(
    r"(?<![\w-])([a-z-]++)\s*+(?:=\s*+(?:\"([^\"]*+)\"?|'([^']*+)'?|([^\s\"'>]++)))",
    re.IGNORECASE,
)
_ATTRIBUTES_LENGTH = 2000
_MOST_TAGS = 10_000
_MOST_LEVELS = 200
_MOST_MARKS = 100

_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
_BLOCKS = frozenset(
    "address article aside blockquote body center dd details dir div dl dt fieldset figcaption "
    "figure footer form h1 h2 h3 h4 h5 h6 header html li main nav ol p pre section summary table "
    "tbody td tfoot th thead tr ul".split()
)
_SPACED = frozenset("p ul ol dl h1 h2 h3 h4 h5 h6 pre blockquote figure".split())
"""Blocks with an empty line around them."""
_LISTS = frozenset({"ol", "ul"})
_CELLS = frozenset({"td", "th"})
_SCOPES = _CELLS | {"table", "html"}
"""An end tag within closes nothing outside."""
_CLOSED_BY: Mapping[str, frozenset[str]] = {
    "li": frozenset({"li", "p"}),
    "dd": frozenset({"dd", "dt", "p"}),
    "dt": frozenset({"dd", "dt", "p"}),
    "td": frozenset({"td", "th", "p"}),
    "th": frozenset({"td", "th", "p"}),
    "tr": frozenset({"td", "th", "tr", "p"}),
}
_P = frozenset({"p"})

_SPACE = re.compile(r"[ \t\r\n\f]+")
_HIDDEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all"
    r"|font-size\s*:\s*0(?:px|pt|em|%)?\s*(?:;|!|$)|(?<!-)opacity\s*:\s*0(?:\.0+)?\s*(?:;|!|$)"
    r"|max-height\s*:\s*0(?:px)?\s*(?:;|!|$)",
    re.IGNORECASE,
)
_NO_MARGIN = re.compile(r"margin(?:-bottom)?\s*:\s*0", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]{1,6}")
_LONGEST_LINK = 300


class _Element:
    """An open element: what its end does."""

    __slots__ = ("is_hidden", "is_marked", "is_quotation", "name", "number", "opened")

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_hidden = False
        self.is_marked = False
        self.is_quotation = False
        self.opened = 0
        """Marks without an end of theirs; they end with this element, which holds them."""
        self.number = 0
        """Of the next item of a list; 0 for one without numbers."""

    def next_item(self) -> str:
        """Return what begins an item of this list."""
        if not self.number:
            return "- "
        self.number += 1
        return f"{self.number - 1}. "


class HtmlReader:
    """Writes lines while tags and texts come.

    Lines of a quotation begin with ``>`` for each level. Subclasses say what a platform's own
    elements mean.
    """

    end_mark: ClassVar[str] = ""
    """The line that ends what a mark has begun."""
    shows_code: ClassVar[bool] = False
    """Whether code gets the marks of Markdown."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._line: list[str] = []
        self._quotes = 0
        self._quotes_above = 0
        self._hidden = 0
        self._pre = 0
        self._marks = 0
        self._stack: list[_Element] = [_Element("html")]
        self._open: list[Counter[str]] = [Counter()]
        self._ignored: Counter[str] = Counter()
        self._wants_blank = False
        self._item = ""
        self._link = ""
        self._link_at = 0

    def read(self, html: str, most: int) -> tuple[str, bool]:
        """Return the visible text, and whether it was cut.

        Parameters:
            most: characters of the source that are read.
        """
        is_cut = self._read(html[:most])
        return self._finish(), is_cut or len(html) > most

    def find_mark(self, attributes: Mapping[str, str]) -> tuple[str, bool]:  # noqa: ARG002
        """Return an element's mark, and whether it covers what follows the element."""
        return "", False

    def is_quotation(self, name: str, attributes: Mapping[str, str]) -> bool:  # noqa: ARG002
        """Return whether an element is quoted text."""
        return name == "blockquote"

    def is_hidden(self, name: str, attributes: Mapping[str, str]) -> bool:  # noqa: ARG002
        """Return whether a reader does not see an element."""
        style = attributes.get("style", "")
        return bool(style and _HIDDEN.search(style))

    def is_named(self, href: str) -> bool:
        """Return whether the text says where a link leads, if its words do not."""
        return len(href) <= _LONGEST_LINK

    def show_image(self, alt: str) -> str:
        """Return the text that a picture stands for."""
        return alt

    def _read(self, html: str) -> bool:
        """Read a source; return whether it has more tags than are read."""
        at = 0
        for number, tag in enumerate(_TAG.finditer(html)):
            if tag.start() > at:
                self._add(html[at : tag.start()])
            at = tag.end()
            if number >= _MOST_TAGS:
                return True
            name = tag["name"]
            if name is None:
                if tag["raw"] and html[at - 1 : at] != ">":
                    at = html.find(">", at) + 1 or len(html)
                continue
            if tag["end"]:
                self._end(name.lower())
            else:
                self._start(name.lower(), tag["attributes"])
        self._add(html[at:])
        return False

    def _finish(self) -> str:
        while self._stack:
            self._close(self._stack.pop())
        self._break()
        return "\n".join(self._lines)

    def _add(self, source: str) -> None:
        if self._hidden or not source:
            return
        text = source
        if "&" in text:
            try:
                text = unescape(text)
            except ValueError:  # a number of thousands of digits
                text = source
        if self._pre:
            first, *others = text.replace("\r", "").split("\n")
            self._line.append(first)
            for other in others:
                self._break(keep_empty=True)
                self._line.append(other)
            return
        text = _SPACE.sub(" ", text)
        if not self._line or self._line[-1].endswith(" "):
            text = text.removeprefix(" ")
        if text:
            self._line.append(text)

    def _break(self, *, keep_empty: bool = False) -> None:
        """End the line; an empty one only counts if it is meant."""
        source = "".join(self._line)
        text = source.replace("\xa0", " ").rstrip()
        self._line.clear()
        self._link_at = 0
        if not text and not keep_empty and "\xa0" not in source:
            return
        prefix = ">" * self._quotes
        if self._wants_blank and self._lines and text:
            self._lines.append(">" * min(self._quotes, self._quotes_above))
        self._quotes_above = self._quotes
        self._wants_blank = False
        self._lines.append(f"{prefix} {text}" if prefix and text else prefix or text)

    def _mark(self, mark: str) -> None:
        self._break()
        self._lines.append(mark)
        self._wants_blank = False

    def _start(self, name: str, source: str) -> None:
        attributes = _read_attributes(source)
        if name == "br":
            self._break(keep_empty=True)
            return
        if name == "img":
            self._add_image(attributes)
            return
        if name == "a":
            self._end_link()
            href = attributes.get("href", "")
            self._link = href if href.lower().startswith(("http://", "https://")) else ""
            self._link_at = len(self._line)
        is_block = name in _BLOCKS
        if name == "hr":
            self._break()
            self._wants_blank = True
        if is_block:
            self._imply_ends(name)
            self._break_for(name, attributes)
        self._open_element(name, attributes, is_block=is_block)
        if name == "li":
            self._item = self._stack[-2].next_item() if len(self._stack) > 1 else "- "
            self._line.append(self._item)
        elif name == "pre" or (name == "code" and not self._pre):
            self._mark_code(name)

    def _mark_code(self, name: str) -> None:
        if not self.shows_code or self._hidden:
            return
        if name == "code":
            self._line.append("`")
            return
        self._break()
        self._line.append("```")
        self._break()

    def _imply_ends(self, name: str) -> None:
        closed = _CLOSED_BY.get(name, _P)
        while self._stack[-1].name in closed and not self._stack[-1].opened:
            self._pop()

    def _break_for(self, name: str, attributes: Mapping[str, str]) -> None:
        if name in _CELLS and self._line:
            self._line.append("  ")
            return
        if self._line == [self._item]:  # the paragraph of an item
            return
        self._break()
        if name in _SPACED and not self._is_within_item(name):
            self._wants_blank = name != "p" or not _has_no_margin(attributes)

    def _is_within_item(self, name: str) -> bool:
        """Return whether a list is a part of another's item."""
        return name in _LISTS and self._open[-1]["li"] > 0

    def _open_element(self, name: str, attributes: Mapping[str, str], *, is_block: bool) -> None:
        element = _Element(name)
        element.is_hidden = name not in _VOID and self.is_hidden(name, attributes)
        mark, is_open = self.find_mark(attributes)
        element.is_quotation = self.is_quotation(name, attributes)
        if name == "ol":
            start = attributes.get("start", "")
            element.number = int(start) if _NUMBER.fullmatch(start) else 1
        if not (is_block or element.is_hidden or mark):
            return
        if mark and not self._hidden and self._marks < _MOST_MARKS:
            self._marks += 1
            self._mark(mark)
            if is_open or name in _VOID:
                self._holder.opened += 1
            else:
                element.is_marked = True
        if name in _VOID:
            return
        if len(self._stack) >= _MOST_LEVELS:
            self._ignored[name] += 1
            if element.is_marked:
                self._stack[-1].opened += 1
            return
        self._quotes += element.is_quotation
        self._hidden += element.is_hidden
        self._pre += name == "pre"
        self._open[-1][name] += 1
        self._stack.append(element)
        if name in _SCOPES:
            self._open.append(Counter())

    @property
    def _holder(self) -> _Element:
        """The element at whose end an open mark ends: a cell, a quotation or the mail."""
        return next(
            element
            for element in reversed(self._stack)
            if element.is_quotation or element.name in _SCOPES
        )

    def _end(self, name: str) -> None:
        if name == "a":
            self._end_link()
        if name == "code" and not self._pre:
            self._mark_code(name)
        if name in {"br", "p"} and not self._is_open(name):
            self._break(keep_empty=True)
            return
        if self._ignored[name]:
            self._ignored[name] -= 1
            self._break()
            return
        if not self._is_open(name):
            return
        while len(self._stack) > 1:
            if self._pop() == name:
                return

    def _is_open(self, name: str) -> bool:
        """Return whether an end tag closes an element: one within its cell, or the cell."""
        if name in _SCOPES or name in {"tr", "tbody", "thead", "tfoot"}:
            return any(opened[name] for opened in self._open[-4:])
        return self._open[-1][name] > 0

    def _pop(self) -> str:
        element = self._stack.pop()
        if element.name in _SCOPES and len(self._open) > 1:
            self._open.pop()
        self._open[-1][element.name] -= 1
        self._close(element)
        return element.name

    def _close(self, element: _Element) -> None:
        if element.name in _BLOCKS and not (element.name in _CELLS and self._line):
            self._break()
        for _ in range(element.opened + element.is_marked):
            self._mark(self.end_mark)
        self._quotes -= element.is_quotation
        self._hidden -= element.is_hidden
        self._pre -= element.name == "pre"
        if element.name == "pre":
            self._mark_code("pre")
        if (
            element.name in _SPACED
            and self._lines
            and not element.is_marked
            and not self._is_within_item(element.name)
        ):
            self._wants_blank = self._wants_blank or element.name != "p"

    def _add_image(self, attributes: Mapping[str, str]) -> None:
        if not self._hidden and (shown := self.show_image(unescape(attributes.get("alt", "")))):
            self._line.append(shown)

    def _end_link(self) -> None:
        href, self._link = self._link, ""
        if not href or self._hidden or self._quotes or not self.is_named(href):
            return
        shown = "".join(self._line[self._link_at :]).strip()
        href = unescape(href)
        plain = href.split("://", 1)[1].rstrip("/").removeprefix("www.")
        if shown and plain.lower() not in shown.lower() and href.isprintable() and " " not in href:
            self._line.append(f" <{href}>")


def _read_attributes(source: str) -> dict[str, str]:
    if "=" not in source:
        return {}
    return {
        name.lower(): double or single or bare
        for name, double, single, bare in _ATTRIBUTE.findall(source[:_ATTRIBUTES_LENGTH])
    }


def _has_no_margin(attributes: Mapping[str, str]) -> bool:
    return "Mso" in attributes.get("class", "") or bool(
        _NO_MARGIN.search(attributes.get("style", ""))
    )
