"""Writes insights as CSV (RFC 4180) that a spreadsheet takes for data. Pure: no I/O, no clock."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Final

from aitp_desk.desk.tickets.insights.figures import DayFigures
from aitp_desk.desk.tickets.insights.questions import QuestionGroup
from aitp_desk.model.timestamps import write_day

OUTCOMES: Final = ("questions", "answered", "refused", "asked_back", "handed", "up", "down")
"""The counts of a day, in the order of the columns."""
_FORMULA: Final = re.compile(r'(^|[;\t\r\n])(?=["\s]*[=+\-@＝＋－＠])')
"""Where a spreadsheet would read a formula: at the beginning of a cell, and where it takes one to
begin. In languages in which a comma is decimal it divides cells at semicolons.
"""


def write_days(days: Iterable[DayFigures]) -> str:
    """Write a row for each day."""
    rows = ([write_day(day.at), *(getattr(day, name) for name in OUTCOMES)] for day in days)
    return _write(("date", *OUTCOMES), rows)


def write_questions(groups: Iterable[QuestionGroup]) -> str:
    """Write a row for each group of open questions."""
    rows = (
        [
            group.question,
            group.refused,
            group.down,
            write_day(group.last_at),
            group.desk,
            "\n".join(group.others),
            "\n".join(group.reasons),
        ]
        for group in groups
    )
    head = ("question", "refused", "rated_down", "last", "agent", "other_wordings", "reasons")
    return _write(head, rows)


def write_uses(name: str, uses: Iterable[tuple[str, int]]) -> str:
    """Write how often each page was quoted, or each action called.

    Parameters:
        name: the head of the first column.
    """
    return _write((name, "times"), uses)


def guard_cell(value: object) -> object:
    """Return a cell that no spreadsheet takes for a formula: an apostrophe precedes each."""
    return _FORMULA.sub(r"\1'", value) if isinstance(value, str) else value


def _write(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerow(head)
    writer.writerows([guard_cell(value) for value in row] for row in rows)
    return written.getvalue()
