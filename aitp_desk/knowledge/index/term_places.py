"""Where a term of a question stands: in which passages, and how it stands in one of them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from aitp_desk.knowledge.index.postings import Posting

IN_HEADINGS, IN_TITLES = 1.0, 0.8
"""How much a word counts for every unit below that the headings or the page's title say."""


class TermPlace(msgspec.Struct, frozen=True, gc=False):
    """How a term stands in a passage. Values are 0 to 1: how surely the term is meant.

    Parameters:
        title, heading: in the page's title, in the headings above.
        said: the weight of the heading's words that the term stands for.
        best: at its best place.
        units: the units that hold it and how surely.
        around: how surely what stands above a unit says it, be it the heading or the title.
        covered: how surely the passage speaks of it in any place.
        news: the units that say it more surely than what stands above them, and by how much.
    """

    title: float
    heading: float
    said: float
    best: float
    units: tuple[tuple[int, float], ...]
    around: float
    covered: float
    news: tuple[tuple[int, float], ...]

    @classmethod
    def of(cls, title: float, heading: float, said: float, units: Mapping[int, float]) -> TermPlace:
        """A place with what follows from where the term stands."""
        best = min(max(units.values()), 1.0) if units else 0.0
        around = max(IN_HEADINGS * heading, IN_TITLES * title)
        said_in = tuple(units.items())
        news = said_in
        if around:
            news = tuple([(unit, value - around) for unit, value in said_in if value > around])
        return cls(
            title,
            heading,
            said,
            best,
            said_in,
            around,
            max(around, best),
            news,
        )


NOWHERE = TermPlace.of(0.0, 0.0, 0.0, {})
"""The place of a term in a passage that does not hold it."""


class TermPlaces(msgspec.Struct, frozen=True, gc=False):
    """Where a term stands.

    Parameters:
        found: the passages that hold it, with its scores there.
        stems: the postings of its stems, with how surely each stands for it and what it weighs.
        asked: the stems of it that stand in questions for passages, and how surely each means it.
        kept: how it stands in the passages that were looked at.
    """

    found: dict[int, float]
    stems: tuple[tuple[Posting, float, float], ...]
    asked: tuple[tuple[str, float], ...]
    kept: dict[int, TermPlace]

    def score(self, number: int) -> float:
        """Its score in any passage."""
        return self.found.get(number, 0.0)
