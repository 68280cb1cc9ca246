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

from aitp_desk.model.errors import Recovery
from aitp_desk.model.money import Money
from aitp_desk.model.principal import Principal

CALL_PREFIX = "call"
"""What the ids of calls begin with (``model/ids.py``)."""
CONFIRMATION = "_confirm"
"""The reserved member of arguments that agrees to what a call costs."""

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

    @property
    def is_over(self) -> bool:
        """Whether it goes no further by itself."""
        return not MOVES[self.state] or self.state is CallState.UNKNOWN

    def move(self, state: CallState, **changes: Any) -> ActionCall:
        """Return the call as it stands after a move.

        Raises:
            ValueError: there is no such move.
        """
        if state not in MOVES[self.state]:
            raise ValueError(f"A call that is {self.state.value} does not become {state.value}.")
        return msgspec.structs.replace(self, state=state, **changes)
