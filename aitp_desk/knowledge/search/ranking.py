"""Ranks passages for the terms of a question: BM25 over the fields of a passage.

The scores of each stem are in the index. A term scores in a passage what its best stem scores
there, and a passage the sum of its terms. Terms are read at first use and kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter

from aitp_desk.knowledge.documents.titles import make_joined_name
from aitp_desk.knowledge.enrichment.questions import Questions
from aitp_desk.knowledge.index.index import Index
from aitp_desk.knowledge.index.layout import IN_HEADING, IN_TITLE, read_position
from aitp_desk.knowledge.index.postings import Posting
from aitp_desk.knowledge.index.term_places import NOWHERE, TermPlace, TermPlaces
from aitp_desk.knowledge.search.vocabulary import OWN, Term, Vocabulary

WAYS = (1.0, 0.4)
"""The weight of a word for a unit that has it, and for one that it leads in: by the roles of
:mod:`~aitp_desk.knowledge.index.layout`.
"""
EXPECTED = 1.35
"""The factor of a passage's score if it has a figure of the expected type."""
ASKED = (0.8, 1.1, 1.3)
"""The share of its weight that a word adds to a passage by one, two, more questions with it."""
ASKED_UNIT = 0.7
"""The certainty with which a unit has a word of a question that it answers."""
HOPELESS, HOPELESS_WIDELY = 0.4, 0.2
"""A passage with less than this share of the best score is not examined."""
SLIGHT = 1.6
"""A term of less weight finds no passages if others do."""
ENOUGH = 200
"""When rare terms have found this many passages, commoner ones only add to their scores."""
ASIDE = 64
"""How many passages a synonym's stem finds that is no form of the word."""
MAX_KEPT = 500_000
"""About how many scores of terms are cached; the cache is cleared when there are more."""
_TERM, _PLACE = 10, 4
"""A term, and its place in a passage, count as this many scores."""


