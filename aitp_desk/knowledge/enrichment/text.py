"""What identifies a passage, and where a quote stands in it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from hashlib import sha256

from aitp_desk.knowledge.documents.base import Passage

LEAST_CHARACTERS = 25
"""A passage with less text answers nothing and is not enriched."""
_DIGEST_LETTERS = 20


def is_enrichable(passage: Passage) -> bool:
    """Whether a passage has enough text to ask about."""
    return len(passage.text.strip()) >= LEAST_CHARACTERS


def make_digest(passage: Passage) -> str:
    """Digest of what a model reads of a passage: title, headings and text.

    White space does not count. Passages that read the same share a digest, and hence a line.
    """
    told = "\0".join(map(collapse_space, (passage.title, *passage.trail, passage.text)))
    return sha256(told.encode()).hexdigest()[:_DIGEST_LETTERS]


_TYPOGRAPHY = str.maketrans("’‘“”–—‑", "''\"\"---")
"""What a model writes plain; each for one character, so that places stay the same."""


def collapse_space(text: str) -> str:
    """A text with each run of white space as one space."""
    return " ".join(text.split())


class QuotedText:
    """A passage's text, and where each unit begins in it.

    White space and the shape of quotation marks and dashes do not count.
    """

    def __init__(self, passage: Passage) -> None:
        self._text = _plain(passage.text)
        self._starts: list[int] = []
        end = 0
        for unit in passage.units:
            piece = _plain(unit.text)
            start = self._text.find(piece, end)
            if start < 0:
                start = end
            self._starts.append(start)
            end = start + len(piece)

    def units(self, quote: str) -> range:
        """The units that a quote stands in; empty where it is no stretch of the text."""
        quote = _plain(quote)
        start = self._text.find(quote) if quote else -1
        if start < 0:
            return range(0)
        first = max(bisect_right(self._starts, start) - 1, 0)
        past = bisect_left(self._starts, start + len(quote))
        return range(first, max(past, first + 1))


def _plain(text: str) -> str:
    return collapse_space(text).translate(_TYPOGRAPHY)
