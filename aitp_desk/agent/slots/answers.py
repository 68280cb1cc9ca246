"""Converts an answer to arguments, or to a repeated question."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from aitp_desk.actions.schemas.description import describe_schema
from aitp_desk.agent.slots.base import Path, get_value, remove_value, set_value
from aitp_desk.agent.slots.form import form
from aitp_desk.agent.slots.form.bounds import find_fault
from aitp_desk.agent.slots.prompts import join_words, write_value
from aitp_desk.agent.slots.questions import (
    NO,
    YES,
    ArgumentQuestion,
    find_field,
    get_choice_value,
    parse_path,
    write_form_value,
)
from aitp_desk.agent.slots.record import TurnReading
from aitp_desk.agent.slots.replies.reply import read_reply
from aitp_desk.agent.slots.tokens import TokenText, TooMuchToRead
from aitp_desk.agent.slots.values.items import find_item_members
from aitp_desk.model.calls.question import Choose, Chosen, Confirm, Field, Fill, Pay, Question

SEALED = "sealed"
"""The only member of the object that replaces a sealed value."""
_COUNT = "quantity"


class MergedAnswer(msgspec.Struct, frozen=True):
    """Arguments that include an answer.

    Parameters:
        again: the repeated question for what did not fit, with the problems; None if all did.
    """

    arguments: Mapping[str, Any]
    again: ArgumentQuestion | None = None


class _ValueError(Exception):
    """An answered value does not fit; the message says why, in a sentence."""


def merge_answer(
    fields: Sequence[form.Field],
    asked: ArgumentQuestion,
    value: Any,
    arguments: Mapping[str, Any],
    *,
    now: datetime,
) -> MergedAnswer:
    """Add an answer to the arguments.

    Parameters:
        value: as :class:`~aitp_desk.capability.Resume` has it.
        now: in the site's time zone: the base of ``tomorrow``.

    Raises:
        ValueError: this answers another kind of question.
    """
    kept = copy.deepcopy(dict(arguments))
    match asked.question:
        case Confirm():
            _put(kept, parse_path(asked.argument), msgspec.convert(value, bool))
            return MergedAnswer(kept)
        case Choose() as question:
            chosen = msgspec.convert(value, list[Chosen])
            try:
                meant = _meant(fields, asked, question, chosen)
            except _ValueError as unfit:
                return MergedAnswer(kept, ask_again(asked, {asked.argument: str(unfit)}))
            _put(kept, parse_path(asked.argument), meant)
            return MergedAnswer(kept)
        case Fill() as question:
            given = msgspec.convert(value, dict[str, Any])
            problems = dict(_fill_in(fields, question, given, kept, now))
            return MergedAnswer(kept, ask_again(asked, problems) if problems else None)
        case Pay():
            raise ValueError("A payment is not an argument.")


def ask_again(asked: ArgumentQuestion, problems: Mapping[str, str]) -> ArgumentQuestion:
    """Return the same question for what did not fit, with the problems.

    Parameters:
        problems: sentences by the ids of fields; of other questions by the argument.
    """
    first = asked.first or asked.question
    question: Question
    if isinstance(first, Fill):
        again = tuple(
            _marked(field, problems[field.id]) for field in first.fields if field.id in problems
        )
        title = (again[0].label or first.title) if len(again) == 1 else first.title
        question = msgspec.structs.replace(first, title=title, fields=again)
    else:
        why = " ".join([*problems.values(), first.description]).strip()
        question = msgspec.structs.replace(first, description=why)
    return ArgumentQuestion(question, asked.argument, first)


def _marked(field: Field, problem: str) -> Field:
    return msgspec.structs.replace(field, description=f"{problem} {field.description}".strip())


def _fill_in(
    fields: Sequence[form.Field],
    question: Fill,
    given: Mapping[str, Any],
    kept: dict[str, Any],
    now: datetime,
) -> Iterator[tuple[str, str]]:
    """Add the completed fields to the arguments, and yield the problems of the others."""
    for asked in question.fields:
        path, answer = parse_path(asked.id), given.get(asked.id, "")
        field = find_field(fields, path)
        if isinstance(answer, Mapping):
            _put(kept, path, dict(answer))
            continue
        text = str(answer).strip()
        if not text:
            if asked.required:
                yield asked.id, f"The {_called(asked)} is needed."
            continue
        try:
            _put(kept, path, text if field is None else _read(field, text, now))
        except _ValueError as unfit:
            yield asked.id, str(unfit)


def _read(field: form.Field, text: str, now: datetime) -> Any:
    """Return the value of a form field as JSON.

    Raises:
        _ValueError: the argument does not accept it.
    """
    if field.kind in {"text", "secret", "other"}:
        values: Sequence[Any] = (text,)
    else:
        values = [value for value, names in _named(field) if text.casefold() in names]
        values = values or _read_words(field, text, now)
    if len(values) > 1:
        choices = join_words([write_value(value) for value in values], "or")
        raise _ValueError(f"{text} can be {choices}. Write which one you mean.")
    if not values and field.pattern is not None:
        raise _ValueError(f"The {field.title.lower()} is not in the required form.")
    if not values:
        raise _ValueError(
            f"The {field.title.lower()} must be {describe_schema(field.schema, field.schema)}."
        )
    if wrong := find_fault(field, values[0]):
        raise _ValueError(f"The {field.title.lower()} {wrong}.")
    return values[0]


def _named(field: form.Field) -> Iterator[tuple[Any, set[str]]]:
    """Yield the values that a field offers, with their names in a form."""
    if field.kind == "boolean":
        yield from ((True, {YES}), (False, {NO}))
    for option in field.options:
        names = {write_form_value(option.value), option.title} - {""}
        yield option.value, {name.casefold() for name in names}


def _read_words(field: form.Field, text: str, now: datetime) -> Sequence[Any]:
    try:
        reading = TurnReading((field,), TokenText(text), now, frozenset())
        read_reply(reading, ((field.path, field),), ())
    except TooMuchToRead:
        return ()
    if problem := reading.problems.get(field.path):
        raise _ValueError(problem)
    return reading.said.get(field.path, ())


def _meant(
    fields: Sequence[form.Field],
    asked: ArgumentQuestion,
    question: Choose,
    chosen: Sequence[Chosen],
) -> Any:
    """Return the argument's value for the chosen options.

    Raises:
        _ValueError: no choice matches, or not in this quantity.
    """
    known = {one.id: one for choice in question.choices for one in (choice, *choice.variants)}
    if not chosen or any(one.id not in known for one in chosen):
        raise _ValueError("The chosen option is not offered.")
    if question.many == "one" and len(chosen) > 1:
        raise _ValueError("Only one can be chosen.")
    field = find_field(fields, parse_path(asked.argument))
    values = [get_choice_value(known[one.id]) for one in chosen]
    if field is None or field.kind not in {"list", "items"}:
        return values[0]
    meant: list[Any] = []
    for one, value in zip(chosen, values, strict=True):
        if isinstance(value, list):
            meant += value
        elif field.kind == "items":
            meant.append(_item(field, value, one.quantity if question.many == "counted" else None))
        else:
            meant.append(value)
    if wrong := find_fault(field, meant):
        raise _ValueError(f"The {field.title.lower()} {wrong}.")
    return meant


def _item(field: form.Field, value: Any, quantity: int | None) -> dict[str, Any]:
    """Return an item of a list, with its quantity."""
    parts = find_item_members(field.members)
    if isinstance(value, Mapping):
        item = dict(value)
    else:
        item = {"id" if parts is None else parts.thing.name: value}
    if quantity is None:
        return item
    count = None if parts is None else parts.count
    if count is not None and (wrong := find_fault(count, quantity)):
        raise _ValueError(f"The {count.title.lower()} {wrong}.")
    return {**item, _COUNT if count is None else count.name: quantity}


def _put(arguments: dict[str, Any], path: Path, value: Any) -> None:
    for end in range(1, len(path)):
        if not isinstance(get_value(arguments, path[:end], {}), Mapping):
            remove_value(arguments, path[:end])
    set_value(arguments, path, value)


def _called(field: Field) -> str:
    return (field.label or field.id).lower()
