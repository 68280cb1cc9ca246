"""Requests that one actor asks and another answers: open once, and then done for good.

How they are kept is the :class:`~aitp_desk.capability.journal.Book`'s.
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
    """Where a request stands."""

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
"""Where a request can go from each state: only once, from open."""

MOST_REJECTED = 10
"""How many of them a request keeps: the newest."""
_ENDED: Mapping[State, tuple[Uncounted, str]] = {
    State.ANSWERED: ("answered", "was answered before"),
    State.EXPIRED: ("expired", "was not answered in time"),
    State.SUPERSEDED: ("superseded", "was replaced by a newer request"),
}


class AnyRequest(Protocol):
    """What every request says of itself."""

    @property
    def id(self) -> str:
        """What an answer names; on its thread no other request has it, ever."""

    @property
    def title(self) -> str:
        """What it is about, in few words."""

    @property
    def description(self) -> str:
        """What it is about."""

    @property
    def actor(self) -> str:
        """Who is to answer; empty for whoever takes part and has not asked."""

    @property
    def valid_until(self) -> datetime | UnsetType:
        """When it is too late to answer."""

    @property
    def supersedes(self) -> str:
        """Id of an open request of the same actor that this one replaces."""


Q = TypeVar("Q", bound=AnyRequest)
A = TypeVar("A")


class Asked(msgspec.Struct, Generic[Q, A], frozen=True, omit_defaults=True):
    """A request as it is kept.

    Parameters:
        by: the actor that asked.
        until: Unix seconds; from then on it is expired, which nobody need write down.
        state: as it was written; read it with :meth:`state_at`.
        answer: what was answered.
        call_id: the action's call that waits for it, where the desk asks for one.
        since: when ``state`` was written, Unix seconds; 0 as long as it is open.
        rejected: answers that came while it was open and do not count, the newest last.
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
        """Where it stands at a moment, Unix seconds."""
        if self.state is State.OPEN and self.until <= now:
            return State.EXPIRED
        return self.state

    def moved(self, to: State, now: int, answer: Any = None) -> Self:
        """The request after a move.

        Raises:
            ValueError: there is no such move: a fault of the caller.
        """
        state = self.state_at(now)
        if to not in MOVES[state]:
            raise ValueError(f"A request that is {state.value} cannot become {to.value}.")
        return replace(self, state=to, answer=answer, since=now)

    def standing(self, now: int) -> Standing:
        """How it stands at a moment, Unix seconds, for people who look at it."""
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
        """The request after an answer that does not count."""
        rejected = Rejected(context.message_id, context.actor, reason)
        return replace(self, rejected=(*self.rejected, rejected)[-MOST_REJECTED:])

    def cannot_answer(self, context: Context, answered: str = "") -> NotCounted | None:
        """Why it takes no answer of the actor that speaks; None where it does.

        Parameters:
            answered: what was answered before, in words.
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
            return NotCounted("own_request", f"{named} is for others to answer: you have asked it.")
        if self.request.actor and not context.speaks_for(self.request.actor):
            return NotCounted("not_yours", f"{named} is for somebody else to answer.")
        return None

    def awaits(self, actor: str) -> bool:
        """Whether words of this actor may be the answer: they have not asked, and are meant."""
        return actor != self.by and self.request.actor in {"", actor}

    def then(self, value: Any, context: Context) -> Then | Resume:
        """Who goes on once it is answered: the call that waits for the value, or who has asked."""
        if self.call_id is not None:
            return Resume(self.call_id, value)
        is_by_party = any(party.id == self.by for party in context.parties)
        return Then.NOBODY if is_by_party else Then.AGENT


def open_until(request: AnyRequest, context: Context, open_for: int) -> int:
    """When it is too late to answer a request, Unix seconds: no later than a call waits for it.

    Parameters:
        open_for: seconds that one is open which does not say until when.
    """
    until = context.now + open_for
    if context.asking is not None and context.asking.until is not None:
        until = min(until, context.asking.until)
    if isinstance(request.valid_until, UnsetType):
        return until
    return min(until, int(request.valid_until.timestamp()))


def waits_for_others(request: AnyRequest, context: Context) -> bool:
    """Whether others who take part are to answer, and their words may be the answer.

    What a visitor asks where nobody else is, is for whoever answers at the desk; what the desk and
    its people ask is for others.
    """
    if context.is_ours:
        return True
    others = {party.id for party in context.parties} - {context.actor}
    return request.actor in others if request.actor else bool(others)


def one_line(text: str) -> str:
    """Text of others on one line: it cannot pass for further options or fields."""
    return " ".join(text.split())
