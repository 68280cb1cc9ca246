"""Calls of actions, and their state transitions.

A call is stored before its function runs, and its id is that function's idempotency key. So calls
that a crash interrupted are known: repeatable ones are made again, with the same id, and the others
are marked as having an unknown outcome.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from aitp_desk.model.access.principal import Principal
from aitp_desk.model.errors import Recovery
from aitp_desk.model.money import Money

CALL_PREFIX = "call"
"""Prefix of call ids (``model/ids.py``)."""
WAITS_SECONDS = 24 * 60 * 60
"""How long a call waits for a missing answer."""
CONFIRMATION = "_confirm"
"""The reserved member of arguments that consents to the price of a call."""
PAYMENT = "_payment"
"""The reserved member of arguments that pays for a call."""

Source = Literal["arguments", "text", "model"]
"""Where arguments come from: the caller's JSON, the caller's text, or a model that read this text.
"""


class CallState(Enum):
    """The state of a call."""

    STARTED = "started"
    WAITING_INPUT = "waiting_input"
    WAITING_PAYMENT = "waiting_payment"
    WAITING_APPROVAL = "waiting_approval"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    EXPIRED = "expired"
    UNKNOWN = "unknown"


_WAITING = (CallState.WAITING_INPUT, CallState.WAITING_PAYMENT, CallState.WAITING_APPROVAL)
MOVES: Mapping[CallState, frozenset[CallState]] = MappingProxyType(
    {
        # a call that is repeated after a crash stays started
        CallState.STARTED: frozenset(
            {
                CallState.SUCCEEDED,
                CallState.FAILED,
                CallState.EXPIRED,
                CallState.UNKNOWN,
                *_WAITING,
            }
        ),
        CallState.WAITING_INPUT: frozenset(
            {
                CallState.WAITING_INPUT,
                CallState.WAITING_PAYMENT,
                CallState.WAITING_APPROVAL,
                CallState.STARTED,
                CallState.FAILED,
                CallState.EXPIRED,
            }
        ),
        CallState.WAITING_PAYMENT: frozenset(
            {CallState.STARTED, CallState.FAILED, CallState.EXPIRED}
        ),
        CallState.WAITING_APPROVAL: frozenset(
            {CallState.STARTED, CallState.FAILED, CallState.EXPIRED}
        ),
        CallState.SUCCEEDED: frozenset(),
        CallState.FAILED: frozenset(),
        CallState.EXPIRED: frozenset(),
        # an operator has found out the outcome
        CallState.UNKNOWN: frozenset({CallState.SUCCEEDED, CallState.FAILED}),
    }
)
"""The legal transitions; any other is a programming error."""


class SideEffect(msgspec.Struct, frozen=True):
    """An effect of a call in addition to its result (AHP 0.1, appendix C.2).

    Parameters:
        type: a short name such as ``email``.
        description: what happened, in a sentence.
    """

    type: str
    description: str


class CallError(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a call failed, for its caller.

    Parameters:
        kind: the code of an ``ErrorKind`` or a ``FailureCode``.
        param: the argument that it is about; None for none.
        recovery: what helps, if known.
    """

    kind: str
    message: str
    param: str | None = None
    recovery: Recovery | None = None

    @property
    def in_words(self) -> str:
        """The error as text: the reason, and what helps."""
        return (
            self.message if self.recovery is None else f"{self.message} {self.recovery.description}"
        )


class Answered(msgspec.Struct, frozen=True):
    """The answer to a waiting call.

    Parameters:
        value: as in :class:`aitp_desk.capability.Resume`.
        by: the answering principal, stored without its address.
        message_id: the message with the answer.
    """

    value: Any
    by: Principal
    message_id: str


class StartedThen(msgspec.Struct, frozen=True, omit_defaults=True):
    """A job that starts if a paid call fails; it refunds the payment.

    Parameters:
        kind, ref: as in jobs: there is one job per kind and ref.
        payload: any JSON value.
        after: delay in seconds.
    """

    kind: str
    ref: str
    payload: Any = None
    after: int = 0


