"""Reads quantities: ``2x TS-001``, ``TS-001 x 2``, ``three of the blue mug``."""

from __future__ import annotations

from decimal import Decimal

from aitp_desk.agent.slots.base import Match
from aitp_desk.agent.slots.tokens import TokenText
from aitp_desk.agent.slots.values.numbers import UNITS, Number, read_number

SEPARATORS = frozenset({",", ";", "+", "&", "\n", "and", "plus", ".", "?", "!"})
_BEFORE = frozenset(
    "x × * of the piece pc unit copy item article more number no nr model style a".split()
)
"""What may be between a number and the thing that it counts."""
_AFTER = frozenset("x × * : = ( - – quantity qty number pc piece count amount".split())
"""What may be between a thing and its number."""
COUNTED = frozenset("x × * of piece pc unit copy item more".split())
_OPENS = frozenset("from between starting since arriving".split())
_CLOSES = frozenset("to until till through and - – leaving into".split())
_LONGEST_NUMBER = 6
_FARTHEST = 4


def word_at(text: TokenText, place: int) -> str:
    """Return a folded token, or a sign unchanged."""
    return text.fold(place) or text.word(place)


def end_at(text: TokenText, place: int) -> str:
    """Return whether the ``first`` or the ``last`` of a period begins there: ``from … to …``."""
    before = word_at(text, place - 1)
    if before in {"on", "the", "in", "at"}:
        before = word_at(text, place - 2)
    return "first" if before in _OPENS else "last" if before in _CLOSES else ""


def count_before(text: TokenText, thing: Match, floor: int) -> Number | None:
    """Return the number before a thing: ``2 x TS-001``, ``a TS-001``."""
    place = thing.start
    while place > floor and thing.start - place < _FARTHEST:
        number = _ending_at(text, place, floor)
        if number is not None:
            return number
        if word_at(text, place - 1) not in _BEFORE:
            return None
        if text.fold(place - 1) == "a" and place == thing.start:
            return Number(place - 1, place, (Decimal(1),))
        place -= 1
    return None


def count_after(text: TokenText, thing: Match, ceiling: int) -> Number | None:
    """Return the number after a thing: ``TS-001 x 2``, ``TS-001 (2)``, ``TS-001: 2``."""
    place = thing.end
    if text.word(place) == ",":
        number = read_number(text, place + 1)
        is_named = word_at(text, place + 1) in {"quantity", "qty"}
        if is_named or (number is not None and word_at(text, number.end) in COUNTED):
            place += 1
    for _ in range(_FARTHEST):
        number = read_number(text, place) if place < ceiling else None
        if number is not None and number.end <= ceiling:
            unit = text.fold(number.end)
            is_counted = unit == "time" or unit not in UNITS
            return number if is_counted and text.is_free(place, number.end) else None
        if place >= ceiling or word_at(text, place) not in _AFTER:
            return None
        place += 1
    return None


def _ending_at(text: TokenText, end: int, floor: int) -> Number | None:
    """Return the longest number that ends just before a position."""
    for start in range(max(floor, end - _LONGEST_NUMBER), end):
        number = read_number(text, start)
        if number is not None and number.end == end and text.is_free(start, end):
            return number
    return None
