"""Reads the value of a token for a field of any kind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec

from aitp_desk.agent.slots.base import Match
from aitp_desk.agent.slots.form.form import Field, Option
from aitp_desk.agent.slots.tokens import TokenText, split_words
from aitp_desk.agent.slots.values.dates import in_zone, read_date, read_datetime, read_time_of_day
from aitp_desk.agent.slots.values.ids import read_id
from aitp_desk.agent.slots.values.numbers import Number, read_number

_EVERYDAY = frozenset(
    "all any none no yes on off in out other new first last more less me it default normal "
    "regular one two a i up down open close closed".split()
)
"""Values that are common words: they need the name of their field."""
_CODES = frozenset("hi oh ok or pa ma la ms co al de us am pm is it as at be do go".split())
"""Words of two letters that may be codes as well: they are if written as the code."""
_SHORTENED = re.compile(r"\w['’](?:d|ll|re|ve|m)\b", re.IGNORECASE)
"""``I'd``, ``we'll``: a verb, which is no ``ID`` and no ``well``."""
_NOT = frozenset(
    "not no without except never isnt arent dont doesnt cant wont neither nor than".split()
)
_FILLING = frozenset(
    "a an the in by with for of use want need like do have send get any to it be at your my via "
    "size colour color order number one".split()
)
_EVERY = frozenset("all any every everything anything everywhere anywhere nothing".split())
_REACH = 8
_YES = frozenset("yes y yeah yep true on sure ok okay please absolutely definitely 1".split())
_NO = frozenset("no n nope nah false off none not dont without 0".split())


def read_value(
    field: Field, text: TokenText, start: int, now: datetime, *, is_named: bool = False
) -> Match | None:
    """Read the value for a field that begins at a token; None if none does.

    Parameters:
        is_named: whether the text names the field.
    """
    match field.kind:
        case "id":
            return read_id(text, start, field.pattern) if field.pattern is not None else None
        case "choice":
            return _choice_at(field, text, start, is_named=is_named)
        case "email":
            return _word_at(
                text, start, is_it="@" in text.word(start) and len(text.word(start)) > 2
            )
        case "uri":
            return _word_at(text, start, is_it=text.word(start).startswith(("http://", "https://")))
        case "date":
            return read_date(text, start, now.date(), looks_back=field.looks_back)
        case "time":
            match = read_time_of_day(text, start)
            return None if match is None else _write_times(field, match, now)
        case "moment":
            return read_datetime(text, start, now)
        case "integer" | "number" | "decimal":
            number = read_number(text, start)
            return None if number is None else as_match(field, number)
        case "boolean" if is_named:
            return _truth_at(text, start)
        case "list" if field.item is not None:
            return read_value(field.item, text, start, now, is_named=is_named)
    return None


def _write_times(field: Field, match: Match, now: datetime) -> Match:
    """Return times of day as a field takes them: of a plain string as ``09:15``."""
    format_ = field.schema.get("format")
    if format_ == "time":
        return in_zone(match, now)
    if format_ is not None:
        return match
    return msgspec.structs.replace(
        match, values=tuple(str(value).removesuffix(":00") for value in match.values)
    )


def as_match(field: Field, number: Number) -> Match:
    """Return a number as a match for a field; without values if the field takes no such number."""
    values = [as_value(field, value) for value in number.values]
    return Match(number.start, number.end, tuple(value for value in values if value is not None))


def as_value(field: Field, value: Decimal) -> int | float | str | None:
    """Return a number as JSON for a field; None if the field takes no such number."""
    is_whole = value == value.to_integral_value()
    if field.kind == "decimal":
        return format(value, "f")
    if field.kind == "integer":
        return int(value) if is_whole else None
    return int(value) if is_whole else float(value)


def is_common_word(said: str, values: Sequence[Any]) -> bool:
    """Return whether a word is a code only where it is written so: ``ok``."""
    return said.casefold() in _CODES and said not in values


def is_denied(text: TokenText, start: int, about: AbstractSet[str] = frozenset()) -> bool:
    """Return whether the words before a value exclude it: ``not red``, ``instead of M``.

    Parameters:
        about: words for the action: ``I do not want to cancel ORD-000123``.
    """
    for place in range(start - 1, max(start - _REACH, -1), -1):
        word, before = text.fold(place), text.fold(place - 1)
        if word in _NOT or (before, word) == ("instead", "of"):
            return True
        if word == "but":
            said = {text.fold(earlier) for earlier in range(place - 4, place)}
            return not _EVERY.isdisjoint(said)
        if word not in _FILLING and word not in about:
            return False
    return False


def find_described(field: Field, text: TokenText, free: Sequence[int]) -> tuple[Any, ...]:
    """Return the values of a choice whose descriptions the text matches well enough."""
    words = {text.fold(place) for place in free}
    told = [(option, _telling(option, field.options) & words) for option in field.options]
    return tuple(option.value for option, said in told if len(said) > 1)


def read_boolean(text: TokenText, places: Sequence[int]) -> bool | None:
    """Read yes or no, unless the text has both."""
    said = {text.fold(place) for place in places}
    is_yes, is_no = not _YES.isdisjoint(said), not _NO.isdisjoint(said)
    if is_no and (not is_yes or said & _YES <= {"please"}):
        return False
    return True if is_yes and not is_no else None


def _truth_at(text: TokenText, start: int) -> Match | None:
    word = text.fold(start)
    if word in _YES - {"please"}:
        return Match(start, start + 1, (True,))
    return Match(start, start + 1, (False,)) if word in _NO else None


def _word_at(text: TokenText, start: int, *, is_it: bool) -> Match | None:
    return Match(start, start + 1, (text.word(start),)) if is_it else None


def _choice_at(field: Field, text: TokenText, start: int, *, is_named: bool) -> Match | None:
    if field.is_numeric:
        number = read_number(text, start)
        if number is None:
            return None
        values = tuple(
            option.value
            for value in number.values
            for option in field.options
            if Decimal(str(option.value)) == value
        )
        return Match(start, number.end, values) if values else None
    found = text.phrase_at(start, field.phrases)
    if found is None:
        return None
    end, values = found
    said = text.between(start, end)
    if _SHORTENED.search(said) and not any(_SHORTENED.search(name) for name in _names(field)):
        return None
    if not is_named:
        if said.casefold() in _EVERYDAY:
            return None
        if len(said) == 1 and (said not in values or said.islower() or _is_initial(text, end)):
            return None
        if is_common_word(said, values):
            return None
    return Match(start, end, values)


def _is_initial(text: TokenText, end: int) -> bool:
    """Return whether a letter is an initial: ``S. Miller``."""
    return text.word(end) == "." and text.touches(end) and text.word(end + 1)[:1].isupper()


def _names(field: Field) -> Iterator[str]:
    """Yield the names of a choice's options."""
    return (f"{option.value} {option.title}" for option in field.options)


def _telling(option: Option, options: Sequence[Option]) -> frozenset[str]:
    """Return the words that only this option's description has."""
    others: set[str] = set()
    for other in options:
        if other is not option:
            others.update(_words(other))
    return frozenset(word for word in split_words(option.description) if word not in others)


def _words(option: Option) -> Iterator[str]:
    yield from split_words(f"{option.value} {option.title} {option.description}")
