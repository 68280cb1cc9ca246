"""Calls that a person of the site approves first: what that person is asked.

Such a call was read, is possible as things stand, and was agreed to by whoever asks. It is on disk,
with a ticket, and nothing of it runs until an operator has approved it (``escalating.py``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial

import msgspec

from aitp_desk.agent.slots.replies.confirmation import write_summary
from aitp_desk.model.calls.action import Action
from aitp_desk.model.calls.call import ActionCall, CallState
from aitp_desk.model.conversation.ticket import TICKET_PREFIX, Ticket, TicketKind
from aitp_desk.model.ids import new_id
from aitp_desk.store.units.calls.calls import ExtraStatements
from aitp_desk.store.units.tickets.tickets import add_ticket, ticket_of_call

WAITING = "Waiting for approval."
"""What whoever asks after a call is told until somebody has approved or declined it."""


def make_pending_approval(call: ActionCall) -> ActionCall:
    """A call that was accepted, and is not carried out before it is approved."""
    return call.move(CallState.WAITING_APPROVAL, progress=WAITING)


def make_approval_ticket(action: Action, call: ActionCall, now: float) -> ExtraStatements:
    """Make what is written with such a call so that a person sees it.

    Parameters:
        now: Unix seconds.
    """
    told = write_summary(action, call.arguments, call.price)
    asked = Ticket(told[0], "\n".join(_note(action, call, told[1:])))
    ticket = ticket_of_call(call, TicketKind.APPROVAL, asked, int(now), call.expires_at)
    # what the call becomes once it is approved may be a ticket of its own
    own = msgspec.structs.replace(ticket, id=new_id(TICKET_PREFIX, now))
    return partial(add_ticket, own)


def _note(action: Action, call: ActionCall, told: list[str]) -> Iterator[str]:
    """What whoever approves should know, a line each.

    What others wrote stands as JSON has it, on a line of its own: it begins none, and so says
    nothing in the desk's name. What may be long comes last.
    """
    yield action.summary
    if action.description:
        yield action.description
    yield " ".join(told)
    yield f"Asked for by {call.asked_by.party or 'somebody unknown'}."
    yield from (f"It needs: {needed.description}" for needed in action.preconditions)
    if call.intent:
        yield f"What for, in the caller's words: {_quoted(call.intent)}"
    if call.arguments:
        yield "With:"
        yield from (
            f"  {_quoted(name)[1:-1]}: {_quoted(value)}" for name, value in call.arguments.items()
        )


def _quoted(value: object) -> str:
    """A value as JSON in which nothing ends a line, or turns the direction of what follows."""
    written = msgspec.json.encode(value).decode()
    return "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in written)
