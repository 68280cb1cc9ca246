"""What is asked before something is done that only was read from words, or that costs."""

from __future__ import annotations

from aitp_desk.agent.base import Clarification
from aitp_desk.desk.invocation import Invocation
from aitp_desk.model.action import Action
from aitp_desk.model.money import Money

YES_OR_NO = ("yes", "no")
"""What can be answered."""


def ask_consent(action: Action, invocation: Invocation, price: Money | None) -> str:
    """The question that says what would be done, with what, and what it costs."""
    given = ", ".join(f"{name}: {value}" for name, value in invocation.arguments.items())
    said = [f"{action.summary.rstrip('.')}{f' ({given})' if given else ''}."]
    if price is not None and price.amount > 0:
        said.append(f"It costs {price}.")
    match action.safety.mutability, action.safety.reversible_within:
        case "irreversible", _:
            said.append("It cannot be undone.")
        case "reversible", str(within):
            said.append(f"It can be undone within {within}.")
        case _:
            pass
    return " ".join([*said, "Shall I go ahead?"])


def consent_question(action: Action, invocation: Invocation, price: Money | None) -> Clarification:
    """The same as what is said to a visitor."""
    return Clarification(ask_consent(action, invocation, price), options=YES_OR_NO, free_form=False)
