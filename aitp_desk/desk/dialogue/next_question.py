"""Decides the next question about a requested call, and merges its answer.

Nothing is stored or sent here: the caller asks the question, stores the call as waiting with its
memory, and returns with the answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
import structlog

from aitp_desk.actions.base import ArgumentPrompt, Context, OfferedAction
from aitp_desk.agent.slots import answers
from aitp_desk.agent.slots.answers import MergedAnswer, ask_again
from aitp_desk.agent.slots.base import MissingArgument, remove_value
from aitp_desk.agent.slots.form.schema import read_form
from aitp_desk.agent.slots.questions import (
    ArgumentQuestion,
    ask_by_schema,
    ask_with_values,
    find_field,
    list_gaps,
    parse_path,
)
from aitp_desk.model.calls.action import Action
from aitp_desk.model.calls.question import Fill, Question
from aitp_desk.model.calls.secret_places import is_secret_at, without_secrets
from aitp_desk.model.errors import DeskError, InvalidRequest

_log = structlog.get_logger()


async def next_question(
    offered: OfferedAction,
    arguments: Mapping[str, Any],
    context: Context,
    missing: Sequence[MissingArgument] = (),
) -> ArgumentQuestion | None:
    """Return the next question about a call, in the order of its arguments.

    It is needed even if nothing is missing: the site may ask more about a given argument.

    Parameters:
        arguments: those that are known, as JSON values.
        context: the call's context for the site's own code.
        missing: the findings about the others, from reading the words.

    Returns:
        None if nothing is missing, or if only words can ask for it.

    Raises:
        DeskError: the site's own code refuses such a call.
    """
    fields = read_form(offered.action.input_schema)
    gaps = list_gaps(fields, arguments, missing)
    for name in dict.fromkeys(str(field.path[0]) for field in fields):
        is_missing = any(gap.path[0] == name for gap in gaps)
        asking = offered.asks.get(name)
        if asking is not None and (is_missing or asking.looks):
            question = await _ask(offered.action, asking, arguments, context)
            if question is not None:
                return ArgumentQuestion(question, "" if isinstance(question, Fill) else name)
        if is_missing:
            own = offered.asks.keys() - {name}
            left = [gap for gap in gaps if gap.path[0] not in own]
            left.sort(key=lambda gap: gap.path[0] != name)
            return ask_by_schema(fields, arguments, left)
    return None


def merge_answer(
    offered: OfferedAction,
    asked: ArgumentQuestion,
    value: Any,
    arguments: Mapping[str, Any],
    now: datetime,
) -> MergedAnswer:
    """Merge an answer into the arguments of the call that waits for it.

    Parameters:
        value: as :class:`~aitp_desk.capability.Resume` has it.
        arguments: those that are known.
        now: in the site's time zone.

    Raises:
        ValueError: the value answers another kind of question.
    """
    fields = read_form(offered.action.input_schema)
    merged = answers.merge_answer(fields, asked, value, arguments, now=now)
    if merged.again is not None or list_gaps(fields, merged.arguments):
        return merged
    schema = offered.action.input_schema
    try:
        offered.read(without_secrets(merged.arguments, schema))
    except InvalidRequest as error:
        if is_secret_at(error.param or "", schema):
            return merged  # a secret is validated when the call is made
        return make_correction_question(offered.action, asked, merged.arguments, error) or merged
    return merged


def make_correction_question(
    action: Action, asked: ArgumentQuestion | None, arguments: Mapping[str, Any], error: DeskError
) -> MergedAnswer | None:
    """Return a question for a refused argument; None if no question can help.

    If the refusal names none, but the site says what helps, all arguments are asked for again, with
    their values.

    Parameters:
        asked: the question that was answered last; None for none.
        arguments: including the refused one.
        error: names the argument in ``param``.
    """
    path = parse_path((error.param or "").partition("[")[0])
    kept = msgspec.json.decode(msgspec.json.encode(arguments))
    if asked is not None:
        for one in asked.paths:
            if path[: len(one)] == one:
                remove_value(kept, one)
                return MergedAnswer(
                    kept, ask_again(asked, {".".join(map(str, one)): error.message})
                )
    fields = read_form(action.input_schema)
    if find_field(fields, path) is None:
        if error.recovery is None:
            return None
        filled = ask_with_values(fields, kept, error.message, error.recovery.description)
        return None if filled is None else MergedAnswer(kept, filled)
    remove_value(kept, path)
    missing = MissingArgument(error.param or "", problem=error.message)
    gaps = [gap for gap in list_gaps(fields, kept, (missing,)) if gap.path == path]
    again = ask_by_schema(fields, kept, gaps) if gaps else None
    return None if again is None else MergedAnswer(kept, again)


async def _ask(
    action: Action, prompt: ArgumentPrompt, arguments: Mapping[str, Any], context: Context
) -> Question | None:
    """Return the site's own question; None if its code fails."""
    try:
        async with asyncio.timeout(action.deadline_seconds):
            return await prompt.question(arguments, context)
    except DeskError:
        raise
    except Exception:  # noqa: BLE001 -- the site's own code may raise any, and is logged
        _log.exception("asks_failed", action=action.name)
        return None
