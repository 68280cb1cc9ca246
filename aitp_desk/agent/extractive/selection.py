"""Selects the passages that answer: reranks them by the fit of their sentences.

Search ranks passages by their words. A passage answers if one of its sentences, rows or code
blocks, read together with its heading and its page's title, has what was asked for, and the
expected type of figure. Both count here, and how much of the question the passage covers.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

import msgspec

from aitp_desk.agent.extractive.exact_title import ExactTitle
from aitp_desk.agent.extractive.fusion import Signal, find_matches, fuse_scores, list_signals
from aitp_desk.agent.extractive.question import ReadQuestion
from aitp_desk.knowledge.documents import genre
from aitp_desk.knowledge.documents.base import Passage
from aitp_desk.knowledge.enrichment.questions import Match
from aitp_desk.knowledge.index.layout import CODE_BLOCK
from aitp_desk.knowledge.index.term_places import NOWHERE, TermPlace, TermPlaces
from aitp_desk.knowledge.library import Label, Library
from aitp_desk.knowledge.search.quantities import CODE
from aitp_desk.knowledge.search.ranking import HOPELESS, HOPELESS_WIDELY
from aitp_desk.knowledge.search.vocabulary import KIN, OWN

by_score = attrgetter("score")
"""Sorts candidates by their words alone."""

CANDIDATES = 12
"""How many passages of the search are examined closely."""
_BESIDE = 0.45
"""A passage with less than this share of the best score is not a source of an answer."""

_BEGINS = 0.8
"""The beginning of a section is quoted before its parts if it has this share of their score."""

# Found on the tuning questions (tests/answers); each may be halved or doubled at little loss.
# The score of the search and the best unit count 1 each.
_COVERAGE, _HEADING = 0.25, 0.3
_WHOLE_QUESTION = 0.15
_EXPECTED_FIGURE = 0.35
_SAID, _NAMED_PAGE = 0.75, 0.1
_CALLED_SECTION, _SAME_QUESTION = 0.3, 0.5
_SHORT_QUESTION = 3
_SAME_PAGE, _SAME_SECTION, _UNEXPECTED = 0.8, 0.5, 0.8
_FOREIGN = 0.2
"""The weight of a foreign question's words, if its meaning is known: a few names."""
_QUOTED = 1.0
"""How much better a unit fits that answers a question like the visitor's."""
_ALIKE = 0.7
"""From this likeness on two questions ask the same."""
_RIVAL = 0.85
"""A question of another page with this share of the likeness leaves open which is meant."""
_TITLE = 1.0
"""The weight of a page's title for its opening, with further signals: as much as its question."""


