"""Finds near-duplicate passages, of which a search returns one.

Two passages are near-duplicates if they share nine in ten of their three-word runs and have the
same numbers: texts that differ in a price or a weight never are. The numbers of captions (*Figure
12*) do not count: a guide and a manual number the same picture differently.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

from aitp_desk.knowledge.documents.sentences import CAPTION

_SHARED = 0.9
_RUN = 3
_NUMBERS = "I"
_FIGURE = re.compile(r"\d+")


class TextRuns(NamedTuple):
    """The features by which a text is compared.

    Parameters:
        runs: its three-word runs, without figures, as numbers, each once, in order: the bytes of
            such an array.
        figures: its numbers.
    """

    runs: bytes
    figures: frozenset[str]


class DuplicateFinder:
    """Finds for each text the first near-duplicate.

    Of a text's runs, in one order for all texts, only the first are looked up: texts that share
    nine in ten of their runs share one of these (prefix filtering).

    Attributes:
        first: for each text so far the number of its first near-duplicate, mostly itself.
    """

    def __init__(self) -> None:
        self.first: list[int] = []
        self._runs: dict[int, array[int]] = {}
        self._by_run: dict[tuple[int, frozenset[str]], list[int]] = {}
        self._by_runs: dict[TextRuns, int] = {}

    def add(self, said: TextRuns) -> None:
        """Add the next text."""
        number = len(self.first)
        twin = self._by_runs.get(said)
        if twin is None:
            runs, figures = array(_NUMBERS, said.runs), said.figures
            looked_up = [(run, figures) for run in runs[: int(len(runs) * (1 - _SHARED)) + 1]]
            others = {other for run in looked_up for other in self._by_run.get(run, ())}
            twin = self._nearest(runs, others)
            if twin is None:
                twin = number
                self._runs[number] = runs
                for run in looked_up:
                    self._by_run.setdefault(run, []).append(number)
            self._by_runs[said] = twin
        self.first.append(twin)

    def _nearest(self, runs: array[int], others: set[int]) -> int | None:
        """Return the first of some texts that shares enough runs."""
        own = set(runs)
        for other in sorted(others):
            theirs = self._runs[other]
            if _SHARED * len(own) > len(theirs) or _SHARED * len(theirs) > len(own):
                continue
            shared = len(own.intersection(theirs))
            if shared >= _SHARED * (len(own) + len(theirs) - shared):
                return other
        return None


def make_runs(text: str, words: Sequence[str]) -> TextRuns:
    """Return the features of a text for comparison.

    Parameters:
        words: of the text, folded, in order.
    """
    words = [word for word in words if not word.isdigit()] or words
    size = min(_RUN, len(words))
    in_a_row = zip(*(words[at:] for at in range(size)), strict=False)
    runs = {crc32(" ".join(run).encode()) for run in in_a_row}
    figures = frozenset(_FIGURE.findall(CAPTION.sub("", text)))
    return TextRuns(array(_NUMBERS, sorted(runs)).tobytes(), figures)
