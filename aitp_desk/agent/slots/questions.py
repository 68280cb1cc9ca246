"""Asks for a call's missing arguments, by their schema alone."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from aitp_desk.agent.slots.base import (
    MissingArgument,
    Path,
    get_value,
    has_value,
    is_inside,
    write_path,
)
from aitp_desk.agent.slots.form import form
from aitp_desk.agent.slots.gaps import Gap, find_gaps
from aitp_desk.agent.slots.prompts import (
    capitalize,
    join_words,
    write_request,
    write_title,
    write_value,
)
from aitp_desk.agent.slots.record import TurnReading
from aitp_desk.agent.slots.tokens import TokenText
from aitp_desk.model.calls.question import Choice, Choose, Confirm, Field, FieldType, Fill, Question

MAX_CHOICES = 50
"""A list with more choices is opened, in a form."""
MAX_FIELDS = 30

_LONG = 500
"""Text that may be this long, in characters, has a multi-line field."""
_TYPES: Mapping[str, FieldType] = {
    "integer": "number",
    "number": "number",
    "decimal": "number",
    "email": "email",
}
_MOST_NAMED = 3
_FILLED = frozenset(
    "id choice email uri date time moment integer number decimal boolean text secret".split()
)
"""Kinds that a form field can take."""
_SUCH_AS = {"date": "Such as 2026-03-01.", "time": "Such as 09:30."} | {
    "moment": "Such as 2026-03-01 09:30."
}
YES, NO = "yes", "no"


class ArgumentQuestion(msgspec.Struct, frozen=True, omit_defaults=True):
    """A question, and the arguments that its answer fills.

    Parameters:
        argument: the path of the argument of a choice or a yes (``address.country``); empty for a
            form, whose fields have such paths as ids.
        first: the question as it was asked first, if this one repeats it.
    """

    question: Question
    argument: str = ""
    first: Question | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """Return the positions of the answered values."""
        if isinstance(self.question, Fill):
            return tuple(parse_path(field.id) for field in self.question.fields)
        return (parse_path(self.argument),)


def write_memory(
    asked: ArgumentQuestion, arguments: Mapping[str, Any], before: Mapping[str, Any] | None = None
) -> Mapping[str, Any]:
    """Return the memory of a call that waits for an answer, as JSON.

    A message that does not answer the question is read with it as by
    :func:`~aitp_desk.agent.slots.filler.fill_arguments`.

    Parameters:
        arguments: the known ones.
        before: the memory of earlier messages.
    """
    question = asked.question
    options = (
        [get_choice_value(one) for one in question.choices] if isinstance(question, Choose) else []
    )
    return {
        "halves": [],
        **(before or {}),
        "arguments": dict(arguments),
        "asked": [list(path) for path in asked.paths],
        "options": [value for value in options if isinstance(value, str | int | float)],
        "question": msgspec.to_builtins(asked),
    }


def read_asked(memory: Mapping[str, Any] | None) -> ArgumentQuestion | None:
    """Return the question that a call waits for; None if it was asked in text."""
    kept = None if memory is None else memory.get("question")
    return None if kept is None else msgspec.convert(kept, ArgumentQuestion)


def get_choice_value(choice: Choice) -> Any:
    """Return the argument's value for a choice."""
    return choice.id if choice.value is None else choice.value


def list_gaps(
    fields: Sequence[form.Field],
    arguments: Mapping[str, Any],
    missing: Sequence[MissingArgument] = (),
) -> list[Gap]:
    """Return what is missing of arguments, in the schema's order.

    Parameters:
        missing: ambiguous and invalid values of the message.
    """
    reading = TurnReading(fields, TokenText(""), datetime.now(UTC), frozenset())
    told = {one.path: one for one in missing}
    return [
        msgspec.structs.replace(gap, options=one.options, problem=one.problem)
        if (one := told.get(write_path(gap.path))) is not None
        else gap
        for gap in find_gaps(reading, copy.deepcopy(dict(arguments)), {})
    ]


def ask_by_schema(
    fields: Sequence[form.Field], arguments: Mapping[str, Any], gaps: Sequence[Gap]
) -> ArgumentQuestion | None:
    """Return a question for the first missing argument.

    It includes others that can be asked together with it. A choice is asked alone; values are asked
    together, with optional ones of the same object. None if no kind of question takes the first
    one.
    """
    first = gaps[0]
    argument = write_path(first.path)
    title = f"{write_request(first)}?"
    options = _options(first)
    if options and len(options) <= MAX_CHOICES:
        return ArgumentQuestion(_choose(first, title, options), argument)
    if first.field.kind == "boolean":
        text = " ".join(filter(None, (first.problem, _sentence(first.field.description))))
        return ArgumentQuestion(
            Confirm(title=f"{capitalize(first.field.title)}?", description=text), argument
        )
    together = [gap for gap in gaps if _fits_in(gap)]
    if not _fits_in(first):
        return None
    asked = tuple(_asked_for(fields, arguments, together))[:MAX_FIELDS]
    if len(asked) == 1:
        alone = msgspec.structs.replace(first.field, description="")  # the form has it
        title = f"{write_request(msgspec.structs.replace(first, field=alone))}?"
    else:
        title = _title(fields, together)
    return ArgumentQuestion(Fill(title=title, fields=asked))


