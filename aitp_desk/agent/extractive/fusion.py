"""Fuses scores by words with further signals into one ranking of passages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import msgspec

from aitp_desk.agent.extractive.question import ReadQuestion
from aitp_desk.knowledge.enrichment.questions import Match
from aitp_desk.knowledge.library import Library

_QUESTION, _MEANING, _RERANKED = 1.0, 2.0, 2.0
"""The weights of the likeness to a question, of the cosine, and of a reranker's score; the best
score by words counts 1.
"""
_ASKED, _MEANING_ASIDE = 2.0, 1.0
"""The weight of the cosine with a passage's nearest question, and then of that with its text."""
PROPOSED = 6
"""How many passages the likeness to their questions proposes."""


class Signal(msgspec.Struct, frozen=True):
    """Scores of passages by another signal than their words.

    Parameters:
        name: the source of the scores.
        weight: how much the signal counts; the best score by words counts 1.
        best: the numbers of the passages that it proposes, best first.
        score: the score of any passage by its number, about 0 to 1.
    """

    name: str
    weight: float
    best: Sequence[int]
    score: Callable[[int], float]


def list_signals(
    library: Library, asked: ReadQuestion, matches: Mapping[int, Match]
) -> tuple[Signal, ...]:
    """Return the content's signals for a question; none if only words are available."""
    signals: list[Signal] = []
    if matches:
        likeness = {number: match.likeness for number, match in matches.items()}
        best = sorted(likeness, key=likeness.__getitem__, reverse=True)[:PROPOSED]
        of_any = defaultdict(float, likeness).__getitem__
        signals.append(Signal("questions", _QUESTION, best, of_any))
    if library.vectors is not None:
        near = library.vectors.near(asked.said)
        if near is not None:
            weight = _MEANING if near.asked is None else _MEANING_ASIDE
            signals.append(Signal("meaning", weight, near.best, near.cosines.__getitem__))
            if near.asked is not None:
                by_meaning = near.asked.__getitem__
                signals.append(Signal("asked", _ASKED, near.best_asked, by_meaning))
    if library.reranker is not None and (scores := library.reranker.scores(asked.said)):
        reranked = Signal("reranker", _RERANKED, (), lambda number: scores.get(number, 0.0))
        signals.append(reranked)
    return tuple(signals)


def find_matches(library: Library, asked: ReadQuestion) -> Mapping[int, Match]:
    """Return each passage's enrichment question that is most similar to the visitor's."""
    if library.questions is None:
        return {}
    words = library.vocabulary.words(asked.text, asked.names)
    stems = library.vocabulary.stemmer.stems(words)
    terms: dict[str, tuple[Mapping[str, float], float]] = {
        word: ({stem: 1.0}, 1.0) for word, stem in zip(words, stems, strict=True)
    }
    terms |= {w.term.word: (w.term.stems, w.factor) for w in asked.wanted}
    return library.questions.matches(terms.values())


def fuse_scores(
    words: Mapping[int, float], signals: Sequence[Signal], sure: float = 1.0
) -> dict[int, float]:
    """Combine scores by words with signals: ``sure × words / max + Σ weight × score``.

    Without signals the scores by words are returned as they are.

    Parameters:
        sure: the share of the question that the best passage by words covers: if all passages
            lack what is asked for, the best of them says little.
    """
    if not signals:
        return dict(words)
    most = max(words.values(), default=0.0) or 1.0
    fused: dict[int, float] = {}
    for number, score in words.items():
        further = 0.0
        for signal in signals:
            further += signal.weight * signal.score(number)
        fused[number] = sure * score / most + further
    return fused
