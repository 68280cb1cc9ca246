"""What is asked before something is done that only was read from words, or that costs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from aitp_desk.agent.base import Clarification, Said
from aitp_desk.agent.extractive.dialogue.choice import read_choice
from aitp_desk.agent.extractive.dialogue.clarification import split_question
from aitp_desk.agent.extractive.dialogue.courtesy import is_agreement, is_refusal
from aitp_desk.agent.slots.base import FilledArguments
from aitp_desk.agent.slots.filler import change_arguments
from aitp_desk.agent.slots.replies.confirmation import write_confirmation
from aitp_desk.agent.slots.replies.refusal import begins_with_no, is_refused
from aitp_desk.agent.speech import ENGLISH, speech_of
from aitp_desk.desk.calls.invocation import Invocation
from aitp_desk.model.calls.action import Action
from aitp_desk.model.money import Money

YES_OR_NO = ("yes", "no")
"""What can be answered."""
_AROUND = " .!\"'“”„«»()\t\r\n"


def consent_question(action: Action, invocation: Invocation, price: Money | None) -> Clarification:
    """What is asked before a call is made: what it would do, on what, and what it costs."""
    return Clarification(
        write_confirmation(action, invocation.arguments, price), options=YES_OR_NO, free_form=False
    )


def is_low_risk(action: Action, price: Money | None) -> bool:
    """Whether a call costs nothing and can be undone, so that ``sure`` agrees to it."""
    return price is None and not action.may_cost and not action.safety.is_grave


def parse_consent(words: str, *, is_mild: bool = False) -> bool | None:
    """Whether words agree to what was asked; None where they neither do nor only refuse.

    Only ``yes`` agrees, alone. What else could stand for the first of two options is not enough
    for something that costs or cannot be undone: the ``1`` of ``yes, but only 1`` is a quantity.
    Refusing is read generously.

    Parameters:
        is_mild: whether ``sure`` or ``go ahead`` is enough, in any language.
    """
    if _says_yes(words, is_mild=is_mild):
        return True
    is_no = is_refused(words) or _chooses_no(words)
    return False if is_no else None


def parse_answer(
    words: str,
    action: Action,
    arguments: Mapping[str, Any],
    now: datetime,
    *,
    is_mild: bool = False,
) -> bool | FilledArguments | None:
    """What words answer to whether a call shall be made.

    Parameters:
        arguments: of the call, as they were shown.
        now: what ``tomorrow`` is counted from, in the site's time zone.
        is_mild: as of :func:`parse_consent`.

    Returns:
        Whether they agree; the arguments as they are meant instead, which have to be agreed to
        as well; or None where the words say nothing of that.
    """
    if _says_yes(words, is_mild=is_mild):
        return True
    if is_refused(words):
        return False
    changed = change_arguments(action, words, now=now, arguments=arguments)
    if changed is not None:
        return changed
    return False if begins_with_no(words) or _chooses_no(words) else None


def _says_yes(words: str, *, is_mild: bool) -> bool:
    is_yes = words.strip(_AROUND).casefold() == YES_OR_NO[0]
    return is_yes or (is_mild and is_agreement(words))


def _chooses_no(words: str) -> bool:
    chosen = read_choice(words, YES_OR_NO, speech_of(ENGLISH)).option
    return chosen == YES_OR_NO[1] or is_refusal(words)


def make_question_outcome(outcome: Said) -> Said:
    """An outcome that asks whether a call shall be made, as the question that it is.

    An agent that had said something already cannot ask any more, and ends its answer so.
    """
    if isinstance(outcome, Clarification) or outcome.waits is None:
        return outcome
    question, options = split_question(outcome.text)
    return Clarification(
        question,
        options,
        free_form=False,
        usage=outcome.usage,
        tools_used=outcome.tools_used,
        model=outcome.model,
        waits=outcome.waits,
    )
