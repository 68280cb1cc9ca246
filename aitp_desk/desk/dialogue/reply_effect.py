"""Decides what an answer does to its pending call, for sessions and runs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from aitp_desk.actions.base import Context, OfferedAction
from aitp_desk.desk.dialogue.next_question import (
    ArgumentQuestion,
    make_correction_question,
    merge_answer,
    next_question,
    read_asked,
)
from aitp_desk.model.calls.action import Action
from aitp_desk.model.calls.call import ActionCall, CallState
from aitp_desk.model.errors import InvalidRequest


class Agreed(msgspec.Struct, frozen=True):
    """The call is made as it was shown."""


class Declined(msgspec.Struct, frozen=True):
    """The call is not made."""


class Complete(msgspec.Struct, frozen=True):
    """The call is made with these arguments, or needs consent.

    Parameters:
        before: the question that was asked last.
    """

    arguments: Mapping[str, Any]
    before: ArgumentQuestion


class MissingArguments(msgspec.Struct, frozen=True):
    """A further question is needed first.

    Parameters:
        arguments: those that are known.
    """

    arguments: Mapping[str, Any]
    asked: ArgumentQuestion


Step = Agreed | Declined | Complete | MissingArguments


async def decide_step(
    offered: OfferedAction, call: ActionCall, value: Any, context: Context, now: datetime
) -> Step:
    """Return the next step of an answered call.

    Parameters:
        value: the answer.
        context: the call's context for the site's own code.
        now: in the site's time zone.

    Raises:
        DeskError: the site's own code refuses such a call.
        ValueError: the call waits for no such answer: a fault of the plugin.
    """
    if call.state is CallState.WAITING_PAYMENT:  # only paying agrees to it
        return Declined()
    if call.memory is None:
        return Agreed() if value is True else Declined()
    before = read_asked(call.memory)
    if before is None:
        raise ValueError(f"{call.id} waits for words, and not for an answer to a question.")
    merged = merge_answer(offered, before, value, call.arguments, now)
    asked = merged.again or await next_question(offered, merged.arguments, context)
    if asked is None:
        return Complete(merged.arguments, before)
    return MissingArguments(merged.arguments, asked)


def make_retry_question(
    action: Action, complete: Complete, error: InvalidRequest
) -> MissingArguments:
    """Return what to ask again where the arguments are refused.

    Raises:
        InvalidRequest: the error itself, where no question helps.
    """
    again = make_correction_question(action, complete.before, complete.arguments, error)
    if again is None or again.again is None:
        raise error
    return MissingArguments(again.arguments, again.again)