def ask_with_values(
    fields: Sequence[form.Field], arguments: Mapping[str, Any], title: str, description: str
) -> ArgumentQuestion | None:
    """Return a form for arguments that has their values; None if no field takes one."""
    asked = [
        msgspec.structs.replace(
            make_form_field(field, required=field.is_required),
            default=_write_filled(field, get_value(arguments, field.path)),
        )
        for field in fields
        if field.kind in _FILLED - {"secret"} and has_value(arguments, field.path)
    ]
    if not asked:
        return None
    return ArgumentQuestion(
        Fill(title=title, description=description, fields=tuple(asked[:MAX_FIELDS]))
    )


def find_field(fields: Sequence[form.Field], path: Path) -> form.Field | None:
    """Return the field of an argument, or of a member of one."""
    return next((field for field in fields if field.path == path), None)


def parse_path(text: str) -> Path:
    """Parse a path of an error or a form: ``address.city``; without lists."""
    return tuple(text.split("."))


def make_form_field(field: form.Field, *, required: bool, problem: str = "") -> Field:
    """Return the form field of an argument.

    Parameters:
        problem: what is wrong with the earlier value, in a sentence.
    """
    schema = field.schema
    is_hidden = field.kind == "secret"
    autocomplete = schema.get("autocomplete")
    described = _sentence(field.description)
    such_as = "" if "such as" in described.casefold() else _SUCH_AS.get(field.kind, "")
    about = (problem, described, such_as)
    default = "" if is_hidden else write_form_value(schema.get("default"))
    options = tuple(write_form_value(option.value) for option in field.options)
    return Field(
        id=write_path(field.path),
        label=capitalize(field.title),
        type=_type(field, autocomplete),
        description=" ".join(filter(None, about)),
        default=default,
        options=(YES, NO) if field.kind == "boolean" else options,
        required=required,
        autocomplete=autocomplete if isinstance(autocomplete, str) else "",
        sensitive=is_hidden,
    )


def write_form_value(value: Any) -> str:
    """Return a schema's value as a form shows it."""
    if isinstance(value, bool):
        return YES if value else NO
    return "" if value is None else str(value)


def _write_filled(field: form.Field, value: Any) -> str:
    """Return an argument as a visitor fills it in: ``09:30`` without the seconds."""
    text = write_form_value(value)
    return text.removesuffix(":00") if field.kind == "time" and text.count(":") > 1 else text


def _options(gap: Gap) -> Sequence[form.Option]:
    field = gap.field
    if field.kind == "list" and field.item is not None:
        field = field.item
    if gap.options:
        told = {_key(option.value): option for option in field.options}
        return [told.get(_key(value), form.Option(value)) for value in gap.options]
    return field.options


def _key(value: Any) -> tuple[type, Any]:
    return type(value), repr(value)


def _choose(gap: Gap, title: str, options: Sequence[form.Option]) -> Choose:
    return Choose(
        title=title,
        choices=tuple(map(_choice, options)),
        many="several" if gap.field.kind == "list" else "one",
        description=gap.problem,
    )


def _choice(option: form.Option) -> Choice:
    value = None if isinstance(option.value, str) else option.value
    name = option.title or write_value(option.value)
    return Choice(id=str(option.value), name=name, description=option.description, value=value)


def _fits_in(gap: Gap) -> bool:
    return gap.field.kind in _FILLED and not any(isinstance(step, int) for step in gap.path)


def _asked_for(
    fields: Sequence[form.Field], arguments: Mapping[str, Any], gaps: Sequence[Gap]
) -> Iterator[Field]:
    """Yield the fields of what is missing, and the other fields of their objects."""
    missing = {gap.path: gap for gap in gaps}
    inside = {gap.path[:-1] for gap in gaps if len(gap.path) > 1}
    opened = {path for path in inside if not has_value(arguments, path)}
    for field in fields:
        gap = missing.get(field.path)
        if gap is not None:
            yield make_form_field(field, required=True, problem=gap.problem)
        elif field.path[:-1] in opened and field.kind in _FILLED and not field.is_required:
            yield make_form_field(field, required=False)


def _title(fields: Sequence[form.Field], gaps: Sequence[Gap]) -> str:
    """Return the title of a form: the object that contains all of it, else its purpose."""
    objects = [field for field in fields if field.kind == "object"]
    for one in sorted(objects, key=lambda field: -len(field.path)):
        if all(is_inside(gap.path, one.path) for gap in gaps):
            return capitalize(one.title)
    named = {field.path: write_title(field) for field in fields}
    parts = list(dict.fromkeys(named[gap.path[:1]] for gap in gaps))
    return (
        capitalize(join_words(parts, "and"))
        if len(parts) <= _MOST_NAMED
        else "What is still needed"
    )


def _type(field: form.Field, autocomplete: Any) -> FieldType:
    if field.options or field.kind == "boolean":
        return "select"
    if isinstance(autocomplete, str) and autocomplete.split()[-1:] == ["tel"]:
        return "tel"
    if field.kind == "text" and field.schema.get("maxLength", 0) >= _LONG:
        return "textarea"
    return _TYPES.get(field.kind, "text")


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    return capitalize(text) + ("" if not text or text[-1] in ".!?" else ".")
