"""Choosing what answers: passages ranked again by how their sentences fit, then the best of them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from aitp_desk.knowledge.base import Passage
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.vocabulary import Term

CANDIDATES = 10


class Wanted(msgspec.Struct, frozen=True):
    """A term and how much it counts in this turn."""

    term: Term
    factor: float = 1.0

    @property
    def weight(self) -> float:
        return self.term.weight * self.factor


class Found(msgspec.Struct, frozen=True):
    """A passage with what was measured of it."""

    number: int
    passage: Passage
    score: float
    coverage: float
    units: tuple[float, ...]


def find(library: Library, wanted: Sequence[Wanted], boost=None) -> list[Found]:
    ranking = library.ranking
    scores = ranking.scores((w.term, w.factor) for w in wanted)
    if boost:
        for n in scores:
            scores[n] *= boost(library.passages[n])
    numbers = ranking.best(scores, CANDIDATES)
    total = sum(w.weight for w in wanted) or 1.0
    by_stem: dict[str, list[tuple[int, float]]] = {}
    for at, w in enumerate(wanted):
        for stem, value in w.term.stems.items():
            by_stem.setdefault(stem, []).append((at, value))
    query = frozenset(by_stem)
    weights = [w.weight for w in wanted]

    def strengths(stems: frozenset[str]) -> dict[int, float]:
        found: dict[int, float] = {}
        for stem in stems & query:
            for at, value in by_stem[stem]:
                if value > found.get(at, 0.0):
                    found[at] = value
        return found

    result = []
    for number in numbers:
        words = ranking.words(number)
        title = strengths(words.title)
        heading = strengths(words.heading)
        whole: dict[int, float] = {}
        for part in (title, heading):
            for at, value in part.items():
                whole[at] = max(whole.get(at, 0), value)
        units = []
        best = 0.0
        for unit in words.units:
            own = strengths(unit.stems)
            lead = strengths(unit.lead) if unit.lead else {}
            score = 0.0
            for at, value in own.items():
                score += weights[at] * value
                whole[at] = max(whole.get(at, 0), value)
            for at, value in lead.items():
                if at not in own:
                    score += 0.4 * weights[at] * value
                whole[at] = max(whole.get(at, 0), value)
            context = score + sum(
                weights[at] * max(0.9 * heading.get(at, 0), 0.8 * title.get(at, 0))
                for at in heading.keys() | title.keys()
                if at not in own
            )
            units.append(score)
            best = max(best, context)
        coverage = sum(weights[at] * value for at, value in whole.items()) / total
        score = scores[number] / total + 1.0 * best / total + 0.5 * coverage
        result.append(Found(number, library.passages[number], score, coverage, tuple(units)))
    result.sort(key=lambda f: -f.score)
    return result


def compose(found: Found, limit: int) -> str:
    units = found.passage.units
    order = sorted(range(len(units)), key=lambda i: (-found.units[i], i))
    chosen: list[int] = []
    size = 0
    for at in order:
        length = len(units[at].text) + 1
        if chosen and size + length > limit:
            continue
        if chosen and found.units[at] == 0 and size > limit / 2:
            continue
        chosen.append(at)
        size += length
    chosen.sort()
    text = ""
    for at in chosen:
        unit = units[at]
        if not text:
            text = unit.text
        else:
            text += (" " if unit.kind == "sentence" else "\n") + unit.text
    return text[: max(limit * 2, 700)]