class Candidate(msgspec.Struct, eq=False):
    """A passage and its fit to a question.

    Parameters:
        question: the question.
        number: of the passage.
        page: path of its document.
        score: the total by words; comparable within one question.
        fit: how well its best unit fits, about 0 to 1.35; comparable between questions.
        coverage: the share of the question that it covers, 0 to 1.
        places: the occurrences of each term of the question, by the term's position in the
            question.
        expected: whether it has a figure of the expected type.
        strayed: whether the question names pages by their whole names, and this is none of them.
        called: whether the question is at least half of its page's title, and nothing else.
        match: its question that is most like the visitor's.
        rank: its sort key: the score fused with further signals, times its preference.
        signals: the further signals.
    """

    question: _Question
    number: int
    page: str
    score: float
    fit: float
    coverage: float
    places: dict[int, TermPlace]
    expected: bool
    strayed: bool
    called: bool
    rank: float = 0.0
    signals: tuple[Signal, ...] = ()
    match: Match | None = None

    @property
    def scores(self) -> dict[str, float]:
        """The parts of the rank by source: words, and the names of the signals."""
        parts = {s.name: self.preference * s.weight * s.score(self.number) for s in self.signals}
        return {"words": self.rank - sum(parts.values()), **parts}

    @property
    def preference(self) -> float:
        """The factor of its rank if the question prefers its genre."""
        genres = self.question.library.ranking.genres[self.number]
        return genre.preference(genres, self.asked.prefers)

    @property
    def passage(self) -> Passage:
        """The passage itself, read lazily."""
        return self.question.library.passages[self.number]

    @property
    def label(self) -> Label:
        """The passage's name and address."""
        return self.question.library.label(self.number)

    def fits(self) -> list[float]:
        """How well each of its units fits, by what it adds to the heading.

        A unit that answers a question like the visitor's also fits by this.
        """
        fits = self.question.fits(self.number, self.places)
        if self.match is not None:
            for unit in self.match.units:
                fits[unit] += _QUOTED * self.match.likeness
        return fits

    @property
    def is_asked(self) -> bool:
        """Whether it answers a question like the visitor's."""
        return self.match is not None and self.match.likeness >= _ALIKE

    @property
    def lift(self) -> float | None:
        """How far it stands out in meaning, in deviations; None if unknown.

        The nearest of as many random passages has 0.
        """
        near = self.question.near
        return None if near is None else near.lift(self.number)

    @property
    def is_by_meaning(self) -> bool:
        """Whether it is in another language than the question: then words match by chance."""
        return self.question.asked.foreign and self.lift is not None

    @property
    def asked(self) -> ReadQuestion:
        """The question that it fits."""
        return self.question.asked

    def worth(self, units: Sequence[int]) -> float:
        """Return the share of the question covered by units but not the heading.

        Parameters:
            units: in order.
        """
        return self.question.worth(self.places, units)

    def asks_for(self, word: str) -> bool:
        """Return whether the question contains a word, a form or a synonym of it."""
        stem = self.question.library.vocabulary.stemmer.stem(word)
        return any(stem in wanted.term.stems for wanted in self.asked.wanted)

    @property
    def is_named(self) -> bool:
        """Whether the headings above the passage cover the whole question."""
        return not self.is_asked and self.question.names(self.places)


def find_candidates(
    library: Library, asked: ReadQuestion, *, widely: bool = False
) -> list[Candidate]:
    """Return the passages that fit a question, best first; empty if none of its words is known.

    Parameters:
        widely: let common words find further passages: for a reader who takes several.
    """
    ranking = library.ranking
    terms = [
        (ranking.places(w.term), w.factor, w.weight * max(w.term.stems.values(), default=0.0))
        for w in asked.wanted
    ]
    on_page = library.numbers(asked.document) if asked.document is not None else range(0)
    matches = find_matches(library, asked)
    signals = list_signals(library, asked, matches)
    proposed = [number for signal in signals for number in signal.best]
    scores = ranking.scores(terms, asked.expects, widely=widely, also=[*on_page, *proposed])
    numbers = ranking.best(scores, CANDIDATES, HOPELESS_WIDELY if widely else HOPELESS)
    if on_page:
        near = {number: scores[number] for number in on_page if number in scores}
        numbers = list(dict.fromkeys([*numbers, *ranking.best(near, CANDIDATES)]))
    question = _Question(library, asked, [where for where, _, _ in terms])
    found: list[Candidate] = []
    least = 0.0
    if question.asks_what and scores:
        called = [number for number in question.called() if number not in numbers]
        if called:
            # a passage with that name is as good as any, however common its words are
            scores |= dict.fromkeys(called, max(scores.values()))
            numbers += called
    for number in ranking.add_proposed(numbers, proposed):
        read = question.read(number, scores.get(number, 0.0), least)
        if read is not None:
            found.append(read)
            if read.score * _BESIDE > least and not (widely or signals):
                least = read.score * _BESIDE
    sure = max(found, key=by_score).coverage if found else 1.0
    if found and found[0].is_by_meaning:
        sure *= _FOREIGN
    ranks = fuse_scores({one.number: one.score for one in found}, signals, sure)
    for one in found:
        fused = ranks[one.number]
        if signals and one.called and question.is_title_of(one):
            fused += _TITLE
        one.rank = fused * one.preference if asked.prefers else fused
        one.signals = signals
        one.match = matches.get(one.number)
    found.sort(key=attrgetter("rank"), reverse=True)
    _begin_at_name(found)
    question.scores = {one.number: one.score for one in found}
    return found


