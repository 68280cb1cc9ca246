"""Reads an action's arguments from a visitor's messages, over several turns."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from aitp_desk.agent.slots.base import FilledArguments, Path, is_inside
from aitp_desk.agent.slots.form.form import Field
from aitp_desk.agent.slots.form.schema import read_form
from aitp_desk.agent.slots.gaps import find_gaps
from aitp_desk.agent.slots.merge import Doubts, merge_turns
from aitp_desk.agent.slots.prompts import make_question
from aitp_desk.agent.slots.record import TurnReading
from aitp_desk.agent.slots.replies.change import (
    find_days,
    has_question,
    is_relative,
    is_replacement,
    keep_times,
    read_only_number,
    strip_wish_words,
)
from aitp_desk.agent.slots.replies.refusal import strip_no
from aitp_desk.agent.slots.replies.reply import is_dropped_reply, read_reply, read_time
from aitp_desk.agent.slots.tokens import TokenText, TooMuchToRead, split_words
from aitp_desk.agent.slots.values.bare_values import read_numbers, read_unnamed
from aitp_desk.agent.slots.values.booleans import read_truths
from aitp_desk.agent.slots.values.currencies import read_currencies
from aitp_desk.agent.slots.values.items import read_known, read_things_by_name
from aitp_desk.agent.slots.values.labels import find_labels, make_labels, read_named
from aitp_desk.agent.slots.values.texts import read_named_texts, read_unnamed_texts
from aitp_desk.model.calls.action import Action

FromText = Callable[[str], Mapping[str, Any] | None]


def fill_arguments(
    action: Action,
    text: str,
    *,
    now: datetime,
    before: Mapping[str, Any] | None = None,
    from_text: FromText | None = None,
) -> FilledArguments:
    """Read the arguments of an action from a visitor's text.

    Anything uncertain is missing: contradicting values, a value that fits either of two arguments,
    a number without a unit or noun, a string without a name.

    Parameters:
        text: the message; nothing is read of more than 4,096 characters, nor of a text in
            which thousands of pieces may be ids in other spellings.
        now: in the site's time zone: the base of ``tomorrow``, and the zone of a time.
        before: the ``memory`` of the turn before, whose question this message answers: it is
            first read against what was asked for, and earlier values are kept.
        from_text: the action's own reader. Its result is taken unchanged, and nothing else is
            read; if it returns None, or, of a reply, nothing that was asked for, the text is
            read by the schema. Its exceptions are passed on.
    """
    fields = read_form(action.input_schema)
    memory = before or {}
    kept: dict[str, Any] = copy.deepcopy(dict(memory.get("arguments", {})))
    nouns = frozenset(split_words(f"{action.name} {action.summary}"))
    reading = TurnReading(fields, TokenText(text), now, nouns)
    asked = _asked(fields, memory)
    if asked and is_dropped_reply(text, asked):
        return FilledArguments(arguments=kept, is_dropped=True)
    own = None if from_text is None else from_text(text)
    if own is not None and (before is None or any(path[0] in own for path, _ in asked)):
        return _result(reading, copy.deepcopy({**own, **kept}), {})
    halves = {tuple(path): day for path, day in memory.get("halves", ())}
    reading = _read(reading, asked, memory.get("options", ()), halves)
    doubts = merge_turns(reading, kept, {path for path, _ in asked})
    for path, day in halves.items():
        if path not in reading.said:
            reading.halves.setdefault(path, day)
    return _result(reading, kept, doubts)


def change_arguments(
    action: Action, text: str, *, now: datetime, arguments: Mapping[str, Any]
) -> FilledArguments | None:
    """Read a change of the arguments from a reply to a confirmation question.

    A value replaces the present one: ``make it 3``, ``no, in blue``.

    Parameters:
        now: as of :func:`fill_arguments`.
        arguments: as they were shown to the visitor.

    Returns:
        The changed arguments, or what is missing of them; None if the message
        changes nothing.
    """
    words = strip_no(text)
    if has_question(words) or is_relative(words):
        return None
    fields = read_form(action.input_schema)
    nouns = frozenset(split_words(f"{action.name} {action.summary}"))
    reading = TurnReading(fields, TokenText(strip_wish_words(words)), now, nouns)
    reading = _read(reading, (), (), find_days(fields, arguments, now), takes_rest=False)
    keep_times(reading, arguments)
    if not (reading.said or reading.problems or reading.unsure):
        read_only_number(reading, arguments)
    kept: dict[str, Any] = copy.deepcopy(dict(arguments))
    doubts = merge_turns(
        reading, kept, frozenset(), change="others" if is_replacement(text) else "values"
    )
    if kept == arguments and not (doubts or reading.problems):
        return None
    return _result(reading, kept, doubts)


def _read(
    reading: TurnReading,
    asked: Sequence[tuple[Path, Field]],
    options: Sequence[Any],
    halves: Mapping[Path, str],
    *,
    takes_rest: bool = True,
) -> TurnReading:
    """Read the message; nothing is read if it is too complex."""
    try:
        _read_on(reading, asked, options, halves, takes_rest=takes_rest)
    except TooMuchToRead:
        return TurnReading(reading.fields, TokenText(""), reading.now, reading.nouns)
    return reading


def _read_on(
    reading: TurnReading,
    asked: Sequence[tuple[Path, Field]],
    options: Sequence[Any],
    halves: Mapping[Path, str],
    *,
    takes_rest: bool,
) -> None:
    """Read the message, the most certain parts first."""
    text = reading.text
    labels = find_labels(text, make_labels(reading.fields))
    read_named_texts(reading, labels)
    for named in read_named(text, labels, reading.now):
        reading.add_values(named.field, named.match.values, is_firm=named.is_firm)
        reading.named.add(named.field.path)
    for field in reading.fields:
        if field.path in halves and not reading.is_said(field):
            read_time(reading, field, halves[field.path])
    read_currencies(reading)
    lists = [field for field in reading.fields if field.kind == "items"]
    for field in lists:
        if any(is_inside(path, field.path) for path, _ in asked):
            read_known(reading, field)
    told = [field.path for field in lists if reading.is_said(field)]
    left = [(path, field) for path, field in asked if not any(is_inside(path, of) for of in told)]
    read_reply(reading, left, options)
    read_truths(reading)
    for field in lists:
        if not reading.is_said(field):
            read_known(reading, field)
    read_unnamed(reading)
    for field in lists:
        if not any(is_inside(path, field.path) for path in (*reading.said, *reading.problems)):
            read_things_by_name(reading, field, is_asked=field.path in {path for path, _ in asked})
    read_numbers(reading)
    if takes_rest:
        read_unnamed_texts(reading)


def _asked(fields: Sequence[Field], memory: Mapping[str, Any]) -> list[tuple[Path, Field]]:
    """Return the fields that the turn before asked for."""
    found: list[tuple[Path, Field]] = []
    for steps in memory.get("asked", ()):
        path = tuple(steps)
        for field in fields:
            if field.path == path:
                found.append((path, field))
            elif field.kind == "items" and is_inside(path, field.path):
                inside = path[len(field.path) + 1 :]
                found.extend((path, member) for member in field.members if member.path == inside)
    return found


def _result(reading: TurnReading, arguments: dict[str, Any], doubts: Doubts) -> FilledArguments:
    gaps = find_gaps(reading, arguments, doubts)
    if not gaps:
        return FilledArguments(arguments)
    question = make_question(gaps)
    memory = {
        "arguments": arguments,
        "asked": [list(path) for path in question.asked],
        "options": list(question.values),
        "halves": [[list(path), day] for path, day in reading.halves.items()],
    }
    missing = tuple(gap.as_missing() for gap in gaps)
    return FilledArguments(arguments, missing, question.text, question.options, memory)
