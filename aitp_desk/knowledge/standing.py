"""Where a term of a question stands: which passages it finds, and how it stands in one of them."""

from __future__ import annotations

import msgspec

from aitp_desk.knowledge.postings import Posting

MOST_PLACES = 64
"""In so many passages is kept how a term stands there."""


class Place(msgspec.Struct, frozen=True, gc=False):
    """How a term stands in a passage. Values are 0 to 1: how surely the term is meant.

    Parameters:
        title, heading: in the page's title, in the headings above.
        said: the weight of the heading's words that the term stands for.
        best: at its best place.
        units: the units that hold it and how surely.
    """

    title: float
    heading: float
    said: float
    best: float
    units: tuple[tuple[int, float], ...]


NOWHERE = Place(0.0, 0.0, 0.0, 0.0, ())
"""The place of a term in a passage that does not hold it."""


class Part(msgspec.Struct, frozen=True, gc=False):
    """What finds passages for a term: a stem, or all that find few passages as one.

    Parameters:
        found: the passages that it finds, with their scores.
        most: the best of them.
        factor: how surely it stands for the term; 1 where the scores say that already.
    """

    found: dict[int, float]
    most: float
    factor: float


class Places(msgspec.Struct, frozen=True, gc=False):
    """Where a term stands.

    Parameters:
        parts: what finds passages for it.
        common: the postings of stems that do not find all passages that hold them, and how surely
            each stands for it.
        most: its best score.
        size: how many passages it finds, those of several parts counted for each.
        stems: what stands for it, as it is looked for, with how surely and how much each tells.
        kept: how it stands in the passages that were looked at, at most :data:`MOST_PLACES`.
        room: how many entries it keeps of its own.
    """

    parts: tuple[Part, ...]
    common: tuple[tuple[Posting, float], ...]
    most: float
    size: int
    stems: tuple[tuple[str, float, float], ...]
    kept: dict[int, Place]
    room: int

    def score(self, number: int) -> float:
        """Its score in any passage."""
        best = 0.0
        for part in self.parts:
            best = max(best, part.found.get(number, 0.0) * part.factor)
        for posting, factor in self.common:
            if posting.most * factor > best:
                best = max(best, posting.score(number) * factor)
        return best
