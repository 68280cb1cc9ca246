"""Inflection: other forms of a word and its compounds, among the words that the content uses.

The index keeps words by English stems. Of content in another language the words with one root of
its Snowball stemmer are forms of each other: ``Rückgaben`` and ``Rückgabe``. Where a language
writes compounds as one word the content's own words tell the parts: ``Rückgaberecht`` is found by
``Rückgabe``, and ``Versand`` by ``Versandkosten``. So it is with katakana in any language.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from aitp_desk.knowledge.ngrams import FIRST, is_katakana
from aitp_desk.knowledge.words import NAME_SIGN

_STEMMERS = {
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "it": "italian",
    "nb": "norwegian",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pt": "portuguese",
    "ru": "russian",
    "sv": "swedish",
}
_COMPOUNDING = frozenset("da de fi nb nl nn no sv".split())
_SHORTEST, _SURE = 4, 5
"""The fewest letters of a part of a compound; and of one whose other part may be unknown."""
_SHORTEST_KATAKANA = 2
_MOST_COMPOUNDS = 6
"""So many compounds of a word, the commonest, are looked for."""


Roots = Callable[[list[str]], list[str]]


class Inflection:
    """Finds forms and compounds of folded words.

    Parameters:
        uses: every word of the content and how often it is used.
        language: tag of the language that the content is in.
    """

    def __init__(self, uses: Mapping[str, int], language: str) -> None:
        self._uses = uses
        primary = language.partition("-")[0].lower()
        self._algorithm = _STEMMERS.get(primary)
        self._is_compounding = primary in _COMPOUNDING

    def prepare(self) -> None:
        """Make ready what the first question needs; until then that question does it."""
        _ = self._by_root, self._forwards, self._backwards

    def forms(self, word: str) -> Sequence[str]:
        """The content's words that are forms of a word; none of a name, or of English."""
        if not self._by_root or word.startswith(NAME_SIGN) or word >= FIRST:
            return ()
        return self._by_root.get(self._roots([word])[0], ())

    def compounds(self, word: str) -> list[str]:
        """The content's words that begin or end with a word, the commonest."""
        shortest = self._shortest(word)
        if not shortest or len(word) < shortest:
            return []
        sure = shortest if is_katakana(word) else _SURE
        found = [
            whole
            for whole, rest in (*_begun(word, self._forwards), *_ended(word, self._backwards))
            if len(rest) >= shortest and (len(word) >= sure or self._is_used(rest))
        ]
        return sorted(found, key=self._uses.__getitem__, reverse=True)[:_MOST_COMPOUNDS]

    def parts(self, word: str) -> list[tuple[Sequence[str], Sequence[str]]]:
        """How a word may be two words of the content, each as its forms; the evenest first."""
        shortest = self._shortest(word)
        if not shortest:
            return []
        cuts = range(shortest, len(word) - shortest + 1)
        halves = ((self._used(word[:at]), self._used(word[at:])) for at in cuts)
        found = [(left, right) for left, right in halves if left and right]
        return sorted(found, key=lambda both: -min(len(both[0][0]), len(both[1][0])))

    def _shortest(self, word: str) -> int:
        """The fewest letters of a part of a word; 0 where it is no compound."""
        if is_katakana(word):
            return _SHORTEST_KATAKANA
        return _SHORTEST if self._is_compounding and word.isalpha() and word < FIRST else 0

    def _is_used(self, part: str) -> bool:
        return bool(self._used(part))

    def _used(self, part: str) -> Sequence[str]:
        """The content's words that a part of a compound stands for."""
        return self.forms(part) or ((part,) if part in self._uses else ())

    @cached_property
    def _roots(self) -> Roots:
        import Stemmer

        stem: Roots = Stemmer.Stemmer(self._algorithm).stemWords
        return stem

    @cached_property
    def _by_root(self) -> Mapping[str, list[str]]:
        if self._algorithm is None:
            return {}
        words = [word for word in self._uses if word < FIRST and not word.startswith(NAME_SIGN)]
        found: dict[str, list[str]] = {}
        for word, root in zip(words, self._roots(words), strict=True):
            found.setdefault(root, []).append(word)
        return found

    @cached_property
    def _forwards(self) -> list[str]:
        return sorted(word for word in self._uses if self._shortest(word))

    @cached_property
    def _backwards(self) -> list[str]:
        return sorted(word[::-1] for word in self._forwards)


def _begun(word: str, in_order: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The longer words that begin with a word, each with its rest."""
    first = bisect_left(in_order, word)
    for other in _from(in_order, first):
        if not other.startswith(word):
            return
        if other != word:
            yield other, other[len(word) :]


def _ended(word: str, backwards: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The longer words that end with a word, each with what stands before it."""
    for whole, rest in _begun(word[::-1], backwards):
        yield whole[::-1], rest[::-1]


def _from(words: Sequence[str], first: int) -> Iterable[str]:
    return (words[at] for at in range(first, len(words)))