class Ranking:
    """Scores passages for terms.

    Parameters:
        index: has the postings of stems.
        vocabulary: weighs stems.
        questions: the questions of the enrichment: their words find passages, too.

    Attributes:
        heading_weights: by passage, the total weight of the words of the headings above.
        genres: by passage, its genres as flags.
        figures: by passage, the types of figures in its units, as flags, and ``CODE_BLOCK``.
        unit_figures: returns the same of each unit of a passage.
    """

    def __init__(
        self, index: Index, vocabulary: Vocabulary, questions: Questions | None = None
    ) -> None:
        self._index = index
        self._questions = questions
        self._weight = vocabulary.weight
        self.heading_weights: Sequence[float] = index.heading_weights
        self.genres: Sequence[int] = index.genres
        self.figures: Sequence[int] = index.figures
        self.unit_figures = index.unit_figures
        self._terms: dict[str, TermPlaces] = {}
        self._postings: dict[str, Posting] = {}
        self._kept = 0

    def called(self, words: Iterable[str]) -> Sequence[int]:
        """Return the first passages of sections and pages with this name."""
        name = make_joined_name(words)
        return self._index.find_by_name(name) if name else ()

    def scores(
        self,
        terms: Iterable[tuple[TermPlaces, float, float]],
        expects: int = 0,
        *,
        widely: bool = False,
        also: Iterable[int] = (),
    ) -> dict[int, float]:
        """Return the score of every passage that the terms find.

        Rare terms come first. When they have found enough, the others only add to the scores of
        these passages, as insignificant terms do.

        Parameters:
            terms: the occurrences of each, its factor, and its weight.
            expects: types of figures, as flags; passages with one score higher.
            widely: whether insignificant terms find passages too.
            also: passages that are scored in any case.
        """
        told = [term for term in terms if term[0].found]
        most = max(map(itemgetter(2), told), default=0.0)
        slight = 0.0 if widely else min(SLIGHT, most)
        ordered = sorted(
            (
                (weight < slight, len(places.found), places.found, factor)
                for places, factor, weight in told
            ),
            key=itemgetter(0, 1),
        )
        total: dict[int, float] = {}
        for is_slight, _, found, factor in ordered:
            both = found.keys() & total.keys()
            if is_slight or len(total) > ENOUGH:
                for number in both:
                    total[number] += found[number] * factor
                continue
            counted = _times(found, factor)
            total = counted | total
            for number in both:
                total[number] += counted[number]
        for number in set(also) - total.keys():
            score = sum(found.get(number, 0.0) * factor for *_, found, factor in ordered)
            if score:
                total[number] = score
        if expects:
            figures = self.figures
            for number in total:
                if figures[number] & expects:
                    total[number] *= EXPECTED
        return total

    def best(
        self, scores: Mapping[int, float], limit: int, hopeless: float = HOPELESS
    ) -> list[int]:
        """Return the best passages; of near-duplicates the better one alone.

        Parameters:
            hopeless: passages with less than this share of the best score are left out.
        """
        least = max(scores.values(), default=0.0) * hopeless
        likely = sorted([(-score, number) for number, score in scores.items() if score >= least])
        twins = self._index.twins
        found: dict[int, int] = {}
        for _, number in likely:
            if len(found) == limit:
                break
            found.setdefault(twins[number], number)
        return list(found.values())

    def add_proposed(self, numbers: Iterable[int], proposed: Iterable[int]) -> list[int]:
        """Return passages and, without near-duplicates of these, the proposed ones."""
        twins = self._index.twins
        found = list(dict.fromkeys(numbers))
        held = {twins[number] for number in found}
        for number in proposed:
            if twins[number] not in held:
                held.add(twins[number])
                found.append(number)
        return found

    def places(self, term: Term) -> TermPlaces:
        """Return the occurrences of a term, cached by its key."""
        kept = self._terms.get(term.key)
        if kept is not None:
            return kept
        stems = [
            (self._posting(stem), factor, self._weight(stem))
            for stem, factor in term.stems.items()
            if stem in self._index.counts
        ]
        found: dict[int, float] = {}
        for posting, factor, _ in stems:
            held = _times(dict(posting.found(None if factor >= OWN else ASIDE)), factor)
            better = [
                (number, found[number])
                for number in held.keys() & found.keys()
                if found[number] > held[number]
            ]
            found = found | held
            found.update(better)
        asked = self._find_asked(term, found)
        places = TermPlaces(found, tuple(stems), asked, {})
        if found:  # the number of words that the content does not have is unbounded
            self._keep(len(found) + _TERM)
            self._terms[term.key] = places
        return places

    def _posting(self, stem: str) -> Posting:
        """Return the posting of a stem; synonyms share theirs."""
        posting = self._postings.get(stem)
        if posting is None:
            posting = self._postings[stem] = self._index.posting(stem)
            self._keep(len(posting.numbers))
        return posting

    def place(self, where: TermPlaces, number: int) -> TermPlace:
        """Return the occurrences of a term in a passage."""
        kept = where.kept.get(number)
        if kept is not None:
            return kept
        place = self._place(where, number)
        self._keep(_PLACE)
        where.kept[number] = place
        return place

    def _place(self, where: TermPlaces, number: int) -> TermPlace:
        title = heading = said = 0.0
        units: dict[int, float] = {}
        is_held = False
        for posting, factor, weight in where.stems:
            position = posting.position(number)
            if not position:
                continue
            is_held = True
            flags, ways = read_position(position)
            if flags & IN_TITLE:
                title = max(title, factor)
            if flags & IN_HEADING:
                heading = max(heading, factor)
                said += factor * weight
            for unit, way in ways:
                units[unit] = max(units.get(unit, 0.0), WAYS[way] * factor)
        for stem, factor in where.asked:
            for unit in self._questions.units(number, stem) if self._questions else ():
                units[unit] = max(units.get(unit, 0.0), ASKED_UNIT * factor)
        return TermPlace.of(title, heading, said, units) if is_held or units else NOWHERE

    def _find_asked(self, term: Term, found: dict[int, float]) -> tuple[tuple[str, float], ...]:
        """Add the passages that a term finds by their questions.

        Returns:
            The stems that occur in questions, with certainty.
        """
        if self._questions is None:
            return ()
        asked: list[tuple[str, float]] = []
        told: dict[int, float] = {}
        for stem, factor in term.stems.items():
            weight = self._weight(stem) * factor
            for number, count in self._questions.holding(stem).items():
                told[number] = max(told.get(number, 0.0), weight * ASKED[min(count, 3) - 1])
            if stem in self._questions.counts:
                asked.append((stem, factor))
        for number, value in told.items():
            found[number] = found.get(number, 0.0) + value
        return tuple(asked)

    def _keep(self, scores: int) -> None:
        """Bound the cache."""
        self._kept += scores
        if self._kept > MAX_KEPT:
            self._terms.clear()
            self._postings.clear()
            self._kept = scores


def _times(scores: dict[int, float], factor: float) -> dict[int, float]:
    if factor == 1.0:
        return scores
    return {number: score * factor for number, score in scores.items()}
