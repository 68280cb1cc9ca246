"""Reads values that are given without the name of their field."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from aitp_desk.agent.slots.base import Match, Path
from aitp_desk.agent.slots.form.form import Field, Kind
from aitp_desk.agent.slots.record import TurnReading
from aitp_desk.agent.slots.tokens import fold_word
from aitp_desk.agent.slots.values.counts import COUNTED, count_after, count_before, end_at, word_at
from aitp_desk.agent.slots.values.dates import is_dated, read_date
from aitp_desk.agent.slots.values.ids import is_bare_number, is_long_number
from aitp_desk.agent.slots.values.items import find_item_members, find_things, say_count
from aitp_desk.agent.slots.values.labels import drop_duplicates
from aitp_desk.agent.slots.values.numbers import UNITS, Amount, Number, read_amount, read_number
from aitp_desk.agent.slots.values.readers import as_value, find_described, is_denied, read_value

_GROUPS: tuple[frozenset[Kind], ...] = (
    frozenset({"id"}),
    frozenset({"email"}),
    frozenset({"uri"}),
    frozenset({"moment"}),
    frozenset({"date"}),
    frozenset({"time"}),
    frozenset({"choice"}),
)
"""The order in which kinds are read: tokens of an earlier kind are not read again."""
_QUESTIONED: frozenset[Kind] = frozenset({"id", "choice", "email"})
"""Kinds of which a second value next to a named one is ambiguous."""
_WANTED = frozenset(
    fold_word(word)
    for word in (
        "order buy want like need get take add book reserve seat send have give make"
    ).split()
)
_ON_TO = frozenset("to until till through - –".split())
_NOUN_LIKE_VERBS = frozenset({"order", "book"})
_IDLE = frozenset("please and or thanks thank of in to for on at".split())
_AFTER_PEOPLE = frozenset(["", *"left free available please and or in on at".split()])
"""Words after ``for 3`` that no thing is named by."""


class Candidate(msgspec.Struct, frozen=True):
    """A stretch of the text that names a value for one field or several."""

    start: int
    end: int
    values: tuple[tuple[Field, tuple[Any, ...]], ...]

    @property
    def fields(self) -> list[Field]:
        """The fields that it may be for."""
        return [field for field, _ in self.values]


def read_unnamed(reading: TurnReading) -> None:
    """Read values that their form alone identifies: ids, choices, addresses, dates."""
    _read_pair(reading)
    for kinds in _GROUPS:
        fields = [field for field in reading.fields if _kind(field) in kinds]
        fields = [field for field in fields if not field.is_numeric]
        if fields:
            _share(reading, list(_candidates(reading, fields)))
    _read_halves(reading)
    _read_described(reading)


def _kind(field: Field) -> Kind:
    return field.item.kind if field.item is not None else field.kind


def _candidates(reading: TurnReading, fields: Sequence[Field]) -> Iterable[Candidate]:
    """Yield the stretches that name a value, each the longest from its first token."""
    text, place = reading.text, 0
    while place < len(text):
        matches = [(f, m) for f in fields if (m := _read(reading, f, place)) is not None]
        if not matches:
            place += 1
            continue
        end = max(match.end for _, match in matches)
        text.mark_read(place, end)
        if not is_denied(text, place, reading.nouns):
            told = [(f, m.values) for f, m in matches if m.end == end and m.values]
            if told:
                yield Candidate(place, end, tuple(told))
        place = end


def _read(reading: TurnReading, field: Field, place: int) -> Match | None:
    text = reading.text
    if not text.is_free(place):
        return None
    match = read_value(field, text, place, reading.now)
    if match is None or not text.is_free(match.start, match.end):
        return None
    if not text.is_whole(match.start, match.end):
        return None
    if _kind(field) == "id" and match.values and is_bare_number(str(match.values[0])):
        is_alone = not any(other.is_numeric for other in reading.fields)
        is_long = is_long_number(str(match.values[0])) and text.fold(match.end) not in UNITS
        return match if is_alone and is_long else None
    return match


def _share(reading: TurnReading, candidates: Sequence[Candidate]) -> None:
    """Assign to each field the values that fit no other field."""
    listed: dict[Path, list[tuple[int, tuple[Any, ...]]]] = {}
    for candidate in candidates:
        fields = candidate.fields
        if len(fields) > 1:
            fields = _by_place(reading, candidate) or fields
        free = [field for field in fields if _is_open(reading, field)]
        if len(fields) > 1 and len(free) > 1:
            needed = [field for field in free if field.needed]
            others = [other for other in candidates if other is not candidate]
            is_only = not any(set(_paths(other)) & set(_paths(candidate)) for other in others)
            if len(needed) == 1 and is_only:
                free = needed
        for field in free:
            values = next(told for one, told in candidate.values if one is field)
            if len(free) > 1:
                if field.needed:
                    reading.unsure.setdefault(field.path, []).extend(values)
            elif field.kind == "list":
                listed.setdefault(field.path, []).append((candidate.start, values))
            else:
                reading.add_values(field, values)
    for field in reading.fields:
        if field.path in listed:
            _tell_all(reading, field, listed[field.path])


def _tell_all(
    reading: TurnReading, field: Field, told: Sequence[tuple[int, tuple[Any, ...]]]
) -> None:
    """Assign all values to a list, unless the text offers a choice between them."""
    values = drop_duplicates(value for _, several in told for value in several)
    is_either = any(reading.text.fold(start - 1) == "or" for start, _ in told)
    if is_either or any(len(several) > 1 for _, several in told):
        reading.add_doubt(field, values)
    else:
        reading.add_values(field, [list(values)])


def _paths(candidate: Candidate) -> list[Any]:
    return [field.path for field in candidate.fields]


def _is_open(reading: TurnReading, field: Field) -> bool:
    """Return whether a value without a name may be for a field."""
    if reading.is_firm(field):
        return False
    return field.path not in reading.named or _kind(field) in _QUESTIONED


def _by_place(reading: TurnReading, candidate: Candidate) -> list[Field]:
    """Return the fields for the first or last day of a period: ``from Monday to Friday``."""
    end = end_at(reading.text, candidate.start)
    if not end and word_at(reading.text, candidate.end) in _ON_TO:
        end = "first"
    return [field for field in candidate.fields if end and field.end == end]


def _read_halves(reading: TurnReading) -> None:
    """Read dates whose time is missing."""
    moments = [field for field in reading.fields if field.kind == "moment"]
    if len(moments) != 1 or reading.is_said(moments[0]):
        return
    text = reading.text
    for place in range(len(text)):
        match = read_date(text, place, reading.now.date()) if text.is_free(place) else None
        if match is not None and len(match.values) == 1:
            text.mark_read(match.start, match.end)
            reading.halves[moments[0].path] = match.values[0]
            return


def _read_pair(reading: TurnReading) -> None:
    """Read the quantity next to the only id: ``2x TS-001``."""
    scalars = [
        f for f in reading.fields if f.kind in {"id", "choice", "integer"} and f.item is None
    ]
    counts = [field for field in scalars if field.is_count]
    parts = find_item_members([f for f in scalars if f.kind != "integer" or f in counts])
    if parts is None or parts.count is None or reading.is_said(parts.count):
        return
    things = find_things(reading, parts.thing)
    if len({thing.values for thing in things}) != 1:
        return
    text = reading.text
    found = [
        number
        for thing in things
        for number in (count_before(text, thing, 0), count_after(text, thing, len(text)))
        if number is not None
        and not number.bound
        and not is_dated(text, number.start, reading.now.date())
    ]
    for number in found:
        text.mark_read(number.start, number.end)
        say_count(reading, parts.count, number)


def read_numbers(reading: TurnReading) -> None:
    """Read numbers whose context says what they count or bound."""
    fields = [f for f in reading.fields if f.is_numeric and not reading.is_said(f)]
    if not fields:
        return
    text, place, found = reading.text, 0, list[Candidate]()
    while place < len(text):
        amount = read_amount(text, place) if text.is_free(place) else None
        number = amount.number if amount is not None else read_number(text, place)
        if number is None or not text.is_free(place, number.end):
            place += 1
            continue
        if text.is_whole(place, number.end) and not is_dated(text, place, reading.now.date()):
            told = _told(reading, fields, number, amount)
            if told and not is_denied(text, number.begins, reading.nouns):
                text.mark_read(number.begins, amount.end if amount is not None else number.end)
                found.append(Candidate(place, number.end, told))
        place = number.end
    _share(reading, found)


def _told(
    reading: TurnReading, fields: Sequence[Field], number: Number, amount: Amount | None
) -> tuple[tuple[Field, tuple[Any, ...]], ...]:
    """Return the fields of a number by its context, with their values."""
    told = []
    for field in fields:
        if field.kind == "choice":
            match = read_value(field, reading.text, number.start, reading.now)
            is_for = amount is None and not number.bound and not _has_unit(reading, number)
            values = match.values if match is not None and is_for else ()
        else:
            is_for = _is_for_amount(field, number) if amount else _is_for(reading, field, number)
            read = [as_value(field, value) for value in number.values] if is_for else []
            values = tuple(value for value in read if value is not None)
        if values:
            told.append((field, values))
    return tuple(told)


def _is_for_amount(field: Field, number: Number) -> bool:
    return field.is_money and field.bound == number.bound


def _is_for(reading: TurnReading, field: Field, number: Number) -> bool:
    if _has_unit(reading, number):
        return False
    if number.bound:
        # "more than 20 tents" is not a price
        is_last = reading.text.fold(number.end) in {"", *_IDLE}
        return field.bound == number.bound and (is_last or not field.is_money)
    return field.is_count and not field.bound and _counts(reading, number)


def _has_unit(reading: TurnReading, number: Number) -> bool:
    text = reading.text
    return text.fold(number.end) in UNITS or text.word(number.end) == "%"


def _counts(reading: TurnReading, number: Number) -> bool:
    """Return whether the context of a number says that it is the wanted quantity."""
    text = reading.text
    following = text.fold(number.end)
    if word_at(text, number.end) in COUNTED or following in reading.nouns:
        return True
    if text.is_taken(number.end) and text.fold(number.end):
        return True
    if number.end == number.start + 1 and text.fold(number.start) == "one":
        return False  # "I want a green one" counts nothing
    if text.fold(number.start - 1) == "for" and following in _AFTER_PEOPLE:
        return True
    wanted = [p for p in range(number.start - 1, number.start - 4, -1) if text.fold(p) in _WANTED]
    if not wanted:
        return False
    is_noun = wanted[0] == number.start - 1 and text.fold(wanted[0]) in _NOUN_LIKE_VERBS
    return not is_noun or (bool(following) and following not in _IDLE)


def _read_described(reading: TurnReading) -> None:
    """Read choices that only the words of their descriptions identify."""
    text = reading.text
    free = [place for place in range(len(text)) if text.is_free(place)]
    for field in reading.fields:
        if field.kind == "choice" and not reading.is_said(field):
            values = find_described(field, text, free)
            if len(values) == 1:
                reading.add_values(field, values)
