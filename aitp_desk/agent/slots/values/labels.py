"""Reads arguments given with a name: ``quantity: 3``, ``order_id=ORD-000123``, ``4 guests``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from aitp_desk.agent.slots.base import Match
from aitp_desk.agent.slots.form.form import Field
from aitp_desk.agent.slots.tokens import TokenText
from aitp_desk.agent.slots.values.dates import is_dated
from aitp_desk.agent.slots.values.numbers import read_number
from aitp_desk.agent.slots.values.readers import read_value

_BETWEEN = frozenset("is of be to as at no number should will was".split())
_FURTHER = frozenset("more other further extra additional".split())
_MOST_BETWEEN = 3
_BACK = 4
"""The most tokens of a value before its label."""

Labels = Mapping[str, Field]
"""Fields by their names; a name of two fields names neither."""


class Label(msgspec.Struct, frozen=True):
    """The name of a field in a text.

    Parameters:
        end: the position after the name.
        value: the position where its value would begin.
        is_firm: whether a colon or an equals sign ties the value to the name.
    """

    field: Field
    start: int
    end: int
    value: int
    is_firm: bool


class LabelledValues(msgspec.Struct, frozen=True):
    """A field with the values next to its name."""

    field: Field
    match: Match
    is_firm: bool


def make_labels(fields: Iterable[Field]) -> Labels:
    """Return fields by their names."""
    named = [(name, field) for field in fields for name in field.keys if field.kind != "object"]
    times = Counter(name for name, _ in named)
    return {name: field for name, field in named if times[name] == 1}


def find_labels(text: TokenText, labels: Labels) -> Sequence[Label]:
    """Return where a text names fields, in its order."""
    found: list[Label] = []
    place = 0
    while place < len(text):
        phrase = text.phrase_at(place, labels) if not text.tokens[place].quote else None
        if phrase is None:
            place += 1
            continue
        end, field = phrase
        value, is_firm = _after(text, end)
        found.append(Label(field, place, end, value, is_firm))
        place = end
    return found


def read_named(text: TokenText, labels: Sequence[Label], now: datetime) -> list[LabelledValues]:
    """Read the values next to the names of fields; their tokens are taken."""
    found: list[LabelledValues] = []
    for label in labels:
        field = label.field
        if field.kind in {"text", "items", "list", "object", "other"} or not text.is_free(
            label.start
        ):
            continue
        match = None
        if not _is_served_before(text, label):
            match = read_series(field, text, label.value, now)
        if match is None and not label.is_firm:
            match = _before(field, text, label.start, now)
        if match is not None and field.is_numeric and is_dated(text, match.start, now.date()):
            continue
        if match is not None:
            text.mark_read(min(label.start, match.start), max(label.end, match.end))
            found.append(LabelledValues(field, match, label.is_firm))
    return found


def read_series(field: Field, text: TokenText, start: int, now: datetime) -> Match | None:
    """Read the named value at a token, and its alternatives (2 or 3)."""
    match = _free(text, read_value(field, text, start, now, is_named=True))
    if match is None:
        return None
    values, end = match.values, match.end
    while text.fold(end) == "or" or text.word(end) == "/":
        more = _free(text, read_value(field, text, end + 1, now, is_named=True))
        if more is None:
            break
        values, end = (*values, *more.values), more.end
    return Match(start, end, drop_duplicates(values))


def drop_duplicates(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return values without duplicates."""
    found: list[Any] = []
    for value in values:
        if value not in found:
            found.append(value)
    return tuple(found)


def _after(text: TokenText, place: int) -> tuple[int, bool]:
    """Return where a name's value begins, and whether a sign separates them."""
    for _ in range(_MOST_BETWEEN):
        if text.word(place) in {":", "="}:
            return place + 1, True
        if text.fold(place) not in _BETWEEN and text.word(place) != "#":
            break
        place += 1
    return place, False


def _is_served_before(text: TokenText, label: Label) -> bool:
    """Return whether a name's value is the number before the name.

    The number after it then belongs to the next name. ``2 guests 3 nights`` is not ``guests 3``,
    and ``guests 2 nights 3`` is.
    """
    if label.is_firm or not label.field.is_numeric:
        return False
    before = read_number(text, label.start - 1)
    return before is not None and text.is_free(label.start - 1) and before.end == label.start


def _before(field: Field, text: TokenText, end: int, now: datetime) -> Match | None:
    """Read the number or choice just before a name: ``M size``, ``4 guests``."""
    if not (field.is_numeric or field.kind == "choice"):
        return None
    end -= text.fold(end - 1) in _FURTHER
    for start in range(max(end - _BACK, 0), end):
        match = _free(text, read_value(field, text, start, now, is_named=True))
        if match is not None and match.end == end:
            return match
    return None


def _free(text: TokenText, match: Match | None) -> Match | None:
    return match if match is not None and text.is_free(match.start, match.end) else None
