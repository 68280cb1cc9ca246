"""Builds the text of a passage for models of meaning."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aitp_desk.knowledge.documents.base import Passage

_MOST_CHARACTERS = 2000
"""How many characters of a passage can matter to a model that reads few tokens."""
_WINDOW_BYTES, _SHARED_BYTES = 400, 130
"""The length of a window, and its overlap with the next one: the vector of a longer text is a mean
of too much, and most models read only 128 tokens. Bytes grow with tokens in any script.
"""
_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef"
)
_WORD = re.compile(rf"[{_SPACELESS}]{{1,10}}\s*|[^\s{_SPACELESS}]{{1,100}}\s*")
"""A word, or a short stretch of a script without spaces: windows end between two."""


def make_text(passage: Passage) -> str:
    """Return the page's title, the headings above and the text."""
    return f"{_names_of(passage)}\n{passage.text}"[:_MOST_CHARACTERS]


def make_windows(passage: Passage) -> list[str]:
    """Return the text in overlapping windows, each below the page's title and headings."""
    names = _names_of(passage)
    return [f"{names}\n{window}" for _, window in _windows(passage.text)] or [names]


def find_windows(passage: Passage) -> list[tuple[int, int]]:
    """Return where each of the windows begins and ends in the text."""
    return [(start, start + len(window)) for start, window in _windows(passage.text)]


def _names_of(passage: Passage) -> str:
    return " > ".join(dict.fromkeys((passage.title, *passage.trail)))


def _windows(text: str) -> Iterator[tuple[int, str]]:
    """Yield the windows of a text, and where each begins."""
    window: list[str] = []
    start = size = added = 0
    for found in _WORD.finditer(text):
        word = found[0]
        length = len(word.encode())
        if size + length > _WINDOW_BYTES:
            yield start, "".join(window)
            while size > _SHARED_BYTES:
                size -= len(window.pop(0).encode())
            added = 0
            start = found.start() - len("".join(window))
        elif not window:
            start = found.start()
        window.append(word)
        size += length
        added += 1
    if added:
        yield start, "".join(window)
