"""Finding passages: BM25 over the fields of the full-text index.

A word in a title or a heading counts more than one in the text (BM25 with fields). What the index
says of a word is read at its first use and kept, so a question costs a walk over a few short lists.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from heapq import nlargest

import msgspec

from aitp_desk.knowledge.index import Index
from aitp_desk.knowledge.vocabulary import Term, Vocabulary
from aitp_desk.knowledge.words import NEGATIONS

FIELD_WEIGHTS = {"title": 1.6, "heading": 2.5, "about": 0.5, "text": 1.0, "lead": 0.5}
IN_LEAD = 0.4
"""How much a word counts for a unit that stands in what leads it in."""
AS_SUBJECT = 1.25
"""How much a word counts for a row or an item that is about it: ``Weight: 540 g``."""
EXPECTED = 1.35
"""How much more a passage scores that holds a figure of the sort that is asked for."""
SLIGHT = 1.6
"""A term of less weight finds no passages of its own; it only adds to those that others found."""
HOPELESS, HOPELESS_WIDELY = 0.4, 0.2
"""A passage that scores less than this share of the best is not looked at."""
MANY = 200
"""More passages than so many are not looked through for a term of less weight, even widely."""

_SATURATION = 1.5
_LENGTH = 0.5
_MAX_KEPT = 4_000_000


class Place(msgspec.Struct, frozen=True, gc=False):
    """How a term stands in a passage. Values are 0 to 1: how surely the term is meant.

    Parameters:
        title, heading: in the page's title, in the headings above.
        said: the weight of the heading's words that the term stands for.
        best: at its best place.
        units: the units that hold it and how surely.
    """

    title: float
    heading: float
    said: float
    best: float
    units: tuple[tuple[int, float], ...]


class Places(msgspec.Struct, frozen=True, gc=False):
    """Where a term stands: its score in each passage, and how it stands there."""

    scores: dict[int, float]
    places: dict[int, Place]


class _Stem(msgspec.Struct, gc=False):
    """What the index says of a stem in one passage."""

    count: float = 0.0
    title: bool = False
    heading: bool = False
    units: dict[int, float] = {}


class Ranking:
    """Scores passages for terms.

    Parameters:
        index: where the places of stems are.
        vocabulary: weighs stems.
    """

    def __init__(self, index: Index, vocabulary: Vocabulary) -> None:
        self._index = index
        self._weight = vocabulary.weight
        lengths = [layout.words for layout in index.layouts]
        average = sum(lengths) / max(len(lengths), 1) or 1.0
        self._norms = [1 - _LENGTH + _LENGTH * length / average for length in lengths]
        self._figures = [_all(layout.figures) for layout in index.layouts]
        self._twins = [layout.twin for layout in index.layouts]
        stem = vocabulary.stemmer.stem
        self.heading_weights = [
            sum(self._weight(known) for known in {stem(word) for word in layout.heading})
            for layout in index.layouts
        ]
        self.negated = [not NEGATIONS.isdisjoint(layout.heading) for layout in index.layouts]
        self.unit_figures = [layout.figures for layout in index.layouts]
        self._stems: dict[str, tuple[dict[int, float], dict[int, _Stem]]] = {}
        self._terms: dict[tuple[str, ...], Places] = {}
        self._kept = 0

    def scores(
        self,
        terms: Iterable[tuple[Places, float, float]],
        expects: int = 0,
        *,
        widely: bool = False,
    ) -> dict[int, float]:
        """The score of every passage that holds one of the terms.

        Parameters:
            terms: where each stands, how much it counts, and what it weighs.
            expects: sorts of figures, as flags; passages that hold one score higher.
            widely: whether a term of little weight finds passages too, where they are not many.
        """
        total: dict[int, float] = {}
        get = total.get
        for places, factor, weight in sorted(terms, key=_by_weight, reverse=True):
            scores = places.scores
            if not total:
                total.update({number: value * factor for number, value in scores.items()})
            elif weight >= SLIGHT or (widely and len(scores) <= MANY):
                for number, value in scores.items():
                    total[number] = get(number, 0.0) + value * factor
            else:
                for number in total.keys() & scores.keys():
                    total[number] += scores[number] * factor
        if expects:
            figures = self._figures
            for number in total:
                if figures[number] & expects:
                    total[number] *= EXPECTED
        return total

    def best(
        self, scores: Mapping[int, float], limit: int, hopeless: float = HOPELESS
    ) -> list[int]:
        """The best passages; of near-duplicates the better one alone.

        Parameters:
            hopeless: what scores less than this share of the best is left out.
        """
        if not scores:
            return []
        least = max(scores.values()) * hopeless
        hopeful = [(value, -number) for number, value in scores.items() if value >= least]
        found: dict[int, int] = {}
        for _, number in nlargest(limit * 2, hopeful):
            found.setdefault(self._twins[-number], -number)
            if len(found) == limit:
                break
        return list(found.values())

    def places(self, term: Term) -> Places:
        """Where a term stands, under whatever name."""
        key = (term.word, *term.stems)
        kept = self._terms.get(key)
        if kept is not None:
            return kept
        scores: dict[int, float] = {}
        stems: dict[int, list[tuple[float, float, _Stem]]] = {}
        for stem, factor in term.stems.items():
            weighed, found = self._stem(stem)
            weight = self._weight(stem)
            for number, value in weighed.items():
                if value * factor > scores.get(number, 0.0):
                    scores[number] = value * factor
                stems.setdefault(number, []).append((factor, weight, found[number]))
        places = Places(scores, {number: _merged(found) for number, found in stems.items()})
        self._keep(len(scores))
        self._terms[key] = places
        return places

    def _stem(self, stem: str) -> tuple[dict[int, float], dict[int, _Stem]]:
        kept = self._stems.get(stem)
        if kept is not None:
            return kept
        found: dict[int, _Stem] = {}
        for number, field, offset in self._index.places(stem):
            entry = found.get(number)
            if entry is None:
                entry = found[number] = _Stem(units={})
            value = FIELD_WEIGHTS[field]
            if field == "text":
                value /= self._norms[number]
                unit = self._unit(number, offset)
                if offset < self._index.layouts[number].subjects[unit]:
                    entry.units[unit] = AS_SUBJECT
                else:
                    entry.units.setdefault(unit, 1.0)
            elif field == "lead":
                for unit in self._led(number, offset):
                    entry.units.setdefault(unit, IN_LEAD)
            elif field == "title":
                entry.title = True
            elif field == "heading":
                entry.heading = True
            entry.count += value
        weight = self._weight(stem) * (_SATURATION + 1)
        scores = {
            number: weight * entry.count / (entry.count + _SATURATION)
            for number, entry in found.items()
        }
        self._keep(len(found))
        self._stems[stem] = scores, found
        return scores, found

    def _unit(self, number: int, offset: int) -> int:
        return bisect_right(self._index.layouts[number].starts, offset) - 1

    def _led(self, number: int, offset: int) -> tuple[int, ...]:
        leads = self._index.layouts[number].leads
        return leads[bisect_right(leads, offset, key=_start) - 1][1]

    def _keep(self, entries: int) -> None:
        """Bound what is kept: past the limit everything is forgotten and read again."""
        self._kept += entries
        if self._kept > _MAX_KEPT:
            self._stems.clear()
            self._terms.clear()
            self._kept = entries


def _merged(found: list[tuple[float, float, _Stem]]) -> Place:
    """A term's place from those of all the stems that stand for it."""
    title = heading = said = 0.0
    units: dict[int, float] = {}
    for factor, weight, stem in found:
        if stem.title and factor > title:
            title = factor
        if stem.heading:
            heading = max(heading, factor)
            said += factor * weight
        for unit, value in stem.units.items():
            if value * factor > units.get(unit, 0.0):
                units[unit] = value * factor
    best = min(max(units.values(), default=0.0), 1.0)
    return Place(title, heading, said, best, tuple(units.items()))


def _all(figures: Iterable[int]) -> int:
    joined = 0
    for figure in figures:
        joined |= figure
    return joined


def _by_weight(term: tuple[Places, float, float]) -> float:
    return term[2]


def _start(lead: tuple[int, tuple[int, ...]]) -> int:
    return lead[0]
