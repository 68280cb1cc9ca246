"""Builds the approval ticket of a call that an operator must approve.

The call is valid, its preconditions hold and its caller has agreed to it. It is stored with the
ticket, and nothing of it runs before an operator approves it (``desk/tickets/service.py``).
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
"""Progress that a call reports until an operator approves or declines it."""


def make_pending_approval(call: ActionCall) -> ActionCall:
    """Return an accepted call in the state that waits for approval."""
    return call.move(CallState.WAITING_APPROVAL, progress=WAITING)


def make_approval_ticket(action: Action, call: ActionCall, now: float) -> ExtraStatements:
    """Return the statements that store the approval ticket of a call.

    Parameters:
        now: Unix seconds.
    """
    told = write_summary(action, call.arguments, call.price)
    asked = Ticket(told[0], "\n".join(_note(action, call, told[1:])))
    ticket = ticket_of_call(call, TicketKind.APPROVAL, asked, int(now), call.expires_at)
    # the approved call may itself become a ticket, so this one needs another id
    own = msgspec.structs.replace(ticket, id=new_id(TICKET_PREFIX, now))
    return partial(add_ticket, own)


def _note(action: Action, call: ActionCall, told: list[str]) -> Iterator[str]:
    """Yield what the approving operator needs to know, a line each.

    Text from others is JSON-quoted inside a line and never begins one, so it cannot pass for the
    desk's own text. What may be long comes last.
    """
    yield action.summary
    if action.description:
        yield action.description
    yield " ".join(told)
    yield f"Requested by {call.asked_by.party or 'an unknown caller'}."
    yield from (f"It requires: {needed.description}" for needed in action.preconditions)
    if call.intent:
        yield f"Purpose, in the caller's words: {_quoted(call.intent)}"
    if call.arguments:
        yield "Arguments:"
        yield from (
            f"  {_quoted(name)[1:-1]}: {_quoted(value)}" for name, value in call.arguments.items()
        )


def _quoted(value: object) -> str:
    """Return a value as JSON without line breaks or characters that change text direction."""
    written = msgspec.json.encode(value).decode()
    return "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in written)
