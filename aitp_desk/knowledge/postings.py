"""Where a stem stands, as the index keeps it: the passages that hold it, and how they score.

A posting is kept as plain arrays, eight bytes a passage, by the passages' numbers. A question walks
no long one: it takes the passages that score best, and looks up those that other words found.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from heapq import nsmallest
from math import log

import msgspec

from aitp_desk.knowledge.layout import Counted

COMPLETE = 400
"""A stem of so many passages finds them all; a commoner one finds only its best."""
BEST = 128
"""How many passages a commoner stem finds."""

_SATURATION = 1.5
_LENGTH = 0.5
_NUMBERS, _SCORES = "I", "f"
_ITEM = 4


class Posting(msgspec.Struct, frozen=True, gc=False):
    """The passages that hold a stem.

    Parameters:
        numbers: of the passages: in order where they are many, else the best first.
        scores: of each.
        found: the passages that a question finds by the stem, with their scores, the best first:
            all of them, or the best where they are many.
        most: the best score.
    """

    numbers: array[int]
    scores: array[float]
    found: dict[int, float]
    most: float

    @property
    def is_complete(self) -> bool:
        """Whether a question finds all passages by the stem."""
        return len(self.found) == len(self.numbers)

    def look_up(self, wanted: Sequence[int]) -> list[tuple[int, float]]:
        """Those of some passages that hold the stem, with their scores."""
        found = self.found
        if self.is_complete:
            return [(number, found[number]) for number in wanted if number in found]
        numbers, scores, last = self.numbers, self.scores, len(self.numbers) - 1
        held: list[tuple[int, float]] = []
        for number in wanted:
            at = bisect_left(numbers, number)
            if at <= last and numbers[at] == number:
                held.append((number, scores[at]))
        return held

    def above(self, least: float) -> dict[int, float]:
        """All passages in which the stem scores at least so much, with their scores."""
        both = zip(self.numbers, self.scores, strict=True)
        return {number: score for number, score in both if score >= least}


NO_POSTING = Posting(array(_NUMBERS), array(_SCORES), {}, 0.0)
"""The posting of a stem that the content does not hold."""


def weight_of(count: int, passages: int) -> float:
    """How much a stem tells that so many of all passages hold (inverse document frequency)."""
    return log(1 + (passages - count + 0.5) / (count + 0.5))


def read_posting(kept: bytes, passages: int) -> Posting:
    """A posting from what the index keeps of it.

    Parameters:
        passages: how many passages hold the stem.
    """
    whole = passages * _ITEM
    numbers, best = array(_NUMBERS), array(_NUMBERS)
    scores: array[float] = array(_SCORES)
    numbers.frombytes(kept[:whole])
    scores.frombytes(kept[whole : 2 * whole])
    best.frombytes(kept[2 * whole :])
    if best:
        found = {numbers[at]: scores[at] for at in best}
        return Posting(numbers, scores, found, scores[best[0]])
    return Posting(numbers, scores, dict(zip(numbers, scores, strict=True)), scores[0])


class _Held:
    """The passages that hold a stem, and what each says of it outside and inside its units."""

    __slots__ = ("inside", "numbers", "outside")

    def __init__(self) -> None:
        self.numbers, self.inside = array(_NUMBERS), array(_NUMBERS)
        self.outside: array[float] = array(_SCORES)


class Postings:
    """Collects what passages say of stems, and scores it once all are known (BM25 with fields)."""

    def __init__(self) -> None:
        self._lengths = array(_NUMBERS)
        self._held: dict[str, _Held] = {}

    def add(self, counted: Counted) -> None:
        """Take the next passage."""
        number = len(self._lengths)
        self._lengths.append(counted.words)
        inside, outside = counted.inside, counted.outside
        for stem in inside.keys() | outside.keys():
            held = self._held.get(stem)
            if held is None:
                held = self._held[stem] = _Held()
            held.numbers.append(number)
            held.outside.append(outside.get(stem, 0.0))
            held.inside.append(inside.get(stem, 0))

    def counts(self) -> Mapping[str, int]:
        """Every stem and the number of passages that hold it."""
        return {stem: len(held.numbers) for stem, held in self._held.items()}

    def norms(self) -> list[float]:
        """What the length of each passage does to a word's score."""
        average = sum(self._lengths) / max(len(self._lengths), 1) or 1.0
        return [1 - _LENGTH + _LENGTH * length / average for length in self._lengths]

    def scored(self, stem: str, norms: Sequence[float], authority: Sequence[float]) -> bytes:
        """What is kept of a stem.

        Parameters:
            norms: of :meth:`norms`.
            authority: what the score of each passage is multiplied with.
        """
        held = self._held[stem]
        numbers = held.numbers
        weight = weight_of(len(numbers), len(self._lengths)) * (_SATURATION + 1)
        counts = (
            outside + inside / norms[number]
            for number, outside, inside in zip(numbers, held.outside, held.inside, strict=True)
        )
        scores = array(
            _SCORES,
            [
                weight * authority[number] * count / (count + _SATURATION)
                for number, count in zip(numbers, counts, strict=True)
            ],
        )
        if len(scores) <= COMPLETE:
            order = sorted(range(len(scores)), key=lambda at: -scores[at])
            numbers = array(_NUMBERS, [numbers[at] for at in order])
            scores = array(_SCORES, [scores[at] for at in order])
            return numbers.tobytes() + scores.tobytes()
        best = nsmallest(BEST, range(len(scores)), key=lambda at: -scores[at])
        return numbers.tobytes() + scores.tobytes() + array(_NUMBERS, best).tobytes()
