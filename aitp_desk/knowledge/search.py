"""Finding passages: BM25 over the fields of the full-text index, in memory where it was asked once.

The weights are those of BM25 with fields: a word in a title or a heading counts more than in the
text. The lists of places come from the index file at a word's first use and are kept, so a question
costs a walk over a few short lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest

import msgspec

from aitp_desk.knowledge.figures import Figure, figures_in
from aitp_desk.knowledge.index import Index
from aitp_desk.knowledge.vocabulary import Term, Vocabulary
from aitp_desk.knowledge.words import words_of

FIELD_WEIGHTS = {"title": 1.6, "heading": 2.5, "about": 0.5, "text": 1.0}
EXPECTED = 1.35
"""How much more a passage scores that holds a figure of the sort that is asked for."""
_SATURATION = 1.2
_LENGTH = 0.5
_MAX_KEPT_PLACES = 4_000_000


class UnitWords(msgspec.Struct, frozen=True):
    """The stems of one unit of a passage.

    Parameters:
        stems: of its text.
        lead: of what stands before it and belongs to it.
        figures: the sorts of figures that it holds.
    """

    stems: frozenset[str]
    lead: frozenset[str]
    figures: Figure


class PassageWords(msgspec.Struct, frozen=True):
    """The stems of a passage, by part."""

    title: frozenset[str]
    heading: frozenset[str]
    units: tuple[UnitWords, ...]


class Ranking:
    """Scores passages for terms.

    Parameters:
        index: where the places of stems are.
        vocabulary: weighs stems.
    """

    def __init__(self, index: Index, vocabulary: Vocabulary) -> None:
        self._index = index
        self._vocabulary = vocabulary
        self._average = sum(index.lengths) / max(len(index.lengths), 1) or 1.0
        self._lists: dict[str, dict[int, float]] = {}
        self._terms: dict[tuple[str, int], Mapping[int, float]] = {}
        self._kept = 0
        self._words: dict[int, PassageWords] = {}

    def scores(
        self, terms: Iterable[tuple[Term, float]], expects: Figure = Figure.NONE
    ) -> dict[int, float]:
        """The score of every passage that holds any of the terms; each term has a factor.

        Passages with a figure of the sort that is expected score higher.
        """
        total: dict[int, float] = {}
        for term, factor in terms:
            for number, value in self.places(term).items():
                total[number] = total.get(number, 0.0) + value * factor
        if expects:
            wanted, figures = int(expects), self._index.figures
            for number in total:
                if figures[number] & wanted:
                    total[number] *= EXPECTED
        return total

    def best(self, scores: Mapping[int, float], limit: int) -> list[int]:
        """The best passages; of near-duplicates the better one alone."""
        found: list[int] = []
        seen: set[int] = set()
        twins = self._index.twins
        for number in nlargest(limit + 4, scores, key=scores.__getitem__):
            if twins[number] not in seen:
                seen.add(twins[number])
                found.append(number)
        return found[:limit]

    def places(self, term: Term) -> Mapping[int, float]:
        """Where a term stands, under whatever name, and what it counts there."""
        key = (term.word, len(term.stems))
        kept = self._terms.get(key)
        if kept is not None:
            return kept
        best: dict[int, float] = {}
        for stem, factor in term.stems.items():
            for number, value in self._list(stem).items():
                if value * factor > best.get(number, 0.0):
                    best[number] = value * factor
        self._keep(len(best))
        self._terms[key] = best
        return best

    def words(self, number: int) -> PassageWords:
        """The stems of a passage, part by part."""
        kept = self._words.get(number)
        if kept is None:
            passage = self._index.passages[number]
            kept = PassageWords(
                self._stems(f"{passage.title} {passage.document.rsplit('/', 1)[-1]}"),
                self._stems(" ".join((passage.heading, *passage.trail))),
                tuple(
                    UnitWords(
                        self._stems(unit.text),
                        self._stems(unit.lead),
                        figures_in(unit.text),
                    )
                    for unit in passage.units
                ),
            )
            self._keep(sum(len(unit.stems) for unit in kept.units))
            self._words[number] = kept
        return kept

    def _stems(self, text: str) -> frozenset[str]:
        stem = self._vocabulary.stemmer.stem
        return frozenset(stem(word) for word in words_of(text))

    def _list(self, stem: str) -> Mapping[int, float]:
        kept = self._lists.get(stem)
        if kept is not None:
            return kept
        weighed: dict[int, float] = {}
        lengths, average = self._index.lengths, self._average
        for number, field in self._index.places(stem):
            value = FIELD_WEIGHTS[field]
            if field == "text":
                value /= 1 - _LENGTH + _LENGTH * lengths[number] / average
            weighed[number] = weighed.get(number, 0.0) + value
        weight = self._vocabulary.weight(stem)
        for number, count in weighed.items():
            weighed[number] = weight * count * (_SATURATION + 1) / (count + _SATURATION)
        self._keep(len(weighed))
        self._lists[stem] = weighed
        return weighed

    def _keep(self, entries: int) -> None:
        """Bound what is kept: past the limit everything is forgotten and learnt again."""
        self._kept += entries
        if self._kept > _MAX_KEPT_PLACES:
            self._lists.clear()
            self._terms.clear()
            self._words.clear()
            self._kept = entries

