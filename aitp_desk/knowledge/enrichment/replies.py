"""Validates a model's output against the passage that it read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from aitp_desk.knowledge.documents.base import Passage
from aitp_desk.knowledge.enrichment.file import Line, Question
from aitp_desk.knowledge.enrichment.text import QuotedText, collapse_space
from aitp_desk.model.text import clean_name

MAX_QUESTIONS = 16
MAX_QUESTION = 300
MAX_QUOTE = 1000
MAX_SUMMARY = 500

Shown = Callable[[str], bool]
"""Whether the guards of answers pass a text unchanged."""


class Reply(msgspec.Struct, frozen=True):
    """A model's output for one passage, not yet validated.

    Parameters:
        id: digest of the passage.
        questions: parsed one by one, because one invalid question must not spoil the others.
    """

    id: str
    summary: str = ""
    questions: list[Any] = []


class DroppedItem(msgspec.Struct, frozen=True):
    """A question, a summary or a whole reply that is not used.

    Parameters:
        digest: of the passage, as the reply names it.
        reason: in a few words, the same for all such cases.
        text: what was dropped.
    """

    digest: str
    reason: str
    text: str


def validate_reply(
    reply: Reply, passage: Passage, shown: Shown, dropped: list[DroppedItem]
) -> Line:
    """Return the line for a passage from the valid parts of a reply.

    Parameters:
        shown: the guards of answers.
        dropped: receives what is not used.
    """
    text = QuotedText(passage)
    questions: dict[str, Question] = {}
    for given in reply.questions:
        try:
            question = msgspec.convert(given, Question)
        except msgspec.ValidationError:
            dropped.append(DroppedItem(reply.id, "not a question with a quote", str(given)[:200]))
            continue
        question = Question(
            clean_name(collapse_space(question.ask)), collapse_space(question.quote)
        )
        reason = _fault(question, text, shown)
        if not reason and question.ask.casefold() in questions:
            reason = "asked twice"
        elif not reason and len(questions) == MAX_QUESTIONS:
            reason = f"more than {MAX_QUESTIONS} questions"
        if reason:
            dropped.append(DroppedItem(reply.id, reason, f"{question.ask} -> {question.quote}"))
        else:
            questions[question.ask.casefold()] = question
    summary = clean_name(collapse_space(reply.summary))
    if summary and (len(summary) > MAX_SUMMARY or not shown(summary)):
        dropped.append(DroppedItem(reply.id, "summary too long, or not safe to show", summary))
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
    """Return why a question is not used; empty if it is."""
    if not question.ask:
        return "empty question"
    if len(question.ask) > MAX_QUESTION:
        return f"question of more than {MAX_QUESTION} characters"
    if len(question.quote) > MAX_QUOTE:
        return f"quote of more than {MAX_QUOTE} characters"
    if not text.units(question.quote):
        return "quote is not in the passage"
    if not shown(question.ask):
        return "not safe to show"
    return ""
