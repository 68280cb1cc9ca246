"""The passages that one question finds: few terms find them, and all say what they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from aitp_desk.knowledge.standing import Places
from aitp_desk.knowledge.vocabulary import OWN

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
HEAD = 48
"""So many passages, its best ones, each other term finds."""
LOOKED_UP = 32
"""In so many of the passages that were found, the best ones, common words are looked up."""

_ENOUGH = 32
"""What scores less than so many others is not among the best in any case; where fewer were found,
any term may find more."""


class Candidates:
    """The passages that the terms of one question find, and what all terms say of them.

    Few terms find passages, those that tell most: the first one all that it can, the others their
    best. What holds two of them is found by the first, or is among the best of another.

    Parameters:
        ordered: where each term stands, how much it counts, and what it weighs; those that tell
            most come first.
        leap: how many times its score a passage may come to by what is no word.
        widely: whether a term of little weight finds passages too, where they are not many.
    """

    def __init__(
        self, ordered: Sequence[tuple[Places, float, float]], leap: float, *, widely: bool
    ) -> None:
        self.total: dict[int, float] = {}
        self._finders: list[Places] = []
        self._others: list[tuple[Places, float]] = []
        self._common: list[tuple[Places, float, Mapping[int, float]]] = []
        left = sum([places.most * factor for places, factor, _ in ordered])
        for places, factor, weight in ordered:
            left -= places.most * factor
            if not places.found:
                continue
            if self._finders:
                tells = weight >= SLIGHT or (widely and len(places.found) <= MANY)
                self._go_on(places, factor, may_find=tells)
            else:
                self._begin(places, factor, left, leap)

    def _begin(self, places: Places, factor: float, left: float, leap: float) -> None:
        """Take the first term: what it finds, and says.

        Parameters:
            left: what all terms after it may add at most.
        """
        told = places.found
        if places.common:
            told = _found_widely(places, _bar(places, left / factor, leap))
            self._common.append((places, factor, told))
        self.total = _times(told, factor)
        self._finders.append(places)

    def _go_on(self, places: Places, factor: float, *, may_find: bool) -> None:
        """Take the next term: what it finds; what it says comes later."""
        self._others.append((places, factor))
        if places.common:
            self._common.append((places, factor, places.found))
        total = self.total
        if may_find and (len(self._finders) < FINDERS or len(total) < _ENOUGH):
            self._finders.append(places)
            for number in islice(places.found, HEAD):
                total.setdefault(number, 0.0)

    def tell(self) -> None:
        """Add what the terms say of what was found, all but the first, which has spoken.

        Of the two mappings the shorter one is gone through.
        """
        total = self.total
        for places, factor in self._others:
            found = places.found
            if len(found) < len(total):
                for number, value in found.items():
                    if number in total:
                        total[number] += value * factor
                continue
            for number in filter(found.__contains__, total):
                total[number] += found[number] * factor

    def keep_best(self, hopeless: float) -> None:
        """Let go of what comes to less than a share of the best.

        Where common words are still to be looked up they may lift it, so only the best are kept.
        """
        if not self.total:
            return
        total = self.total
        least = max(total.values()) * hopeless
        if self._common:
            least -= sum([places.most * factor for places, factor, _ in self._common])
            if len(total) > LOOKED_UP:
                least = max(least, sorted(total.values())[-LOOKED_UP])
        self.total = {number: value for number, value in total.items() if value >= least}

    def look_up(self) -> None:
        """Add what common words say of passages that are not among the best of the word."""
        total = self.total
        for places, factor, told in self._common:
            unheard = [number for number in total if number not in told]
            for number, value in places.look_up(unheard).items():
                total[number] += value * factor

    def finds(self, number: int) -> bool:
        """Whether one of the terms that find passages finds this one."""
        return any(places.score(number) for places in self._finders)


def _bar(places: Places, left: float, leap: float) -> float:
    """What the first term must say of a passage that may be among the best.

    Parameters:
        left: what all terms after it may add at most.
    """
    return next(islice(places.found.values(), _ENOUGH, None), 0.0) / leap - left


def _times(scores: dict[int, float], factor: float) -> dict[int, float]:
    if factor == 1.0:
        return scores.copy()
    return {number: value * factor for number, value in scores.items()}


def _found_widely(places: Places, least: float) -> dict[int, float]:
    """The passages that a term finds, and all that hold a common word, if they are not too many.

    Parameters:
        least: what the word must say of these.
    """
    told = places.found
    for posting, share in places.common:
        last = next(reversed(posting.found.values()))
        if share >= OWN and len(posting.numbers) <= SEEDS and last * share > least:
            above = posting.above(least / share)
            told = {number: value * share for number, value in above.items()} | told
    return told
