"""Decides whether a found section answers the question, from a sum of evidence.

The weights come from a logistic regression over independent sites: ``python -m
tests.answers.strangers.weights`` fits them again. A feature stayed if it helped on sites that were
left out of the fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter

from aitp_desk.agent.extractive.question import (
    TELLING,
    ReadQuestion,
    WantedTerm,
    is_question,
    points_back,
)
from aitp_desk.agent.extractive.selection import Candidate, by_score
from aitp_desk.knowledge.documents.titles import drop_number
from aitp_desk.knowledge.index.term_places import NOWHERE
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.search.ngrams import is_ngram
from aitp_desk.knowledge.search.synonyms import plain_english, plain_stems
from aitp_desk.knowledge.search.tokenizer import to_plain_words
from aitp_desk.knowledge.search.vocabulary import OWN

NEEDED = 2.7
"""The evidence that an answer needs."""
WEIGHTS: Mapping[str, float] = {
    "score": 0.93,
    "lead": 0.49,
    "length": 0.3,
    "lack": -0.04,
    "whole": 0.67,
    "lift": 0.4,
    "likeness": 7.86,
    "carried": 1.2,
    "foreign": 0.7,
    "cosine": 1.0,
    "unknown": -1.0,
    "figure": -0.8,
    "reranked": 2.0,
}
"""The weight of each feature. Those of the cosine and the two below it were fitted last, with the
others as they are. That of a reranker is set by hand, none is among the sites' models;
so is that of other languages, of which more words are known than when the weights were fitted.
"""

_MOST_TELLING, _LONG, _LONGEST, _WORD = 5, 8, 20, 0.6
_LEAST_LIKE, _LIKE = 0.47, 0.51
"""Questions below the first likeness match by chance; from the second on likeness is evidence for a
section.
"""
_COVERING = 0.9
"""A section that is called as the question covers more of it than this."""
_CLOSE = 0.33
"""From this cosine on the meaning is evidence for a section."""
_NEAR = 0.5
"""A section is near that covers this share of the known words."""
_NEAR_UNCALLED = 0.8
"""The same if neither its heading nor its title has a part of it."""
_NAME = 2.0
"""A missing name counts this many times as much as another word."""


def is_trusted(best: Candidate) -> bool:
    """Return whether a section is trusted to answer its question."""
    return sum_evidence(best) >= NEEDED


def list_asked_in_full(found: Sequence[Candidate], asked: ReadQuestion) -> list[Candidate]:
    """Return the sections whose heading is the question.

    They answer it without further evidence.
    """
    said = to_plain_words(asked.said)
    named = [
        one
        for one in found
        if one.coverage >= _COVERING and to_plain_words(drop_number(one.label.heading)) == said
    ]
    # "it" is any page's subject
    return named if named and is_question(asked.text) and not points_back(asked.text) else []


def find_strongest(found: Sequence[Candidate]) -> tuple[float, Candidate]:
    """Return the section with the most evidence, and how much: the first, or the first by words."""
    first = found[0]
    held = sum_evidence(first), first
    other = first if first.is_by_meaning else max(found, key=by_score)
    return held if other is first else max(held, (sum_evidence(other), other), key=itemgetter(0))


def sum_evidence(best: Candidate) -> float:
    """Return the evidence for a section."""
    return sum(WEIGHTS[name] * value for name, value in list_features(best).items())


def is_near(best: Candidate) -> bool:
    """Return whether a section has the question's topic without answering it.

    It covers nearly all known words; most of them suffice if its heading or title has a part.
    """
    known = [
        (wanted.weight, best.places.get(at, NOWHERE))
        for at, wanted in enumerate(best.asked.wanted)
        if wanted.term.known and not wanted.carried and wanted.weight > TELLING
    ]
    told = sum(weight * place.covered for weight, place in known)
    is_called_so = any(max(place.heading, place.title) >= OWN for _, place in known)
    least = _NEAR if is_called_so else _NEAR_UNCALLED
    return told > 0 and told >= least * sum(weight for weight, _ in known)


def list_features(best: Candidate) -> dict[str, float]:
    """Return the features for or against a section.

    - score: by words.
    - lead: how much more the best section by words scores than any other.
    - length: how many words are significant, up to five, and each further word of a long question:
      the score is a share of the question, and a visitor who explains a situation uses different
      words.
    - lack: the weight of the rarest word that the section lacks, names doubled.
    - whole: whether it covers everything asked for.
    - lift: by how many deviations it stands out in meaning beyond chance.
    - likeness: to a question of its enrichment.
    - carried: whether the question continues the conversation's topic, which is the site's;
      negative if everything that it names itself is unknown to the site.
    - foreign: whether the content is not English; few synonyms are known, so that scores are lower.
    - cosine: with the question, if the content has vectors and nothing further; then also
    - unknown: the share of words that the content does not have, and
    - figure: whether the section has the expected figure, which the score counts already.
    - reranked: a reranker's score.
    """
    asked, library = best.asked, best.question.library
    telling = sum(wanted.weight > TELLING for wanted in asked.wanted)
    further = max(min(asked.length, _LONGEST) - _LONG, 0)
    is_enriched = library.questions is not None
    likeness = best.match.likeness if best.match is not None else 0.0
    is_by_meaning = best.is_by_meaning
    return {
        "score": best.score,
        "lead": _lead(best.question.scores, library),
        "length": min(telling, _MOST_TELLING) + _WORD * further,
        "lack": 0.0 if is_by_meaning else _lack(best, asked, library),
        "whole": float(len(best.places) == len(asked.wanted) and not is_by_meaning),
        "lift": best.lift or 0.0,
        "likeness": max(likeness, _LEAST_LIKE) - _LIKE if is_enriched else 0.0,
        "carried": _carried(asked),
        "foreign": float(not library.vocabulary.is_english),
        **_by_meaning(best),
        "reranked": _reranked(best, library),
    }


def _by_meaning(best: Candidate) -> dict[str, float]:
    """Return the features of content with vectors alone: no questions, and no reranker."""
    near, library = best.question.near, best.question.library
    if near is None or library.questions is not None or library.reranker is not None:
        return {}
    told = [(wanted.weight, wanted.term.known) for wanted in best.asked.wanted]
    unknown = sum(weight for weight, is_known in told if not is_known)
    total = sum(weight for weight, _ in told) or 1.0
    return {
        "cosine": float(near.cosines[best.number]) - _CLOSE,
        "unknown": 0.0 if best.is_by_meaning else unknown / total,
        "figure": float(best.expected),
    }


def _carried(asked: ReadQuestion) -> float:
    if not any(wanted.carried for wanted in asked.wanted):
        return 0.0
    own = [w.term.known for w in asked.wanted if not w.carried and w.weight > TELLING]
    return 1.0 if any(own) or not own else -1.0


def _lead(scores: Mapping[int, float], library: Library) -> float:
    best, *others = sorted(scores, key=scores.__getitem__, reverse=True)
    url = library.label(best).url
    rival = next((number for number in others if library.label(number).url != url), None)
    return scores[best] - (0.0 if rival is None else scores[rival])


def _reranked(best: Candidate, library: Library) -> float:
    scores = {} if library.reranker is None else library.reranker.scores(best.asked.said)
    return scores[best.number] - 0.5 if best.number in scores else 0.0


def _lack(best: Candidate, asked: ReadQuestion, library: Library) -> float:
    return max(
        (
            wanted.weight * (_NAME if _is_name(wanted, asked, library) else 1.0)
            for at, wanted in enumerate(asked.wanted)
            if at not in best.places and not wanted.carried and wanted.factor >= 1
        ),
        default=0.0,
    )


def _is_name(wanted: WantedTerm, asked: ReadQuestion, library: Library) -> bool:
    """Return whether a word looks like a name, or is not a plain word."""
    word = wanted.term.word
    if (
        not library.vocabulary.is_english
    ):  # plain words are not known, and capitals may be any noun's
        return not wanted.term.known and not is_ngram(word)
    is_plain = word in plain_english() or library.vocabulary.stemmer.stem(word) in plain_stems()
    return word in asked.names or not (is_plain or word.isdigit())
