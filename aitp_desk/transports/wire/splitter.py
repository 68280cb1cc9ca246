"""Splits a long text into messages, between paragraphs where possible.

Code blocks that are split are closed and opened again, and each is closed at the end of its piece.
Lines, so also items of lists, stay whole unless a single line is too long; a link does not even
then, unless it is too long itself.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

_FENCE = re.compile(r" {0,3}(`{3,30}(?=[^`]*$)|~{3,30}(?!~))(.*)")
_LINK = re.compile(r"\[[^\[\]\n]{0,200}\]\([^()\s]{1,500}\)")
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
        self._size = 0  # of the lines, each with its line end
        self._mark = ""  # what closes the code block of the last line; empty outside one
        self._fence = ""  # what opens it again
        self._opened_at = 0  # the line that has opened it
        self._last_break = 0  # the line after the last empty one outside code blocks

    def add(self, line: str) -> None:
        found = _FENCE.fullmatch(line)
        if self._mark:
            if found and found[1].startswith(self._mark) and not found[2].strip():
                self._append(self._mark)  # its room was kept free
                self._mark = ""
                return
            self._make_room(len(line) + len(self._mark) + 1)
            self._append(line)
            return
        mark = found[1] if found else ""
        self._make_room(len(line) + (len(mark) + 1 if mark else 0))
        if found:
            fence = line.strip()
            self._mark = mark
            self._fence = fence if len(fence) <= _FENCE_ROOM else mark
            self._opened_at = len(self._lines)
        self._append(line)
        if not line.strip():
            self._last_break = len(self._lines)

    def end(self) -> tuple[str, ...]:
        if self._mark:
            self._append(self._mark)
        self._add_piece(self._lines)
        return tuple(self._pieces)

    def _append(self, line: str) -> None:
        self._lines.append(line)
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
            closing, fence = [self._mark], [self._fence]
        elif sum(map(len, lines[: self._last_break])) * 2 >= self._size:
            cut = self._last_break
        self._add_piece([*lines[:cut], *closing])
        self._lines = [*fence, *lines[cut:]]
        self._size = sum(len(line) + 1 for line in self._lines)
        self._last_break = self._opened_at = 0

    def _add_piece(self, lines: list[str]) -> None:
        piece = "\n".join(lines).strip("\n")
        if piece.strip():
            self._pieces.append(piece)


def _cut_line(line: str, longest: int) -> Iterator[str]:
    """Yield a line, in parts if it is too long: cut between words, and outside links."""
    start = 0
    links = [found.span() for found in _LINK.finditer(line)] if len(line) > longest else []
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
