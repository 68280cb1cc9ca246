"""Corrects words that are spelt almost like one that asks for an action."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SHORTEST = 5
_LETTERS = re.compile(r"[a-z]+")


class Speller:
    """Knows words, and which misspelt ones are meant for them.

    Only swapped, lost and doubled letters are mended: another letter makes another word too often.

    Parameters:
        words: those to correct to.
        others: right ones that stay as they are.
    """

    def __init__(self, words: Iterable[str], others: Iterable[str]) -> None:
        known = {word for word in words if _LETTERS.fullmatch(word)}
        self._right = known | frozenset(others)
        self._meant: dict[str, str] = {}
        for word in known:
            if len(word) >= _SHORTEST:
                for wrong in _misspell(word):
                    self._meant.setdefault(wrong, word)

    def correct(self, plain: str) -> str:
        """Return a plain text with its misspelt words corrected."""
        right, meant = self._right, self._meant
        words = plain.split(" ")
        return " ".join([word if word in right else meant.get(word, word) for word in words])


def _misspell(word: str) -> Iterable[str]:
    inner = range(1, len(word) - 1)
    yield from (word[:n] + word[n + 1] + word[n] + word[n + 2 :] for n in inner)
    yield from (word[:n] + word[n + 1 :] for n in inner)
    yield from (word[: n + 1] + word[n:] for n in (*inner, len(word) - 1))
