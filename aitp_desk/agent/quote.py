"""Which units of a passage are quoted, so that they can be read alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aitp_desk.agent.select import Found, joined
from aitp_desk.knowledge.base import Unit

_LEANS = (
    "This ", "That ", "These ", "Those ", "It ", "They ", "Such ", "However", "But ", "Otherwise",
    "Therefore", "Thus ", "Hence ", "Instead", "In this case", "Also", "So ", "Then ",
)  # fmt: skip
"""What begins so is understood by the sentence before."""
_OVER = 1.25
"""So much longer an answer may get by what its sentences lean on."""
_SHORT = 60
"""What announces something in so few characters says nothing without it."""
_ENDS = (".", "!", "?", "…", ":", ")", '"', "”")
"""What ends otherwise is no sentence but a label."""
_LABEL = re.compile(
    r"(?:new|added|changed|deprecated|removed) (?:in|since) |see also\b|availability:",
    re.IGNORECASE,
)


def compose(found: Found, limit: int) -> str:
    """The units of a passage that answer, as text in the passage's order.

    A passage that is about what is asked for is quoted from where it says what that is, else from
    its beginning; of another one what fits best, with the sentences that this leans on.

    Parameters:
        limit: about how many characters it may take; the best unit is given whole.
    """
    units = found.passage.units
    if found.is_named:
        chosen = _from(min(found.defining, default=0), units, limit)
    else:
        chosen = _fitting(units, found.fits(), limit)
    return joined([units[at] for at in sorted(chosen)])


def _from(start: int, units: Sequence[Unit], limit: int) -> set[int]:
    """The units from one on that say something."""
    chosen: set[int] = set()
    size = 0
    for at in range(start, len(units)):
        unit = units[at]
        if not _says_something(unit):
            continue
        if chosen and size + len(unit.text) > limit:
            break
        chosen.add(at)
        size += len(unit.text) + 1
    return _mended(chosen or {start}, units, limit)


def _fitting(units: Sequence[Unit], fits: Sequence[float], limit: int) -> set[int]:
    """The units that fit best."""
    chosen: set[int] = set()
    size = 0
    for at in sorted(range(len(units)), key=fits.__getitem__, reverse=True):
        length = len(units[at].text) + 1
        if chosen and (size + length > limit or (not fits[at] and size > limit / 2)):
            continue
        chosen.add(at)
        size += length
    return _mended(chosen, units, limit)


def _mended(chosen: set[int], units: Sequence[Unit], limit: int) -> set[int]:
    """With what a sentence leans on before it, and with what one that ends in a colon announces."""
    leaning = [
        at
        for at in sorted(chosen)
        if units[at].kind == "sentence"
        and (units[at].text.endswith(":") or units[at].text.startswith(_LEANS))
    ]
    if not leaning:
        return chosen
    room = limit * _OVER - sum([len(units[at].text) for at in chosen])
    for at in leaning:
        announces = units[at].text.endswith(":")
        other = at + 1 if announces else at - 1
        if other in chosen or not 0 <= other < len(units):
            continue
        if not announces and units[other].kind != "sentence":
            continue
        room -= len(units[other].text)
        if room >= 0:
            chosen.add(other)
        elif announces and len(units[at].text) < _SHORT and len(chosen) > 1:
            chosen.discard(at)
    return chosen


def _says_something(unit: Unit) -> bool:
    """Whether a unit is more than a label that stands alone."""
    if unit.kind != "sentence":
        return True
    return unit.text.endswith(_ENDS) and _LABEL.match(unit.text) is None
