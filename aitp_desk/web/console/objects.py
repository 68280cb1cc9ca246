"""Defines the JSON objects of the console's API. Times are written as RFC 3339.

The console encodes and decodes them, and the OpenAPI document describes them under their names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from aitp_desk.model.calls.action import BlastRadius, Mutability
from aitp_desk.model.calls.call import CallState
from aitp_desk.model.component import ComponentState
from aitp_desk.model.conversation.thread import Origin
from aitp_desk.model.conversation.ticket import TicketKind, TicketState
from aitp_desk.model.money import Money
from aitp_desk.store.records.transports import ConversationState


class ConsoleSignIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The key of an operator who signs in."""

    token: str


class ConsoleSite(msgspec.Struct):
    """The site."""

    name: str
    url: str


class ConsoleSession(msgspec.Struct):
    """The signed-in operator. A request that changes something sends csrf as X-CSRF-Token."""

    operator: str
    actor: str
    csrf: str
    expires_at: str
    site: ConsoleSite
    agents: Sequence[str]
    capabilities: Sequence[str]
    reveals: bool
    platforms: Sequence[str] | UnsetType = UNSET


class ConsoleBindingCode(msgspec.Struct):
    """What an operator writes to the desk on a platform, in private."""

    message: str
    expires_at: str


class ConsoleSafety(msgspec.Struct):
    """The possible harm of an action."""

    mutability: Mutability
    blast_radius: BlastRadius
    reversible_within: str | None


class ConsoleFailure(msgspec.Struct):
    """Why a call failed."""

    kind: str
    message: str


class ConsoleCall(msgspec.Struct):
    """A call: its action, arguments, price, possible harm and outcome."""

    id: str
    action: str
    summary: str
    description: str
    arguments: Mapping[str, Any]
    price: Money | None
    safety: ConsoleSafety | None
    intent: str | None
    state: CallState
    progress: str
    error: ConsoleFailure | None
    result: Any
    expires_at: str


class ConsoleTicket(msgspec.Struct):
    """A ticket, with its call; in lists without."""

    id: str
    kind: TicketKind
    state: TicketState
    agent: str | None
    about: str
    note: str
    thread: str | None
    asked_by: str | None
    asked_by_name: str | None
    created_at: str
    due_at: str | None
    taken_by: str | None
    answer: str | None
    ended_by: str | None
    ended_at: str | None
    call: ConsoleCall | None
    contact: str | msgspec.UnsetType = msgspec.UNSET


class ConsoleTickets(msgspec.Struct):
    """A page of tickets, and the cursor of the next page."""

    data: Sequence[ConsoleTicket]
    next: str | None


class ConsoleTicketLine(msgspec.Struct):
    """A ticket in a list of threads."""

    id: str
    kind: TicketKind
    state: TicketState
    about: str


class ConsoleLastMessage(msgspec.Struct):
    """The last message of a thread."""

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
    tickets: Sequence[ConsoleTicketLine]
    owner: str | None
    owner_name: str | None
    last: ConsoleLastMessage | None


class ConsoleThreads(msgspec.Struct):
    """A page of threads, and the cursor of the next page."""

    data: Sequence[ConsoleLine]
    next: str | None


class ConsoleActor(msgspec.Struct):
    """A participant of a thread."""

    id: str
    origin: Origin


class ConsoleNote(msgspec.Struct):
    """A note, which no visitor sees."""

    id: str
    operator: str
    words: str
    created_at: str


class ConsoleCarried(msgspec.Struct):
    """A conversation on a platform, and what keeps messages from it."""

    transport: str
    state: ConversationState
    problem: str | None


class ConsoleThread(msgspec.Struct):
    """A thread without its messages."""

    id: str
    agent: str | None
    created_at: str
    updated_at: str
    messages: int
    operator: str | None
    tickets: Sequence[ConsoleTicket]
    owner: str | None
    owner_name: str | None
    last: ConsoleLastMessage | None
    actors: Sequence[ConsoleActor]
    notes: Sequence[ConsoleNote]
    carried: Sequence[ConsoleCarried]
    events: int


