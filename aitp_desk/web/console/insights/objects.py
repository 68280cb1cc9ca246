"""Defines the JSON objects of insights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

_Question = Annotated[str, Meta(min_length=1, max_length=4096)]


class ConsoleDay(msgspec.Struct):
    """The outcomes of a day's questions (UTC), and the ratings."""

    date: str
    questions: int
    answered: int
    refused: int
    asked_back: int
    handed: int
    up: int
    down: int


class ConsoleUse(msgspec.Struct):
    """How often a page was quoted, or an action called."""

    name: str
    title: str
    times: int


class ConsoleInsights(msgspec.Struct):
    """What visitors asked for, by the day, the oldest first."""

    days: Sequence[ConsoleDay]
    pages: Sequence[ConsoleUse]
    actions: Sequence[ConsoleUse]


class ConsoleOpenGroup(msgspec.Struct):
    """Questions of one meaning that were refused, or whose answers were rated down."""

    question: str
    others: Sequence[str]
    refused: int
    down: int
    reasons: Sequence[str]
    last_at: str
    thread: str
    agent: str | None


class ConsolePage(msgspec.Struct):
    """A page that may answer a question."""

    path: str
    title: str
    agent: str | None


class ConsoleOpenQuestions(msgspec.Struct):
    """Groups of open questions, the most frequent first, and the pages of the site."""

    data: Sequence[ConsoleOpenGroup]
    pages: Sequence[ConsolePage]


class ConsoleAnswered(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Questions that a page answers; null takes that back."""

    questions: Annotated[Sequence[_Question], Meta(min_length=1, max_length=200)]
    page: str | None
    agent: str | None = None


INSIGHT_OBJECTS: tuple[type[msgspec.Struct], ...] = (
    ConsoleInsights,
    ConsoleOpenQuestions,
    ConsoleAnswered,
)
"""The bodies of requests and responses; what they contain follows from them."""
