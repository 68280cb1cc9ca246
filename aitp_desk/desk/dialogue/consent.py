"""Asks for consent to a call, and reads the answer.

Consent is needed if arguments were only read from words, or if a call costs.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from aitp_desk.agent.base import Clarification, Said
from aitp_desk.agent.extractive.dialogue.choice import read_choice
from aitp_desk.agent.extractive.dialogue.clarification import split_question
from aitp_desk.agent.extractive.dialogue.courtesy import (
    is_agreement,
    is_plain_yes,
    is_refusal,
)
from aitp_desk.agent.slots.base import FilledArguments
from aitp_desk.agent.slots.filler import change_arguments
from aitp_desk.agent.slots.replies.confirmation import write_confirmation
from aitp_desk.agent.slots.replies.refusal import begins_with_no, is_refused
from aitp_desk.agent.speech import ENGLISH, speech_of
from aitp_desk.desk.calls.invocation import Invocation
from aitp_desk.model.calls.action import Action
from aitp_desk.model.money import Money

YES_OR_NO = ("yes", "no")
"""The possible answers."""
ONLY_YES = "It costs or cannot be undone, so please answer with the word yes, or no."
"""Precedes the question again, after words such as ``sure``."""


def consent_question(action: Action, invocation: Invocation, price: Money | None) -> Clarification:
    """Return the question for consent: the effect, its object and the price."""
    return Clarification(
        write_confirmation(action, invocation.arguments, price), options=YES_OR_NO, free_form=False
    )


def is_low_risk(action: Action, price: Money | None) -> bool:
    """Return whether a call is free and reversible, so that ``sure`` is consent."""
    return price is None and not action.may_cost and not action.safety.is_grave


def parse_consent(words: str, *, is_mild: bool = False) -> bool | None:
    """Return whether words agree or refuse; None if they do neither clearly.

    Only the word yes alone agrees, in any language. Other ways to choose the first of two options
    are not enough for a call that costs or cannot be undone: the ``1`` of ``yes, but only 1`` is a
    quantity. Refusals are read generously.

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
    """Read an answer to a request for consent.

    Parameters:
        arguments: of the call, as they were shown.
        now: what ``tomorrow`` is counted from, in the site's time zone.
        is_mild: as of :func:`parse_consent`.

    Returns:
        Whether the words agree; or changed arguments, which need consent again; or None if the
        words answer nothing.
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
    is_yes = "?" not in words and is_plain_yes(words)
    return is_yes or (is_mild and is_agreement(words))


def agrees_vaguely(words: str) -> bool:
    """Return whether words agree without the word yes alone: ``sure``, ``yes please``."""
    return is_agreement(words) and not is_plain_yes(words)


def _chooses_no(words: str) -> bool:
    chosen = read_choice(words, YES_OR_NO, speech_of(ENGLISH)).option
    return chosen == YES_OR_NO[1] or is_refusal(words)


def make_question_outcome(outcome: Said) -> Said:
    """Convert an answer that asks for consent to a clarification.

    An agent that has already sent text can no longer ask back, and ends its answer with the
    question.
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
