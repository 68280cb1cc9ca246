"""Defines a requested call and its possible outcomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from aitp_desk.actions.base import CallContinues
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.action import Action
from aitp_desk.model.calls.call import CALL_PREFIX, ActionCall, CallState, Source
from aitp_desk.model.conversation.ticket import Ticket
from aitp_desk.model.errors import DeskError
from aitp_desk.model.ids import new_id
from aitp_desk.model.money import Money
from aitp_desk.store.units.calls.calls import ExtraStatements, SessionTurn


class Consent(msgspec.Struct, frozen=True):
    """What the caller has agreed to.

    Parameters:
        price: the highest price agreed to; None for nothing that costs.
    """

    price: Money | None = None


class Invocation(msgspec.Struct, frozen=True):
    """A requested call.

    Parameters:
        arguments: as JSON values.
        consent: None if the caller has agreed to nothing.
        intent: the purpose, in the caller's words.
        callback_url: where the end of an ``async`` call is sent; already validated. Other calls
            send nothing: they are over when the response is sent.
        thread_id, session_id: the conversation of the call; None for none.
        waiting: the pending call that this one resumes; None begins a call.
        run_id, tool_call_id: the agent's run and its name for the call; None for none.
        only_asks: whether consent is requested in any case, and the call not made yet.
        id: id of a call that begins; None for a new id.
    """

    name: str
    arguments: Mapping[str, Any]
    source: Source
    consent: Consent | None = None
    intent: str | None = None
    callback_url: str | None = None
    thread_id: str | None = None
    session_id: str | None = None
    waiting: ActionCall | None = None
    run_id: str | None = None
    tool_call_id: str | None = None
    only_asks: bool = False
    id: str | None = None


class CompletedCall(msgspec.Struct, frozen=True):
    """A call that was executed."""

    call: ActionCall


class AcceptedCall(msgspec.Struct, frozen=True):
    """A call that was accepted and continues in the background.

    Parameters:
        eta_seconds: the usual duration, from earlier calls; None if there were none.
    """

    call: ActionCall
    eta_seconds: int | None


class ConsentRequired(msgspec.Struct, frozen=True):
    """A call that needs the caller's consent; it is not stored yet.

    Parameters:
        price: what it costs; None for nothing.
    """

    invocation: Invocation
    price: Money | None


class PaymentNeeded(msgspec.Struct, frozen=True):
    """A call that must be paid first; it is not stored yet."""

    invocation: Invocation
    price: Money


class ActionOutput(msgspec.Struct, frozen=True):
    """The output of an action's function.

    Parameters:
        call: the call after execution; not stored yet.
        error: why it failed; None if it did not.
        ticket: the task for operators, if they are to carry the call out.
        continues: how the call is followed, if it was accepted elsewhere.
    """

    call: ActionCall
    error: DeskError | None = None
    ticket: Ticket | None = None
    continues: CallContinues | None = None


InvocationOutcome = CompletedCall | AcceptedCall | ConsentRequired | PaymentNeeded
Requirement = ConsentRequired | PaymentNeeded
"""What the caller must do first: agree or pay."""

WriteMessages = Callable[[ActionCall], SessionTurn | None]
"""Builds the session messages about a call; they are stored in the same commit."""


ExtraWrites = Callable[[ActionCall, DeskError | None], ExtraStatements | None]
"""Builds further statements for the commits that begin and end a call.

It receives the call in its new state, and why it failed. The end of a background call gets none.
"""


def write_no_messages(_call: ActionCall) -> SessionTurn | None:
    """Return None: a call outside of sessions writes no messages."""
    return None


def make_call(
    invocation: Invocation, principal: Principal, desk: str, *, now: float, expires_at: int
) -> ActionCall:
    """Return the call that an invocation begins, or the pending call that it resumes.

    Parameters:
        principal: for whom it is made.
        desk: name of the additional site agent; empty for the site's own.
        now, expires_at: Unix seconds.
    """
    if (waiting := invocation.waiting) is not None:
        return waiting.move(
            CallState.STARTED,
            arguments=invocation.arguments,
            memory=None,
            callback_url=invocation.callback_url or waiting.callback_url,
            intent=invocation.intent or waiting.intent,
            run_id=invocation.run_id,
            tool_call_id=invocation.tool_call_id,
            expires_at=expires_at,
            # an interrupted run finds the calls that it has begun by their answers
            answer=None if invocation.run_id is None else waiting.answer,
        )
    return ActionCall(
        id=invocation.id or new_id(CALL_PREFIX, now),
        desk=desk,
        action=invocation.name,
        state=CallState.STARTED,
        asked_by=principal,
        source=invocation.source,
        created_at=int(now),
        expires_at=expires_at,
        arguments=invocation.arguments,
        thread_id=invocation.thread_id,
        session_id=invocation.session_id,
        intent=invocation.intent,
        callback_url=invocation.callback_url,
        run_id=invocation.run_id,
        tool_call_id=invocation.tool_call_id,
    )


def has_consent(invocation: Invocation, action: Action, price: Money | None) -> bool:
    """Return whether the invocation's consent is sufficient to make the call."""
    consent = invocation.consent
    if invocation.only_asks:
        return False
    if price is not None and price.amount > 0:
        agreed = None if consent is None else consent.price
        return agreed is not None and agreed.is_same(price)
    if invocation.source == "arguments":
        return True
    safety = action.safety
    return consent is not None or not (safety.is_grave or safety.confirmation_recommended)
