"""Splits a long text into messages, between paragraphs where possible.

Code blocks that are split are closed and opened again. Lines, so also items of lists and links,
stay whole unless a single line is too long.
"""

from __future__ import annotations

import re

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^`\n]*)$")
_SHORTEST = 200
"""A bound that leaves room for the fences around a piece of code."""


def split_text(text: str, longest: int) -> tuple[str, ...]:
    """Split Markdown into pieces.

    Parameters:
        longest: of a piece, in characters; at least 200.

    Returns:
        The pieces in order, none of them empty; none for a text without content.
    """
    if longest < _SHORTEST:
        raise ValueError(f"A piece must have room for {_SHORTEST} characters.")
    pieces: list[str] = []
    lines: list[str] = []
    size = 0
    fence = ""
    last_break = 0
    for line in _lines(text.strip("\n"), longest - 20):
        reserve = len(fence) + 1 if fence else 0
        if lines and size + len(line) + 1 + reserve > longest:
            size, last_break = _end_piece(pieces, lines, fence, last_break)
        lines.append(line)
        size += len(line) + 1
        if found := _FENCE.match(line):
            mark = found[1]
            if not fence:
                fence = line.strip()
            elif mark[0] == fence[0] and len(mark) >= len(_mark(fence)) and not found[2].strip():
                fence = ""
        if not line.strip() and not fence:
            last_break = len(lines)
    _add(pieces, lines)
    return tuple(pieces)


def _mark(fence: str) -> str:
    found = _FENCE.match(fence)
    return found[1] if found else "```"


def _end_piece(pieces: list[str], lines: list[str], fence: str, last_break: int) -> tuple[int, int]:
    """Move lines into a piece, up to the last paragraph; return the size of what is left."""
    cut = last_break if last_break and not fence else len(lines)
    if sum(map(len, lines[:cut])) < sum(map(len, lines)) // 2:
        cut = len(lines)
    rest = lines[cut:]
    ends = [*lines[:cut], _mark(fence)] if fence and cut == len(lines) else lines[:cut]
    _add(pieces, ends)
    lines[:] = [fence, *rest] if fence and cut == len(lines) else rest
    return sum(len(line) + 1 for line in lines), 0


def _add(pieces: list[str], lines: list[str]) -> None:
    piece = "\n".join(lines).strip("\n")
    if piece.strip():
        pieces.append(piece)


def _lines(text: str, longest: int) -> list[str]:
    """Return the lines, those that are too long cut between words."""
    found: list[str] = []
    for line in text.split("\n"):
        rest = line
        while len(rest) > longest:
            cut = rest.rfind(" ", longest // 2, longest)
            cut = longest if cut < 0 else cut
            found.append(rest[:cut].rstrip())
            rest = rest[cut:].lstrip(" ")
        found.append(rest)
    return found
