"""What an answer makes of the call that waits for it: decided once, for sessions and runs."""

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
    """Nothing is done, as was wished."""


class Complete(msgspec.Struct, frozen=True):
    """The call is made with these arguments, or asked about.

    Parameters:
        before: what was asked last.
    """

    arguments: Mapping[str, Any]
    before: ArgumentQuestion


class MissingArguments(msgspec.Struct, frozen=True):
    """Something has to be asked for before.

    Parameters:
        arguments: those that are known.
    """

    arguments: Mapping[str, Any]
    asked: ArgumentQuestion


Step = Agreed | Declined | Complete | MissingArguments


async def decide_step(
    offered: OfferedAction, call: ActionCall, value: Any, context: Context, now: datetime
) -> Step:
    """What comes next of a call that was answered.

    Parameters:
        value: what was answered.
        context: what the site's own code is told of the call.
        now: in the site's time zone.

    Raises:
        DeskError: the site's own code refuses such a call.
        ValueError: the call waits for nothing that was answered: a fault of the capability.
    """
    if call.state is CallState.WAITING_PAYMENT:  # it is not agreed to but by paying
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
    """What is asked again where the arguments are refused.

    Raises:
        InvalidRequest: that error, where no question helps.
    """
    again = make_correction_question(action, complete.before, complete.arguments, error)
    if again is None or again.again is None:
        raise error
    return MissingArguments(again.arguments, again.again)
