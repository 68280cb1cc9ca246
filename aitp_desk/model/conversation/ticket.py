"""Tickets: requests that wait for an operator, and their state transitions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any

import msgspec

from aitp_desk.model.conversation.spoken import Spoken

TICKET_PREFIX = "ticket"
"""Prefix of ticket ids (``model/ids.py``)."""
OPERATORS = "operators"
"""The segment of an operator's actor id between the desk's own id and the operator's name."""
LONGEST_ABOUT = 200
LONGEST_NOTE = 8_000
LONGEST_ANSWER = 16_000
LONGEST_CONTACT = 254
"""Maximum lengths of a ticket's texts, in characters."""


class Ticket(msgspec.Struct, frozen=True):
    """The result of an ``async`` action that leaves its call to operators.

    Parameters:
        about: the subject, in a line, for the operators.
        note: all else that they need to know.
    """

    about: str
    note: str = ""


class Answered(msgspec.Struct, frozen=True):
    """The result of a call that an operator has carried out.

    Parameters:
        answer: the operator's text.
        answered_by: the operator's name.
    """

    answer: str
    answered_by: str


class PersonMessage(msgspec.Struct, frozen=True):
    """An operator's message in a conversation, or the end of its ticket.

    Parameters:
        actor: id of the speaker: an operator's, or the desk's own for the end of a ticket.
        spoken: as in an agent's answer: the parts of the text, if some are structured messages.
    """

    actor: str
    text: str
    spoken: tuple[Spoken, ...] = ()

    @property
    def operator(self) -> str | None:
        """The name of the speaking operator; None for the desk."""
        return get_operator(self.actor)


def join_messages(messages: Collection[PersonMessage], text: str) -> str:
    """Join operators' messages, each with its speaker, and the agent's text."""
    if not messages:
        return text
    named = (
        one.text if one.operator is None else f"{one.operator}: {one.text}" for one in messages
    )
    return "\n\n".join(filter(None, (*named, text)))


class TicketKind(Enum):
    """Why an operator is needed.

    An action has handed its call to operators; a call was interrupted, and its outcome is unknown;
    a visitor has asked for a person; the agent could not answer; or a call needs an operator's
    approval.
    """

    ACTION = "action"
    UNKNOWN = "unknown"
    REQUEST = "request"
    QUESTION = "question"
    APPROVAL = "approval"

    @property
    def is_asked_for(self) -> bool:
        """Whether a conversation waits for an operator, and no call."""
        return self in (TicketKind.REQUEST, TicketKind.QUESTION)


class TicketState(Enum):
    """The state of a ticket."""

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
"""The legal transitions; any other is a programming error."""


class StoredTicket(msgspec.Struct, frozen=True):
    """A ticket in its current state.

    Parameters:
        id: ``ticket_…``.
        desk: of the further site agent; empty for the site's own.
        about, note: as in :class:`Ticket`.
        thread_id: where the answer is posted; None for nowhere.
        call_id: the call that it is about; None if a conversation waits, and no call.
        principal: id of the requesting principal; None for an anonymous one.
        created_at: Unix seconds, as are the other times.
        due_at: when it expires; None: it does not expire.
        answer: the answer, or why it was closed.
        ended_by: the name of the operator who answered or closed it.
        taken_by: the name of the operator who has taken it.
        asked_from: a keyed digest of the requester, or of its address: counts the waiting tickets
            of one caller. None if nothing is counted.
        contact: the email address at which the visitor wants the answer too; empty for none.
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
    contact: str = ""

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return not MOVES[self.state]

    def move(self, state: TicketState, **changes: Any) -> StoredTicket:
        """Return the ticket after a transition.

        Raises:
            ValueError: the transition is illegal.
        """
        if state not in MOVES[self.state]:
            raise ValueError(f"A ticket cannot go from {self.state.value} to {state.value}.")
        return msgspec.structs.replace(self, state=state, **changes)


def get_operator(actor: str) -> str | None:
    """Return the name of the operator with this actor; None for other actors."""
    before, _, name = actor.rpartition(f"/{OPERATORS}/")
    return name if before else None


def to_summary_line(text: str) -> str:
    """Return a ticket's subject, in a line of bounded length."""
    return shorten(" ".join(text.split()), LONGEST_ABOUT)


def shorten(text: str, longest: int) -> str:
    """Cut a text to a number of characters, with an ellipsis."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
