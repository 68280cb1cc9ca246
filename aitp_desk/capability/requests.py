"""Requests that one actor makes and another answers: open once, then ended for good.

:class:`~aitp_desk.capability.journal.Book` stores them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from typing import Any, Generic, Protocol, Self, TypeVar

import msgspec
from msgspec import UnsetType
from msgspec.structs import replace

from aitp_desk.capability.effects import NotCounted, Resume, Then, Uncounted
from aitp_desk.capability.messages import Context, Standing
from aitp_desk.model.calls.open_request import Rejected


class State(Enum):
    """The state of a request."""

    OPEN = "open"
    ANSWERED = "answered"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"


MOVES: Mapping[State, frozenset[State]] = {
    State.OPEN: frozenset({State.ANSWERED, State.EXPIRED, State.SUPERSEDED}),
    State.ANSWERED: frozenset(),
    State.EXPIRED: frozenset(),
    State.SUPERSEDED: frozenset(),
}
"""The allowed state transitions: one, from open."""

MOST_REJECTED = 10
"""How many rejected answers a request keeps: the newest."""
_ENDED: Mapping[State, tuple[Uncounted, str]] = {
    State.ANSWERED: ("answered", "was answered before"),
    State.EXPIRED: ("expired", "was not answered in time"),
    State.SUPERSEDED: ("superseded", "was replaced by a newer request"),
}


class AnyRequest(Protocol):
    """The members that every request has."""

    @property
    def id(self) -> str:
        """The id that an answer names; unique on its thread for all time."""

    @property
    def title(self) -> str:
        """What it is about, in a few words."""

    @property
    def description(self) -> str:
        """What it is about."""

    @property
    def actor(self) -> str:
        """Id of the answering actor; empty for any participant except the asking one."""

    @property
    def valid_until(self) -> datetime | UnsetType:
        """When it expires."""

    @property
    def supersedes(self) -> str:
        """Id of an open request of the same actor that this one replaces."""


Q = TypeVar("Q", bound=AnyRequest)
A = TypeVar("A")


class Asked(msgspec.Struct, Generic[Q, A], frozen=True, omit_defaults=True):
    """A request as stored.

    Parameters:
        by: the actor that asked.
        until: Unix seconds; it is expired from then on, without a write.
        state: as written; read it with :meth:`state_at`.
        call_id: the action call that waits for the answer, if the desk asks for one.
        since: Unix seconds at which ``state`` was written; 0 while it is open.
        rejected: answers that came while it was open and did not count, the newest last.
    """

    request: Q
    by: str
    until: int
    state: State = State.OPEN
    answer: A | None = None
    call_id: str | None = None
    since: int = 0
    rejected: tuple[Rejected, ...] = ()

    def state_at(self, now: int) -> State:
        """Return the state at a time in Unix seconds."""
        if self.state is State.OPEN and self.until <= now:
            return State.EXPIRED
        return self.state

    def moved(self, to: State, now: int, answer: Any = None) -> Self:
        """Return the request after a transition.

        Raises:
            ValueError: the transition is not allowed: a fault of the caller.
        """
        state = self.state_at(now)
        if to not in MOVES[state]:
            raise ValueError(f"A request that is {state.value} cannot become {to.value}.")
        return replace(self, state=to, answer=answer, since=now)

    def standing(self, now: int) -> Standing:
        """Return the state at a time in Unix seconds, for people."""
        state = self.state_at(now)
        since = self.until if state is State.EXPIRED else self.since
        return Standing(
            state=state.value,
            since=since or None,
            until=self.until,
            by=self.by,
            of=self.request.actor,
            answer=None if self.answer is None else msgspec.to_builtins(self.answer),
        )

    def rejecting(self, reason: Uncounted, context: Context) -> Self:
        """Return the request with one more rejected answer."""
        rejected = Rejected(context.message_id, context.actor, reason)
        return replace(self, rejected=(*self.rejected, rejected)[-MOST_REJECTED:])

    def cannot_answer(self, context: Context, answered: str = "") -> NotCounted | None:
        """Return why the sender's answer does not count; None if it counts.

        Parameters:
            answered: the earlier answer as text.
        """
        state = self.state_at(context.now)
        called = one_line(self.request.title) or one_line(self.request.description)
        named = f"“{called}”" if called else "This request"
        if state in _ENDED:
            reason, ended = _ENDED[state]
            more = f": {answered}" if answered and state is State.ANSWERED else ""
            if state is State.EXPIRED and self.call_id is not None:
                more = ", and nothing was done. Please ask for it again"
            return NotCounted(reason, f"{named} {ended}{more}.")
        if context.actor == self.by:
            return NotCounted(
                "own_request", f"{named} is your own request. Another participant must answer it."
            )
        if self.request.actor and not context.speaks_for(self.request.actor):
            return NotCounted("not_yours", f"{named} must be answered by another participant.")
        return None

    def awaits(self, actor: str) -> bool:
        """Return whether text of this actor may answer the request."""
        return actor != self.by and self.request.actor in {"", actor}

    def then(self, value: Any, context: Context) -> Then | Resume:
        """Return who continues after the answer: the call, or the asking actor."""
        if self.call_id is not None:
            return Resume(self.call_id, value)
        is_by_party = any(party.id == self.by for party in context.parties)
        return Then.NOBODY if is_by_party else Then.AGENT


def open_until(request: AnyRequest, context: Context, open_for: int) -> int:
    """Return when a request expires, in Unix seconds: no later than its call.

    Parameters:
        open_for: lifetime in seconds of a request that names no expiry.
    """
    until = context.now + open_for
    if context.asking is not None and context.asking.until is not None:
        until = min(until, context.asking.until)
    if isinstance(request.valid_until, UnsetType):
        return until
    return min(until, int(request.valid_until.timestamp()))


def waits_for_others(request: AnyRequest, context: Context) -> bool:
    """Return whether other participants are to answer, possibly by text.

    A visitor's request without other participants is for the agent or the site's people; a request
    of the desk or its people is for the participants.
    """
    if context.is_ours:
        return True
    others = {party.id for party in context.parties} - {context.actor}
    return request.actor in others if request.actor else bool(others)


def one_line(text: str) -> str:
    """Return text of others on one line: it cannot pass for further options."""
    return " ".join(text.split())
