"""Stores postings: for each stem its passages, with score and position in each.

A posting is stored as plain arrays by the passages' numbers. Scores are BM25 with fields, computed
when the index is built, so a question only adds them up.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from math import log
from sys import intern
from typing import Literal

import msgspec

from aitp_desk.knowledge.index.layout import PassageLayout

NUMBERS: Literal["I"] = "I"
SCORES: Literal["f"] = "f"
"""Type codes of the arrays."""
_SATURATION = 1.5
_LENGTH = 0.5

Row = tuple[str, bytes, bytes, bytes, str]
"""A stem and its :class:`Posting` as columns of the index file."""


class Posting(msgspec.Struct, frozen=True, gc=False):
    """The passages that have a stem.

    Parameters:
        numbers: of the passages, ascending.
        scores: one for each passage.
        ends: where the position in each passage ends in ``positions``.
        positions: one after the other, see
        :class:`~aitp_desk.knowledge.index.layout.PassageLayout`.
    """

    numbers: array[int]
    scores: array[float]
    ends: array[int]
    positions: str

    @classmethod
    def read(cls, numbers: bytes, scores: bytes, ends: bytes, positions: str) -> Posting:
        """Read a posting from its row in the index file."""
        return cls(array(NUMBERS, numbers), array(SCORES, scores), array(NUMBERS, ends), positions)

    def is_whole(self) -> bool:
        """Return whether its arrays are consistent; those of a damaged row are not."""
        if not len(self.numbers) == len(self.scores) == len(self.ends):
            return False
        ends = self.ends.tolist()
        return ends == sorted(ends) and ends[-1] == len(self.positions)

    def position(self, number: int) -> str:
        """Return the position of the stem in a passage; empty if the passage does not have it."""
        at = bisect_left(self.numbers, number)
        if at == len(self.numbers) or self.numbers[at] != number:
            return ""
        return self.positions[self.ends[at - 1] if at else 0 : self.ends[at]]

    def found(self, most: int | None = None) -> Iterable[tuple[int, float]]:
        """Return the passages with their scores.

        Parameters:
            most: leave out all but about so many, those with the best scores.
        """
        scored = zip(self.numbers, self.scores, strict=True)
        if most is None or len(self.numbers) <= most:
            return scored
        least = sorted(self.scores)[-most]
        return ((number, score) for number, score in scored if score >= least)


def inverse_frequency(count: int, passages: int) -> float:
    """Return the inverse document frequency of a stem."""
    return log(1 + (passages - count + 0.5) / (count + 0.5))


class _StemCounts:
    """The passages that have a stem, and its counts outside and inside their units."""

    __slots__ = ("inside", "numbers", "outside", "positions")

    def __init__(self) -> None:
        self.numbers, self.inside = array(NUMBERS), array(NUMBERS)
        self.outside: array[float] = array(SCORES)
        self.positions: list[str] = []


class Postings:
    """Collects the stems of passages, and scores them once all passages are known."""

    def __init__(self) -> None:
        self._lengths = array(NUMBERS)
        self._held: dict[str, _StemCounts] = {}

    def add(self, laid: PassageLayout) -> None:
        """Add the next passage."""
        number = len(self._lengths)
        self._lengths.append(laid.length)
        for stem, (outside, inside, position) in laid.stems.items():
            held = self._held.get(stem)
            if held is None:
                held = self._held[stem] = _StemCounts()
            held.numbers.append(number)
            held.outside.append(outside)
            held.inside.append(inside)
            held.positions.append(intern(position))

    def counts(self) -> dict[str, int]:
        """Return every stem in order, and the number of passages that have it."""
        return {stem: len(self._held[stem].numbers) for stem in sorted(self._held)}

    def rows(self, authority: Sequence[float]) -> Iterator[Row]:
        """Yield the rows of all stems.

        Parameters:
            authority: the factor of each passage's scores.
        """
        average = sum(self._lengths) / max(len(self._lengths), 1) or 1.0
        norms = [1 - _LENGTH + _LENGTH * length / average for length in self._lengths]
        for stem, held in self._held.items():
            weight = inverse_frequency(len(held.numbers), len(norms)) * (_SATURATION + 1)
            scores = array(SCORES)
            for number, outside, inside in zip(
                held.numbers, held.outside, held.inside, strict=True
            ):
                count = outside + inside / norms[number]
                scores.append(weight * authority[number] * count / (count + _SATURATION))
            ends = array(NUMBERS, accumulate(map(len, held.positions)))
            positions = "".join(held.positions)
            yield stem, held.numbers.tobytes(), scores.tobytes(), ends.tobytes(), positions