class CallPayment(msgspec.Struct, frozen=True, omit_defaults=True):
    """The payment state of a prepaid call.

    Parameters:
        lasts: seconds that the call may take, once it is paid.
        quote_id: named by the payment; empty until one is requested.
        payment_id: empty until it is paid.
        failing: the job that starts if the call fails; None until it is paid.
        receipt: the payer's receipt, sent with the call's end; empty for none.
        message_id: the payment message; empty if there was none.
    """

    lasts: int
    quote_id: str = ""
    payment_id: str = ""
    failing: StartedThen | None = None
    receipt: Mapping[str, Any] = {}
    message_id: str = ""


class ActionCall(msgspec.Struct, frozen=True):
    """A call in its current state.

    Parameters:
        id: ``call_…``.
        desk: of the further site agent; empty for the site's own.
        thread_id: where it was requested; None for no thread.
        session_id: where it was requested; None for no session.
        asked_by: the principal that it is made for, stored without its address.
        arguments: as JSON has them; while input is missing, the known ones.
        memory: while an argument is missing, the state of the dialogue; None if only consent is
            missing.
        intent: the purpose, in the caller's words (AHP 0.1, ``context.user_intent``).
        price: the price that needs, or has, the caller's consent.
        callback_url: notified of its end.
        progress: its progress, as text.
        result: as JSON has it.
        text: the result as text.
        created_at, ended_at: Unix seconds.
        expires_at: Unix seconds until which it may continue, or wait.
        run_id: the run in which an agent made it; None for none.
        tool_call_id: that agent's id for it.
        accepted_at: Unix seconds since when it continues in the background; None if it does not.
        answer: the answer to its question, until that is processed; otherwise None.
        payment: of a prepaid call; None for others.
        held_by: id of the process that wrote it last, and carries it out if it is started.
        spent: what it has agreed to pay elsewhere, for the owner alone; None for nothing.
    """

    id: str
    desk: str
    action: str
    state: CallState
    asked_by: Principal
    source: Source
    created_at: int
    expires_at: int
    arguments: Mapping[str, Any] = {}
    thread_id: str | None = None
    session_id: str | None = None
    memory: Mapping[str, Any] | None = None
    intent: str | None = None
    price: Money | None = None
    callback_url: str | None = None
    progress: str = ""
    result: Any = None
    text: str = ""
    effects: tuple[SideEffect, ...] = ()
    error: CallError | None = None
    ended_at: int | None = None
    run_id: str | None = None
    tool_call_id: str | None = None
    accepted_at: int | None = None
    answer: Answered | None = None
    payment: CallPayment | None = None
    held_by: str = ""
    spent: Money | None = None

    @property
    def is_over(self) -> bool:
        """Whether it makes no further transition by itself."""
        return not MOVES[self.state] or self.state is CallState.UNKNOWN

    @property
    def goes_back(self) -> bool:
        """Whether its payment is refunded, because it failed."""
        has_failed = self.state in (CallState.FAILED, CallState.EXPIRED)
        return has_failed and self.payment is not None and self.payment.failing is not None

    @property
    def waits_for_asker(self) -> bool:
        """Whether it waits for its caller: for input, consent or payment."""
        return self.state in (CallState.WAITING_INPUT, CallState.WAITING_PAYMENT)

    @property
    def takes_answer(self) -> bool:
        """Whether it waits for an answer that has not come yet.

        A call that waits for payment accepts only a refusal.
        """
        return self.waits_for_asker and self.answer is None

    @property
    def how_far(self) -> str:
        """The progress of an unfinished call, as text."""
        if self.state is CallState.WAITING_PAYMENT:
            return "The call runs after the payment. Wait for the payment, or check its status."
        return self.progress or "The call was accepted."

    @property
    def receipt(self) -> Mapping[str, Any]:
        """The payer's receipt, sent with the call's end; empty for none."""
        return {} if self.payment is None else self.payment.receipt

    def move(self, state: CallState, **changes: Any) -> ActionCall:
        """Return the call after a transition.

        Raises:
            ValueError: the transition is illegal.
        """
        if state not in MOVES[self.state]:
            raise ValueError(f"A call cannot go from {self.state.value} to {state.value}.")
        return msgspec.structs.replace(self, state=state, **changes)
