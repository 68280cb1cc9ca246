"""Reads a reply against what was asked for: a bare ``M`` or ``2`` is enough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aitp_desk.agent.extractive.dialogue.choice import read_choice
from aitp_desk.agent.slots.base import Match, Path
from aitp_desk.agent.slots.form.form import Field
from aitp_desk.agent.slots.record import TurnReading
from aitp_desk.agent.slots.replies.refusal import is_dropped, is_refused
from aitp_desk.agent.slots.tokens import TokenText, make_key
from aitp_desk.agent.slots.values.counts import end_at
from aitp_desk.agent.slots.values.dates import join_datetime, read_time_of_day
from aitp_desk.agent.slots.values.labels import drop_duplicates
from aitp_desk.agent.slots.values.numbers import UNITS, read_number
from aitp_desk.agent.slots.values.readers import (
    is_common_word,
    is_denied,
    read_boolean,
    read_value,
)
from aitp_desk.agent.slots.values.texts import strip_quotes
from aitp_desk.agent.speech import ENGLISH, speech_of

_SHORT = 4
"""In a reply with at most this many tokens a single letter is a value, even in lower case."""


def is_dropped_reply(text: str, asked: Sequence[tuple[Path, Field]]) -> bool:
    """Return whether a reply cancels the action.

    A bare ``no`` may be the value that was asked for.
    """
    if any(make_key(text) in field.phrases for _, field in asked):
        return False
    if any(field.kind == "boolean" for _, field in asked):
        return (
            is_dropped(text) and read_boolean(TokenText(text), range(len(TokenText(text)))) is None
        )
    if any(field.kind == "text" for _, field in asked):
        return is_dropped(text)
    return is_refused(text)


def read_reply(
    reading: TurnReading, asked: Sequence[tuple[Path, Field]], options: Sequence[Any]
) -> None:
    """Read a message against what was asked for.

    Parameters:
        asked: the positions of the values, and their fields.
        options: the options of the question; ``the second`` is one of them.
    """
    for path, field in asked:
        if path in reading.said:
            continue
        if field.kind == "text":
            if len(asked) == 1 and (said := strip_quotes(reading.text)):
                reading.text.mark_read(0, len(reading.text))
                reading.add_values(field, [said], at=path)
        elif field.kind == "boolean":
            truth = read_boolean(reading.text, range(len(reading.text)))
            if truth is not None:
                reading.add_values(field, [truth], at=path)
        elif field.kind not in {"list", "items", "object", "other"}:
            values = _values(reading, field, is_alone=len(asked) == 1)
            if not values and options and not field.is_numeric:
                values = _chosen(reading.text, options, field)
            reading.add_values(field, values, at=path)


def read_time(reading: TurnReading, field: Field, day: str) -> None:
    """Read the time of day for an earlier date."""
    text = reading.text
    for place in range(len(text)):
        match = read_time_of_day(text, place) if text.is_free(place) else None
        if match is not None and match.values:
            text.mark_read(match.start, match.end)
            zone = reading.now.tzinfo
            reading.add_values(
                field, [m for clock in match.values for m in join_datetime(day, clock, zone)]
            )
            return


def _values(reading: TurnReading, field: Field, *, is_alone: bool) -> tuple[Any, ...]:
    """Return a field's values in a reply.

    Parameters:
        is_alone: whether nothing else was asked for, so that also ``ok`` may be the value.
    """
    text, place = reading.text, 0
    is_short = len(text) <= _SHORT
    values: list[Any] = []
    while place < len(text):
        match = read_value(field, text, place, reading.now, is_named=is_short)
        if match is None or not text.is_free(match.start, match.end):
            place += 1
            continue
        said = text.between(match.start, match.end)
        if not is_alone and field.kind == "choice" and is_common_word(said, match.values):
            place = match.end
            continue
        is_other = bool(field.end) and end_at(text, place) not in {"", field.end}
        if (
            not is_other
            and not is_denied(text, place, reading.nouns)
            and not _is_another(field, text, match)
        ):
            values.extend(match.values)
            text.mark_read(match.start, match.end)
        place = match.end
    return drop_duplicates(values)


def _chosen(text: TokenText, options: Sequence[Any], field: Field) -> tuple[Any, ...]:
    """Return the option that a reply names by its position or some words."""
    names = [str(option) for option in options]
    choice = read_choice(text.source, names, speech_of(ENGLISH), noun=field.words)
    if choice.option is None or choice.is_free:
        return ()
    return (options[names.index(choice.option)],)


def _is_another(field: Field, text: TokenText, match: Match) -> bool:
    """Return whether a number in a reply counts something that was not asked for."""
    if not field.is_numeric:
        return False
    unit, number = text.fold(match.end), read_number(text, match.start)
    return (unit in UNITS and unit not in field.words) or bool(number and number.bound)
