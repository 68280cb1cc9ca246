"""Describes in which passages a term of a question occurs, and where in each."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from aitp_desk.knowledge.index.postings import Posting

IN_HEADINGS, IN_TITLES = 1.0, 0.8
"""The weight of a word in the headings or the page's title for every unit below."""


class TermPlace(msgspec.Struct, frozen=True, gc=False):
    """The occurrences of a term in a passage. Values are 0 to 1: the certainty of the match.

    Parameters:
        title, heading: in the page's title, in the headings above.
        said: the weight of the heading's words that match the term.
        best: at its best position.
        units: the units that have it, with certainty.
        around: the certainty that the heading or the title has it.
        covered: the certainty that the passage has it in any position.
        news: the units that match better than the headings above, and by how much.
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
        """Return a place with the values derived from the occurrences."""
        best = max(units.values(), default=0.0)
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
"""The place of a term in a passage that does not have it."""


class TermPlaces(msgspec.Struct, frozen=True, gc=False):
    """The occurrences of a term.

    Parameters:
        found: the passages that have it, with its scores there.
        stems: the postings of its stems, with certainty and weight.
        asked: its stems that occur in questions for passages, with certainty.
        kept: its places in the passages examined so far.
    """

    found: dict[int, float]
    stems: tuple[tuple[Posting, float, float], ...]
    asked: tuple[tuple[str, float], ...]
    kept: dict[int, TermPlace]

    def score(self, number: int) -> float:
        """Return its score in any passage."""
        return self.found.get(number, 0.0)
