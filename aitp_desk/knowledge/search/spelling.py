"""Corrects spelling by the words of the content."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from aitp_desk.knowledge.search.ngrams import is_katakana
from aitp_desk.knowledge.search.tokenizer import STOP_WORDS

MIN_LENGTH = 4
"""Shorter words are too similar to each other: they are only corrected to stop words (``teh``)."""
SHORTEST = 3
LONG = 7
"""From this many letters on two errors are allowed."""
KATAKANA = 5
"""The shortest word of katakana that is corrected, by one error: a sign is a syllable."""
_OTHER_START = 1.1
"""The least cost of a word with another first letter: see :meth:`Spelling._cost`."""
_BITS = 30
_VOWELS = frozenset("aeiouyhw")


class Spelling:
    """Finds the content's word for a misspelt one.

    Parameters:
        words: every word of the content and how often it is used.
    """

    def __init__(self, words: Mapping[str, int]) -> None:
        self._uses = {word: uses for word, uses in words.items() if len(word) > 2}
        self._by_size: dict[int, dict[str, list[str]]] = {}
        for word in self._uses:
            if not word.isdigit():
                self._by_size.setdefault(len(word), {}).setdefault(word[0], []).append(word)
        self._letters: dict[tuple[int, str], list[tuple[str, int]]] = {}

    @cached_property
    def _by_sound(self) -> Mapping[str, str]:
        by_use = sorted((uses, word) for word, uses in self._uses.items())
        return {_sound(word): word for _, word in by_use if len(word) >= MIN_LENGTH}

    def correct(self, word: str) -> str | None:
        """Return the nearest word of the content, or None if none is near enough.

        One error (a letter added, missing, wrong, or two swapped) is allowed, from seven letters on
        two; else the words must sound the same. Words with digits are names, not errors.
        """
        if is_katakana(word):
            return self._of_katakana(word)
        if not word.isalpha() or not word.isascii() or len(word) < SHORTEST:
            return None
        best = self._nearest(word, same_start=True)
        if len(word) >= LONG and (best is None or best[0] >= _OTHER_START):
            best = min(filter(None, (best, self._nearest(word, same_start=False))), default=None)
        if best is not None:
            return best[1]
        alike = self._by_sound.get(_sound(word)) if len(word) >= MIN_LENGTH else None
        return alike if alike and abs(len(alike) - len(word)) <= 2 else None

    def _of_katakana(self, word: str) -> str | None:
        best = self._nearest(word, same_start=True) if len(word) >= KATAKANA else None
        return best[1] if best is not None and edit_distance(word, best[1], 1) == 1 else None

    def _nearest(self, word: str, *, same_start: bool) -> tuple[float, str] | None:
        """Return the likeliest word with its cost, with the same first letter or another."""
        allowed = 1 if len(word) < LONG else 2
        costs = (
            (self._cost(word, candidate, allowed), candidate)
            for candidate in self._candidates(word, allowed, same_start=same_start)
        )
        return min(((cost, found) for cost, found in costs if cost is not None), default=None)

    def _cost(self, word: str, candidate: str, allowed: int) -> float | None:
        """Return the cost of a candidate; None if it is too different."""
        slips = edit_distance(word, candidate, allowed)
        same_start = candidate[0] == word[0]
        if slips > allowed:
            return None
        # three letters are close to too many words: only a missing one is corrected
        completed = len(candidate) == MIN_LENGTH and same_start and _VOWELS & set(word[1:])
        if len(word) < MIN_LENGTH and candidate not in STOP_WORDS and not completed:
            return None
        # people swap and omit letters more often than they write wrong ones, rarely miss the first,
        # and mean the commoner word
        ease = 0.3 * (sorted(word) == sorted(candidate)) + 0.1 * (len(word) != len(candidate))
        return slips - ease + 0.6 * (not same_start) - min(self._uses[candidate], 50) / 250

    def split(self, word: str) -> tuple[str, str] | None:
        """Return the two words of the content that were written as one: ``giftcards``."""
        halves = [
            (min(self._uses[word[:at]], self._uses[word[at:]]), word[:at], word[at:])
            for at in range(3, len(word) - 2)
            if word[:at] in self._uses and word[at:] in self._uses
        ]
        return max(halves)[1:] if halves else None

    def _candidates(self, word: str, allowed: int, *, same_start: bool) -> list[str]:
        """Return words of similar length that share enough letters and pairs of them."""
        letters, pairs = _letters(word), _pairs(word)
        # an error adds at most one letter and removes one, and changes at most three pairs
        apart, least = 2 * allowed, len(pairs) - 3 * allowed
        near: list[str] = []
        for size in range(len(word) - allowed, len(word) + allowed + 1):
            starts = self._by_size.get(size, {}).keys()
            for start in starts & {word[0]} if same_start else starts - {word[0]}:
                beginning = self._words_with_letters(size, start)
                near += [one for one, its in beginning if (letters ^ its).bit_count() <= apart]
        return [one for one in near if len(pairs & _pairs(one)) >= least]

    def _words_with_letters(self, size: int, start: str) -> list[tuple[str, int]]:
        """Return words with their letters, which are computed when they are first compared."""
        found = self._letters.get((size, start))
        if found is None:
            words = self._by_size[size][start]
            found = self._letters[size, start] = [(word, _letters(word)) for word in words]
        return found


def edit_distance(left: str, right: str, limit: int) -> int:
    """Return the edit distance, with swaps of neighbours as one edit.

    Counting stops past ``limit``: the result is then ``limit + 1``.
    """
    before: list[int] = []
    last = list(range(len(right) + 1))
    for row, sign in enumerate(left, start=1):
        line = [row, *[0] * len(right)]
        for column, other in enumerate(right, start=1):
            cost = min(last[column] + 1, line[column - 1] + 1, last[column - 1] + (sign != other))
            if row > 1 and column > 1 and sign == right[column - 2] and other == left[row - 2]:
                cost = min(cost, before[column - 2] + 1)
            line[column] = cost
        if min(line) > limit:
            return limit + 1
        before, last = last, line
    return min(last[-1], limit + 1)


def _sound(word: str) -> str:
    """Return a word's first letter and its consonants, double ones once: `menny``, ``many``."""
    kept = word[0]
    for sign in word[1:]:
        if sign not in _VOWELS and sign != kept[-1]:
            kept += sign
    return kept


def _letters(word: str) -> int:
    """Return the letters of a word as the bits of a small number; some of them share one."""
    letters = 0
    for sign in word:
        letters |= 1 << ord(sign) % _BITS
    return letters


def _pairs(word: str) -> set[str]:
    framed = f"^{word}$"
    return {framed[at : at + 2] for at in range(len(framed) - 1)}
