"""Tickets: what waits for a person, and the moves that it may make."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any

import msgspec

from aitp_desk.model.conversation.spoken import Spoken

TICKET_PREFIX = "ticket"
"""What the ids of tickets begin with (``model/ids.py``)."""
OPERATORS = "operators"
"""What stands in the id of an operator's actor between the desk's own and the operator's name."""
LONGEST_ABOUT = 200
LONGEST_NOTE = 8_000
LONGEST_ANSWER = 16_000
"""How long what a ticket says may be, in characters."""


class Ticket(msgspec.Struct, frozen=True):
    """What an ``async`` action returns that has people carry a call out.

    Parameters:
        about: what it is about, in a line, for these people.
        note: all that they need to know besides.
    """

    about: str
    note: str = ""


class Answered(msgspec.Struct, frozen=True):
    """The result of a call that people have carried out.

    Parameters:
        answer: what they say of it.
        answered_by: the name of who says it.
    """

    answer: str
    answered_by: str


class PersonSaid(msgspec.Struct, frozen=True):
    """What people have said in a conversation, or how a ticket of it ended.

    Parameters:
        actor: id of who said it: an operator's, or the desk's own where it tells of an end.
        text: the words.
        spoken: as of what an agent says: the parts of the words, where capabilities' messages are
            among them.
    """

    actor: str
    text: str
    spoken: tuple[Spoken, ...] = ()

    @property
    def operator(self) -> str | None:
        """The name of the operator who said it; None for the desk."""
        return get_operator(self.actor)


def join_messages(heard: Collection[PersonSaid], text: str) -> str:
    """What people have said, each with who speaks, and then what the agent says."""
    if not heard:
        return text
    named = (one.text if one.operator is None else f"{one.operator}: {one.text}" for one in heard)
    return "\n\n".join(filter(None, (*named, text)))


class TicketKind(Enum):
    """Why a person is waited for.

    An action has handed its call to people; a call was cut short, and nobody knows what became of
    it; a visitor has asked for a person; the agent could not answer; or a call is not carried out
    before a person has approved it.
    """

    ACTION = "action"
    UNKNOWN = "unknown"
    REQUEST = "request"
    QUESTION = "question"
    APPROVAL = "approval"

    @property
    def is_asked_for(self) -> bool:
        """Whether a conversation waits for a person, and no call."""
        return self in (TicketKind.REQUEST, TicketKind.QUESTION)


class TicketState(Enum):
    """How a ticket stands."""

    OPEN = "open"
    TAKEN = "taken"
    ANSWERED = "answered"
    CLOSED = "closed"
    EXPIRED = "expired"


MOVES: Mapping[TicketState, frozenset[TicketState]] = MappingProxyType(
    {
        TicketState.OPEN: frozenset(
            {TicketState.TAKEN, TicketState.ANSWERED, TicketState.CLOSED, TicketState.EXPIRED}
        ),
        TicketState.TAKEN: frozenset(
            {TicketState.OPEN, TicketState.ANSWERED, TicketState.CLOSED, TicketState.EXPIRED}
        ),
        TicketState.ANSWERED: frozenset(),
        TicketState.CLOSED: frozenset(),
        TicketState.EXPIRED: frozenset(),
    }
)
"""The legal moves; everything else is a fault of the program."""


class KeptTicket(msgspec.Struct, frozen=True):
    """A ticket as it stands.

    Parameters:
        id: ``ticket_…``.
        desk: of the further site agent; empty for the site's own.
        about, note: as of :class:`Ticket`.
        thread_id: where the answer is said; None for nowhere.
        call_id: the call that it is about; None where a conversation waits, and no call.
        principal: id of who asked; None for nobody known.
        created_at: Unix seconds, as are the other times.
        due_at: nobody is waited for any longer than until then; None: for as long as it takes.
        answer: what was answered, or why it was closed.
        ended_by: the name of who answered or closed it.
        taken_by: the name of the operator who sees to it.
        asked_from: a keyed digest of who asked, or of their address: by it is counted how many wait
            that one caller has asked for. None where nothing is counted.
    """

    id: str
    desk: str
    kind: TicketKind
    state: TicketState
    about: str
    created_at: int
    note: str = ""
    thread_id: str | None = None
    call_id: str | None = None
    principal: str | None = None
    due_at: int | None = None
    answer: str = ""
    ended_by: str | None = None
    ended_at: int | None = None
    taken_by: str | None = None
    asked_from: str | None = None

    @property
    def is_over(self) -> bool:
        """Whether nobody is waited for any more."""
        return not MOVES[self.state]

    def move(self, state: TicketState, **changes: Any) -> KeptTicket:
        """Return the ticket as it stands after a move.

        Raises:
            ValueError: there is no such move.
        """
        if state not in MOVES[self.state]:
            raise ValueError(f"A ticket that is {self.state.value} is not then {state.value}.")
        return msgspec.structs.replace(self, state=state, **changes)


def get_operator(actor: str) -> str | None:
    """The name of the operator whose actor this is; None for another of the desk's actors."""
    before, _, name = actor.rpartition(f"/{OPERATORS}/")
    return name if before else None


def to_summary_line(text: str) -> str:
    """What a ticket is about, in a line of bounded length."""
    return shorten(" ".join(text.split()), LONGEST_ABOUT)


def shorten(text: str, longest: int) -> str:
    """A text of at most so many characters; where it was longer it ends in an ellipsis."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
