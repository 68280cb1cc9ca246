"""What the operators' pages ask for and are given. Moments are as RFC 3339 has them."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from aitp_desk.model.calls.action import BlastRadius, Mutability
from aitp_desk.model.calls.call import CallState
from aitp_desk.model.component import ComponentState
from aitp_desk.model.conversation.thread import Origin
from aitp_desk.model.conversation.ticket import TicketKind, TicketState
from aitp_desk.model.money import Money


class ConsoleSignIn(msgspec.Struct, forbid_unknown_fields=True):
    """The key of whoever signs in."""

    token: str


class ConsoleSite(msgspec.Struct):
    """The site."""

    name: str
    url: str


class ConsoleSession(msgspec.Struct):
    """Who has signed in. What changes something carries csrf as X-CSRF-Token."""

    operator: str
    actor: str
    csrf: str
    expires_at: str
    site: ConsoleSite
    agents: list[str]
    capabilities: list[str]
    reveals: bool


class ConsoleSafety(msgspec.Struct):
    """How grave an action is."""

    mutability: Mutability
    blast_radius: BlastRadius
    reversible_within: str | None


class ConsoleFailure(msgspec.Struct):
    """Why a call failed."""

    kind: str
    message: str


class ConsoleCall(msgspec.Struct):
    """A call: what it would do, on what, at what cost, how grave, and what became of it."""

    id: str
    action: str
    summary: str
    description: str
    arguments: dict[str, Any]
    price: Money | None
    safety: ConsoleSafety | None
    intent: str | None
    state: CallState
    progress: str
    error: ConsoleFailure | None
    result: Any
    expires_at: str


class ConsoleTicket(msgspec.Struct):
    """A ticket, with the call that it is about."""

    id: str
    kind: TicketKind
    state: TicketState
    agent: str | None
    about: str
    note: str
    thread: str | None
    asked_by: str | None
    created_at: str
    due_at: str | None
    taken_by: str | None
    answer: str | None
    ended_by: str | None
    ended_at: str | None
    call: ConsoleCall | None


class ConsoleTickets(msgspec.Struct):
    """A page of tickets, and what names the next one."""

    data: list[ConsoleTicket]
    next: str | None


class ConsoleTicketLine(msgspec.Struct):
    """A ticket beside its thread in a list."""

    id: str
    kind: TicketKind
    state: TicketState
    about: str


class ConsoleLastSaid(msgspec.Struct):
    """What was said last on a thread."""

    role: str
    actor: str
    origin: Origin
    text: str
    created_at: str


class ConsoleLine(msgspec.Struct):
    """A thread in a list."""

    id: str
    agent: str | None
    created_at: str
    updated_at: str
    messages: int
    operator: str | None
    tickets: list[ConsoleTicketLine]
    owner: str | None
    last: ConsoleLastSaid | None


class ConsoleThreads(msgspec.Struct):
    """A page of threads, and what names the next one."""

    data: list[ConsoleLine]
    next: str | None


class ConsoleActor(msgspec.Struct):
    """Who takes part in a thread."""

    id: str
    origin: Origin


class ConsoleNote(msgspec.Struct):
    """A note, which no visitor sees."""

    id: str
    operator: str
    words: str
    created_at: str


class ConsoleThread(msgspec.Struct):
    """A thread without what was said there."""

    id: str
    agent: str | None
    created_at: str
    updated_at: str
    messages: int
    operator: str | None
    tickets: list[ConsoleTicket]
    owner: str | None
    last: ConsoleLastSaid | None
    actors: list[ConsoleActor]
    notes: list[ConsoleNote]
    events: int


class ConsoleFile(msgspec.Struct):
    """A file that is attached to a message."""

    id: str
    name: str | None


class ConsoleStanding(msgspec.Struct):
    """How a request stands."""

    state: Literal["open", "answered", "expired", "superseded"]
    since: str | None
    until: str | None
    by: str
    of: str
    answer: dict[str, Any] | None
    note: str


class ConsolePart(msgspec.Struct, omit_defaults=True):
    """A part of a message of which one part at least is a capability's."""

    text: str
    capability: str = ""
    version: int = 0
    key: str = ""
    content: Any = None
    standing: ConsoleStanding | None = None


class ConsoleMessage(msgspec.Struct):
    """Something that was said."""

    id: str
    seq: int
    role: str
    actor: str
    origin: Origin
    speaker: Literal["visitor", "agent", "operator"]
    operator: str | None
    created_at: str
    metadata: dict[str, Any]
    text: str
    parts: list[ConsolePart]
    attachments: list[ConsoleFile]
    deleted: bool


class ConsoleMessages(msgspec.Struct):
    """A page of what was said, and what names the one before."""

    data: list[ConsoleMessage]
    before: str | None


class ConsoleHour(msgspec.Struct):
    """What was to be done in an hour."""

    at: str
    messages: int
    visitors_messages: int
    tickets: int
    ended: int
    waited_seconds: int | None


class ConsoleWaiting(msgspec.Struct):
    """How many tickets wait."""

    open: int
    taken: int
    oldest_open_seconds: int | None


class ConsoleLoad(msgspec.Struct):
    """How much is asked, by the hour and now."""

    bucket_seconds: int
    data: list[ConsoleHour]
    now: ConsoleWaiting


class ConsoleWords(msgspec.Struct, forbid_unknown_fields=True):
    """What an operator says."""

    words: str


class ConsoleStructured(msgspec.Struct, forbid_unknown_fields=True):
    """A message of a capability, without its schema."""

    capability: str
    message: dict[str, Any]


class ConsoleSealed(msgspec.Struct):
    """What was sealed."""

    value: str


class ConsoleQuestions(msgspec.Struct):
    """Questions that ask for the same and were not answered."""

    question: str
    others: list[str]
    times: int
    last_at: str
    thread: str
    agent: str | None


class ConsoleUnanswered(msgspec.Struct):
    """What the content did not answer, those asked most often first."""

    data: list[ConsoleQuestions]


class ConsoleComponent(msgspec.Struct):
    """A part of the desk, or another desk that it watches."""

    name: str
    status: ComponentState
    since: str
    reason: str
    elsewhere: bool


class ConsoleHealth(msgspec.Struct):
    """How the desk is, on the whole and by parts."""

    status: ComponentState
    data: list[ConsoleComponent]


class ConsoleClosing(msgspec.Struct, forbid_unknown_fields=True):
    """What an operator says last, if anything."""

    words: str = ""


class ConsoleReason(msgspec.Struct, forbid_unknown_fields=True):
    """Why something is not done, if that is said."""

    reason: str = ""


class Nothing(msgspec.Struct, forbid_unknown_fields=True):
    """A body that says nothing; it may be left out."""
