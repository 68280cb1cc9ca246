"""What is asked before something is done that only was read from words, or that costs."""

from __future__ import annotations

from aitp_desk.agent.ask import part_question
from aitp_desk.agent.base import Clarification, Said
from aitp_desk.agent.choice import choose
from aitp_desk.agent.filling.confirming import confirm
from aitp_desk.agent.speech import ENGLISH, speech_of
from aitp_desk.desk.invocation import Invocation
from aitp_desk.model.action import Action
from aitp_desk.model.money import Money

YES_OR_NO = ("yes", "no")
"""What can be answered."""
_AROUND = " .!\"'“”„«»()\t\r\n"


def consent_question(action: Action, invocation: Invocation, price: Money | None) -> Clarification:
    """What is asked before a call is made: what it would do, on what, and what it costs."""
    return Clarification(
        confirm(action, invocation.arguments, price), options=YES_OR_NO, free_form=False
    )


def agrees(words: str) -> bool | None:
    """Whether words agree to what was asked; None where they neither do nor refuse.

    Only ``yes`` agrees, alone. What else could stand for the first of two options is not enough
    for something that costs or cannot be undone: the ``1`` of ``yes, but only 1`` is a quantity.
    """
    if words.strip(_AROUND).casefold() == YES_OR_NO[0]:
        return True
    return False if choose(words, YES_OR_NO, speech_of(ENGLISH)).option == YES_OR_NO[1] else None


def asking_back(outcome: Said) -> Said:
    """An outcome that asks whether a call shall be made, as the question that it is.

    An agent that had said something already cannot ask any more, and ends its answer so.
    """
    if isinstance(outcome, Clarification) or outcome.waits is None:
        return outcome
    question, options = part_question(outcome.text)
    return Clarification(
        question,
        options,
        free_form=False,
        usage=outcome.usage,
        tools_used=outcome.tools_used,
        model=outcome.model,
        waits=outcome.waits,
    )
