"""Finding passages: BM25 over the fields of a passage, without walking the long lists.

A word in a title or a heading counts more than one in the text (BM25 with fields). What the index
says of a term is read at its first use and kept. The passages of each term stand in the order of
their scores, so a question takes of each list no more than can still win.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from operator import itemgetter

from aitp_desk.knowledge.candidates import HOPELESS, HOPELESS_WIDELY, Candidates
from aitp_desk.knowledge.enrichment.questions import Questions
from aitp_desk.knowledge.index import Index
from aitp_desk.knowledge.layout import IN_HEADING, IN_TITLE, mark, stand_of
from aitp_desk.knowledge.postings import NO_POSTING, Posting
from aitp_desk.knowledge.standing import NOWHERE, Place, Places
from aitp_desk.knowledge.titles import joined_name
from aitp_desk.knowledge.vocabulary import OWN, Term, Vocabulary

WAYS = (1.25, 1.0, 0.4)
"""How much a word counts for a unit that is about it (a row ``Weight: 540 g``), that holds it, and
that it leads in: by what :mod:`~aitp_desk.knowledge.layout` calls a way to stand in a unit."""
EXPECTED = 1.35
"""How much more a passage scores that holds a figure of the sort that is asked for."""
ASKED = (0.8, 1.1, 1.3)
"""How much of its weight a word adds to a passage by one, two, more questions that hold it."""
ASKED_UNIT = 0.7
"""How surely a unit says a word of a question that it answers."""
ASIDE = 64
"""So many passages a stem finds that stands for a word without being a form of it."""
LEAST_COMMON = 0.3
"""A common word that tells less than this share of what its term tells at most is not looked up."""

_SCORE, _WEIGHT = itemgetter(1), itemgetter(2)
MOST_PLACES = 50_000
"""In so many passages all in all is kept how terms stand there."""
MAX_KEPT = 800_000
"""In so many entries of mappings, about, is kept where terms and stems stand."""
_FRAME = 4
"""So many entries take the room of a term beside the passages that it finds."""
_COMPACT = 12
"""So many entries of an array take the room of one of a mapping."""


class Ranking:
    """Scores passages for terms.

    Parameters:
        index: where the places of stems are.
        vocabulary: weighs stems.
        questions: what visitors may ask of the passages: their words find these, too.

    Attributes:
        heading_weights: by passage, what the words of the headings above weigh together.
        authority: by passage, what its score is multiplied with.
        negated: by passage, whether a heading above says that something is not so.
        figures: by passage, the sorts of figures in its units, as flags, and ``CODE_BLOCK``.
    """

    def __init__(
        self, index: Index, vocabulary: Vocabulary, questions: Questions | None = None
    ) -> None:
        self._index = index
        self._questions = questions
        self._weight = vocabulary.weight
        self.heading_weights: Sequence[float] = index.heading_weights
        self.authority: Sequence[float] = index.authority
        self.negated: Sequence[int] = index.negated
        self.figures: Sequence[int] = index.figures
        self._terms: dict[str, Places] = {}
        self._postings: dict[str, Posting] = {}
        self._kept = 0
        self._placed = 0

    def called(self, words: Iterable[str]) -> Sequence[int]:
        """The first passages of sections and pages whose name these words are."""
        name = joined_name(words)
        return self._index.called(name) if name else ()

    def unit_figures(self, number: int) -> Sequence[int]:
        """The sorts of figures in each unit of a passage, as flags, and ``CODE_BLOCK``."""
        return self._index.stands(number).figures

    def scores(
        self,
        terms: Iterable[tuple[Places, float, float]],
        expects: int = 0,
        *,
        widely: bool = False,
        also: Sequence[int] = (),
    ) -> dict[int, float]:
        """The score of every passage that holds one of the terms and is not hopeless.

        Parameters:
            terms: where each stands, how much it counts, and what it weighs.
            expects: sorts of figures, as flags; passages that hold one score higher.
            widely: whether a term of little weight finds passages too, where they are not many.
            also: passages that are scored however hopeless they are.
        """
        ordered = sorted(terms, key=_WEIGHT, reverse=True)
        leap = EXPECTED if expects else 1.0
        candidates = Candidates(ordered, leap, widely=widely)
        candidates.tell()
        candidates.keep_best((HOPELESS_WIDELY if widely else HOPELESS) / leap)
        candidates.look_up()
        total = candidates.total
        for number in also:
            if number not in total and candidates.finds(number):
                total[number] = sum(places.score(number) * factor for places, factor, _ in ordered)
        if expects:
            figures = self._index.figures
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
        ordered = sorted(sorted(scores), key=scores.__getitem__, reverse=True)[: limit * 2]
        least = scores[ordered[0]] * hopeless
        twins = self._index.twins
        found: dict[int, int] = {}
        for number in ordered:
            if scores[number] < least or len(found) == limit:
                break
            found.setdefault(twins[number], number)
        return list(found.values())

    def places(self, term: Term) -> Places:
        """Where a term stands, under whatever name."""
        kept = self._terms.pop(term.key, None)
        if kept is not None:
            self._terms[term.key] = kept  # whatever is asked for again goes to the end
            return kept
        common: list[tuple[Posting, float]] = []
        stems: list[tuple[str, float, float, Mapping[int, float] | None]] = []
        found: dict[int, float] = {}
        for stem, factor in term.stems.items():
            posting = self._posting(stem)
            held = posting.found if posting.is_complete else None
            stems.append((mark(stem), factor, self._weight(stem), held))
            is_all = _add(posting, factor, found)
            if held is None or not is_all:
                common.append((posting, factor))
        asked = self._find_asked(term.stems, common, found)
        if len(stems) > 1 or asked:
            found = dict(sorted(found.items(), key=_SCORE, reverse=True))
        most = next(iter(found.values()), 0.0)
        telling = [one for one in common if _most_of(one) >= LEAST_COMMON * most]
        places = Places(
            found=found,
            common=tuple(sorted(telling, key=_most_of, reverse=True)),
            most=most,
            stems=tuple(stems),
            asked=asked,
            kept={},
        )
        if stems:  # of words that the content does not have there is no end
            self._keep(len(found) + _FRAME)
            self._terms[term.key] = places
        return places

    def _find_asked(
        self,
        stems: Mapping[str, float],
        common: Sequence[tuple[Posting, float]],
        found: dict[int, float],
    ) -> tuple[tuple[str, float], ...]:
        """Add the passages that a term finds by their questions.

        Returns:
            The stems that stand in questions, and how surely each means the term.
        """
        if self._questions is None:
            return ()
        asked: list[tuple[str, float]] = []
        told: dict[int, float] = {}
        for stem, factor in stems.items():
            weight = self._weight(stem) * factor
            for number, count in self._questions.holding(stem).items():
                told[number] = max(told.get(number, 0.0), weight * ASKED[min(count, 3) - 1])
            if stem in self._questions.counts:
                asked.append((stem, factor))
        for posting, factor in common:
            for number, value in posting.look_up([at for at in told if at not in found]):
                found[number] = max(found.get(number, 0.0), value * factor)
        for number, value in told.items():
            found[number] = found.get(number, 0.0) + value
        return tuple(asked)

    def _posting(self, stem: str) -> Posting:
        posting = self._postings.pop(stem, None)
        if posting is None:
            posting = self._index.posting(stem) if stem in self._index.counts else NO_POSTING
            self._keep(_room_of(posting))
        self._postings[stem] = posting
        return posting

    def place(self, where: Places, number: int) -> Place:
        """How a term stands in a passage."""
        kept = where.kept.get(number)
        if kept is not None:
            return kept
        stems: str | None = None
        title = heading = said = 0.0
        units: dict[int, float] = {}
        held = False
        for marked, factor, weight, found in where.stems:
            if found is not None and number not in found:
                continue
            if stems is None:
                stems = self._index.stands(number).stems
            stand = stand_of(marked, stems)
            if stand is None:
                continue
            held = True
            flags, ways = stand
            if flags & IN_TITLE and factor > title:
                title = factor
            if flags & IN_HEADING:
                heading = max(heading, factor)
                said += factor * weight
            for unit, way in ways:
                value = WAYS[way] * factor
                if value > units.get(unit, 0.0):
                    units[unit] = value
        if where.asked:
            self._add_answers(where.asked, number, units)
        place = Place.of(title, heading, said, units) if held or units else NOWHERE
        self._placed += 1
        if self._placed > MOST_PLACES:
            self._forget_places()
        where.kept[number] = place
        return place

    def _add_answers(
        self, asked: Iterable[tuple[str, float]], number: int, units: dict[int, float]
    ) -> None:
        """Let the units that answer questions with a term say it, though not in so many words."""
        for stem, factor in asked:
            for unit in self._questions.units(number, stem) if self._questions else ():
                units[unit] = max(units.get(unit, 0.0), ASKED_UNIT * factor)

    def _forget_places(self) -> None:
        """Forget half of the places, those of terms that nobody asked for longest."""
        self._placed = sum(len(places.kept) for places in self._terms.values())
        for places in self._terms.values():
            if self._placed <= MOST_PLACES // 2:
                return
            self._placed -= len(places.kept)
            places.kept.clear()

    def _keep(self, entries: int) -> None:
        """Bound what is kept: past the limit is forgotten what nobody asked for longest."""
        self._kept += entries
        while self._kept > MAX_KEPT and self._terms:
            self._kept -= len(self._terms.pop(next(iter(self._terms))).found) + _FRAME
            if self._postings:
                self._kept -= _room_of(self._postings.pop(next(iter(self._postings))))


def _room_of(posting: Posting) -> int:
    return len(posting.found) + len(posting.numbers) // _COMPACT


def _most_of(common: tuple[Posting, float]) -> float:
    posting, factor = common
    return posting.most * factor


def _add(posting: Posting, factor: float, found: dict[int, float]) -> bool:
    """Add the passages that a stem finds to those of its term, each with the best that is said.

    A stem that is not the word itself finds its best ones alone.

    Returns:
        Whether these are all that it finds.
    """
    if not found and factor == 1.0:
        found |= posting.found
        return True
    known = found.get
    for number, value in islice(posting.found.items(), None if factor >= OWN else ASIDE):
        score = value * factor
        if score > known(number, 0.0):
            found[number] = score
    return factor >= OWN or len(posting.found) <= ASIDE
