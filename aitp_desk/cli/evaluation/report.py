"""Reports verdicts: as a table for people, as JSON for programs."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

from aitp_desk.agent.base import Answer
from aitp_desk.cli.evaluation.questions import Question
from aitp_desk.cli.evaluation.verdict import Verdict

WIDEST_QUESTION = 56
"""The widest column of questions, in terminal columns."""
_LONGEST_SAID = 400
_WIDTH = 100


class ReportTable:
    """Formats the rows of a table, with columns as wide as needed."""

    def __init__(self, questions: Sequence[Question]) -> None:
        widest = max(_width(one.question) for one in questions)
        self._widest = min(widest, WIDEST_QUESTION)
        self._digits = max(4, len(str(questions[-1].line)))

    @property
    def head(self) -> str:
        """The names of the columns."""
        return self._row("line", "", "question", "")

    def row(self, verdict: Verdict) -> str:
        """Return the row of a verdict."""
        question = verdict.question
        result = "right" if verdict.is_right else "WRONG"
        return self._row(str(question.line), result, question.question, verdict.wrong)

    def _row(self, line: str, result: str, question: str, wrong: str) -> str:
        question = _cut(" ".join(question.split()), self._widest)
        padded = question + " " * (self._widest - _width(question))
        return f"{line:>{self._digits}}  {result:5}  {padded}  {wrong}".rstrip()


def describe_failure(file: str, verdict: Verdict) -> Iterator[str]:
    """Yield a wrong answer, with the file and line of its question.

    Parameters:
        file: the name of the file of questions.
    """
    question = verdict.question
    yield ""
    yield f"{file}:{question.line}: {question.question}"
    for earlier in question.after:
        yield f"  after  {earlier}"
    yield f"  wrong  {verdict.wrong}"
    said = _cut(" ".join(_text(verdict).split()), _LONGEST_SAID)
    yield from textwrap.wrap(said, _WIDTH, initial_indent="  said   ", subsequent_indent=" " * 9)
    if urls := _sources(verdict):
        yield f"  from   {', '.join(urls)}"


def compute_share(verdicts: Sequence[Verdict]) -> float:
    """Return the share of right answers."""
    return sum(one.is_right for one in verdicts) / len(verdicts)


def describe_summary(verdicts: Sequence[Verdict], at_least: float) -> str:
    """Describe how many were right, and whether that is enough."""
    right = sum(one.is_right for one in verdicts)
    told = f"{right} of {len(verdicts)} right ({compute_share(verdicts):.2f})"
    return (
        f"{told}." if compute_share(verdicts) >= at_least else f"{told}; required: {at_least:.2f}."
    )


def write_report(verdicts: Sequence[Verdict], agent: str, at_least: float) -> dict[str, Any]:
    """Return the report for programs.

    Parameters:
        agent: the name of the agent that answered.
    """
    return {
        "agent": agent,
        "questions": len(verdicts),
        "right": sum(one.is_right for one in verdicts),
        "share": round(compute_share(verdicts), 4),
        "at_least": at_least,
        "results": [_data_of(one) for one in verdicts],
    }


def _data_of(verdict: Verdict) -> dict[str, Any]:
    question, said = verdict.question, verdict.said
    outcome = "asked_back"
    if isinstance(said, Answer):
        outcome = "answered" if said.found else "refused"
    return {
        "line": question.line,
        "question": question.question,
        "after": question.after,
        "right": verdict.is_right,
        "wrong": verdict.wrong,
        "outcome": outcome,
        "said": _text(verdict),
        "sources": _sources(verdict),
    }


def _text(verdict: Verdict) -> str:
    said = verdict.said
    return said.text if isinstance(said, Answer) else said.question


def _sources(verdict: Verdict) -> tuple[str, ...]:
    said = verdict.said
    return tuple(one.url for one in said.sources) if isinstance(said, Answer) else ()


def _width(text: str) -> int:
    """Return a text's width in terminal columns: East Asian letters take two."""
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def _cut(text: str, width: int) -> str:
    if _width(text) <= width:
        return text
    while _width(text) > width - 1:
        text = text[:-1]
    return f"{text.rstrip()}…"
