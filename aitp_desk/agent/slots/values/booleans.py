"""Reads yes and no in a visitor's text: ``with gift wrap``, ``no newsletter``."""

from __future__ import annotations

from aitp_desk.agent.slots.record import TurnReading
from aitp_desk.agent.slots.tokens import TokenText
from aitp_desk.agent.slots.values.counts import SEPARATORS, word_at
from aitp_desk.agent.slots.values.readers import is_denied

_WANTED = frozenset("with include including add want need plus like get take put".split())
_UNWANTED = frozenset("skip omit minus drop leave exclude excluding".split())
_PASSED_OVER = frozenset("a an the some it me my to and also as gift".split())
_AGREED = frozenset("please yes true on too included".split())
_REFUSED = frozenset("no false off".split())
_ENDINGS = "", "ing", "ed", "ping", "ped", "d"
_FARTHEST = 3


def read_truths(reading: TurnReading) -> None:
    """Read what the visitor wants or rejects; a mere mention is neither."""
    text = reading.text
    for field in reading.fields:
        if field.kind != "boolean" or reading.is_said(field):
            continue
        phrases = {f"{name}{ending}": field for name in field.keys for ending in _ENDINGS}
        for place in range(len(text)):
            found = text.phrase_at(place, phrases) if text.is_free(place) else None
            if found is None or not text.is_free(place, found[0]):
                continue
            truth = _truth(text, place, found[0])
            if truth is not None:
                text.mark_read(place, found[0])
                reading.add_values(field, [truth])


def _truth(text: TokenText, start: int, end: int) -> bool | None:
    if is_denied(text, start) or text.fold(end) in _REFUSED:
        return False
    for place in range(start - 1, start - 1 - _FARTHEST, -1):
        word = text.fold(place)
        if word in _UNWANTED:
            return False
        if word in _WANTED:
            return None if word_at(text, end) == "?" else True
        if word not in _PASSED_OVER:
            break
    if text.fold(end) in _AGREED:
        return True
    is_apart = start == 0 or word_at(text, start - 1) in SEPARATORS
    return True if is_apart and word_at(text, end) in {"", *SEPARATORS} - {"?"} else None
