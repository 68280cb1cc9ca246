"""Converts a thread's messages to a turn, and an answer to a message."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

from aitp_desk.agent.base import (
    Answer,
    Clarification,
    PendingQuestion,
    Said,
    SiteFacts,
    Turn,
    Utterance,
)
from aitp_desk.agent.extractive.dialogue.clarification import split_question
from aitp_desk.agent.generative.prompt import MAX_SAID
from aitp_desk.agent.history.offer import Offer
from aitp_desk.agent.history.window import get_text
from aitp_desk.model.access.principal import CONTACT_PREFIX
from aitp_desk.model.conversation.thread import METADATA_VALUE_LENGTH, Message, Origin

_SOURCES = "Sources:"
ASKS_BACK = {"asks_back": "true"}
"""Metadata of a reply with a clarifying question."""
OFFERS_PERSON = {"offers_person": "true"}
"""Metadata of a reply that offers to ask a person."""
NOT_FOUND = {"found": "false"}
"""Metadata of a reply that found no answer in the content."""
WAITS = "waits"
"""Metadata of a reply that asks for confirmation of a call: names the call."""
ANSWERS = "answers_call"
"""Metadata of a visitor's message that answers the question about a call: names the call."""

DRAFT = "draft"
"""Metadata of a visitor's message: what the chat calls it; no other client sends it."""
PAGE = "page"
"""Metadata of a visitor's message: what the page around the chat says of itself, as JSON."""
ACTION = "action"
"""Metadata of a visitor's message: the name of the action that they chose."""
UNPROVEN = {"unproven": "true"}
"""Metadata of a visitor's message whose sender the platform has not proven."""
LOCALE = "locale"
"""Metadata of a visitor's message: the language tag of the page, or the one that they prefer."""
SUGGESTED = "suggested_queries"
"""Metadata of a reply with questions that may come next, or options to choose from."""
QUOTES = "quotes"
"""Metadata of a reply with a sentence of each of its sources: a line each, empty if unknown."""


def write_reply(outcome: Said, site_url: str) -> tuple[str, ...]:
    """Return the parts of a reply: its text, then its sources with absolute addresses, if any.

    A caller who declared no capability gets plain text only (AITP 0.1, Capabilities).
    """
    if isinstance(outcome, Clarification):
        if not outcome.options:
            return (outcome.question,)
        options = "\n".join(f"{n}. {option}" for n, option in enumerate(outcome.options, 1))
        return (f"{outcome.question}\n{options}",)
    if not outcome.sources:
        return (outcome.text,)
    sources = [f"- {source.title}: {source.absolute_url(site_url)}" for source in outcome.sources]
    return (outcome.text, "\n".join([_SOURCES, *sources]))


def list_sources(part: str) -> list[tuple[str, str]]:
    """Return the titles and addresses of a reply's part with sources; none of any other part."""
    head, *lines = part.split("\n")
    if head != _SOURCES:
        return []
    found = (line.removeprefix("- ").rpartition(": ") for line in lines)
    return [(title, url) for title, _, url in found if title]


def find_source(reply: Sequence[str]) -> str:
    """Return the absolute address of a reply's first source; empty without one."""
    for part in reply[1:]:
        lines = part.split("\n", 2)
        if lines[0] == _SOURCES and len(lines) > 1:
            return lines[1].rpartition(": ")[2]
    return ""


def make_reply_metadata(outcome: Said, calls: Sequence[str] = ()) -> dict[str, str]:
    """Return the metadata of a reply: whether it asks back, and how it was made.

    Parameters:
        calls: ids of the actions' calls that were made for it.
    """
    asks = isinstance(outcome, Clarification) or outcome.waits is not None
    notes = dict(ASKS_BACK) if asks else {}
    if isinstance(outcome, Offer) and outcome.payload is not None:
        notes["content_type"] = outcome.content_type
    if outcome.fallback is not None:
        notes["fallback"] = outcome.fallback
    if outcome.tools_used:
        notes["tools_used"] = ", ".join(outcome.tools_used)[:METADATA_VALUE_LENGTH]
    if outcome.waits is not None:
        notes[WAITS] = outcome.waits
    if isinstance(outcome, Answer) and not outcome.found:
        notes |= NOT_FOUND
    if isinstance(outcome, Answer) and outcome.offers_person:
        notes |= OFFERS_PERSON
    if calls:
        notes["calls"] = _listed(calls)
    return notes


def make_suggestions(outcome: Said) -> dict[str, str]:
    """Return the metadata of a reply with what may be asked next, or chosen: a line each."""
    lines = outcome.options if isinstance(outcome, Clarification) else outcome.follow_ups
    kept: list[str] = []
    for line in (" ".join(one.split()) for one in lines):
        if len("\n".join((*kept, line))) > METADATA_VALUE_LENGTH:
            break
        kept.append(line)
    return {SUGGESTED: "\n".join(kept)} if kept else {}


def make_quotes(outcome: Said) -> dict[str, str]:
    """Return the metadata of a reply with a sentence of each of its sources."""
    sources = () if isinstance(outcome, Clarification) else outcome.sources
    if not sources:
        return {}
    room = METADATA_VALUE_LENGTH // len(sources) - 1
    quotes = [
        one if len(one := " ".join(source.quote.split())) <= room else f"{one[: room - 1]}…"
        for source in sources
    ]
    return {QUOTES: "\n".join(quotes)} if any(quotes) else {}


