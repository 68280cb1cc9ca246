"""Splits a long text into messages, between paragraphs where possible.

Code blocks that are split are closed and opened again, and each is closed at the end of its piece,
also those within items of lists and quotations. Lines, so also items of lists, stay whole unless a
single line is too long; a link and code within a line do not even then, unless they are too long
themselves. What goes on with an item in the next piece is not indented there: it would be code.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

_FENCE = re.compile(r"((?:>| ){0,12})(`{3,30}(?=[^`]*$)|~{3,30}(?!~))(.*)")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?: |$)")
_WHOLE = re.compile(
    r"\[[^\[\]\n]{0,200}\]\([^()\s]{1,500}\)|https?://[^\s<>]{1,2000}|`[^`\n]{1,200}`"
)
"""What is not cut within a line: links, addresses and code."""
_ITEM_SPACES = 2
"""The least spaces before a line that goes on with an item."""
_DEEP = 4
"""Spaces before a line that is code, unless it belongs to an item of a list."""
SHORTEST = 200
"""A bound that leaves room for the fences around a piece of code."""
_FENCE_ROOM = 40
"""The longest line that opens a code block again."""


def split_text(text: str, longest: int) -> tuple[str, ...]:
    """Split Markdown into pieces.

    Parameters:
        longest: of a piece, in characters; at least 200.

    Returns:
        The pieces in order, none of them empty; none for a text without content.
    """
    if longest < SHORTEST:
        raise ValueError(f"A piece must have room for {SHORTEST} characters.")
    split = _Splitter(longest)
    for whole in text.strip("\n").split("\n"):
        for line in _cut_line(whole, longest - 2 * _FENCE_ROOM - 2):
            split.add(line)
    return split.end()


class _Splitter:
    """The pieces so far, and the lines of the next one."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._pieces: list[str] = []
        self._lines: list[str] = []
        self._in_item: list[bool] = []  # of each of them: whether it goes on with an item
        self._is_item = False  # whether the last line without indentation was an item
        self._size = 0  # of the lines, each with its line end
        self._mark = ""  # what closes the code block of the last line; empty outside one
        self._fence = ""  # what opens it again
        self._prefix = ""  # what stands before both
        self._opened_at = 0  # the line that has opened it
        self._last_break = 0  # the line after the last empty one outside code blocks

    def add(self, line: str) -> None:
        found = _FENCE.fullmatch(line)
        if self._mark and self._ends_block(line):
            self._append(self._close)
            self._mark = ""
        if self._mark:
            if found and found[2].startswith(self._mark) and not found[3].strip():
                self._append(self._close)  # its room was kept free
                self._mark = ""
                return
            self._make_room(len(line) + len(self._close) + 1)
            self._append(line)
            return
        if line.strip() and not line.startswith(" "):
            self._is_item = _ITEM.match(line) is not None
        if found and not self._is_item and _count_spaces(found[1]) >= _DEEP:
            found = None  # code that only shows a fence
        mark = found[2] if found else ""
        self._make_room(len(line) + (len(found[1]) + len(mark) + 1 if found else 0))
        if found:
            fence = line.rstrip()
            self._mark, self._prefix = mark, found[1]
            self._fence = fence if len(fence) <= _FENCE_ROOM else f"{found[1]}{mark}"
            self._opened_at = len(self._lines)
        self._append(line)
        if not line.strip():
            self._last_break = len(self._lines)

    def end(self) -> tuple[str, ...]:
        if self._mark:
            self._append(self._close)
        self._add_piece(self._lines)
        return tuple(self._pieces)

    @property
    def _close(self) -> str:
        return f"{self._prefix}{self._mark}"

    def _ends_block(self, line: str) -> bool:
        """Return whether a line ends the quotation or item around a code block."""
        if ">" in self._prefix:
            return not line.lstrip(" ").startswith(">")
        if not self._is_item or not self._prefix or not line.strip():
            return False
        return _count_spaces(line) < (_DEEP if len(self._prefix) >= _DEEP else _ITEM_SPACES)

    def _append(self, line: str) -> None:
        self._lines.append(line)
        self._in_item.append(self._is_item and line.startswith(" "))
        self._size += len(line) + 1

    def _make_room(self, size: int) -> None:
        while self._lines and self._size + size > self._longest:
            self._end_piece()

    def _end_piece(self) -> None:
        """Move lines into a piece: all, or those up to the last paragraph."""
        lines = self._lines
        cut = len(lines)
        closing: list[str] = []
        fence: list[str] = []
        if self._mark and 0 < self._opened_at == len(lines) - 1:  # no code is there yet
            cut = self._opened_at
        elif self._mark:
            closing, fence = [self._close], [self._fence]
        elif sum(map(len, lines[: self._last_break])) * 2 >= self._size:
            cut = self._last_break
        self._add_piece([*lines[:cut], *closing])
        self._lines = [*fence, *lines[cut:]]
        in_item = [self._is_item and one.startswith(" ") for one in fence]
        self._in_item = [*in_item, *self._in_item[cut:]]
        self._size = sum(len(line) + 1 for line in self._lines)
        self._last_break = self._opened_at = 0

    def _add_piece(self, lines: list[str]) -> None:
        first = next((at for at, line in enumerate(lines) if line.strip()), 0)
        if self._in_item[first : first + 1] == [True]:
            lines = _outdent(lines[first:])
        piece = "\n".join(lines).strip("\n")
        if piece.strip():
            self._pieces.append(piece)


def _count_spaces(text: str) -> int:
    return len(text) - len(text.lstrip(" "))


def _outdent(lines: list[str]) -> list[str]:
    """Return lines without the indentation of the first, up to one that has less."""
    depth = _count_spaces(lines[0])
    end = next(
        (at for at, line in enumerate(lines) if line.strip() and _count_spaces(line) < depth),
        len(lines),
    )
    return [*(line[depth:] for line in lines[:end]), *lines[end:]]


def _cut_line(line: str, longest: int) -> Iterator[str]:
    """Yield a line, in parts if it is too long: cut between words, and outside links."""
    start = 0
    links = [found.span() for found in _WHOLE.finditer(line)] if len(line) > longest else []
    while len(line) - start > longest:
        end = start + longest
        cut = line.rfind(" ", start + longest // 2, end)
        cut = end if cut < 0 else cut
        place = bisect_right(links, (cut, 0)) - 1
        if place >= 0 and start < links[place][0] < cut < links[place][1]:
            cut = links[place][0]
        yield line[start:cut].rstrip()
        start = cut
        while start < len(line) and line[start] == " ":
            start += 1
    yield line[start:]
