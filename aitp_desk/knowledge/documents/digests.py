"""Finds pages that only repeat others, such as single-page editions.

They are pages like any other, but answers are taken from the pages that they repeat.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from aitp_desk.knowledge.documents.base import Passage

_REPEATED = 0.7
"""The share of a digest that other pages repeat literally, and of these that the digest repeats."""
_FROM = 8
"""The fewest pages in a digest: pages that share a few parts with each other are none."""
_MIN_UNITS = 30
_MIN_CHARACTERS = 30
"""Shorter units are equal by chance."""


def find_digests(pages: Mapping[str, Sequence[Passage]]) -> set[str]:
    """Return the paths of the pages that are digests of others.

    Parameters:
        pages: the passages of each page by its path.
    """
    units = {path: _units(passages) for path, passages in pages.items()}
    holders: dict[str, set[str]] = {}
    for path, said in units.items():
        for text in said:
            holders.setdefault(text, set()).add(path)
    found: set[str] = set()
    for path in sorted(units, key=lambda path: (-len(units[path]), path)):
        said = units[path]
        if len(said) < _MIN_UNITS:
            break
        repeated = 0
        shared: Counter[str] = Counter()
        for text in said:
            others = holders[text] - found - {path}
            repeated += bool(others)
            shared.update(others)
        whole = sum(count >= _REPEATED * len(units[other]) for other, count in shared.items())
        if repeated >= _REPEATED * len(said) and whole >= _FROM:
            found.add(path)
    return found


def _units(passages: Sequence[Passage]) -> set[str]:
    return {
        unit.text
        for passage in passages
        for unit in passage.units
        if len(unit.text) >= _MIN_CHARACTERS
    }
