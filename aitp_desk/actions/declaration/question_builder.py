"""Builds the prompts of an action from functions that ask for arguments."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from aitp_desk.actions.base import ArgumentPrompt, Context
from aitp_desk.actions.declaration.action import DeclaredPrompt
from aitp_desk.actions.declaration.invocation import call_function
from aitp_desk.actions.declaration.parts import read_partial_signature
from aitp_desk.actions.declaration.signature import REQUIRED, Parameter, Report, Signature
from aitp_desk.actions.schemas.description import find_schema
from aitp_desk.actions.secret import hide_secret
from aitp_desk.model.calls.question import Choice, Choose, Confirm, Fill, Pay, Question
from aitp_desk.model.calls.secret_places import is_secret_at


def build_prompts(
    declared: Sequence[DeclaredPrompt], whole: Signature, schema: Mapping[str, Any], report: Report
) -> Mapping[str, ArgumentPrompt]:
    """Build the prompts for arguments, by name.

    Parameters:
        whole: the action's signature.
        schema: of its arguments.
        report: receives each fault of the functions.
    """
    made: dict[str, ArgumentPrompt] = {}
    for one in declared:
        what = f"the question for {one.argument!r}"
        if one.argument not in whole.takes:
            known = ", ".join(whole.takes) or "nothing"
            report(
                f"asks for {one.argument!r}, which is not a parameter; the parameters are {known}."
            )
            continue
        if one.argument in made:
            report(f"asks for {one.argument!r} twice; remove one of the functions.")
        part = read_partial_signature(one.function, whole, what, report)
        if part is None or not _is_right(one.function, part, what, report):
            continue
        question = partial(_ask, one.function, part, one.argument, schema)
        made[one.argument] = ArgumentPrompt(one.argument in part.takes, question)
    return made


def _is_right(function: Callable[..., Any], part: Signature, what: str, report: Report) -> bool:
    hints = typing.get_type_hints(function, include_extras=True)
    is_right = True
    for name in part.takes:
        hint = hints.get(name)
        if hint is not None and not _takes_none(hint):
            report(f"has {what}, which takes '{name}' before it is known; write {name}: … | None.")
            is_right = False
    given = set(typing.get_args(part.gives)) or {part.gives}
    if part.gives is not REQUIRED and not given <= {Choose, Confirm, Fill, type(None)}:
        report(f"has {what}, which returns no question; write -> Choose | None, or the like.")
        is_right = False
    return is_right


def _takes_none(hint: Any) -> bool:
    try:
        msgspec.convert(None, hint)
    except (TypeError, ValueError):
        return False
    return True


async def _ask(
    function: Callable[..., Any],
    part: Signature,
    argument: str,
    schema: Mapping[str, Any],
    arguments: Mapping[str, Any],
    context: Context,
) -> Question | None:
    known = {name: _known(parameter, arguments) for name, parameter in part.takes.items()}
    question = await call_function(function, part.pick(known, context))
    if question is None:
        return None
    if not isinstance(question, Choose | Confirm | Fill):
        raise TypeError(f"{function.__name__} returned neither a question nor None")
    for wrong in _faults(question, argument, schema):
        raise TypeError(f"{function.__name__} returned a question {wrong}")
    return _sensitive(question, schema) if isinstance(question, Fill) else question


def _sensitive(form: Fill, schema: Mapping[str, Any]) -> Fill:
    """Mark the fields of a form as sensitive where the argument is a secret."""
    fields = tuple(
        msgspec.structs.replace(field, sensitive=True) if is_secret_at(field.id, schema) else field
        for field in form.fields
    )
    return msgspec.structs.replace(form, fields=fields)


def _known(parameter: Parameter, arguments: Mapping[str, Any]) -> Any:
    """Return an argument as the function takes it; None if it is missing or does not fit.

    Of a secret the function learns only that it is present.
    """
    if parameter.name in arguments:
        try:
            return msgspec.convert(arguments[parameter.name], parameter.kind, dec_hook=hide_secret)
        except (TypeError, ValueError):
            return None
    return None if parameter.default is REQUIRED else parameter.default


def _faults(question: Question, argument: str, schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the faults of a question that a function made: a Struct does not check its types."""
    try:
        msgspec.convert(msgspec.to_builtins(question), type(question))
    except msgspec.ValidationError as error:
        yield f"that is not valid: {error}"
        return
    match question:
        case Choose():
            ids = [one.id for choice in question.choices for one in _with_variants(choice)]
            if not ids or "" in ids:
                yield "without choices, or with one that has no id"
            if len(set(ids)) < len(ids):
                yield "with two choices of the same id"
        case Fill():
            ids = [field.id for field in question.fields]
            unknown = [
                id for id in ids if not _is_in(id, argument) or not find_schema(schema, f".{id}")
            ]
            if not ids or unknown:
                yield f"with fields that are not in {argument!r}: {', '.join(unknown) or 'none'}"
            if len(set(ids)) < len(ids):
                yield "with two fields of the same id"
        case Confirm():
            pass
        case Pay():
            yield "that asks for money; use cost= and prepaid= instead"


def _with_variants(choice: Choice) -> tuple[Choice, ...]:
    return (choice, *choice.variants)


def _is_in(path: str, argument: str) -> bool:
    return path == argument or path.startswith(f"{argument}.")
