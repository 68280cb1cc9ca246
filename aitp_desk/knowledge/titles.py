"""Titles without what all pages of a site add to theirs: ``Returns | The Shop`` is ``Returns``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_PARTING = re.compile(r"\s+[-–—|·•»:]+\s+")
_SHARE = 0.5
"""An ending is the site's where at least half of the pages have it."""
_MIN_PAGES = 3


def site_endings(titles: Iterable[str]) -> frozenset[str]:
    """The endings, each with the sign before it, that are no part of a page's own title.

    Parameters:
        titles: of the HTML pages of one site.
    """
    found: Counter[str] = Counter()
    count = 0
    for title in titles:
        count += 1
        found.update({title[match.start() :] for match in _PARTING.finditer(title)})
    least = max(_MIN_PAGES, _SHARE * count)
    return frozenset(ending for ending, uses in found.items() if uses >= least)


def without_ending(title: str, endings: frozenset[str]) -> str:
    """A title without the longest of these endings that it has."""
    for match in _PARTING.finditer(title):
        if title[match.start() :] in endings and match.start():
            return title[: match.start()]
    return title
