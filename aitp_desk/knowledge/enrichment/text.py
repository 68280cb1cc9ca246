"""Identifies passages, and locates quotes in them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from hashlib import sha256

from aitp_desk.knowledge.documents.base import Passage

LEAST_CHARACTERS = 25
"""A passage with less text answers no question and is not enriched."""
_DIGEST_LETTERS = 20


def is_enrichable(passage: Passage) -> bool:
    """Return whether a passage has enough text to ask about."""
    return len(passage.text.strip()) >= LEAST_CHARACTERS


def make_digest(passage: Passage) -> str:
    """Return the digest of what a model reads of a passage: title, headings and text.

    White space does not count. Passages with the same text share a digest, and hence a line.
    """
    told = "\0".join(map(collapse_space, (passage.title, *passage.trail, passage.text)))
    return sha256(told.encode()).hexdigest()[:_DIGEST_LETTERS]


_TYPOGRAPHY = str.maketrans("’‘“”–—‑", "''\"\"---")
"""Signs that models simplify; one character each, so that positions stay the same."""


def collapse_space(text: str) -> str:
    """Replace each run of white space by one space."""
    return " ".join(text.split())


class QuotedText:
    """A passage's text, and where each unit begins in it.

    White space and the style of quotation marks and dashes do not count.
    """

    def __init__(self, passage: Passage) -> None:
        self._text = _plain(passage.text)
        self._starts: list[int] = []
        end = 0
        for unit in passage.units:
            lines = unit.text.split("\n")
            # the parts of a long code block share one fence in the text
            piece = _plain(" ".join(lines[1:-1]) if unit.kind == "code" else unit.text)
            start = self._text.find(piece, end)
            if start < 0:
                start = end
            self._starts.append(start)
            end = start + len(piece)

    def units(self, quote: str) -> range:
        """Return the units with a quote; empty if the text does not contain it."""
        quote = _plain(quote)
        start = self._text.find(quote) if quote else -1
        if start < 0:
            return range(0)
        first = max(bisect_right(self._starts, start) - 1, 0)
        past = bisect_left(self._starts, start + len(quote))
        return range(first, max(past, first + 1))


def _plain(text: str) -> str:
    return collapse_space(text).translate(_TYPOGRAPHY)
