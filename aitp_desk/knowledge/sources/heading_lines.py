"""Finds the line of a passage in its file, for its writers."""

from __future__ import annotations

import re
from pathlib import Path

from aitp_desk.knowledge.documents.base import Passage
from aitp_desk.knowledge.library import Library

_TAG = re.compile(r"<[^>]*>|\]\([^)]*\)|\{[^}]*\}")
"""What a heading has in addition to its text: HTML tags, a link's address, attributes."""
_MARKED = re.compile(r"\s*(?:#|<h\d)", re.IGNORECASE)
_UNDERLINE = re.compile(r"([=\-~^\"'`*+.:_#])\1{2,}\s*")


def find_line(folder: Path, library: Library, passage: Passage) -> int | None:
    """Return the line of a passage's heading, from 1; None if it is not certain.

    A page's beginning without a heading is its first line.

    Parameters:
        folder: of the content.
        library: has the passage.
    """
    document = library.find_page(passage.document)
    if document is None or document.is_elsewhere or document.kind == "pdf":
        return None
    if not passage.heading:
        return 1
    try:
        text = (folder / document.source).read_text("utf-8", errors="replace")
    except OSError:
        return None
    lines = _find_headings(text.splitlines(), _letters(passage.heading))
    others = (library.passages[number] for number in library.numbers(passage.document))
    alike = dict.fromkeys(one.anchor for one in others if one.heading == passage.heading)
    # code and sections without a text may look the same: then the order says nothing
    return lines[[*alike].index(passage.anchor)] if len(lines) == len(alike) else None


def _find_headings(lines: list[str], heading: str) -> list[int]:
    """Return the numbers of the lines that are this heading."""
    return [
        number
        for number, (line, below) in enumerate(zip(lines, [*lines[1:], ""], strict=True), 1)
        if _letters(line) == heading and (_MARKED.match(line) or _UNDERLINE.fullmatch(below))
    ]


def _letters(line: str) -> str:
    """Return a line without its markup: its letters and digits."""
    return "".join(filter(str.isalnum, _TAG.sub("", line))).casefold()
