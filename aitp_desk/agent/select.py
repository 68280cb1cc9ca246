"""Choosing what answers: passages ranked again by how their sentences fit, then the best of them.

Search ranks passages by their words. A passage answers when one of its sentences, rows or code
blocks, read together with its heading and its page's title, holds what was asked for, and the sort
of figure that was asked for. Both count here, and how much of the question the passage covers.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from aitp_desk.agent.exact import Exact
from aitp_desk.agent.question import Asked
from aitp_desk.knowledge.base import Passage, Unit
from aitp_desk.knowledge.figures import CODE
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.search import HOPELESS, HOPELESS_WIDELY, Place
from aitp_desk.knowledge.vocabulary import OWN

CANDIDATES, CANDIDATES_OF_FEW_WORDS = 8, 16
"""How many passages of the search are looked at closely: few words fit many alike."""
_FEW_WORDS = 3

# Found on the tuning questions (tests/answers); each may be halved or doubled at little loss.
_SEARCH, _BEST_UNIT, _COVERAGE, _HEADING = 1.0, 1.0, 0.25, 0.3
_WHOLE_QUESTION = 0.3
_IN_HEADING, _IN_TITLE = 1.0, 0.8
_EXPECTED_FIGURE, _EXPECTED_ALONE = 0.35, 0.75
_CODE_UNASKED = 0.5
_SAID, _NAMED_PAGE, _CALLED_PAGE = 0.75, 0.1, 0.15
_CALLED_SECTION = 0.3
_SAME_PAGE, _SAME_PAGE_UNBIDDEN, _UNEXPECTED = 0.5, 0.2, 0.8
_NEGATED = 0.2


class Found(msgspec.Struct, frozen=True):
    """A passage and how it fits a question.

    Parameters:
        score: all in all; comparable within one question.
        fit: how well its best unit fits, about 0 to 1.25; comparable between questions.
        coverage: the share of the question that it speaks of, 0 to 1.
        places: how each term of the question stands in it, by the term's place in the question.
        expected: whether it holds a figure of the sort that was asked for.
        strayed: whether the question names pages by their whole names, and this is none of them.
        called: whether the question is at least half of its page's title, and nothing else.
        units: how well each unit fits.
    """

    passage: Passage
    score: float
    fit: float
    coverage: float
    places: dict[int, Place]
    expected: bool
    strayed: bool
    called: bool
    units: list[float]


def find(library: Library, asked: Asked, *, widely: bool = False) -> list[Found]:
    """The passages that fit a question, best first; empty when no word of it is known.

    Parameters:
        widely: look closely at more passages, and let common words find some of their own: for a
            reader who takes several.
    """
    ranking = library.ranking
    stands = [ranking.places(wanted.term) for wanted in asked.wanted]
    weights = [wanted.weight for wanted in asked.wanted]
    terms = [
        (where, wanted.factor, wanted.weight)
        for where, wanted in zip(stands, asked.wanted, strict=True)
    ]
    scores = ranking.scores(terms, asked.expects, widely=widely)
    named = library.naming.named(
        frozenset(stem for w in asked.wanted if not w.carried for stem in w.term.own)
    )
    question = _Question(asked, weights, sum(weights) or 1.0, named, Exact(asked))
    found = []
    many = widely or len(asked.wanted) <= _FEW_WORDS
    numbers = ranking.best(
        scores,
        CANDIDATES_OF_FEW_WORDS if many else CANDIDATES,
        HOPELESS_WIDELY if widely else HOPELESS,
    )
    if asked.document is not None:
        near = library.numbers(asked.document)
        on_page = {number: scores[number] for number in near if number in scores}
        numbers = list(dict.fromkeys([*numbers, *ranking.best(on_page, CANDIDATES)]))
    for number in numbers:
        places = {
            at: place
            for at, where in enumerate(stands)
            if (place := where.places.get(number)) is not None
        }
        found.append(question.read(library, number, scores[number], places))
    found.sort(key=_by_score, reverse=True)
    return found


class _Question:
    """A question, ready to be held against passages."""

    def __init__(
        self,
        asked: Asked,
        weights: list[float],
        total: float,
        named: dict[str, bool],
        exact: Exact,
    ) -> None:
        self.exact = exact
        self.weights = weights
        self.own = [at for at, w in enumerate(asked.wanted) if w.factor >= 1 and not w.carried]
        self.total = total
        self.expects = asked.expects
        self.bonus = _EXPECTED_ALONE if asked.bare else _EXPECTED_FIGURE
        self.document = asked.document
        self.same_page = _SAME_PAGE if asked.leans else _SAME_PAGE_UNBIDDEN
        self.named = named
        self.negated = asked.negated

    def read(
        self, library: Library, number: int, searched: float, places: dict[int, Place]
    ) -> Found:
        """Measure how one passage fits."""
        passage = library.passages[number]
        figures = library.ranking.unit_figures[number]
        total = self.total
        alone = [0.0] * len(figures)
        gains = [0.0] * len(figures)
        around = covered = said = 0.0
        for at, place in places.items():
            weight = self.weights[at]
            known = max(_IN_HEADING * place.heading, _IN_TITLE * place.title)
            around += weight * known
            covered += weight * max(known, place.best)
            said += place.said
            # what the heading says already, the unit need not say again
            news = weight * (1 - _SAID * known)
            for unit, value in place.units:
                alone[unit] += news * value
                if value > known:
                    gains[unit] += weight * (value - known)
        fit, expected = self._weigh(passage, figures, alone, gains, around)
        coverage = covered / total
        about = library.ranking.heading_weights[number]
        score = (
            _SEARCH * searched / total
            + _BEST_UNIT * fit
            + _COVERAGE * coverage
            + (_HEADING * min(said / about, 1.0) if about else 0.0)
        ) * coverage**_WHOLE_QUESTION
        if passage.document == self.document:
            score += self.same_page
        if passage.document in self.named:
            score *= 1 + _NAMED_PAGE
        if self.negated and library.ranking.negated[number]:
            score += _NEGATED
        if self.expects and not expected:
            score *= _UNEXPECTED
        called = len(self.own) * 2 >= library.naming.title_words[passage.document] and all(
            at in places and places[at].title >= OWN for at in self.own
        )
        if called:
            score *= 1 + _CALLED_PAGE
        if self.exact.names(passage):
            score *= 1 + _CALLED_SECTION
        strayed = passage.document not in self.named and any(self.named.values())
        return Found(passage, score, fit, coverage, places, expected, strayed, called, alone)

    def _weigh(
        self,
        passage: Passage,
        figures: Sequence[int],
        alone: list[float],
        gains: list[float],
        around: float,
    ) -> tuple[float, bool]:
        """Put each unit's worth into ``alone``; return the best fit, and whether a figure fits."""
        total, expects, bonus = self.total, self.expects, self.bonus
        fit, expected = around / total, False
        for at, held in enumerate(figures):
            own, together = alone[at] / total, (around + gains[at]) / total
            if held & expects:
                expected = True
                own += bonus * (0.5 + 0.5 * together)
                together += bonus * together
            if held & CODE and not expects & CODE and passage.units[at].kind == "code":
                own *= _CODE_UNASKED
                together *= _CODE_UNASKED
            alone[at] = own
            fit = max(fit, together)
        return fit, expected


def compose(found: Found, limit: int) -> str:
    """The units of a passage that answer, as text in the passage's order.

    Parameters:
        limit: about how many characters it may take; the best unit is given whole.
    """
    units, fits = found.passage.units, found.units
    chosen: list[int] = []
    size = 0
    for at in sorted(range(len(units)), key=lambda at: -fits[at]):
        length = len(units[at].text) + 1
        if chosen and (size + length > limit or (not fits[at] and size > limit / 2)):
            continue
        chosen.append(at)
        size += length
    return joined([units[at] for at in sorted(chosen)])


def joined(units: Sequence[Unit]) -> str:
    """Units in a row as text: sentences run on, the others have lines of their own."""
    text = ""
    before = ""
    for unit in units:
        if text:
            text += " " if unit.kind == before == "sentence" else "\n"
        text += f"- {unit.text}" if unit.kind == "item" else unit.text
        before = unit.kind
    return text


def _by_score(found: Found) -> float:
    return found.score
