"""Corrects words that are spelt almost like one that asks for an action."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_SHORTEST = 5
_LETTERS = re.compile(r"[a-z]+")


class Speller:
    """Knows words, and which misspelt ones are meant for them.

    Only swapped, lost and doubled letters are mended: another letter makes another word too often.

    Parameters:
        words: those to correct to that all sites share; their misspellings are made once.
        own: those of this site; a word that may be meant for either is corrected to these.
        others: right ones that stay as they are.
    """

    def __init__(self, words: frozenset[str], own: frozenset[str], others: frozenset[str]) -> None:
        self._right = words | own | others
        self._meant = _list_misspelt(words) | _list_misspelt(own - words)

    def correct(self, plain: str) -> str:
        """Return a plain text with its misspelt words corrected."""
        right, meant = self._right, self._meant
        words = plain.split(" ")
        return " ".join([word if word in right else meant.get(word, word) for word in words])


@lru_cache(maxsize=16)
def _list_misspelt(words: frozenset[str]) -> dict[str, str]:
    """Return which word each misspelt one is meant for; do not change it."""
    meant: dict[str, str] = {}
    for word in sorted(words):
        if len(word) >= _SHORTEST and _LETTERS.fullmatch(word):
            for wrong in _misspell(word):
                meant.setdefault(wrong, word)
    return meant


def _misspell(word: str) -> Iterable[str]:
    inner = range(1, len(word) - 1)
    yield from (word[:n] + word[n + 1] + word[n] + word[n + 2 :] for n in inner)
    yield from (word[:n] + word[n + 1 :] for n in inner)
    yield from (word[: n + 1] + word[n:] for n in (*inner, len(word) - 1))