def _listed(ids: Sequence[str]) -> str:
    """Return as many ids as fit into one value, the newest ones."""
    length = len(ids[-1]) + len(", ")
    return ", ".join(ids[-(METADATA_VALUE_LENGTH // length) :])


def find_awaited_call(messages: Sequence[Message]) -> str | None:
    """Return the call that waits for an answer to the desk's last message; None if none does."""
    for message in reversed(messages):
        if message.origin is Origin.DESK:
            return message.metadata.get(WAITS)
    return None


def list_named_answers(messages: Sequence[Message]) -> tuple[tuple[str, str], ...]:
    """Return the calls that visitors' messages name, each with the words that answer it."""
    named = []
    for message in messages:
        if call := message.metadata.get(ANSWERS):
            named.append((call, get_text(message)))  # noqa: PERF401 - no frame of its own
    return tuple(named)


def list_due_messages(
    messages: Sequence[Message], answered_seq: int, *, again: bool
) -> tuple[Message, ...]:
    """Return the newest messages of a thread that no run has answered yet.

    What stands before an ``assistant`` message of the same sender is answered: a caller may bring
    a conversation that was begun elsewhere.

    Parameters:
        answered_seq: the newest message that an earlier run has answered.
        again: whether the newest question is answered again if nothing waits, for a caller
            who started the run.
    """
    asked: list[Message] = []
    due: list[Message] = []
    answered: Message | None = None
    for message in messages:
        if message.origin is not Origin.VISITOR:
            continue
        if message.role == "assistant":
            answered = message
            continue
        if answered is not None:
            due = [one for one in due if one.principal != answered.principal]
            answered = None
        asked.append(message)
        if message.seq > answered_seq:
            due.append(message)
    return tuple(due) or (tuple(asked[-1:]) if again else ())


def read_turn(
    messages: Sequence[Message],
    site: SiteFacts,
    due: Sequence[Message],
    context: Sequence[Message] = (),
    summary: str = "",
) -> Turn | None:
    """Build the turn of a run from a thread's newest messages in order.

    All messages that are not due are the transcript, including later ones. An outsider's
    ``assistant`` message is a quotation of that party, and so is every message of another principal
    than the asking one.

    Parameters:
        due: what the run has to answer; see :func:`list_due_messages`.
        context: messages of parent threads; they contain no question for this turn.
        summary: summary of all messages before these.

    Returns:
        None if nothing waits for an answer.
    """
    if not due:
        return None
    split = len(messages)
    while split and messages[split - 1].origin is Origin.VISITOR:
        split -= 1
    answers_back = due[-1] in messages[split:]
    asked = _asked(due)
    notes = asked[-1].metadata
    return Turn(
        "\n".join(map(get_text, asked)),
        site,
        make_transcript(
            [*context, *(message for message in messages if message not in asked)],
            {message.principal for message in asked},
        ),
        pending=_pending([*context, *messages[:split]]) if answers_back else None,
        summary=summary,
        locale=notes.get(LOCALE),
        page=notes.get(PAGE, ""),
        action=notes.get(ACTION, ""),
    )


def is_from_person(message: Message) -> bool:
    """Return whether the chat or a platform for people sent a message."""
    return DRAFT in message.metadata or (message.principal or "").startswith(CONTACT_PREFIX)


def list_attached_files(messages: Sequence[Message]) -> list[str]:
    """Return the ids of visitors' attachments on a thread, newest message first."""
    return [
        attachment.file_id
        for message in reversed(messages)
        if message.origin is Origin.VISITOR and message.role == "user"
        for attachment in message.attachments
    ]


def _asked(due: Sequence[Message]) -> Sequence[Message]:
    """Return the newest due messages that can be quoted together as one question."""
    room = MAX_SAID - len(get_text(due[-1]))
    first = len(due) - 1
    while first and (room := room - len(get_text(due[first - 1])) - 1) >= 0:
        first -= 1
    return due[first:]


def _pending(before: Sequence[Message]) -> PendingQuestion | None:
    """Return the pending question of the desk's last reply, read from the thread itself.

    If the same question was asked before, with these options or more, the first one counts.
    """
    asked = _asked_back(before[-1]) if before else None
    if asked is None:
        return None
    question, options = asked
    about: list[str] = []
    is_again = False
    for message in reversed(before[:-1]):
        if message.origin is Origin.DESK:
            earlier = _asked_back(message)
            if earlier is None or not set(options) <= set(earlier[1]):
                break
            is_again = True
        elif message.role == "user":
            about = [get_text(message)] if is_again else [get_text(message), *about]
            is_again = False
    return PendingQuestion("\n".join(about), question, options)


def _asked_back(message: Message) -> tuple[str, tuple[str, ...]] | None:
    """Return the question of a clarifying message, and its options; None for any other."""
    if message.origin is not Origin.DESK or "asks_back" not in message.metadata:
        return None
    return split_question(message.content[0])


def make_transcript(
    messages: Sequence[Message], askers: Collection[str | None] | None = None
) -> tuple[Utterance, ...]:
    """Return a thread's messages as utterances.

    Parameters:
        askers: ids of the asking principals: a message of anyone else is another party's,
            and must not be attributed to them. None if there is only one visitor.
    """
    remembered: list[Utterance] = []
    for message in messages:
        speaker = _speaker(message, askers)
        name = message.actor if speaker == "other" else ""
        source = find_source(message.content) if speaker == "desk" else ""
        remembered.append(Utterance(speaker, get_text(message), name, source))
    return tuple(remembered)


def _speaker(
    message: Message, askers: Collection[str | None] | None
) -> Literal["visitor", "desk", "other"]:
    if message.origin is Origin.DESK:
        return "desk"
    asks = askers is None or message.principal in askers
    return "visitor" if asks and message.role == "user" else "other"
