"""Removes text that most pages of a site repeat, except in one place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from aitp_desk.knowledge.documents.base import Passage
from aitp_desk.knowledge.documents.chunks import join_units

_SHARE, _MIN_PAGES = 0.3, 20
"""Text that occurs literally on this share of all pages, and on this many, is boilerplate."""


def drop_boilerplate(pages: Mapping[str, Sequence[Passage]]) -> dict[str, Sequence[Passage]]:
    """Return the passages of all pages without boilerplate, which only the first page keeps.

    A passage with no other text is left out.

    Parameters:
        pages: the passages of each page by its path.
    """
    uses: Counter[str] = Counter()
    for passages in pages.values():
        uses.update({unit.text for passage in passages for unit in passage.units})
    least = max(_MIN_PAGES, _SHARE * len(pages))
    frame = {text for text, count in uses.items() if count >= least}
    if not frame:
        return dict(pages)
    kept: set[str] = set()
    found: dict[str, Sequence[Passage]] = {}
    for path, passages in pages.items():
        left: list[Passage] = []
        for passage in passages:
            said = {unit.text for unit in passage.units}
            drop = said & kept
            kept |= said & frame
            if not drop:
                left.append(passage)
            elif units := tuple(unit for unit in passage.units if unit.text not in drop):
                left.append(replace(passage, text=join_units(units), units=units))
        found[path] = left
    return found
