"""Defines what operators read and filter by. Times are Unix seconds."""

from __future__ import annotations

from typing import Literal

import msgspec

from aitp_desk.model.conversation.note import Note
from aitp_desk.model.conversation.thread import Origin, Role
from aitp_desk.model.conversation.ticket import (
    StoredTicket,
    TicketKind,
    TicketState,
    to_summary_line,
)
from aitp_desk.store.records.transports import ConversationState


class TicketFilter(msgspec.Struct, frozen=True):
    """Which tickets are listed.

    Parameters:
        state: waiting ones, ended ones, or first the waiting and then the ended ones.
        agent: name of the site agent, empty for the site's own; None for all.
        mine: the name of the operator who has taken or ended them; None for all.
        text: what they contain, case-insensitive; empty for all.
    """

    state: Literal["open", "over", "all"] = "open"
    kind: TicketKind | None = None
    agent: str | None = None
    mine: str | None = None
    text: str = ""

    def takes(self, ticket: StoredTicket) -> bool:
        """Return whether a ticket matches, apart from its state."""
        if self.kind not in (None, ticket.kind) or self.agent not in (None, ticket.desk):
            return False
        if self.mine not in (None, ticket.taken_by, ticket.ended_by):
            return False
        said = (ticket.about, ticket.note, ticket.principal, ticket.thread_id)
        return not self.text or any(
            self.text.casefold() in one.casefold() for one in said if one is not None
        )


class ThreadFilter(msgspec.Struct, frozen=True):
    """Which threads are listed.

    Parameters:
        owner: those that the agent or any operator has; None for all.
        mine: those that this operator has, by name; None for all.
        waiting: only those where the visitor spoke last, and an operator has them or a ticket is
            open; and those with an unassigned request for a person.
        agent: as of :class:`TicketFilter`.
        text: what their messages contain, case-insensitive; empty for all.
    """

    owner: Literal["agent", "operator"] | None = None
    mine: str | None = None
    waiting: bool = False
    agent: str | None = None
    text: str = ""

    @property
    def is_attended(self) -> bool:
        """Return whether the filter is for threads that operators have or are requested on."""
        return self.owner == "operator" or self.mine is not None or self.waiting

    def takes(self, line: ThreadLine) -> bool:
        """Return whether a thread matches, apart from its messages."""
        if self.agent not in (None, line.agent) or self.mine not in (None, line.operator):
            return False
        if self.owner is not None and (self.owner == "operator") is not (line.operator is not None):
            return False
        spoke = line.last is not None and line.last.origin is Origin.VISITOR
        asks = any(one.kind.is_asked_for and one.state is TicketState.OPEN for one in line.tickets)
        return not self.waiting or asks or (spoke and bool(line.operator or line.tickets))


class LastMessage(msgspec.Struct, frozen=True):
    """The last message of a thread.

    Parameters:
        content: its parts; none if it was deleted.
    """

    role: Role
    actor: str
    origin: Origin
    content: tuple[str, ...]
    created_at: int

    @property
    def text(self) -> str:
        """The text in one line, shortened."""
        return to_summary_line(" ".join(self.content))


class ThreadLine(msgspec.Struct, frozen=True):
    """A thread in a list.

    Parameters:
        agent: name of the site agent that it talks with, empty for the site's own.
        updated_at: of the last message or change.
        messages: how many there are, including deleted ones.
        owner: id of the principal that it belongs to; None for an anonymous visitor's.
        operator: the name of the operator who has it; None for the agent.
        tickets: those that wait for a person.
        last: its last message; None if there is none.
    """

    id: str
    agent: str
    created_at: int
    updated_at: int
    messages: int
    owner: str | None
    operator: str | None
    tickets: tuple[StoredTicket, ...]
    last: LastMessage | None


class ThreadActor(msgspec.Struct, frozen=True):
    """A participant of a thread."""

    id: str
    origin: Origin


class CarriedThread(msgspec.Struct, frozen=True):
    """A conversation on a platform that a thread carries.

    Parameters:
        problem: why messages do not reach the person now; None if they do.
    """

    transport: str
    state: ConversationState
    problem: str | None


class ThreadAtAGlance(msgspec.Struct, frozen=True):
    """A thread without its messages.

    Parameters:
        actors: who participates now, the desk's first.
        tickets: those that wait for a person, and then the newest of the others.
        notes: the oldest first.
        last_event: number of its newest event.
        carried: its conversations on platforms.
    """

    line: ThreadLine
    actors: tuple[ThreadActor, ...]
    tickets: tuple[StoredTicket, ...]
    notes: tuple[Note, ...]
    last_event: int
    carried: tuple[CarriedThread, ...]


class AttachedFile(msgspec.Struct, frozen=True):
    """A file attached to a message.

    Parameters:
        name: None if it was deleted.
    """

    id: str
    name: str | None


class ShownMessageRow(msgspec.Struct, frozen=True):
    """A message as operators read it.

    Parameters:
        content: its parts; none if it was deleted.
    """

    id: str
    seq: int
    role: Role
    actor: str
    origin: Origin
    created_at: int
    content: tuple[str, ...]
    attachments: tuple[AttachedFile, ...]
    metadata: dict[str, str]
    is_deleted: bool

    @property
    def text(self) -> str:
        """Its parts, one under another."""
        return "\n\n".join(self.content)


class WaitingCount(msgspec.Struct, frozen=True):
    """How many tickets wait for a person.

    Parameters:
        open: not taken.
        taken: taken by any operator.
        mine: taken by one operator.
        oldest_open_seconds: how long the oldest untaken one has waited; None if there is none.
    """

    open: int
    taken: int
    mine: int
    oldest_open_seconds: int | None


class LoadHour(msgspec.Struct, frozen=True):
    """The activity within an hour.

    Parameters:
        at: when it began.
        messages: how many were sent; a folded turn counts as two.
        visitors_messages: how many of them by visitors.
        tickets, ended: how many were created, and how many ended.
        waited_seconds: the median waiting time of those that ended; None if none ended.
    """

    at: int
    messages: int
    visitors_messages: int
    tickets: int
    ended: int
    waited_seconds: int | None
