"""What a model wrote, validated against the passage that it read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from aitp_desk.knowledge.documents.base import Passage
from aitp_desk.knowledge.enrichment.file import Line, Question
from aitp_desk.knowledge.enrichment.text import QuotedText, collapse
from aitp_desk.model.text import as_name

MOST_QUESTIONS = 16
LONGEST_ASK = 300
LONGEST_QUOTE = 1000
LONGEST_SUMMARY = 500

Shown = Callable[[str], bool]
"""Whether the guards of answers let a text pass unchanged."""


class Reply(msgspec.Struct, frozen=True):
    """What a model wrote about one passage, not yet validated.

    Parameters:
        id: digest of the passage.
        questions: taken as they come, for one that is wrong spoils no other.
    """

    id: str
    summary: str = ""
    questions: list[Any] = []


class Dropped(msgspec.Struct, frozen=True):
    """A question, a summary or a whole reply that is not used.

    Parameters:
        digest: of the passage, as the reply names it.
        reason: in a few words, the same for all such cases.
        text: what was dropped.
    """

    digest: str
    reason: str
    text: str


def validate(reply: Reply, passage: Passage, shown: Shown, dropped: list[Dropped]) -> Line:
    """The line for a passage, of all in a reply that may be used.

    Parameters:
        shown: the guards of answers.
        dropped: takes what is not used.
    """
    text = QuotedText(passage)
    questions: dict[str, Question] = {}
    for given in reply.questions:
        try:
            question = msgspec.convert(given, Question)
        except msgspec.ValidationError:
            dropped.append(Dropped(reply.id, "not a question with a quote", str(given)[:200]))
            continue
        question = Question(as_name(collapse(question.ask)), collapse(question.quote))
        reason = _fault(question, text, shown)
        if not reason and question.ask.casefold() in questions:
            reason = "asked twice"
        elif not reason and len(questions) == MOST_QUESTIONS:
            reason = f"more than {MOST_QUESTIONS} questions"
        if reason:
            dropped.append(Dropped(reply.id, reason, f"{question.ask} -> {question.quote}"))
        else:
            questions[question.ask.casefold()] = question
    summary = as_name(collapse(reply.summary))
    if summary and (len(summary) > LONGEST_SUMMARY or not shown(summary)):
        dropped.append(Dropped(reply.id, "summary too long or not to be shown", summary))
        summary = ""
    return Line(
        passage.document,
        passage.trail,
        passage.anchor,
        reply.id,
        summary,
        tuple(questions.values()),
    )


def _fault(question: Question, text: QuotedText, shown: Shown) -> str:
    """Why a question is not used; empty where it is."""
    if not question.ask:
        return "empty question"
    if len(question.ask) > LONGEST_ASK:
        return f"question of more than {LONGEST_ASK} characters"
    if len(question.quote) > LONGEST_QUOTE:
        return f"quote of more than {LONGEST_QUOTE} characters"
    if not text.units(question.quote):
        return "quote does not stand in the passage"
    if not shown(question.ask):
        return "guards would not show it"
    return ""
