"""Markdown as elements of a rich text block.

Text in a rich text block is never parsed: a mention or a link that a text spells out stays text.
That is why answers are sent as such blocks and not as ``mrkdwn`` (docs.slack.dev, "Rich text
block").
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

import msgspec

from aitp_desk.transports.wire.markup import parse_markdown

if TYPE_CHECKING:
    from markdown_it.token import Token

MOST_CHARACTERS = 12_000
"""The longest text that is parsed."""
MOST_JSON_CHARACTERS = 12_000
"""Slack refuses a message's blocks at about 13,000 characters; what is longer becomes plain."""
MOST_INDENT = 8
MOST_URL_CHARACTERS = 3000
MOST_COLUMNS = 100
"""The width up to which a table is aligned."""

Element: TypeAlias = dict[str, Any]

_MARKS = {"strong": "bold", "em": "italic", "s": "strike"}
_URL = re.compile(r"https?://[^\s<>\"]{1,2000}")
_URL_END = ".,;:!?)]}'*_~"


def rich_text(markdown: str) -> list[Element]:
    """Return a Markdown text as elements of one rich text block."""
    markdown = markdown[:MOST_CHARACTERS].replace("\0", "")
    elements = _Writer().write(parse_markdown(markdown))
    if len(msgspec.json.encode(elements)) <= MOST_JSON_CHARACTERS:
        return elements
    return plain_section(plain(elements))


def plain_section(text: str) -> list[Element]:
    """Return a text without formatting."""
    return [_section([_text(text, {})])] if text else []


def plain(elements: Iterable[Element]) -> str:
    """Return the words of elements, a line a paragraph or item."""
    lines: list[str] = []
    for element in elements:
        if element["type"] == "rich_text_list":
            lines += [f"• {_words(item)}" for item in element["elements"]]
        else:
            lines.append(_words(element))
    return "\n".join(lines)


def link(url: str, label: str) -> Element:
    """Return a link, or its text if Slack does not take the address."""
    if not _is_link(url):
        return _text(label or url, {})
    return {"type": "link", "url": url, "text": label or url}


def _words(element: Element) -> str:
    return "".join(str(one.get("text", "")) for one in element["elements"])


class _List:
    """An open list.

    Parameters:
        start: number of its first item; 0 for bullets.
    """

    def __init__(self, start: int, depth: int) -> None:
        self.start = start
        self.depth = depth
        self.items = 0

    def begin(self) -> Element:
        """Return its next part; what is nested divides it into several."""
        part: Element = {"type": "rich_text_list", "style": "bullet", "elements": []}
        if self.start:
            part["style"] = "ordered"
            if offset := self.start - 1 + self.items:
                part["offset"] = offset
        if self.depth:
            part["indent"] = min(self.depth, MOST_INDENT)
        return part


class _Writer:
    """Traverses the flat list of tokens once."""

    def __init__(self) -> None:
        self.done: list[Element] = []
        self.line: list[Element] = []
        self.gap = ""
        self.quotes = 0
        self.lists: list[_List] = []
        self.part: tuple[_List, Element] | None = None
        """The list part to which items are added."""
        self.rows: list[list[str]] | None = None
        self.is_heading = False

    def write(self, tokens: Iterable[Token]) -> list[Element]:
        for token in tokens:
            self._read(token)
        self._end()
        return self.done

    def _read(self, token: Token) -> None:
        match token.type:
            case "heading_open":
                self.gap, self.is_heading = "\n\n", True
            case "heading_close":
                self.gap, self.is_heading = "\n", False
            case "paragraph_open" if self.gap != "\n":
                self.gap = "\n" if self.lists else "\n\n"
            case "blockquote_open" | "blockquote_close":
                self._end()
                self.quotes += 1 if token.type == "blockquote_open" else -1
            case "bullet_list_open" | "ordered_list_open":
                self._end()
                start = int(token.attrGet("start") or 1) if token.type[0] == "o" else 0
                self.lists.append(_List(start, len(self.lists)))
            case "bullet_list_close" | "ordered_list_close":
                self._end()
                self.lists.pop()
            case "list_item_open" | "list_item_close":
                self._end()
            case _:
                self._read_leaf(token)

    def _read_leaf(self, token: Token) -> None:
        match token.type:
            case "fence" | "code_block":
                self._end()
                self._preformatted(token.content.rstrip("\n"))
            case "hr":
                self._add([_text("———", {})])
            case "table_open":
                self._end()
                self.rows = []
            case "table_close":
                self._preformatted(_grid(self.rows or []))
                self.rows = None
            case "tr_open" if self.rows is not None:
                self.rows.append([])
            case "inline":
                self._inline(token)
            case _:
                pass

    def _inline(self, token: Token) -> None:
        styles = {"bold": True} if self.is_heading else {}
        found = list(_inline(token.children or (), styles))
        if self.rows:
            self.rows[-1].append("".join(str(one["text"]) for one in found).replace("\n", " "))
        else:
            self._add(found)

    def _add(self, found: list[Element]) -> None:
        if not found:
            return
        if self.line:
            self.line.append(_text(self.gap or "\n\n", {}))
        self.line += found
        self.gap = ""

    def _end(self) -> None:
        """Add what is written so far to what the innermost list or quotation holds."""
        line, self.line, self.gap = _joined(self.line), [], ""
        if not line:
            return
        if self.lists:
            here = self.lists[-1]
            if self.part is None or self.part[0] is not here or self.done[-1] is not self.part[1]:
                self.part = here, here.begin()
                self.done.append(self.part[1])
            self.part[1]["elements"].append(_section(line))
            here.items += 1
        elif self.quotes:
            self.done.append({"type": "rich_text_quote", "elements": line})
        else:
            self.done.append(_section(line))

    def _preformatted(self, text: str) -> None:
        if text:
            self.done.append({"type": "rich_text_preformatted", "elements": [_text(text, {})]})


