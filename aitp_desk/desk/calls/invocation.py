"""A call that is asked for, and what comes of asking."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.action import Action
from aitp_desk.model.calls.call import CALL_PREFIX, ActionCall, CallState, Source
from aitp_desk.model.conversation.ticket import Ticket
from aitp_desk.model.errors import DeskError
from aitp_desk.model.ids import new_id
from aitp_desk.model.money import Money
from aitp_desk.store.units.calls.calls import ExtraStatements, SessionTurn


class Consent(msgspec.Struct, frozen=True):
    """What whoever calls has agreed to.

    Parameters:
        price: at most this; None for nothing that costs.
    """

    price: Money | None = None


class Invocation(msgspec.Struct, frozen=True):
    """A call that is asked for.

    Parameters:
        arguments: as JSON has them.
        consent: None where nothing was agreed to.
        intent: what for, in the caller's words.
        callback_url: where the end of an ``async`` call is told; it was checked. Of
            other calls nobody is told: they are over when they are answered.
        thread_id, session_id: where it is asked for; None for nowhere.
        waiting: the call that waited for this; None begins one.
        run_id, tool_call_id: in which run an agent calls, and how it names the call; None for none.
        only_asks: whether it is asked about in any case, and not made yet.
        id: what the call is called that is begun; None for a new id.
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
    """A call that was carried out."""

    call: ActionCall


class AcceptedCall(msgspec.Struct, frozen=True):
    """An ``async`` call that was taken on, and goes on by itself.

    Parameters:
        eta_seconds: how long it takes, by those before it; None where there were none.
    """

    call: ActionCall
    eta_seconds: int | None


class ConsentRequired(msgspec.Struct, frozen=True):
    """A call that may be made once whoever asks has said yes to it. Nothing is on disk of it.

    Parameters:
        price: what it costs; None for nothing.
    """

    invocation: Invocation
    price: Money | None


class PaymentNeeded(msgspec.Struct, frozen=True):
    """A call that is made once it is paid. Nothing is on disk of it.

    Parameters:
        price: what it costs.
    """

    invocation: Invocation
    price: Money


class ActionOutput(msgspec.Struct, frozen=True):
    """What an action's function gave.

    Parameters:
        call: as it stands then; nothing is on disk of that yet.
        error: why it failed; None where it did not.
        ticket: what people are asked, who carry it out.
    """

    call: ActionCall
    error: DeskError | None = None
    ticket: Ticket | None = None


InvocationOutcome = CompletedCall | AcceptedCall | ConsentRequired | PaymentNeeded
Requirement = ConsentRequired | PaymentNeeded
"""What has to come first of whoever asks: a yes, or money."""

WriteMessages = Callable[[ActionCall], SessionTurn | None]
"""Makes what is said in a session of a call as it stands; it is written with it."""


ExtraWrites = Callable[[ActionCall, DeskError | None], ExtraStatements | None]
"""Makes what else is written with a call as it begins, and as it ends within its request: given the
call as it then stands, and why it failed."""


def write_no_messages(_call: ActionCall) -> SessionTurn | None:
    """What is said of a call outside of sessions."""
    return None


def no_extra_writes(_call: ActionCall, _error: DeskError | None) -> ExtraStatements | None:
    """What else is written with a call that is nothing but a call."""
    return None


def make_call(
    invocation: Invocation, principal: Principal, desk: str, *, now: float, expires_at: int
) -> ActionCall:
    """The call that is begun by asking for it, or the one that waited for this and goes on.

    Parameters:
        principal: for whom it is made.
        desk: of the further site agent; empty for the site's own.
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
            # a run that is cut short sees by it what it has begun
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
    """Whether enough was agreed to for a call to be made."""
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
