"""How much a page is worth beside others that say the same words.

What is asked for is explained by the page that is about it. What a version changed, the code that a
page lists, a register of what all pages say hold the same words, and are looked up by other ones.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from aitp_desk.knowledge.base import Document, Passage

_CHANGES, _LISTING, _REGISTER = 0.8, 0.7, 0.6
_CHANGES_TITLE = re.compile(
    r"\brelease notes?\b|\bchange ?logs?\b|\bwhat[’']?s new\b|\bversion history\b|"
    r"\brelease v?\d|^\W*v?\d+\.\d[\d.]*\W*$",
    re.IGNORECASE,
)
_CHANGES_PATH = re.compile(
    r"(?:^|/)(?:releases?|rel-?notes|release-?(?:notes?|logs?)|whats-?new|change-?(?:s|logs?))"
    r"(?:$|[/._-])",
    re.IGNORECASE,
)
_MOSTLY = 0.8
"""A page of which so much is code lists it."""
_WORD = re.compile(r"[^\W\d_]{2}")
_ENTRIES, _MIN_ENTRIES = 0.6, 50
"""A page with so many sections, so many of them called by numbers, is a register."""


def authority_of(document: Document, passages: Sequence[Passage]) -> float:
    """What the score of a page's passages is multiplied with, above 0 and at most 1.

    Parameters:
        passages: of the document.
    """
    if _CHANGES_TITLE.search(document.title) or _CHANGES_PATH.search(document.path):
        return _CHANGES
    code = whole = 0
    for passage in passages:
        for unit in passage.units:
            whole += len(unit.text)
            code += len(unit.text) if unit.kind == "code" else 0
    if code > _MOSTLY * whole:
        return _LISTING
    numbered = sum(not _WORD.search(passage.heading) for passage in passages if passage.heading)
    if numbered >= _MIN_ENTRIES and numbered > _ENTRIES * len(passages):
        return _REGISTER
    return 1.0
