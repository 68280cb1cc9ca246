"""Defines what a dialogue about a call needs, and what it states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from aitp_desk.agent.base import Answer, Clarification
from aitp_desk.agent.slots.base import MissingArgument
from aitp_desk.desk.calls.invocation import (
    AcceptedCall,
    CompletedCall,
    Invocation,
    Requirement,
)
from aitp_desk.desk.dialogue.prompts import DECLINED
from aitp_desk.model.calls.call import ActionCall
from aitp_desk.model.calls.question import Question
from aitp_desk.model.errors import DeskError


class Call(msgspec.Struct, frozen=True):
    """Asks the driver to make a call; it is sent the outcome.

    Parameters:
        invocation: what is called.
    """

    invocation: Invocation


class FindQuestion(msgspec.Struct, frozen=True):
    """Asks the driver for the next question about a call.

    The site's own code may ask it.

    Parameters:
        missing: the findings about missing arguments, from reading the words.
        waiting: the pending call; None for a new one.
    """

    arguments: Mapping[str, Any]
    missing: Sequence[MissingArgument] = ()
    waiting: ActionCall | None = None


class Ask(msgspec.Struct, frozen=True):
    """States that a call waits for an answer, consent or a payment.

    Parameters:
        needed: the call, not stored yet.
        words: the question as text.
        question: the same for a plugin that can ask it; None if none can.
        memory: the values read and the questions asked so far; None if only
            consent or payment is missing.
    """

    needed: Requirement
    words: Clarification
    question: Question | None = None
    memory: Mapping[str, Any] | None = None


class Remind(msgspec.Struct, frozen=True):
    """States again what a call waits for, without a second payment request or form."""

    call: ActionCall
    words: Clarification


class Decline(msgspec.Struct, frozen=True):
    """States that a pending call ends, because its caller does not want it."""

    call: ActionCall
    words: Answer = Answer(DECLINED)


class Refuse(msgspec.Struct, frozen=True):
    """States that a pending call can no longer be made, and why."""

    call: ActionCall
    error: DeskError


Resumed = CompletedCall | AcceptedCall | Ask | Decline | Refuse
Statement = Resumed | Remind
