"""Reads lists of things with their quantities: ``2 × TS-001 and 1 MUG-02``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import msgspec

from aitp_desk.agent.slots.base import Match, Path
from aitp_desk.agent.slots.form.form import Field
from aitp_desk.agent.slots.record import TurnReading
from aitp_desk.agent.slots.tokens import TokenText
from aitp_desk.agent.slots.values.counts import (
    COUNTED,
    SEPARATORS,
    count_after,
    count_before,
    word_at,
)
from aitp_desk.agent.slots.values.labels import drop_duplicates
from aitp_desk.agent.slots.values.numbers import UNITS, Number, read_number
from aitp_desk.agent.slots.values.readers import as_match, is_denied, read_value

_INTRO = frozenset(
    "i id d ll we wed would like want need to order buy get me u us please can could may have add "
    "give send take hello hi a an quote for the price also and then just reserve".split()
)
"""What may precede the first thing of a list."""
_POLITE = frozenset("please thank thanks you too also".split())
_BEYOND = frozenset(
    "for to by on at from in with without deliver delivered ship shipped until before after "
    "because if that which who but or as than my your".split()
)
"""After one of these a text continues beyond the name of a thing."""
_LONGEST_NAME = 6


class ItemMembers(msgspec.Struct, frozen=True):
    """The members of an item that name the thing and its quantity."""

    thing: Field
    count: Field | None


def find_item_members(members: Sequence[Field]) -> ItemMembers | None:
    """Return which member names a thing and which counts it; None if the schema leaves it open."""
    members = [member for member in members if len(member.path) == 1]
    counts = [m for m in members if m.kind == "integer"]
    counts = [m for m in counts if m.is_count] or counts
    things = [m for m in members if m.kind == "id"] or [m for m in members if m.kind == "choice"]
    things = [m for m in things if m.needed] or things
    if not things:
        things = [m for m in members if m.kind == "text" and m.needed]
    if len(things) != 1 or len(counts) > 1:
        return None
    return ItemMembers(things[0], counts[0] if counts else None)


def find_things(reading: TurnReading, thing: Field) -> list[Match]:
    """Return where the text names things by an id or a choice."""
    text, found, place = reading.text, [], 0
    while place < len(text):
        match = read_value(thing, text, place, reading.now) if text.is_free(place) else None
        if match is None or not match.values or not text.is_free(match.start, match.end):
            place += 1
            continue
        if text.is_whole(match.start, match.end) and not is_denied(
            text, match.start, reading.nouns
        ):
            found.append(match)
        place = match.end
    return found


def read_known(reading: TurnReading, field: Field) -> None:
    """Read into a list field the things named by id or choice."""
    parts = find_item_members(field.members)
    if parts is None or parts.thing.kind == "text":
        return
    text, things = reading.text, find_things(reading, parts.thing)
    if not things:
        return
    either = any(
        "or" in {text.fold(place) for place in range(one.end, other.start)}
        for one, other in pairwise(things)
    )
    if either or any(len(thing.values) > 1 for thing in things):
        for thing in things:
            text.mark_read(thing.start, thing.end)
        reading.add_doubt(
            field, drop_duplicates(value for thing in things for value in thing.values)
        )
        return
    counts = read_counts(text, things) if parts.count is not None else [None] * len(things)
    counted = {
        thing.values[0] for thing, count in zip(things, counts, strict=True) if count is not None
    }
    items: list[dict[str, Any]] = []
    for thing, count in zip(things, counts, strict=True):
        text.mark_read(thing.start, thing.end)
        named = {item[parts.thing.name] for item in items}
        if count is None and (thing.values[0] in counted or thing.values[0] in named):
            continue
        _add(reading, field, parts, items, thing.values[0], count)
    reading.add_values(field, [items])


def say_count(reading: TurnReading, field: Field, count: Number, at: Path | None = None) -> None:
    """Add a quantity; a fraction of a thing leads to a question."""
    values = as_match(field, count).values
    if not values:
        path = field.path if at is None else at
        reading.problems[path] = f"The {field.title.lower()} must be a whole number."
    reading.add_values(field, values, at=at)


def read_counts(text: TokenText, things: Sequence[Match]) -> list[Number | None]:
    """Return the quantity of each thing; None if the text next to it does not state it."""
    floors = [0, *(thing.end for thing in things)]
    ceilings = [*(thing.start for thing in things[1:]), len(text)]
    before = [count_before(text, thing, floors[at]) for at, thing in enumerate(things)]
    after = [count_after(text, thing, ceilings[at]) for at, thing in enumerate(things)]
    is_before = before[0] is not None
    for at, number in enumerate(after[:-1]):
        # a number between two things without a sign counts the second if the first has one
        following = before[at + 1]
        if number is not None and following is not None and number.start == following.start:
            if is_before or text.word(things[at].end) == ",":
                after[at] = None
            else:
                before[at + 1] = None
    return [_sure(one, other) for one, other in zip(before, after, strict=True)]


def _sure(before: Number | None, after: Number | None) -> Number | None:
    """Return the only number next to a thing; none if it is only approximate."""
    if before is not None and after is not None:
        return None
    number = before or after
    return None if number is None or number.bound else number


def _add(
    reading: TurnReading,
    field: Field,
    parts: ItemMembers,
    items: list[dict[str, Any]],
    thing: Any,
    count: Number | None,
) -> None:
    """Add an item, with its quantity if that is certain."""
    item: dict[str, Any] = {parts.thing.name: thing}
    path: Path = (*field.path, len(items), parts.count.name if parts.count is not None else "")
    items.append(item)
    if count is None or parts.count is None:
        return
    reading.text.mark_read(count.start, count.end)
    say_count(reading, parts.count, count, at=path)


def read_things_by_name(reading: TurnReading, field: Field, *, is_asked: bool) -> None:
    """Read things that only their names identify: ``three of the blue mug and two stoves``.

    Parameters:
        is_asked: whether the message answers the question for them: then a name alone is enough.
    """
    parts = find_item_members(field.members)
    if parts is None or parts.thing.kind != "text":
        return
    text = reading.text
    found: list[tuple[str, Number | None]] = []
    for start, end in _segments(text):
        named = _called(text, start, end, is_asked=is_asked)
        if named is None:
            return
        if named[0]:
            found.append(named)
    items: list[dict[str, Any]] = []
    for name, count in found:
        _add(reading, field, parts, items, name, count)
    if items:
        reading.add_values(field, [items])
        text.mark_read(0, len(text))


def _segments(text: TokenText) -> list[tuple[int, int]]:
    """Return the stretches between commas and the word "and" that are not fully understood."""
    bounds = [-1, *(p for p in range(len(text)) if word_at(text, p) in SEPARATORS), len(text)]
    stretches = [(a + 1, b) for a, b in pairwise(bounds)]
    return [(a, b) for a, b in stretches if any(text.is_free(place) for place in range(a, b))]


def _called(
    text: TokenText, start: int, end: int, *, is_asked: bool
) -> tuple[str, Number | None] | None:
    """Return name and quantity in a stretch; an empty name if there is none, None if unsure."""
    end = _end_of_name(text, start, end)
    if all(text.fold(place) in _POLITE for place in range(start, end)):
        return "", None
    place = start
    while place < end and text.fold(place) in _INTRO and read_number(text, place) is None:
        place += 1
    number = read_number(text, place) if place < end else None
    if number is None and not is_asked:
        return None
    if number is not None:
        if number.bound or text.fold(number.end) in UNITS:
            return None
        place = number.end
        while place < end and (word_at(text, place) in COUNTED or text.fold(place) == "the"):
            place += 1
    folds = [text.fold(at) for at in range(place, end)]
    is_sure = (
        0 < len(folds) <= _LONGEST_NAME
        and all(text.is_free(at) for at in range(place, end))
        and _BEYOND.isdisjoint(folds)
        and text.word(place)[0].isalnum()
    )
    return (text.between(place, end), number) if is_sure else None


def _end_of_name(text: TokenText, start: int, end: int) -> int:
    """Return the end of a stretch without what is understood already, and without politeness."""
    last = end
    while end > start and (text.is_taken(end - 1) or text.fold(end - 1) in _POLITE):
        end -= 1
    if end < last and text.is_taken(end) and text.fold(end - 1) in _BEYOND:
        end -= 1
    return end
