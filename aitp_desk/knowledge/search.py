"""Finding passages: BM25 over the fields of a passage, without walking the long lists.

A word in a title or a heading counts more than one in the text (BM25 with fields). What the index
says of a term is read at its first use and kept. The passages of each term stand in the order of
their scores, so a question takes of each list no more than can still win.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import nsmallest
from itertools import islice
from math import inf

from aitp_desk.knowledge.index import Index
from aitp_desk.knowledge.layout import IN_HEADING, IN_TITLE, mark, stand_of
from aitp_desk.knowledge.postings import BEST, Posting
from aitp_desk.knowledge.standing import MOST_PLACES, NOWHERE, Part, Place, Places
from aitp_desk.knowledge.titles import joined_name
from aitp_desk.knowledge.vocabulary import OWN, Term, Vocabulary

WAYS = (1.25, 1.0, 0.4)
"""How much a word counts for a unit that is about it (a row ``Weight: 540 g``), that holds it, and
that it leads in: by what :mod:`~aitp_desk.knowledge.layout` calls a way to stand in a unit."""
EXPECTED = 1.35
"""How much more a passage scores that holds a figure of the sort that is asked for."""
SLIGHT = 1.6
"""A term of less weight finds no passages of its own; it only adds to those that others found."""
HOPELESS, HOPELESS_WIDELY = 0.4, 0.2
"""A passage that scores less than this share of the best is not looked at."""
MANY = 200
"""More passages than so many are not looked through for a term of less weight, even widely."""
FINDERS = 3
"""So many terms find passages, those that tell most; the others only add to what these found."""
SEEDS = 5000
"""So many passages the first term finds in any case, even if it is common."""
LOOKED_UP = 32
"""In so many of the passages that were found, the best ones, common words are looked up."""
IN_SIGHT = 128
"""Once the terms that find passages have been heard, so many of the best are kept."""

_FEW = 128
"""So few passages are taken without a thought on whether they can win."""
_ENOUGH = 32
"""What scores less than so many others is not among the best in any case."""
_MAX_KEPT = 500_000
_COMPACT = 12
"""So many entries of an array take the room of one of a mapping."""


class Ranking:
    """Scores passages for terms.

    Parameters:
        index: where the places of stems are.
        vocabulary: weighs stems.

    Attributes:
        heading_weights: by passage, what the words of the headings above weigh together.
        authority: by passage, what its score is multiplied with.
        negated: by passage, whether a heading above says that something is not so.
        figures: by passage, the sorts of figures in its units, as flags, and ``CODE_BLOCK``.
    """

    def __init__(self, index: Index, vocabulary: Vocabulary) -> None:
        self._index = index
        self._weight = vocabulary.weight
        self.heading_weights: Sequence[float] = index.heading_weights
        self.authority: Sequence[float] = index.authority
        self.negated: Sequence[int] = index.negated
        self.figures: Sequence[int] = index.figures
        self._terms: dict[tuple[str, ...], Places] = {}
        self._postings: dict[str, Posting] = {}
        self._kept = 0

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
        ordered = sorted(terms, key=_by_weight, reverse=True)
        left = sum(places.most * factor for places, factor, _ in ordered)
        hopeless = (HOPELESS_WIDELY if widely else HOPELESS) / (EXPECTED if expects else 1.0)
        search = _Search(hopeless, EXPECTED if expects else 1.0, drops=not also)
        for places, factor, weight in ordered:
            left -= places.most * factor
            may_find = weight >= SLIGHT or (widely and places.size <= MANY)
            search.add(places, factor, left, may_find=may_find)
        search.settle()
        total = search.total
        for number in also:
            if number not in total and search.finds(number):
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
        least = max(scores.values()) * hopeless
        hopeful = [(-value, number) for number, value in scores.items() if value >= least]
        twins = self._index.twins
        found: dict[int, int] = {}
        for _, number in nsmallest(limit * 2, hopeful):
            found.setdefault(twins[number], number)
            if len(found) == limit:
                break
        return list(found.values())

    def places(self, term: Term) -> Places:
        """Where a term stands, under whatever name."""
        key = (term.word, *term.stems)
        kept = self._terms.get(key)
        if kept is not None:
            return kept
        few: dict[int, float] = {}
        parts: list[Part] = []
        common: list[tuple[Posting, float]] = []
        stems: list[tuple[str, float, float, Mapping[int, float] | None]] = []
        for stem, factor in term.stems.items():
            posting = self._posting(stem)
            if not posting.is_complete:
                common.append((posting, factor))
            found = posting.found if posting.is_complete else None
            stems.append((mark(stem), factor, self._weight(stem), found))
            if len(posting.found) > BEST:
                parts.append(Part(posting.found, posting.most, factor))
                continue
            for number, value in posting.found.items():
                if value * factor > few.get(number, 0.0):
                    few[number] = value * factor
        if few:
            few = dict(sorted(few.items(), key=_by_score, reverse=True))
            parts.append(Part(few, next(iter(few.values())), 1.0))
        places = Places(
            parts=tuple(parts),
            common=tuple(common),
            most=max((part.most * part.factor for part in parts), default=0.0),
            size=sum(len(part.found) for part in parts),
            stems=tuple(stems),
            kept={},
            room=len(few) + MOST_PLACES,
        )
        self._keep(places.room)
        self._terms[key] = places
        return places

    def _posting(self, stem: str) -> Posting:
        posting = self._postings.get(stem)
        if posting is None:
            posting = self._index.posting(stem)
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
        place = Place.of(title, heading, said, units) if held else NOWHERE
        if len(where.kept) >= MOST_PLACES:
            where.kept.clear()
        where.kept[number] = place
        return place

    def _keep(self, entries: int) -> None:
        """Bound what is kept: past the limit what was read first is forgotten."""
        self._kept += entries
        while self._kept > _MAX_KEPT and self._terms:
            self._kept -= self._terms.pop(next(iter(self._terms))).room
            if self._postings:
                self._kept -= _room_of(self._postings.pop(next(iter(self._postings))))


def _room_of(posting: Posting) -> int:
    return len(posting.found) + len(posting.numbers) // _COMPACT


class _Search:
    """The passages that the terms of one question find, while they are scored term by term.

    Parameters:
        hopeless: what comes to less than this share of the best is left out.
        leap: how many times its score a passage may come to by what is no word.
        drops: whether of many passages only the best are kept once no term finds more.
    """

    def __init__(self, hopeless: float, leap: float, *, drops: bool) -> None:
        self.total: dict[int, float] = {}
        self._drops = drops
        self._hopeless = hopeless
        self._leap = leap
        self._finders: list[Places] = []
        self._owing: list[tuple[Places, float, Mapping[int, float]]] = []

    def add(self, places: Places, factor: float, left: float, *, may_find: bool) -> None:
        """Take the next term; those that tell most come first.

        Parameters:
            left: what all terms after it may add to a passage at most.
            may_find: whether it may find passages that none before it found.
        """
        total = self.total
        least = inf
        if not total:
            least = self._first(places, left / factor)
        elif may_find and places.size <= _FEW:
            least = 0.0
        elif may_find and (len(self._finders) < FINDERS or len(total) < _ENOUGH):
            # with all that may come, a passage must come near the best and be among so many
            least = (self._enough(places.most * factor) - left) / factor
        if least <= places.most:
            self._finders.append(places)
            adds = _found(places, least)
            if not total and places.common:
                adds = _found_widely(places, least) | adds
        else:
            adds = {}
            if self._drops and len(total) > IN_SIGHT:
                total = self._drop()
        if total:
            self._tell(places, adds)
        if places.common or (least > 0.0 and may_find):
            self._owing.append((places, factor, adds))
        if not total and factor == 1.0:
            self.total = dict(adds)
            return
        for number, value in adds.items():
            total[number] = total.get(number, 0.0) + value * factor

    def _first(self, places: Places, left: float) -> float:
        """What the first term must say of a passage that may be among the best."""
        least = 0.0
        for part in places.parts:
            if len(part.found) > _ENOUGH:
                nth = next(islice(part.found.values(), _ENOUGH, None)) * part.factor
                least = max(least, nth)
        return least / self._leap - left

    def _tell(self, places: Places, told: dict[int, float]) -> None:
        """Add what a term says of the passages that are known so far."""
        total = self.total
        for part in places.parts:
            found, share = part.found, part.factor
            for number in total.keys() & found.keys():
                value = found[number] * share
                if value > told.get(number, 0.0):
                    told[number] = value

    def _drop(self) -> dict[int, float]:
        """Keep the best of what was found: what is still to come tells less."""
        bar = sorted(self.total.values())[-IN_SIGHT] / self._leap
        self.total = {number: value for number, value in self.total.items() if value >= bar}
        return self.total

    def _enough(self, next_best: float) -> float:
        values = self.total.values()
        enough = max(max(values, default=0.0), next_best) * self._hopeless
        if len(values) > _ENOUGH:
            enough = max(enough, sorted(values)[-_ENOUGH])
        return enough

    def settle(self) -> None:
        """Add what terms say of passages that they did not find: of the best passages alone."""
        if not self._owing:
            return
        total = self.total
        if len(total) > LOOKED_UP:
            least = sorted(total.values())[-LOOKED_UP]
            total = self.total = {n: value for n, value in total.items() if value >= least}
        for places, factor, told in self._owing:
            for number in total.keys() - told.keys():
                total[number] += places.score(number) * factor

    def finds(self, number: int) -> bool:
        """Whether one of the terms that find passages finds this one."""
        return any(places.score(number) for places in self._finders)


def _found(places: Places, least: float) -> dict[int, float]:
    """The passages in which a term scores at least so much, of those that it finds."""
    told: dict[int, float] = {}
    for part in places.parts:
        share = part.factor
        if not told and least <= 0.0:
            told = _times(part.found, share)
            continue
        bar = least / share
        for number, value in part.found.items():
            if value < bar:
                break
            if value * share > told.get(number, 0.0):
                told[number] = value * share
    return told


def _times(scores: Mapping[int, float], factor: float) -> dict[int, float]:
    if factor == 1.0:
        return dict(scores)
    return {number: value * factor for number, value in scores.items()}


def _found_widely(places: Places, least: float) -> dict[int, float]:
    """The same of all passages that hold a common word, if they are not too many."""
    told: dict[int, float] = {}
    for posting, share in places.common:
        last = next(reversed(posting.found.values()))
        if share >= OWN and len(posting.numbers) <= SEEDS and last * share > least:
            for number, value in posting.above(least / share).items():
                told[number] = value * share
    return told


def _by_score(found: tuple[int, float]) -> float:
    return found[1]


def _by_weight(term: tuple[Places, float, float]) -> float:
    return term[2]
