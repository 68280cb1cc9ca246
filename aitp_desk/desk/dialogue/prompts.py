"""Phrases the desk's questions and notices about calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aitp_desk.agent.base import Answer, Clarification, Said
from aitp_desk.agent.extractive.dialogue.clarification import split_question
from aitp_desk.agent.slots.questions import read_asked
from aitp_desk.agent.slots.replies.confirmation import FREE, write_summary
from aitp_desk.desk.calls.invoker import ActionInvoker
from aitp_desk.model.calls.action import Action
from aitp_desk.model.calls.call import ActionCall, CallState
from aitp_desk.model.calls.question import Choice, Choose, Confirm, Fill, Pay, Question
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.model.money import Money

DECLINED = "Nothing was done."
NOT_YET = "Nothing was done yet, because some details are missing."
PAID_FIRST = "It is done after the payment."
PAID_ALREADY = "{price} is paid already, and nothing was charged again."
_TAKEN_ON = (
    "Your request was accepted. Ask here for its status; the result is posted on this thread."
)
_TO_APPROVE = (
    "A person of this site must approve your request first. Ask here for its status; the"
    " result is posted on this thread."
)


def describe_accepted(call: ActionCall) -> Answer:
    """Return the notice that a call runs in the background."""
    told = _TO_APPROVE if call.state is CallState.WAITING_APPROVAL else _TAKEN_ON
    return Answer(told, tools_used=(call.action,))


def make_consent_question(asked: Clarification) -> Confirm:
    """Return a request for consent as a structured question."""
    return Confirm(title=asked.question)


def payment_question(action: Action, arguments: Mapping[str, Any], price: Money) -> Pay:
    """Return a request for payment as a structured question.

    Parameters:
        arguments: as they may be shown.
        price: what it costs.
    """
    summary, *more = write_summary(action, arguments, None)
    told = [one for one in more if one != FREE]
    return Pay(
        title=summary, price=price, description=" ".join([*told, PAID_FIRST]), action=action.name
    )


def make_choice_question(asked: Clarification) -> Choose | None:
    """Return a clarification as a structured choice; None if it has no options."""
    if not asked.options:
        return None
    choices = (Choice(id=str(n), name=name) for n, name in enumerate(asked.options, 1))
    return Choose(title=asked.question, choices=tuple(choices))


async def find_question(said: Said, invoker: ActionInvoker) -> Question | None:
    """Return the structured question of an outcome; None if it has none."""
    if said.waits is not None:
        call = await invoker.calls.find(said.waits)
        if call is not None and call.payment is not None and call.price is not None:
            if call.payment.quote_id:
                return None  # asked only once: a payment that has begun may still settle
            return payment_question(invoker.get_action(call.action), call.arguments, call.price)
        if call is not None and call.memory is not None:
            asked = read_asked(call.memory)
            return None if asked is None else asked.question  # None: it was asked in words
        return make_consent_question(said if isinstance(said, Clarification) else _last_of(said))
    return make_choice_question(said) if isinstance(said, Clarification) else None


def describe_question(question: Question) -> Clarification:
    """Return a question as plain text, if no plugin renders it."""
    told = "\n".join(filter(None, (question.title, question.description)))
    match question:
        case Choose(choices=choices, many="one") if not any(one.variants for one in choices):
            return Clarification(told, tuple(one.name or one.id for one in choices))
        case Confirm(yes=yes, no=no):
            return Clarification(told, (yes, no))
        case Fill(fields=fields):
            lines = (f"{one.label or one.id}: {one.description}".rstrip(": ") for one in fields)
            return Clarification("\n- ".join((told, *lines)))
        case Pay(title=title, price=price, description=description):
            return Clarification(" ".join(filter(None, (title, f"It costs {price}.", description))))
        case _:
            return Clarification(told)


def match_option(told: str, options: Sequence[str]) -> str | None:
    """Return the one option that an answer names; None if it is not one.

    Parameters:
        told: the plugin's text of its message, such as ``Chosen: Returns.``
    """
    named = [option for option in options if option in told]
    meant = [one for one in named if not any(one in other for other in named if other != one)]
    return meant[0] if len(meant) == 1 else None


def refuse_secret(name: str, path: str) -> InvalidRequest:
    """Return the refusal of a secret argument in words.

    Parameters:
        name: of the action.
        path: of the argument; empty if several are secret.
    """
    what = f"{path!r} of {name}" if path else f"A secret argument of {name}"
    return InvalidRequest(
        f"{what} is not accepted as text, because text is stored in the conversation. Send"
        " the arguments as a JSON object, or fill in the form if there is one.",
        param=path or "query",
    )


def _last_of(said: Answer) -> Clarification:
    question, options = split_question(said.text)
    return Clarification(question, options)
