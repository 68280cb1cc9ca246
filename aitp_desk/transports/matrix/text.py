"""Translates between Markdown and the HTML of Matrix messages.

Source: Matrix specification 1.16, client-server API, "m.room.message msgtypes".
"""

from __future__ import annotations

import re
from functools import cache
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import unquote

import nh3
from selectolax.lexbor import LexborHTMLParser, LexborNode

from aitp_desk.knowledge.sources.html.depth import flatten

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

MOST_HTML = 32 * 1024
"""Longest HTML that is read; of a longer message the plain text counts."""
MOST_MARKDOWN = 64 * 1024

_CLEANER = nh3.Cleaner(
    tags={
        *("del", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "p", "a", "ul", "ol", "li"),
        *("b", "i", "strong", "em", "s", "code", "hr", "br", "div", "table", "thead", "tbody"),
        *("tr", "th", "td", "pre"),
    },
    attributes={"a": {"href"}, "ol": {"start"}, "code": {"class"}},
    url_schemes={"https", "http", "mailto"},
    url_relative="deny",  # in a room they lead nowhere
    link_rel=None,
)
_PICTURE = re.compile(r'<img src="([^"]*)" alt="([^"]*)"[^>]*>')
_MENTION = re.compile(r"""href=["']https://matrix\.to/#/((?:@|%40)[^"'?/\s<>]{1,300})["'?]""")
_MATRIX_LINK = "https://matrix.to/#/"
_BLOCKS = frozenset(
    "address article blockquote details div dl dt dd figure footer h1 h2 h3 h4 h5 h6 header hr li"
    " ol p pre section summary table tr ul".split()
)
_APART = frozenset("blockquote h1 h2 h3 h4 h5 h6 ol p pre table ul".split())
_OMITTED = frozenset("head mx-reply noscript script style template title".split())
_SPACES = re.compile(r"[ \t\r\n\f]+")
_EMPTY_LINES = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")
_LINE_ENDS = re.compile(r"[ \t]+\n")


def write_html(markdown: str) -> str:
    """Render Markdown as HTML that Matrix allows; HTML in it is shown as text."""
    html = _parser().render(markdown[:MOST_MARKDOWN])
    # a client loads no picture of another site: its link remains
    html = _PICTURE.sub(_link_picture, html)
    return _CLEANER.clean(html).strip()


def read_html(html: str) -> str | None:
    """Return the text of a message's HTML, with Markdown's links and lists.

    What it quotes as a reply is left out.

    Returns:
        None for HTML that is too long.
    """
    if len(html) > MOST_HTML:
        return None
    body = LexborHTMLParser(flatten(html)[0]).body
    if body is None:
        return ""
    text = "".join(_Writer(body).write())
    text = _EMPTY_LINES.sub("\n\n", _LINE_ENDS.sub("\n", text))
    return text.strip()


def find_mentions(html: str) -> frozenset[str]:
    """Return the users whose links are in the HTML: older mentions."""
    return frozenset(unquote(found[1]) for found in _MENTION.finditer(html[:MOST_HTML]))


def strip_quotation(body: str) -> tuple[str, str]:
    """Separate a reply's plain text from the quotation before it.

    Older clients write it.

    Returns:
        The text, and the quotation.
    """
    if not body.startswith("> "):
        return body, ""
    lines = body.split("\n")
    count = 0
    while count < len(lines) and (lines[count].startswith("> ") or lines[count] == ">"):
        count += 1
    if count == len(lines) or lines[count].strip():
        return body, ""
    return "\n".join(lines[count + 1 :]), "\n".join(lines[:count])


def _link_picture(found: re.Match[str]) -> str:
    # both groups are HTML already: the parser has escaped them
    return f'<a href="{found[1]}">{found[2] or escape("🖼")}</a>'


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "breaks": True})
    return parser.enable(["table", "strikethrough"])


class _Writer:
    """Writes a tree as text; without recursion, for the tree is a stranger's."""

    def __init__(self, body: LexborNode) -> None:
        self._body = body
        self._out: list[str] = []
        self._lists: list[int | None] = []
        self._pre = 0

    def write(self) -> list[str]:
        todo: list[tuple[LexborNode, bool]] = [(self._body, False)]
        while todo:
            node, is_end = todo.pop()
            if is_end:
                self._close(node)
                continue
            if node.is_text_node:
                self._add_text(node.text_content or "")
                continue
            if not node.is_element_node or (node.tag or "") in _OMITTED:
                continue
            self._open(node)
            todo.append((node, True))
            children = []
            child = node.child
            while child is not None:
                children.append((child, False))
                child = child.next
            todo.extend(reversed(children))
        return self._out

    def _add_text(self, text: str) -> None:
        if self._pre:
            self._out.append(text)
            return
        text = _SPACES.sub(" ", text)
        if text == " " and self._is_at_start():
            return
        self._out.append(text.lstrip(" ") if self._is_at_start() else text)

    def _is_at_start(self) -> bool:
        return not self._out or self._out[-1].endswith("\n")

    def _break(self, lines: int = 1) -> None:
        if self._out:
            if not self._out[-1].endswith("\n"):
                self._out.append("\n")
            if lines > 1:
                self._out.append("\n")

    def _open(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in _BLOCKS:
            self._break(2 if tag in _APART and not self._lists else 1)
        match tag:
            case "br":
                self._out.append("\n")
            case "ul":
                self._lists.append(None)
            case "ol":
                start = node.attributes.get("start") or ""
                self._lists.append(
                    int(start) if start.isascii() and start.isdigit() and len(start) < 7 else 1
                )
            case "li":
                self._out.append(self._mark())
            case "pre":
                self._pre += 1
                self._out.append("```\n")
            case "code" if not self._pre:
                self._out.append("`")
            case "td" | "th":
                self._out.append(" | ")
            case "img":
                self._out.append(node.attributes.get("alt") or "")
            case _:
                pass

    def _mark(self) -> str:
        if not self._lists or self._lists[-1] is None:
            return "- "
        number = self._lists[-1]
        self._lists[-1] = number + 1
        return f"{number}. "

    def _close(self, node: LexborNode) -> None:
        match node.tag:
            case "a":
                href = (node.attributes.get("href") or "").strip()
                if href.startswith(("https://", "http://")) and not href.startswith(_MATRIX_LINK):
                    self._add_address(href)
            case "ul" | "ol" if self._lists:
                self._lists.pop()
            case "pre":
                self._pre -= 1
                self._break()
                self._out.append("```")
            case "code" if not self._pre:
                self._out.append("`")
            case _:
                pass
        if node.tag in _BLOCKS:
            self._break(2 if node.tag in _APART and not self._lists else 1)

    def _add_address(self, href: str) -> None:
        """Name where a link leads, unless its text does."""
        if not self._out or href.rstrip("/") not in self._out[-1]:
            self._out.append(f" ({href})")