def _inline(tokens: Iterable[Token], base: Mapping[str, bool]) -> Iterator[Element]:
    """Yield the tokens of a line as elements. Marks may be nested as deep as the text is long."""
    open_marks: Counter[str] = Counter()
    styles = dict(base)
    url, label = "", None
    for token in tokens:
        name, _, edge = token.type.rpartition("_")
        if mark := _MARKS.get(name):
            open_marks[mark] += 1 if edge == "open" else -1
            styles = {**base, **{one: True for one, count in open_marks.items() if count}}
        elif token.type == "link_open":
            url, label = str(token.attrGet("href") or ""), ""
        elif token.type == "link_close":
            yield _styled(link(url, label or ""), styles)
            label = None
        elif token.type == "image":
            alt = "".join(one.content for one in token.children or ())
            if label is None:
                yield _styled(link(str(token.attrGet("src") or ""), alt), styles)
            else:
                label += alt
        else:
            content = "\n" if name == "" and edge.endswith("break") else token.content
            if label is not None:
                label += content
            elif token.type == "code_inline":
                yield from _texts(content, {**styles, "code": True})
            elif token.type == "text":
                yield from _linked(content, styles)
            else:
                yield from _texts(content, styles)


def _linked(text: str, styles: Mapping[str, bool]) -> Iterator[Element]:
    """Yield a text with its addresses as links: Slack makes none in rich text."""
    end = 0
    for found in _URL.finditer(text):
        url = found[0].rstrip(_URL_END)
        if not _is_link(url):
            continue
        yield from _texts(text[end : found.start()], styles)
        yield _styled(link(url, url), styles)
        end = found.start() + len(url)
    yield from _texts(text[end:], styles)


def _texts(text: str, styles: Mapping[str, bool]) -> Iterator[Element]:
    if text:
        yield _text(text, styles)


def _styled(element: Element, styles: Mapping[str, bool]) -> Element:
    return {**element, "style": dict(styles)} if styles else element


def _text(text: str, styles: Mapping[str, bool]) -> Element:
    return _styled({"type": "text", "text": text}, styles)


def _section(elements: list[Element]) -> Element:
    return {"type": "rich_text_section", "elements": elements}


def _joined(elements: list[Element]) -> list[Element]:
    """Join neighbouring texts of the same style."""
    found: list[Element] = []
    for one in elements:
        before = found[-1] if found else None
        if (
            before is not None
            and before["type"] == one["type"] == "text"
            and before.get("style") == one.get("style")
        ):
            found[-1] = {**before, "text": before["text"] + one["text"]}
        else:
            found.append(one)
    return found


def _grid(rows: list[list[str]]) -> str:
    """Return rows as columns of fixed width; wide tables as cells after each other."""
    columns = max(map(len, rows), default=0)
    widths = [
        max((len(row[at]) for row in rows if at < len(row)), default=0) for at in range(columns)
    ]
    if sum(widths) > MOST_COLUMNS:
        return "\n".join(" | ".join(row) for row in rows)
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip()
        for row in rows
    )


def _is_link(url: str) -> bool:
    if not url.isprintable() or " " in url or len(url) > MOST_URL_CHARACTERS:
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    if parts.scheme == "mailto":
        return bool(parts.path)
    return parts.scheme in {"http", "https"} and bool(parts.netloc)
