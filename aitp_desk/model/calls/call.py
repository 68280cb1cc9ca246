"""Calls of actions: what one is, and the moves it may make.

A call is written down before its function runs, and its id is that function's idempotency key. So
what a crash cut short is known: what may be made again is, with the same id, and of the rest it is
said that nobody knows what became of it.
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
"""What the ids of calls begin with (``model/ids.py``)."""
WAITS_SECONDS = 24 * 60 * 60
"""How long a call waits for what it still needs."""
CONFIRMATION = "_confirm"
"""The reserved member of arguments that agrees to what a call costs."""
PAYMENT = "_payment"
"""The reserved member of arguments that pays for a call."""

Source = Literal["arguments", "text", "model"]
"""Where arguments come from: JSON of the caller's, the caller's words, or a model that read
these."""


class CallState(Enum):
    """Where a call stands."""

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
        # somebody has looked, and says what became of it
        CallState.UNKNOWN: frozenset({CallState.SUCCEEDED, CallState.FAILED}),
    }
)
"""The legal moves; everything else is a fault of the program."""


class SideEffect(msgspec.Struct, frozen=True):
    """Something that a call has caused besides its result (AHP 0.1, appendix C.2).

    Parameters:
        type: a short name such as ``email``.
        description: what happened, in a sentence.
    """

    type: str
    description: str


class CallError(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a call failed, as whoever asked is told.

    Parameters:
        kind: of :class:`~aitp_desk.model.error_kind.ErrorKind`, by its value.
        param: the argument that it is about; None for none.
        recovery: what helps, where that is known.
    """

    kind: str
    message: str
    param: str | None = None
    recovery: Recovery | None = None

    @property
    def in_words(self) -> str:
        """What is said of it: why, and what helps."""
        return (
            self.message if self.recovery is None else f"{self.message} {self.recovery.description}"
        )


class Answered(msgspec.Struct, frozen=True):
    """What was answered to what a call waits for.

    Parameters:
        value: as :class:`aitp_desk.capability.Resume` has it.
        by: who has answered; the address is not kept.
        message_id: the message that says so.
    """

    value: Any
    by: Principal
    message_id: str


class StartedThen(msgspec.Struct, frozen=True, omit_defaults=True):
    """A job that is started where a call fails that was paid: by it the money goes back.

    Parameters:
        kind, ref: as of jobs: of one kind there is one for what it is about.
        payload: what JSON can hold.
        after: seconds that pass first.
    """

    kind: str
    ref: str
    payload: Any = None
    after: int = 0


class CallPayment(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a call stands that is paid before it is made.

    Parameters:
        lasts: seconds that the call may take, once it is paid.
        quote_id: what is paid for it names; empty until that was asked.
        payment_id: what was paid; empty until then.
        failing: what is started where the call fails; None until it is paid.
        receipt: what whoever paid is told with the call's end; empty for nothing.
        message_id: the message that paid; empty where no message did.
    """

    lasts: int
    quote_id: str = ""
    payment_id: str = ""
    failing: StartedThen | None = None
    receipt: Mapping[str, Any] = {}
    message_id: str = ""


class ActionCall(msgspec.Struct, frozen=True):
    """A call as it stands.

    Parameters:
        id: ``call_…``.
        desk: of the further site agent; empty for the site's own.
        thread_id: on which it was asked for; None where that was on none.
        session_id: by which it was asked for; None where that was by none.
        asked_by: for whom it is made; the address is not kept.
        arguments: as JSON has them; while input is waited for, those that are known.
        memory: while an argument is waited for, what was read so far and what was asked for; None
            where it only has to be agreed to.
        intent: what for, in the caller's words (AHP 0.1, ``context.user_intent``).
        price: what was or is to be agreed to.
        callback_url: where its end is told.
        progress: how far it is, in words.
        result: as JSON has it.
        text: the result in words.
        created_at, ended_at: Unix seconds.
        expires_at: Unix seconds until which it may go on, or is waited for.
        run_id: the run in which an agent has called; None where none has.
        tool_call_id: the id by which that agent has named it.
        accepted_at: Unix seconds since when it goes on by itself; None where it does not.
        answer: what was answered to what it waits for, until that was heard; else None.
        payment: of one that is paid before it is made; None of any other.
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

    @property
    def is_over(self) -> bool:
        """Whether it goes no further by itself."""
        return not MOVES[self.state] or self.state is CallState.UNKNOWN

    @property
    def goes_back(self) -> bool:
        """Whether what was paid for it goes back, because it was not done."""
        has_failed = self.state in (CallState.FAILED, CallState.EXPIRED)
        return has_failed and self.payment is not None and self.payment.failing is not None

    @property
    def waits_for_asker(self) -> bool:
        """Whether it waits for whoever asked: for what is missing, a yes, or money."""
        return self.state in (CallState.WAITING_INPUT, CallState.WAITING_PAYMENT)

    @property
    def takes_answer(self) -> bool:
        """Whether it waits for an answer that nobody has given yet.

        One that waits to be paid takes none but a refusal.
        """
        return self.waits_for_asker and self.answer is None

    @property
    def how_far(self) -> str:
        """How far it is that goes on, in words."""
        if self.state is CallState.WAITING_PAYMENT:
            return "It is done once it is paid, which is waited for, or looked at."
        return self.progress or "It was taken on."

    @property
    def receipt(self) -> Mapping[str, Any]:
        """What whoever paid for it is told with its end; empty for nothing."""
        return {} if self.payment is None else self.payment.receipt

    def move(self, state: CallState, **changes: Any) -> ActionCall:
        """Return the call as it stands after a move.

        Raises:
            ValueError: there is no such move.
        """
        if state not in MOVES[self.state]:
            raise ValueError(f"A call that is {self.state.value} does not become {state.value}.")
        return msgspec.structs.replace(self, state=state, **changes)
