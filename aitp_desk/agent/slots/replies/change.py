"""Reads a reply that changes the proposed arguments: ``make it 3``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from aitp_desk.agent.extractive.question import is_question
from aitp_desk.agent.slots.base import Path, get_value
from aitp_desk.agent.slots.form.form import Field
from aitp_desk.agent.slots.record import TurnReading
from aitp_desk.agent.slots.replies.refusal import strip_no
from aitp_desk.agent.slots.tokens import TokenText
from aitp_desk.agent.slots.values.dates import in_zone, join_datetime, read_time_of_day
from aitp_desk.agent.slots.values.items import find_item_members, say_count
from aitp_desk.agent.slots.values.numbers import UNITS, Number, read_amount, read_number
from aitp_desk.agent.slots.values.readers import is_denied

_WISHES = re.compile(
    r"^\W*(?:(?:ok|okay|hm+|oh|sorry|and|but|yes|please)\W+)*"
    r"(?:can|could|may|might|would|will|what about|how about|what if|why not|give|have)\b",
    re.IGNORECASE,
)
_PROPOSES = re.compile(r"^\W*(?:(?:and|but|ok|okay|or)\W+)*(?:what|how) about\b", re.IGNORECASE)
_DIFFERS = re.compile(
    r"\b(?:less|fewer|more|extra|additional|another|double|twice|half|later|earlier|longer"
    r"|shorter)\b",
    re.IGNORECASE,
)
_INSTEAD = re.compile(r"\b(?:instead|rather than|not)\b", re.IGNORECASE)
_ADDS = re.compile(r"\b(?:also|add|plus|as well|too|additionally)\b", re.IGNORECASE)
_AROUND = frozenset(
    "make it that this thi just only please of them those these yes no nope instead rather but "
    "sorry i id ill we want need would like d change to the a number quantity take let us give me "
    "say better actually enough is are for all piece item thank you ok okay have get put could can "
    "with at together total in on with how do must should be meant mean wanted was were there "
    "or be possible".split()
)


def strip_wish_words(words: str) -> str:
    """Return a wish without its introduction: ``what about 5?``."""
    return _PROPOSES.sub("", words, count=1)


def is_relative(words: str) -> bool:
    """Return whether a reply states a difference: ``two more``, ``a day later``."""
    return _DIFFERS.search(words) is not None


def has_question(words: str) -> bool:
    """Return whether a reply asks a question that is not a wish."""
    return ("?" in words or is_question(words)) and _WISHES.match(words) is None


def is_replacement(text: str) -> bool:
    """Return whether a named value replaces the present one instead of extending it."""
    is_apart = strip_no(text) != text or _INSTEAD.search(text) is not None
    return is_apart and _ADDS.search(text) is None


def find_days(
    fields: Sequence[Field], arguments: Mapping[str, Any], now: datetime
) -> dict[Path, str]:
    """Return the days of dates with time, for replies that only state another time.

    Parameters:
        now: provides the time zone.
    """
    found = {}
    for field in fields:
        moment = _moment(field, get_value(arguments, field.path))
        if moment is not None:
            found[field.path] = moment.astimezone(now.tzinfo).date().isoformat()
    return found


def keep_times(reading: TurnReading, arguments: Mapping[str, Any]) -> None:
    """Keep the time of day of what moves to another day."""
    for field in reading.fields:
        moment = _moment(field, get_value(arguments, field.path))
        if moment is not None and (day := reading.halves.pop(field.path, None)) is not None:
            zone = reading.now.tzinfo
            clock = moment.astimezone(zone).time().isoformat()
            reading.add_values(field, join_datetime(day, clock, zone))


def read_only_number(reading: TurnReading, arguments: Mapping[str, Any]) -> None:
    """Read a bare number, if it fits only one argument."""
    text = reading.text
    numbers = list(_numbers(text))
    meant = [number for number in numbers if not is_denied(text, number.start)]
    for number in meant:
        is_amount = read_amount(text, number.start) is not None
        if number.bound or text.fold(number.end) in UNITS or is_amount:
            return
    is_hour = len(meant) == 1 and text.fold(meant[0].start - 1) == "at"
    places = list(_hours(reading) if is_hour else _numeric(reading, arguments))
    if len(places) != 1:
        return
    [(path, field)] = places
    said = {p for one in numbers for p in range(one.start, one.end)}
    words = {text.fold(place) for place in range(len(text)) if place not in said} - {""}
    is_either = len(meant) > 1 and "or" in words
    if (len(meant) == 1 or is_either) and words <= _AROUND | reading.nouns | field.words:
        for number in meant:
            if is_hour:
                _say_hour(reading, field, number, arguments)
            else:
                say_count(reading, field, number, at=path)


def _numbers(text: TokenText) -> Iterator[Number]:
    place = 0
    while place < len(text):
        number = read_number(text, place)
        if number is not None:
            yield number
        place = place + 1 if number is None else number.end


def _say_hour(
    reading: TurnReading, field: Field, number: Number, arguments: Mapping[str, Any]
) -> None:
    match = read_time_of_day(TokenText(f"{reading.text.word(number.start)}:00"), 0)
    if match is None:
        return
    if field.kind == "time":
        is_zoned = field.schema.get("format") == "time"
        reading.add_values(field, in_zone(match, reading.now).values if is_zoned else match.values)
    elif day := find_days([field], arguments, reading.now).get(field.path):
        zone = reading.now.tzinfo
        reading.add_values(
            field, [m for clock in match.values for m in join_datetime(day, clock, zone)]
        )


def _moment(field: Field, value: object) -> datetime | None:
    if field.kind != "moment" or not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None


def _hours(reading: TurnReading) -> Iterator[tuple[Path, Field]]:
    """Yield the positions of times of day."""
    for field in reading.fields:
        if field.kind in {"time", "moment"}:
            yield field.path, field


def _numeric(reading: TurnReading, arguments: Mapping[str, Any]) -> Iterator[tuple[Path, Field]]:
    """Yield the positions of numbers, present or possible."""
    for field in reading.fields:
        if field.is_numeric and field.kind != "choice":
            yield field.path, field
        parts = find_item_members(field.members) if field.kind == "items" else None
        if parts is not None and parts.count is not None:
            items = get_value(arguments, field.path)
            for place in range(len(items) if isinstance(items, list) else 0):
                yield (*field.path, place, parts.count.name), parts.count