def _begin_at_name(found: list[Candidate]) -> None:
    """Put a section before its parts if the question is its name."""
    if len(found) < 2 or not found[0].is_named:
        return
    first = found[0]
    trail = first.passage.trail
    for one in sorted(found[1:], key=attrgetter("number")):
        if one.number >= first.number:
            return
        begins = one.page == first.page and trail[: len(one.passage.trail)] == one.passage.trail
        if begins and one.rank >= _BEGINS * first.rank and one.is_named:
            found.remove(one)
            one.rank = first.rank
            found.insert(0, one)
            return


def is_leading(found: Sequence[Candidate]) -> bool:
    """Return whether only the first passage's page answers a question like the visitor's."""
    if not found or not found[0].is_asked or found[0].match is None:
        return False
    least = _RIVAL * found[0].match.likeness
    return not any(
        one.page != found[0].page and one.match is not None and one.match.likeness >= least
        for one in found
    )


def order_by_words(found: Sequence[Candidate]) -> list[Candidate]:
    """Return the same passages ordered by words alone, for clarifying and refusing."""
    return sorted(found, key=by_score, reverse=True)


class _Question:
    """A question, prepared for comparison with passages.

    Attributes:
        near: the passages near it in meaning; None if unknown.
    """

    def __init__(self, library: Library, asked: ReadQuestion, stands: Sequence[TermPlaces]) -> None:
        self.library = library
        vectors = library.vectors
        self.near = None if vectors is None else vectors.near(asked.said)
        self._ranking = library.ranking
        self.asked = asked
        self._terms: list[tuple[int, dict[int, TermPlace], float, TermPlaces, bool]] = []
        self._own: list[int] = []
        self._total = 0.0
        words: list[str] = []
        stems: list[str] = []
        for at, wanted in enumerate(asked.wanted):
            where, weight = stands[at], wanted.weight
            is_own = not wanted.carried and wanted.factor >= 1
            self._terms.append((at, where.kept, weight, where, is_own))
            self._total += weight
            if not wanted.carried:
                stems += wanted.term.own
            if is_own:
                self._own.append(at)
                words.append(wanted.term.word)
        self._total = self._total or 1.0
        self._words = words
        self._exact = ExactTitle(words, asked.text)
        must = self._exact.must
        named = zip(self._own, words, strict=True)
        self._must = frozenset(at for at, word in named if word in must)
        self._expects = asked.expects
        self._document = asked.document
        self._same_page = _SAME_PAGE if asked.leans else 0.0
        self._title_words = library.names.title_words
        self._asked_words, self._most_in_title = len(words), 2 * len(words)
        self._named = library.names.find_named(frozenset(stems))
        self._names_one = True in self._named.values()
        self._carries = len(words) < len(asked.wanted)
        self.scores: dict[int, float] = {}
        self.asks_what = not (asked.expects or self._carries or len(words) > _SHORT_QUESTION)

    def called(self) -> Sequence[int]:
        """The first passages of sections whose name is exactly what is asked for."""
        return self._ranking.called(self._words)

    def is_title_of(self, one: Candidate) -> bool:
        """Return whether a candidate begins the page whose title is the question."""
        is_whole = self._title_words[one.page] == self._asked_words
        return is_whole and not self._carries and one.number == self.library.numbers(one.page).start

    def read(self, number: int, searched: float, least: float) -> Candidate | None:
        """Measure the fit of one passage; None for one that scores less than ``least`` in any case.

        Parameters:
            searched: its score in the search.
        """
        ranking, total = self._ranking, self._total
        places: dict[int, TermPlace] = {}
        gains: dict[int, float] = {}
        around = covered = said = called_so = 0.0
        in_title = above = 0
        for at, kept, weight, where, is_own in self._terms:
            place = kept.get(number) or ranking.place(where, number)
            if place is NOWHERE:
                continue
            places[at] = place
            covered += weight * place.covered
            for unit, value in place.news:
                gains[unit] = gains.get(unit, 0.0) + weight * value
            if place.around:
                above += at in self._must
                around += weight * place.around
                said += place.said
                called_so += weight * place.heading
                in_title += is_own and place.title >= OWN
        fit, expected = (around + (max(gains.values()) if gains else 0.0)) / total, False
        coverage = covered / total
        page = self.library.pages[number]
        times = 1 + _NAMED_PAGE if page in self._named else 1.0
        base = searched / total + _COVERAGE * coverage
        about = ranking.heading_weights[number]
        if about:
            shared = min(said / about, 1.0)
            base += _HEADING * shared
            if ranking.genres[number] & genre.QUESTION:
                times += _SAME_QUESTION * shared * called_so / total
        share = coverage**_WHOLE_QUESTION
        add = self._same_page * self._nearness(number) if page == self._document else 0.0
        called = in_title == self._asked_words and self._title_words[page] <= self._most_in_title
        likes = genre.authority(ranking.genres[number] & ~self.asked.prefers)
        # the question may be exactly the name of the section
        if above == len(self._must) and self._exact.matches(self.library.passages[number]):
            likes *= 1 + _CALLED_SECTION
        expects, figures = self._expects, ranking.figures[number]
        if least:
            most = fit * (1 + _EXPECTED_FIGURE) if expects else fit
            if ((base + most) * share + add) * times * likes < least:
                return None
        if figures & expects or (figures & CODE_BLOCK and figures & CODE):
            fit, expected = self._best_fit(number, gains, around)
        score = ((base + fit) * share + add) * times * likes
        if expects and not expected:
            score *= _UNEXPECTED
        strayed = self._names_one and page not in self._named
        return Candidate(
            self, number, page, score, fit, coverage, places, expected, strayed, called
        )

    def _nearness(self, number: int) -> float:
        """Return how close a section is to the one that answered before.

        Both are on the same page.
        """
        section = self.asked.section
        if section is None:
            return 1.0
        return 1 + _SAME_SECTION * self.library.nearness(section, number)

    def names(self, places: dict[int, TermPlace]) -> bool:
        """Return whether headings and title cover the whole question.

        The headings alone cover a part of it.
        """
        if self._expects or self._carries:
            return False
        told = [places.get(at, NOWHERE) for at in self._own]
        return any(place.heading for place in told) and all(
            place.heading >= KIN or place.title >= OWN for place in told
        )

    def _best_fit(self, number: int, gains: dict[int, float], around: float) -> tuple[float, bool]:
        """Return the best unit's fit, and whether a unit has the expected figure."""
        total, expects = self._total, self._expects
        figures = self._ranking.unit_figures(number)
        best, expected = around / total, False
        if expects:
            for at, held in enumerate(figures):
                if held & expects and at not in gains:
                    gains[at] = 0.0
        for at, gain in gains.items():
            held, fit = figures[at], (around + gain) / total
            if held & expects:
                expected = True
                fit += _EXPECTED_FIGURE * fit
            if held & CODE_BLOCK and held & CODE and not expects & CODE:
                fit *= genre.share_of_code(self.asked.prefers)
            best = max(best, fit)
        return best, expected

    def worth(self, places: dict[int, TermPlace], units: Sequence[int]) -> float:
        """Return the share of the question that some units of a passage cover."""
        said = 0.0
        first, last = units[0], units[-1]
        for at, place in places.items():
            best = 0.0
            for unit, value in place.units:
                if value > best and first <= unit <= last and unit in units:
                    best = value
            if best:
                said += self.asked.wanted[at].weight * (1 - _SAID * place.around) * best
        return said / self._total

    def fits(self, number: int, places: dict[int, TermPlace]) -> list[float]:
        """Return the share of the question that each unit of a passage covers."""
        total, expects = self._total, self._expects
        figures = self._ranking.unit_figures(number)
        alone = [0.0] * len(figures)
        gains = [0.0] * len(figures)
        around = 0.0
        for at, place in places.items():
            weight = self.asked.wanted[at].weight
            around += weight * place.around
            # the unit need not repeat what the heading has
            news = weight * (1 - _SAID * place.around)
            for unit, value in place.units:
                alone[unit] += news * value
            for unit, value in place.news:
                gains[unit] += weight * value
        for at, held in enumerate(figures):
            fit = alone[at] / total
            if held & expects:
                fit += _EXPECTED_FIGURE * (0.5 + 0.5 * (around + gains[at]) / total)
            if held & CODE_BLOCK and held & CODE and not expects & CODE:
                fit *= genre.share_of_code(self.asked.prefers)
            alone[at] = fit
        return alone
