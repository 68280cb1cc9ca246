"""What operators read, and what they ask for. Times are Unix seconds."""

from __future__ import annotations

from typing import Literal

import msgspec

from aitp_desk.model.conversation.note import Note
from aitp_desk.model.conversation.thread import Origin, Role
from aitp_desk.model.conversation.ticket import KeptTicket, TicketKind, TicketState, to_summary_line


class TicketFilter(msgspec.Struct, frozen=True):
    """Which tickets are listed.

    Parameters:
        state: those that wait for a person, those that are over, or first the ones and then the
            others.
        agent: name of the site agent, empty for the site's own; None for all.
        mine: the name of the operator who has taken or ended them; None for all.
        text: what they say, in whatever case; empty for all.
    """

    state: Literal["open", "over", "all"] = "open"
    kind: TicketKind | None = None
    agent: str | None = None
    mine: str | None = None
    text: str = ""

    def takes(self, ticket: KeptTicket) -> bool:
        """Whether a ticket is among them, but for its state."""
        if self.kind not in (None, ticket.kind) or self.agent not in (None, ticket.desk):
            return False
        if self.mine not in (None, ticket.taken_by, ticket.ended_by):
            return False
        said = (ticket.about, ticket.note, ticket.principal, ticket.thread_id)
        return not self.text or any(
            self.text.casefold() in one.casefold() for one in said if one is not None
        )


class TicketList(msgspec.Struct, frozen=True):
    """A part of a list of tickets.

    Parameters:
        next: behind which the list goes on; None where it ends here.
    """

    tickets: tuple[KeptTicket, ...]
    next: str | None


class ThreadFilter(msgspec.Struct, frozen=True):
    """Which threads are listed.

    Parameters:
        owner: those that the agent or any operator has; None for all.
        mine: those that this operator has, by name; None for all.
        waiting: only those where the visitor spoke last, and an operator has them or a ticket is
            open; and those where a person is asked for that nobody has taken on.
        agent: as of :class:`TicketFilter`.
        text: what was said there, in whatever case; empty for all.
    """

    owner: Literal["agent", "operator"] | None = None
    mine: str | None = None
    waiting: bool = False
    agent: str | None = None
    text: str = ""

    @property
    def is_attended(self) -> bool:
        """Whether only threads are asked for that people have, or are waited for on."""
        return self.owner == "operator" or self.mine is not None or self.waiting

    def takes(self, line: ThreadLine) -> bool:
        """Whether a thread is among them, but for what was said there."""
        if self.agent not in (None, line.agent) or self.mine not in (None, line.operator):
            return False
        if self.owner is not None and (self.owner == "operator") is not (line.operator is not None):
            return False
        spoke = line.last is not None and line.last.origin is Origin.VISITOR
        asks = any(one.kind.is_asked_for and one.state is TicketState.OPEN for one in line.tickets)
        return not self.waiting or asks or (spoke and bool(line.operator or line.tickets))


class LastSaid(msgspec.Struct, frozen=True):
    """What was said last on a thread.

    Parameters:
        content: its parts; none where it was deleted.
    """

    role: Role
    actor: str
    origin: Origin
    content: tuple[str, ...]
    created_at: int

    @property
    def text(self) -> str:
        """It in a line, shortened."""
        return to_summary_line(" ".join(self.content))


class ThreadLine(msgspec.Struct, frozen=True):
    """A thread in a list.

    Parameters:
        agent: name of the site agent that it talks with, empty for the site's own.
        updated_at: of the last message or change.
        messages: how many were said, deleted ones too.
        owner: id of the principal that it belongs to; None for an anonymous visitor's.
        operator: the name of who has it; None for the agent.
        tickets: those that wait for a person.
        last: what was said last; None where nothing was.
    """

    id: str
    agent: str
    created_at: int
    updated_at: int
    messages: int
    owner: str | None
    operator: str | None
    tickets: tuple[KeptTicket, ...]
    last: LastSaid | None


class ThreadPage(msgspec.Struct, frozen=True):
    """A part of a list of threads.

    Parameters:
        next: as of :class:`TicketList`.
    """

    lines: tuple[ThreadLine, ...]
    next: str | None


class ThreadActor(msgspec.Struct, frozen=True):
    """An actor that takes part in a thread."""

    id: str
    origin: Origin


class ThreadAtAGlance(msgspec.Struct, frozen=True):
    """A thread without what was said there.

    Parameters:
        actors: who takes part now, the desk's own first.
        tickets: those that wait for a person, and then the newest of the others.
        notes: the oldest first.
        last_event: number of its newest event.
    """

    line: ThreadLine
    actors: tuple[ThreadActor, ...]
    tickets: tuple[KeptTicket, ...]
    notes: tuple[Note, ...]
    last_event: int


class AttachedFile(msgspec.Struct, frozen=True):
    """A file that hangs on a message.

    Parameters:
        name: None where it is there no longer.
    """

    id: str
    name: str | None


class ShownMessageRow(msgspec.Struct, frozen=True):
    """A message as operators read it.

    Parameters:
        content: its parts; none where it was deleted.
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


class ShownMessageRows(msgspec.Struct, frozen=True):
    """A part of what was said on a thread, the oldest first.

    Parameters:
        before: id of the message before which the list goes on; None where it begins here.
    """

    messages: tuple[ShownMessageRow, ...]
    before: str | None


class WaitingCount(msgspec.Struct, frozen=True):
    """How many tickets wait for a person.

    Parameters:
        open: that nobody has taken.
        taken: that anybody has.
        mine: that one operator has.
        oldest_open_seconds: how long the oldest of those waits that nobody has taken; None where
            there is none.
    """

    open: int
    taken: int
    mine: int
    oldest_open_seconds: int | None


class LoadHour(msgspec.Struct, frozen=True):
    """What happened within an hour.

    Parameters:
        at: when it began.
        messages: how many were said; a turn in one row counts as two.
        visitors_messages: how many of them by visitors.
        tickets, ended: how many were made, and how many ended.
        waited_seconds: how long half of those that ended had been waited for, at most; None where
            none ended.
    """

    at: int
    messages: int
    visitors_messages: int
    tickets: int
    ended: int
    waited_seconds: int | None
