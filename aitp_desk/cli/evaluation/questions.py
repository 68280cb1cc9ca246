"""Parses the file of test questions and their expected answers."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

MAX_QUESTION = 4096
"""Longest question in characters, as for a query over AHP."""
_TABLE = "question"
_HEADER = re.compile(rf"\s*\[\[\s*{_TABLE}\s*\]\]")
_SYNTAX_ERROR = re.compile(r"(.*) \(at line (\d+), column \d+\)", re.DOTALL)


class Question(msgspec.Struct, frozen=True):
    """One question of the file.

    Parameters:
        line: of the file, where its table begins.
        holds: what the answer must contain: every entry, of a list any one of its texts.
        pages: the addresses that it may come from, such as ``/returns`` or ``/returns#how``; empty
            for any.
        after: what the same visitor asks before it, in order.
        refuse: whether the site does not answer it, and the desk has to say so.
        locale: tag of the language that the visitor prefers.
    """

    line: int
    question: str
    holds: tuple[tuple[str, ...], ...] = ()
    pages: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    refuse: bool = False
    locale: str | None = None


class QuestionsError(Exception):
    """The file cannot be used.

    Attributes:
        problems: a line each: file and line, what is wrong and what would be right.
    """

    def __init__(self, problems: Collection[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


_TAKES: Mapping[str, tuple[Any, str]] = {
    "question": (str, 'a text, such as "How long do I have to return boots?"'),
    "holds": (
        str | list[str | list[str]],
        'a text or a list of texts, such as ["30 days", ["free", "no charge"]]',
    ),
    "page": (str | list[str], 'an address or a list of them, such as "/returns#footwear"'),
    "after": (str | list[str], "the earlier question, or a list of them in order"),
    "refuse": (bool, "true where the site does not answer the question"),
    "locale": (str, 'a language, such as "fr"'),
}
"""The type of each key, and its description in messages."""


def read_questions(path: Path) -> tuple[Question, ...]:
    """Read the file.

    Raises:
        QuestionsError: it cannot be read, or some of it is wrong; with every problem found.
    """
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise QuestionsError([f"{path}: cannot be read: {error.strerror}."]) from None
    except UnicodeDecodeError:
        raise QuestionsError([f"{path}: is not UTF-8; save it as UTF-8."]) from None
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        if at := _SYNTAX_ERROR.fullmatch(str(error)):
            raise QuestionsError([f"{path}:{at[2]}: is not TOML: {at[1]}."]) from None
        raise QuestionsError([f"{path}: is not TOML: {error}."]) from None
    lines = text.splitlines()
    problems = [
        f"{path}:{_line_of(name, lines)}: {name!r} is unknown. Use [[{_TABLE}]] tables."
        for name in found
        if name != _TABLE
    ]
    tables = found.get(_TABLE, [])
    if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
        problems.append(
            f"{path}:{_line_of(_TABLE, lines)}: write each question as a table [[{_TABLE}]]."
        )
        tables = []
    elif not tables:
        problems.append(f"{path}: has no questions. Each begins with [[{_TABLE}]].")
    starts = _starts(lines, len(tables))
    questions = []
    ends = (*starts[1:], len(lines) + 1)
    for start, end, table in zip(starts, ends, tables, strict=False):
        wrong = [
            f"{path}:{start + line - 1}: {message}"
            for line, message in _faults(table, lines[start - 1 : end - 1])
        ]
        problems += wrong
        if not wrong:
            questions.append(_question(table, start))
    if problems:
        raise QuestionsError(problems)
    return tuple(questions)


def check_pages(questions: Collection[Question], addresses: Collection[str], path: Path) -> None:
    """Refuse questions whose pages the site does not have.

    Parameters:
        addresses: of all pages and sections.
        path: of the file, for the messages.

    Raises:
        QuestionsError: with every missing page.
    """
    problems = []
    for question in questions:
        for page in question.pages:
            if page not in addresses:
                near = difflib.get_close_matches(page, addresses, n=1)
                right = f"did you mean {near[0]}?" if near else "aitp-desk serve lists the pages."
                problems.append(f"{path}:{question.line}: the site has no page {page}; {right}")
    if problems:
        raise QuestionsError(problems)


def _faults(table: Mapping[str, Any], lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the faults of a question's table, with their lines in it."""
    for key, value in table.items():
        line = 1 + _line_of(key, lines[1:])
        if key not in _TAKES:
            near = difflib.get_close_matches(key, _TAKES, n=1)
            right = f"did you mean {near[0]}?" if near else f"the keys are {', '.join(_TAKES)}."
            yield line, f"{key!r} is unknown; {right}"
        elif not _fits(value, _TAKES[key][0]):
            yield line, f"{key} takes {_TAKES[key][1]}."
    if "question" not in table:
        yield 1, 'the question is missing: question = "...".'
    told = [key for key in ("holds", "page") if key in table]
    if table.get("refuse") is True and told:
        yield 1, f"a question with refuse = true has no answer: leave out {' and '.join(told)}."
    if not told and not table.get("refuse"):
        right = "set holds, page or both, or refuse = true"
        yield 1, f"the question has no expected answer: {right}."


def _fits(value: object, kind: Any) -> bool:
    """Return whether a value has a key's type, with no empty or long text."""
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return all(text.strip() and len(text) <= MAX_QUESTION for text in _texts(value))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, list):
        if not value:
            yield ""
        for one in value:
            yield from _texts(one)
    elif isinstance(value, str):
        yield value


def _question(table: Mapping[str, Any], line: int) -> Question:
    holds = _listed(table.get("holds", []))
    return Question(
        line,
        table["question"],
        holds=tuple(tuple(_listed(one)) for one in holds),
        pages=tuple(map(_address, _listed(table.get("page", [])))),
        after=tuple(_listed(table.get("after", []))),
        refuse=table.get("refuse", False),
        locale=table.get("locale"),
    )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _address(page: str) -> str:
    """Return an address as sources have it: with a leading slash, absolute ones unchanged."""
    return page if "://" in page or page.startswith("/") else f"/{page}"


def _starts(lines: Sequence[str], count: int) -> list[int]:
    """Return the first lines of the questions' tables; all 1 where that is unclear.

    A line that only looks like a header, inside a multi-line text, is recognized by the lines
    before it, which are not valid TOML then.
    """
    found = [number for number, line in enumerate(lines, 1) if _HEADER.match(line)]
    if len(found) > count:
        found = [number for number in found if _is_toml("\n".join(lines[: number - 1]))]
    return found if len(found) == count else [1] * count


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _line_of(key: str, lines: Sequence[str]) -> int:
    """Return the line of a key; the first where it is not found."""
    named = re.compile(rf"""\s*(?:\[\[?\s*)?["']?{re.escape(key)}["']?\s*[=.\]]""")
    return next((number for number, line in enumerate(lines, 1) if named.match(line)), 1)
