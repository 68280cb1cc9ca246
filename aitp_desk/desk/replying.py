"""Between a thread's messages and a turn of the agent: what it is asked, how its answer reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from aitp_desk.agent.base import Clarification, Pending, Said, SiteFacts, Turn, Utterance
from aitp_desk.model.thread import Message, Origin

ASKS_BACK = {"asks_back": "true"}
"""Metadata of a reply that asks the visitor something."""
MEMORY_BYTES = 16 * 1024
"""How much of a thread, counted from its end, the agent is given."""

_OPTION = re.compile(r"\d+\. (.+)")


def write_reply(outcome: Said, site_url: str) -> tuple[str, ...]:
    """The parts of a reply: what is said, then its sources with absolute addresses, if any.

    A caller who declared no capability gets plain text only (AITP 0.1, Capabilities).
    """
    if isinstance(outcome, Clarification):
        if not outcome.options:
            return (outcome.question,)
        options = "\n".join(f"{n}. {option}" for n, option in enumerate(outcome.options, 1))
        return (f"{outcome.question}\n{options}",)
    if not outcome.sources:
        return (outcome.text,)
    sources = "\n".join(
        f"- {source.title}: {source.absolute_url(site_url)}" for source in outcome.sources
    )
    return (outcome.text, f"Sources:\n{sources}")


def reply_metadata(outcome: Said) -> dict[str, str]:
    """What the metadata of a reply says about it: that it asks back, or who answered instead."""
    if isinstance(outcome, Clarification):
        return ASKS_BACK
    return {"fallback": outcome.fallback} if outcome.fallback else {}


def read_turn(
    messages: Sequence[Message], site: SiteFacts, run_id: str, context: Sequence[Message] = ()
) -> Turn | None:
    """What the agent is asked in a run, given a thread's newest messages in order.

    The question is everything that the visitor has said since the desk's last reply, and before it
    what this run was promised to: a message that came while another run was at work stands before
    that run's reply. All else is the transcript. An outsider's ``assistant`` message is that
    party's quoted words.

    Parameters:
        context: what was said on other threads before this one began; nothing of it is asked here.

    Returns:
        None when nothing waits for an answer.
    """
    split = len(messages)
    while split and messages[split - 1].origin is Origin.VISITOR:
        split -= 1
    waiting: list[Message] = []
    before: list[Message] = []
    for place, message in enumerate(messages):
        is_asked = message.origin is Origin.VISITOR and message.role == "user"
        is_due = place >= split or message.run_id == run_id
        (waiting if is_asked and is_due else before).append(message)
    if not waiting:
        return None
    answers_back = waiting[-1] in messages[split:]
    return Turn(
        "\n".join(map(_text, waiting)),
        site,
        remember([*context, *before]),
        pending=_pending([*context, *messages[:split]]) if answers_back else None,
    )


def _pending(before: Sequence[Message]) -> Pending | None:
    """What the desk's last reply asked back, read from the thread itself."""
    last = before[-1] if before else None
    if last is None or last.origin is not Origin.DESK or "asks_back" not in last.metadata:
        return None
    question, *lines = last.content[0].split("\n")
    options = tuple(found[1] for line in lines if (found := _OPTION.fullmatch(line)))
    about: list[str] = []
    for message in reversed(before[:-1]):
        if message.origin is Origin.DESK:
            break
        if message.role == "user":
            about.insert(0, _text(message))
    return Pending("\n".join(about), question, options)


def remember(messages: Sequence[Message]) -> tuple[Utterance, ...]:
    """A thread's messages as the agent is told them, the newest within 16 KiB."""
    room = MEMORY_BYTES
    remembered: list[Utterance] = []
    for message in reversed(messages):
        text = message.content[0] if message.origin is Origin.DESK else _text(message)
        room -= len(text.encode())
        if room < 0:
            break
        speaker = _speaker(message)
        name = message.actor if speaker == "other" else ""
        remembered.insert(0, Utterance(speaker, text, name))
    return tuple(remembered)


def _speaker(message: Message) -> Literal["visitor", "desk", "other"]:
    if message.origin is Origin.DESK:
        return "desk"
    return "visitor" if message.role == "user" else "other"


def _text(message: Message) -> str:
    return "\n".join(message.content)
