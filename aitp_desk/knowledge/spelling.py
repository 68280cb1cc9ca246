"""Spelling correction against the words that the content itself uses."""

from __future__ import annotations

from collections.abc import Mapping

from aitp_desk.knowledge.words import STOP_WORDS

MIN_LENGTH = 4
"""Shorter words are too close to each other: they are only read as stop words (``teh``)."""
SHORTEST = 3
LONG = 7
"""From so many letters on two slips are allowed."""
_VOWELS = frozenset("aeiouyhw")


class Spelling:
    """Finds the content's word that a misspelt one stands for.

    Parameters:
        words: every word of the content and how often it is used.
    """

    def __init__(self, words: Mapping[str, int]) -> None:
        self._uses = {word: uses for word, uses in words.items() if len(word) > 2}
        self._by_pair: dict[str, list[str]] = {}
        self._by_sound: dict[str, str] = {}
        for word in sorted(self._uses, key=lambda word: self._uses[word]):
            if len(word) >= MIN_LENGTH:
                self._by_sound[_sound(word)] = word
            if not word.isdigit():
                for pair in _pairs(word):
                    self._by_pair.setdefault(pair, []).append(word)

    def correct(self, word: str) -> str | None:
        """The nearest word of the content, or None when none is near enough.

        One slip (a letter too many, missing, wrong, or two swapped) is allowed, from seven letters
        on two; else the words must sound alike. Words with digits are names, not slips.
        """
        if not word.isalpha() or not word.isascii() or len(word) < SHORTEST:
            return None
        allowed = 1 if len(word) < LONG else 2
        best: tuple[float, str] | None = None
        for candidate in self._candidates(word, allowed):
            cost = self._cost(word, candidate, allowed)
            if cost is not None and (best is None or (cost, candidate) < best):
                best = cost, candidate
        if best is not None:
            return best[1]
        alike = self._by_sound.get(_sound(word)) if len(word) >= MIN_LENGTH else None
        return alike if alike and abs(len(alike) - len(word)) <= 2 else None

    def _cost(self, word: str, candidate: str, allowed: int) -> float | None:
        """How unlikely a candidate is; None where it is too far off."""
        slips = distance(word, candidate, allowed)
        same_start = candidate[0] == word[0]
        if slips > allowed or (not same_start and len(word) < LONG):
            return None
        # three letters are close to too many words: only one that was left out is put back
        completed = len(candidate) == MIN_LENGTH and same_start and _VOWELS & set(word[1:])
        if len(word) < MIN_LENGTH and candidate not in STOP_WORDS and not completed:
            return None
        # people swap letters and leave them out more than they write wrong ones, rarely miss the
        # first, and mean the commoner word
        ease = 0.3 * (sorted(word) == sorted(candidate)) + 0.1 * (len(word) != len(candidate))
        return slips - ease + 0.6 * (not same_start) - min(self._uses[candidate], 50) / 250

    def split(self, word: str) -> tuple[str, str] | None:
        """The two words of the content that were written as one: ``giftcards``."""
        halves = [
            (min(self._uses[word[:at]], self._uses[word[at:]]), word[:at], word[at:])
            for at in range(3, len(word) - 2)
            if word[:at] in self._uses and word[at:] in self._uses
        ]
        return max(halves)[1:] if halves else None

    def _candidates(self, word: str, allowed: int) -> list[str]:
        """Words of about the same length that share enough pairs of letters."""
        shared: dict[str, int] = {}
        pairs = _pairs(word)
        for pair in pairs:
            for candidate in self._by_pair.get(pair, ()):
                shared[candidate] = shared.get(candidate, 0) + 1
        # a slip spoils at most three pairs (two swapped letters)
        least = max(1, len(pairs) - 3 * allowed)
        return [
            candidate
            for candidate, count in shared.items()
            if count >= least and abs(len(candidate) - len(word)) <= allowed
        ]


def distance(left: str, right: str, limit: int) -> int:
    """How many letters must be put in, left out, changed or swapped with their neighbour.

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
    """A word's first letter and its consonants, double ones once: ``menny``, ``many``."""
    kept = word[0]
    for sign in word[1:]:
        if sign not in _VOWELS and sign != kept[-1]:
            kept += sign
    return kept


def _pairs(word: str) -> set[str]:
    framed = f"^{word}$"
    return {framed[at : at + 2] for at in range(len(framed) - 1)}
