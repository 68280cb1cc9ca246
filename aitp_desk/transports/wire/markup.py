"""Renders Markdown in the marks of chat platforms, which have fewer of them.

The parser is the one that pages use, without HTML. What a platform has no mark for becomes text:
headings become strong, tables become rows of fixed width, pictures become links.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MOST_CHARACTERS = 8192
"""Longest text that is parsed: the parser's time grows faster than the text."""
_MOST_DEPTH = 6
"""Lists within lists are indented up to here."""
_WEB = ("http://", "https://")


class Marks:
    """The marks of a platform, by default none. Each method returns text of the platform."""

    bullet = "•"

    def escape(self, text: str) -> str:
        """Return plain text so that it is shown unchanged."""
        return text

    def strong(self, text: str) -> str:
        """Mark what is escaped already as strong."""
        return text

    def emphasis(self, text: str) -> str:
        """Mark it as emphasized."""
        return text

    def strike(self, text: str) -> str:
        """Mark it as deleted."""
        return text

    def code(self, text: str) -> str:
        """Return plain text as code within a line."""
        return text

    def block(self, text: str, language: str) -> str:  # noqa: ARG002 -- of subclasses
        """Return plain text as a block of code."""
        return text

    def link(self, label: str, url: str) -> str:
        """Return a link to a web address; the label is escaped already."""
        return url if label == url else f"{label} ({url})"

    def quote(self, text: str) -> str:
        """Mark it as a quotation."""
        return "> " + text.replace("\n", "\n> ")


_PLAIN = Marks()


def render_markdown(markdown: str, marks: Marks) -> str:
    """Render Markdown in the marks of a platform."""
    writer = _Writer(marks)
    for token in parse_markdown(markdown[:MOST_CHARACTERS]):
        writer.read(token)
    return writer.finish()


def write_plainly(markdown: str) -> str:
    """Return Markdown as plain text: no marks, links with their addresses."""
    return render_markdown(markdown, _PLAIN)


def count_units(text: str) -> int:
    """Return a text's length in UTF-16 code units, which some platforms count."""
    return len(text) + sum(character > "\uffff" for character in text)


def parse_markdown(markdown: str) -> list[Token]:
    """Parse Markdown as the desk's pages do; HTML in it is text."""
    return _parser().parse(markdown)


@cache
def _parser() -> MarkdownIt:
    """Return the parser; created late, because a desk without transports never needs it."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


class _Frame:
    """A block that is open, with the blocks that it holds so far."""

    __slots__ = ("kind", "number", "parts")

    def __init__(self, kind: str, number: int = 0) -> None:
        self.kind = kind
        self.number = number
        self.parts: list[str] = []


class _Writer:
    """Collects blocks; a loop over tokens, since a text can nest deeper than the stack."""

    def __init__(self, marks: Marks) -> None:
        self._marks = marks
        self._frames = [_Frame("document")]

    def read(self, token: Token) -> None:
        """Add a token."""
        match token.type:
            case "inline":
                self._add_inline(token.children or ())
            case "fence" | "code_block":
                language = token.info.strip().split(" ")[0] if token.info else ""
                self._add(self._marks.block(token.content.rstrip("\n"), language))
            case "hr":
                self._add("———")
            case "ordered_list_open":
                start = str(token.attrs.get("start", 1))
                self._frames.append(_Frame("numbers", int(start) if start.isdigit() else 1))
            case kind if token.nesting == 1 and kind != "paragraph_open":
                self._frames.append(_Frame(kind.removesuffix("_open")))
            case kind if token.nesting == -1 and kind != "paragraph_close":
                self._close(self._frames.pop())

    def finish(self) -> str:
        """Return the whole text."""
        return "\n\n".join(part for part in self._frames[0].parts if part).strip("\n")

    def _add(self, block: str) -> None:
        self._frames[-1].parts.append(block)

    def _add_inline(self, children: Sequence[Token]) -> None:
        kind = self._frames[-1].kind
        if kind in {"th", "td"}:
            self._add(_inline(children, _PLAIN))
            return
        text = _inline(children, self._marks, is_strong=kind == "heading")
        self._add(self._marks.strong(text) if kind == "heading" and text.strip() else text)

    def _close(self, frame: _Frame) -> None:
        parts = [part for part in frame.parts if part]
        match frame.kind:
            case "blockquote":
                text = "\n\n".join(parts)
                is_inner = any(outer.kind == "blockquote" for outer in self._frames)
                if text:
                    self._add(text if is_inner else self._marks.quote(text))
            case "list_item":
                self._close_item("\n".join(parts))
            case "tr":
                self._add(" | ".join(frame.parts))
            case "table":
                self._add(self._marks.block("\n".join(parts), ""))
            case "th" | "td":
                self._add("".join(parts))
            case _:
                self._add("\n".join(parts))

    def _close_item(self, text: str) -> None:
        outer = self._frames[-1]
        mark = self._marks.bullet
        if outer.kind == "numbers":
            mark = f"{outer.number}."
            outer.number += 1
        depth = sum(frame.kind == "list_item" for frame in self._frames)
        pad = "  " if 0 < depth < _MOST_DEPTH else ""
        self._add(pad + f"{mark} {text}".replace("\n", f"\n{pad}"))


def _inline(children: Iterable[Token], marks: Marks, *, is_strong: bool = False) -> str:
    """Render the tokens of a line; a mark within the same mark changes nothing."""
    open_parts: list[list[str]] = [[]]
    open_marks: list[str] = ["strong"] if is_strong else []
    skipped: list[bool] = []
    for token in children:
        match token.type:
            case "text":
                open_parts[-1].append(marks.escape(token.content))
            case "softbreak" | "hardbreak":
                open_parts[-1].append("\n")
            case "code_inline":
                open_parts[-1].append(marks.code(token.content))
            case "image":
                alt = "".join(one.content for one in token.children or ())
                open_parts[-1].append(_link(marks.escape(alt), str(token.attrs["src"]), marks))
            case kind if token.nesting == 1:
                mark = kind.removesuffix("_open")
                is_known = mark in open_marks
                skipped.append(is_known)
                if not is_known:
                    href = str(token.attrs.get("href", ""))
                    open_marks.append(f"link {href}" if mark == "link" else mark)
                    open_parts.append([])
            case _ if token.nesting == -1 and skipped:
                if not skipped.pop():
                    inner = "".join(open_parts.pop())
                    open_parts[-1].append(_mark(open_marks.pop(), inner, marks))
            case _:
                open_parts[-1].append(marks.escape(token.content))
    return "".join(part for parts in open_parts for part in parts)


def _mark(mark: str, inner: str, marks: Marks) -> str:
    name, _, href = mark.partition(" ")
    if name == "link":
        return _link(inner, href, marks)
    if not inner.strip():
        return inner
    match name:
        case "strong":
            return marks.strong(inner)
        case "em":
            return marks.emphasis(inner)
        case "s":
            return marks.strike(inner)
        case _:
            return inner


def _link(label: str, href: str, marks: Marks) -> str:
    if href.startswith(_WEB):
        return marks.link(label if label.strip() else marks.escape(href), href)
    address = marks.escape(href.removeprefix("mailto:").removeprefix("tel:"))
    if not label.strip() or label == address:
        return address
    return f"{label} ({address})" if href.startswith(("mailto:", "tel:")) else label
