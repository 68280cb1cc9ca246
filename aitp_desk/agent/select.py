"""Choosing what answers: passages ranked again by how their sentences fit, then the best of them.

Search ranks passages by their words. A passage answers when one of its sentences, rows or code
blocks, read together with its heading and its page's title, holds what was asked for, and the sort
of figure that was asked for. Both count here, and how much of the question the passage covers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from aitp_desk.agent.question import Asked
from aitp_desk.knowledge.base import Passage, Unit
from aitp_desk.knowledge.figures import Figure
from aitp_desk.knowledge.library import Library

CANDIDATES = 10
"""How many passages of the search are looked at closely."""

# Found on the tuning questions (tests/answers); each may be halved or doubled at little loss.
_SEARCH, _BEST_UNIT, _COVERAGE, _HEADING = 1.0, 1.0, 0.5, 0.3
_WHOLE_QUESTION = 0.3
_IN_HEADING, _IN_TITLE, _IN_LEAD = 0.9, 0.8, 0.4
_EXPECTED_FIGURE, _EXPECTED_ALONE = 0.35, 0.75
_CODE_UNASKED = 0.5
_SAID, _NAMED_PAGE = 0.75, 0.1
_SAME_PAGE, _SAME_PAGE_BARE, _UNEXPECTED = 0.2, 0.2, 0.8

Strengths = dict[int, float]


class Found(msgspec.Struct, frozen=True):
    """A passage and how it fits a question.

    Parameters:
        score: all in all; comparable within one question.
        fit: how well its best unit fits, about 0 to 1.25; comparable between questions.
        coverage: the share of the question that it speaks of, 0 to 1.
        matched: the places in the question of the terms that it holds.
        expected: whether it holds a figure of the sort that was asked for.
        units: how well each unit fits.
    """

    passage: Passage
    score: float
    fit: float
    coverage: float
    matched: frozenset[int]
    expected: bool
    units: tuple[float, ...]


def find(library: Library, asked: Asked) -> list[Found]:
    """The passages that fit a question, best first; empty when no word of it is known."""
    ranking = library.ranking
    terms = ((wanted.term, wanted.factor) for wanted in asked.wanted)
    scores = ranking.scores(terms, asked.expects)
    reader = _Reader(library, asked)
    found = [
        reader.read(number, scores[number]) for number in ranking.best(scores, CANDIDATES)
    ]
    found.sort(key=_by_score, reverse=True)
    return found


def _by_score(found: Found) -> float:
    return found.score


class _Reader:
    """Reads passages closely for one question."""

    def __init__(self, library: Library, asked: Asked) -> None:
        self.library = library
        self.expects = asked.expects
        self.document = asked.document
        self.named = library.naming.named(
            frozenset(stem for w in asked.wanted if not w.carried for stem in w.term.own)
        )
        self.bare = asked.bare
        self.bonus = _EXPECTED_ALONE if asked.bare else _EXPECTED_FIGURE
        self.weights = [wanted.weight for wanted in asked.wanted]
        self.total = sum(self.weights) or 1.0
        self.by_stem: dict[str, list[tuple[int, float]]] = {}
        for at, wanted in enumerate(asked.wanted):
            for stem, value in wanted.term.stems.items():
                self.by_stem.setdefault(stem, []).append((at, value))
        self.stems = frozenset(self.by_stem)

    def read(self, number: int, searched: float) -> Found:
        """Measure one passage."""
        words = self.library.ranking.words(number)
        passage = self.library.passages[number]
        weights, total = self.weights, self.total
        context = self._strengths(words.title, _IN_TITLE)
        for at, value in self._strengths(words.heading, _IN_HEADING).items():
            if value > context.get(at, 0.0):
                context[at] = value
        whole = dict(context)
        around = sum(weights[at] * value for at, value in context.items())
        fit, units, figures = around / total, [], Figure.NONE
        for unit, place in zip(words.units, passage.units, strict=True):
            own = self._strengths(unit.stems)
            if unit.lead:
                for at, value in self._strengths(unit.lead, _IN_LEAD).items():
                    if value > own.get(at, 0.0):
                        own[at] = value
            alone, together = 0.0, around
            for at, value in own.items():
                known = context.get(at, 0.0)
                # what the heading says already, the unit need not say again
                alone += weights[at] * value * (1 - _SAID * known)
                if value > known:
                    together += weights[at] * (value - known)
                if value > whole.get(at, 0.0):
                    whole[at] = value
            alone, together = alone / total, together / total
            figures |= unit.figures
            if unit.figures & self.expects:
                alone += self.bonus * (0.5 + 0.5 * together)
                together += self.bonus * together
            if place.kind == "code" and not self.expects & Figure.CODE:
                alone, together = alone * _CODE_UNASKED, together * _CODE_UNASKED
            units.append(alone)
            fit = max(fit, together)
        coverage = sum(weights[at] * value for at, value in whole.items()) / total
        score = (
            _SEARCH * searched / total
            + _BEST_UNIT * fit
            + _COVERAGE * coverage
            + _HEADING * self._heading(words.heading)
        ) * coverage**_WHOLE_QUESTION
        if passage.document == self.document:
            score *= 1 + (_SAME_PAGE_BARE if self.bare else _SAME_PAGE)
        if passage.document in self.named:
            score *= 1 + _NAMED_PAGE
        if self.expects and not figures & self.expects:
            score *= _UNEXPECTED
        return Found(
            passage=passage,
            score=score,
            fit=fit,
            coverage=coverage,
            matched=frozenset(whole),
            expected=bool(figures & self.expects),
            units=tuple(units),
        )

    def _strengths(self, stems: frozenset[str], factor: float = 1.0) -> Strengths:
        """For each term that stands among these stems, how surely it is meant."""
        found: Strengths = {}
        for stem in stems & self.stems:
            for at, value in self.by_stem[stem]:
                if value * factor > found.get(at, 0.0):
                    found[at] = value * factor
        return found

    def _heading(self, stems: frozenset[str]) -> float:
        """The share of a heading that the question speaks of: is the section about just this?"""
        weight = self.library.vocabulary.weight
        whole = sum(map(weight, stems))
        if not whole:
            return 0.0
        return sum(
            weight(stem) * max(value for _, value in self.by_stem[stem])
            for stem in stems & self.stems
        ) / whole


def compose(found: Found, limit: int) -> str:
    """The units of a passage that answer, as text in the passage's order.

    Parameters:
        limit: about how many characters it may take; the best unit is given whole where it is not
            far longer.
    """
    units = found.passage.units
    order = sorted(range(len(units)), key=lambda at: (-found.units[at], at))
    chosen: list[int] = []
    size = 0
    for at in order:
        length = len(units[at].text) + 1
        if chosen and (size + length > limit or (not found.units[at] and size > limit / 2)):
            continue
        chosen.append(at)
        size += length
    return _joined([units[at] for at in sorted(chosen)])


def _joined(units: Sequence[Unit]) -> str:
    text = ""
    before = ""
    for unit in units:
        if text:
            text += " " if unit.kind == before == "sentence" else "\n"
        text += f"- {unit.text}" if unit.kind == "item" else unit.text
        before = unit.kind
    return text
