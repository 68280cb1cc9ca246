"""AITP 0.1 as a visitor reads it: threads, messages and what capabilities say in them."""

from __future__ import annotations

import re
from typing import Annotated, Any

import msgspec

from aitp_desk.visitor.base import Choice, Source
from aitp_desk.visitor.payments import QuoteMessage

DECISIONS = "https://aitp.dev/capabilities/aitp-02-decisions/v1.0.0/schema.json"
PAYMENTS = "https://aitp.dev/capabilities/aitp-01-payments/v1.0.0/schema.json"
Id = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]

_SOURCE = re.compile(r"- (.{0,2000}): (https?://\S{1,2000})")


class Text(msgspec.Struct, frozen=True):
    """A text in the form of the OpenAI API."""

    value: str = ""


class Part(msgspec.Struct, frozen=True):
    """A part of a message in that form."""

    text: Text = Text()


class Message(msgspec.Struct, frozen=True):
    """A message of a thread."""

    id: Id
    role: str
    content: str | Annotated[tuple[str | Part, ...], msgspec.Meta(max_length=1000)] = ()
    thread_id: str | None = None
    metadata: dict[str, Any] | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """The parts, as texts."""
        parts = (self.content,) if isinstance(self.content, str) else self.content
        return tuple(one if isinstance(one, str) else one.text.value for one in parts)

    def note(self, name: str) -> str:
        """Return a member of the metadata; empty without it."""
        value = (self.metadata or {}).get(name)
        return value if isinstance(value, str) else ""


class Run(msgspec.Struct, frozen=True):
    """The site's work on an answer."""

    id: Id
    status: str


class Posted(msgspec.Struct, frozen=True):
    """What creating a thread or a message returns."""

    id: Id
    thread_id: str | None = None
    run: Run | None = None
    replies: Annotated[tuple[Message, ...], msgspec.Meta(max_length=1000)] = ()
    messages: Annotated[tuple[Message, ...], msgspec.Meta(max_length=1000)] = ()


class Page(msgspec.Struct, frozen=True):
    """A page of messages."""

    data: Annotated[tuple[Message, ...], msgspec.Meta(max_length=1000)] = ()


class Failure(msgspec.Struct, frozen=True):
    """Why a request was refused."""

    message: str = ""
    code: str | None = None


class Refusal(msgspec.Struct, frozen=True):
    """The body of a refusal."""

    error: Failure = Failure()


class Option(msgspec.Struct, frozen=True):
    """What can be chosen."""

    id: Id
    name: str = ""
    description: str = ""


class DecisionRequest(msgspec.Struct, frozen=True):
    """A question with options (AITP-02)."""

    options: Annotated[tuple[Option, ...], msgspec.Meta(max_length=1000)] = ()
    id: str = ""
    title: str = ""
    description: str = ""
    type: str = "radio"

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The options, for a person."""
        return tuple(
            Choice(one.id, ": ".join(filter(None, (one.name or one.id, one.description))))
            for one in self.options
        )


class Confirmation(msgspec.Struct, frozen=True):
    """What became of a payment (AITP-01)."""

    quote_id: str
    result: str
    message: str = ""


class Said(msgspec.Struct):
    """What messages of a site say together: words, and what capabilities ask."""

    words: list[str]
    sources: tuple[Source, ...] = ()
    decision: DecisionRequest | None = None
    decision_schema: str = DECISIONS
    quote: QuoteMessage | None = None
    quote_raw: dict[str, Any] | None = None
    confirmation: Confirmation | None = None


def read_messages(messages: tuple[Message, ...]) -> Said:
    """Sort what messages say; a structured part that is not understood is text."""
    said = Said([])
    for message in messages:
        for text in message.texts:
            if text.startswith("{") and _read_structured(text, said):
                continue
            sources = read_sources(text)
            if sources:
                quotes = message.note("quotes").split("\n")
                said.sources = tuple(
                    msgspec.structs.replace(one, quote=quotes[place] if place < len(quotes) else "")
                    for place, one in enumerate(sources)
                )
            elif text:
                said.words.append(text)
    return said


def _read_structured(text: str, said: Said) -> bool:
    """Read a capability's message; False if it is none that is known here."""
    try:
        raw = msgspec.json.decode(text)
        if not isinstance(raw, dict) or not isinstance(raw.get("$schema"), str):
            return False
        if "quote" in raw:
            said.quote = msgspec.convert(raw, QuoteMessage)
            said.quote_raw = raw
        elif "request_decision" in raw:
            said.decision = msgspec.convert(raw["request_decision"], DecisionRequest)
            said.decision_schema = raw["$schema"]
        elif "payment_confirmation" in raw:
            said.confirmation = msgspec.convert(raw["payment_confirmation"], Confirmation)
        else:
            return False
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def read_sources(text: str) -> tuple[Source, ...]:
    """Read the sources of a part that lists them below a heading."""
    lines = text.split("\n")[1:]
    found = [_SOURCE.fullmatch(line) for line in lines]
    if not all(found):
        return ()
    return tuple(Source(one[2], one[1]) for one in found if one is not None)


def find_later(thread: str | None, ticket: str) -> dict[str, str]:
    """Return where a person's later answer is read; empty if nobody was asked."""
    return {"thread": thread, "ticket": ticket} if thread and ticket else {}