class ConsoleFile(msgspec.Struct):
    """A file that is attached to a message."""

    id: str
    name: str | None


class ConsoleStanding(msgspec.Struct):
    """The state of a request."""

    state: Literal["open", "answered", "expired", "superseded"]
    since: str | None
    until: str | None
    by: str
    of: str
    answer: Mapping[str, Any] | None
    note: str


class ConsolePart(msgspec.Struct):
    """A part of a message with at least one structured part; text alone has no further members."""

    text: str
    capability: str | UnsetType = UNSET
    version: int | UnsetType = UNSET
    key: str | UnsetType = UNSET
    content: Any = UNSET
    standing: ConsoleStanding | UnsetType | None = UNSET


class ConsoleMessage(msgspec.Struct):
    """A message."""

    id: str
    seq: int
    role: str
    actor: str
    origin: Origin
    speaker: Literal["visitor", "agent", "operator"]
    operator: str | None
    created_at: str
    metadata: Mapping[str, Any]
    text: str
    parts: Sequence[ConsolePart]
    attachments: Sequence[ConsoleFile]
    deleted: bool


class ConsoleMessages(msgspec.Struct):
    """A page of messages, and the cursor of the page before."""

    data: Sequence[ConsoleMessage]
    before: str | None


class ConsoleHour(msgspec.Struct):
    """The load of an hour."""

    at: str
    messages: int
    visitors_messages: int
    tickets: int
    ended: int
    waited_seconds: int | None


class ConsoleWaiting(msgspec.Struct):
    """The number of waiting tickets."""

    open: int
    taken: int
    oldest_open_seconds: int | None


class ConsoleLoad(msgspec.Struct):
    """The load, by the hour and now."""

    bucket_seconds: int
    data: Sequence[ConsoleHour]
    now: ConsoleWaiting


class ConsoleWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text of an operator."""

    words: str


class ConsoleStructured(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A message of a capability, without its schema."""

    capability: str
    message: dict[str, Any]


class ConsoleSealed(msgspec.Struct):
    """A sealed value."""

    value: str


class ConsoleQuestions(msgspec.Struct):
    """Questions of the same meaning that were not answered."""

    question: str
    others: Sequence[str]
    times: int
    last_at: str
    thread: str
    agent: str | None


class ConsoleUnanswered(msgspec.Struct):
    """Questions that the content did not answer, the most frequent first."""

    data: Sequence[ConsoleQuestions]


class ConsoleComponent(msgspec.Struct):
    """A component of the desk, or another desk that it watches."""

    name: str
    status: ComponentState
    since: str
    reason: str
    elsewhere: bool


class ConsoleHealth(msgspec.Struct):
    """The state of the desk and of its components."""

    status: ComponentState
    data: Sequence[ConsoleComponent]


class ConsoleClosing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A closing text, which may be empty."""

    words: str = ""


class ConsoleReason(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reason for not doing something, which may be empty."""

    reason: str = ""


class EmptyBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A body without members; it may be left out."""


class ConsoleErrorDetail(msgspec.Struct):
    """What is wrong: its kind, and a text."""

    code: str
    message: str
    param: str | None


class ConsoleError(msgspec.Struct):
    """A refusal of the console's API."""

    error: ConsoleErrorDetail


OBJECTS: tuple[type[msgspec.Struct], ...] = (
    ConsoleSignIn,
    ConsoleSession,
    ConsoleBindingCode,
    ConsoleTicket,
    ConsoleTickets,
    ConsoleThread,
    ConsoleThreads,
    ConsoleMessages,
    ConsoleNote,
    ConsoleLoad,
    ConsoleUnanswered,
    ConsoleHealth,
    ConsoleSealed,
    ConsoleWords,
    ConsoleStructured,
    ConsoleClosing,
    ConsoleReason,
    EmptyBody,
    ConsoleError,
)
"""The bodies of requests and responses; what they contain follows from them."""
