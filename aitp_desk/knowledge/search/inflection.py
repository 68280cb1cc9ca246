"""Finds a word's other forms and its compounds in the content.

The index stores words by English stems. Of content in another language the words with one root of
its Snowball stemmer are forms of each other: ``Rückgaben`` and ``Rückgabe``. If a language writes
compounds as one word, the content's words identify the parts: ``Rückgaberecht`` is found by
``Rückgabe``, and ``Versand`` by ``Versandkosten``. The same applies to katakana in any language.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from aitp_desk.knowledge.search.ngrams import FIRST, is_katakana
from aitp_desk.knowledge.search.tokenizer import NAME_SIGN

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
_SHORTEST, _SURE, _ALONE = 4, 5, 6
"""The fewest letters of a part of a compound; of one whose other part need not be in the content;
and the same if the compound is not in the content either.
"""
_SHORTEST_KATAKANA = 2
_PARTICIPLE = re.compile(
    r"\A(ab|an|auf|aus|bei|ein|fest|her|hin|los|mit|nach|um|vor|weg|weiter|zu|zuruck|zusammen)"
    r"ge(\w{2,}en|\w{3,}t)\Z"
)
"""A German participle, and its form without ``ge``: ``zurückgegeben``, ``zurückgeben``."""
_ENDINGS = ("", "e", "en", "er", "n", "s")
"""The endings of a part of a compound after its root."""
_MOST_COMPOUNDS = 6
"""How many compounds of a word, the commonest, are searched."""
KIN_LETTERS = 5
"""The fewest letters of a stem that has kin."""
_KIN_ENDING = 4


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
        """Prepare what the first question needs; otherwise that question does it."""
        _ = self._by_root, self._forwards, self._backwards

    def forms(self, word: str) -> Sequence[str]:
        """Return the content's forms of a word; none of a name, or of English."""
        if not self._by_root or word.startswith(NAME_SIGN) or word >= FIRST:
            return ()
        return self._by_root.get(self._roots([word])[0], ())

    def compounds(self, word: str) -> list[str]:
        """Return the commonest words that begin or end with a form of a word."""
        shortest = self._shortest(word)
        parts = [word] if is_katakana(word) else self._stands_for(word)
        parts = [part for part in parts if len(part) >= shortest > 0]
        found = {
            whole
            for part in parts
            for whole, rest in (*_begun(part, self._forwards), *_ended(part, self._backwards))
            if len(rest) >= shortest
            and (is_katakana(word) or len(part) >= _SURE or self._is_used(rest))
        }
        return sorted(found, key=lambda one: (-self._uses[one], one))[:_MOST_COMPOUNDS]

    def _stands_for(self, word: str) -> list[str]:
        """Return the forms of a word within a compound: ``kostet`` like ``kosten``."""
        if not self._is_compounding or word >= FIRST:
            return []
        root = self._roots([word])[0]
        return list(dict.fromkeys((word, *(root + ending for ending in _ENDINGS))))

    def parts(self, word: str) -> list[str]:
        """Return the content's two words that a compound consists of; none if it is no compound."""
        halves = [(self._used(left), self._used(right)) for left, right in self._cuts(word)]
        both = [(left, right) for left, right in halves if left and right]
        left, right = max(
            both, key=lambda pair: min(map(len, (*pair[0], *pair[1]))), default=((), ())
        )
        return [*left, *right]

    def part(self, word: str) -> list[str]:
        """Return the words for the longest known beginning or end of a word.

        The beginning or end has a minimum length.
        """
        ends = [end for both in self._cuts(word) for end in both if len(end) >= _ALONE]
        used = (list(self._used(end)) for end in sorted(ends, key=len, reverse=True))
        return next(filter(None, used), [])

    def _cuts(self, word: str) -> list[tuple[str, str]]:
        shortest = self._shortest(word)
        if not shortest:
            return []
        return [(word[:at], word[at:]) for at in range(shortest, len(word) - shortest + 1)]

    def _shortest(self, word: str) -> int:
        """Return the fewest letters of a part of a word; 0 if it is no compound."""
        if is_katakana(word):
            return _SHORTEST_KATAKANA
        return _SHORTEST if self._is_compounding and word.isalpha() and word < FIRST else 0

    def _is_used(self, part: str) -> bool:
        return bool(self._used(part))

    def _used(self, part: str) -> Sequence[str]:
        """Return the content's words for a part of a compound."""
        return self.forms(part) or ((part,) if part in self._uses else ())

    @cached_property
    def _roots(self) -> Roots:
        import Stemmer

        stem: Roots = Stemmer.Stemmer(self._algorithm).stemWords
        if self._algorithm != "german":
            return stem
        return lambda words: stem([_PARTICIPLE.sub(r"\1\2", word) for word in words])

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
    """Yield the longer words that begin with a word, each with its rest."""
    first = bisect_left(in_order, word)
    for other in _from(in_order, first):
        if not other.startswith(word):
            return
        if other != word:
            yield other, other[len(word) :]


def _ended(word: str, backwards: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the longer words that end with a word, each with its beginning."""
    for whole, rest in _begun(word[::-1], backwards):
        yield whole[::-1], rest[::-1]


def _from(words: Sequence[str], first: int) -> Iterable[str]:
    return (words[at] for at in range(first, len(words)))


def are_kin(left: str, right: str) -> bool:
    """Return whether one stem is the other with an ending."""
    if len(left) > len(right):
        left, right = right, left
    return right.startswith(left) and len(right) - len(left) <= _KIN_ENDING
