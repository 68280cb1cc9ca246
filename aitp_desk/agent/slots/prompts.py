"""Words the question for missing values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Any

import msgspec

from aitp_desk.agent.slots.base import Path
from aitp_desk.agent.slots.form.form import Field
from aitp_desk.agent.slots.gaps import Gap

_MOST_LISTED = 12
_MOST_AT_ONCE = 3
_LONGEST_DESCRIPTION = 100
_MOMENT = re.compile(
    r"(?:([0-9]{4}-[0-9]{2}-[0-9]{2})T)?([0-9]{2}:[0-9]{2})(?::00)?([+-][0-9]{2}:[0-9]{2}|Z)?",
    re.ASCII,
)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


class WordedQuestion(msgspec.Struct, frozen=True):
    """A question for missing values.

    Parameters:
        asked: what the reply is read against first.
        options: the possible answers; empty if any text is accepted.
        values: the options as JSON, if one of them is the argument.
    """

    text: str
    asked: tuple[Path, ...]
    options: tuple[str, ...] = ()
    values: tuple[Any, ...] = ()


def make_question(gaps: Sequence[Gap]) -> WordedQuestion:
    """Return one question for the first missing values; the others are only named.

    Values are asked for together if a reply cannot confuse them: a size, a number and a date, and
    never two dates or two strings.
    """
    together = [gaps[0]]
    for gap in gaps[1:]:
        if len(together) < _MOST_AT_ONCE and _are_apart([*together, gap]):
            together.append(gap)
    problems = [gap.problem for gap in together if gap.problem]
    left = [_the(gap) for gap in gaps if gap not in together]
    also = [f"I also need {join_words(left, 'and')}."] if left else []
    asks, options, values = _alone(gaps[0]) if len(together) == 1 else (_joined(together), (), ())
    text = " ".join([*problems, asks, *also])
    return WordedQuestion(text, tuple(gap.path for gap in together), options, values)


def join_words(words: Sequence[str], link: str) -> str:
    """Join words as a list in a sentence: ``S, M or L``."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {link} {words[-1]}"


def write_value(value: Any) -> str:
    """Format a value for a sentence: ``3 March 2027``, ``navy blue``."""
    if isinstance(value, str):
        if _DATE.fullmatch(value):
            day = date.fromisoformat(value)
            return f"{day.day} {day:%B} {day.year}"
        if found := _MOMENT.fullmatch(value):
            zone = f" ({'UTC' if found[3] == 'Z' else found[3]})" if found[3] else ""
            return (
                f"{write_value(found[1])} at {found[2]}{zone}" if found[1] else f"{found[2]}{zone}"
            )
        return value.replace("_", " ") if " " not in value else value
    return str(value)


def _are_apart(gaps: Sequence[Gap]) -> bool:
    """Return whether the form of a value alone tells which field it is for."""
    kinds = [_sort(gap.field) for gap in gaps]
    if not set(kinds).isdisjoint({"text", "items", "list", "boolean", "other"}):
        return False
    if len(set(kinds)) == len(kinds):
        return True
    rest = [kind for kind in kinds if kind != "choice"]
    choices = [set(gap.field.phrases) for gap in gaps if _sort(gap.field) == "choice"]
    are_disjoint = sum(map(len, choices)) == len(set[str]().union(*choices))
    return len(set(rest)) == len(rest) and are_disjoint


def _sort(field: Field) -> str:
    if field.is_numeric:
        return "number"
    return "date" if field.kind == "moment" else field.kind


def _choices(gap: Gap) -> Sequence[Any]:
    if gap.options:
        return gap.options
    options = [option.value for option in gap.field.options]
    return options if len(options) <= _MOST_LISTED else []


def write_request(gap: Gap) -> str:
    """Return the request for a value, without the question mark: ``Which size``."""
    field, title = gap.field, write_title(gap.field)
    if gap.day:
        return f"At what time on {write_value(gap.day)}"
    if field.kind == "items":
        return f"Which {title}, and how many of each" if not gap.options else f"Which {title}"
    if field.kind == "integer" and (gap.of or field.is_count or title.endswith("s")):
        what = f" of {gap.of}" if gap.of else "" if field.is_count else f" {title}"
        return f"How many{what}"
    if field.kind in {"choice", "list", "date"} or gap.options:
        return f"Which {title}"
    return f"What is the {title}{_described(field)}"


def _alone(gap: Gap) -> tuple[str, tuple[str, ...], tuple[Any, ...]]:
    """Return a question for one value, its options, and these as JSON."""
    if gap.field.kind == "boolean":
        return f"{capitalize(write_title(gap.field))}: yes or no?", ("yes", "no"), ()
    values = tuple(_choices(gap))
    asks = (
        f"{write_request(gap)}: {join_words([write_value(value) for value in values], 'or')}"
        if values
        else ""
    )
    return f"{asks or write_request(gap)}?", tuple(str(value) for value in values), values


def _joined(gaps: Sequence[Gap]) -> str:
    parts: list[str] = []
    for gap in gaps:
        choices = join_words([write_value(choice) for choice in _choices(gap)], "or")
        part = f"{write_request(gap)} ({choices})" if choices else write_request(gap)
        parts.append(part if not parts else part[0].lower() + part[1:])
    return f"{', '.join(parts[:-1])}, and {parts[-1]}?"


def _the(gap: Gap) -> str:
    return f"the {write_title(gap.field)}{f' of {gap.of}' if gap.of else ''}"


def _described(field: Field) -> str:
    about = field.description.strip().rstrip(".")
    if not about or len(about) > _LONGEST_DESCRIPTION or about.lower() == field.title.lower():
        return ""
    return f" ({about[0].lower() + about[1:]})"


def write_title(field: Field) -> str:
    """Return a title for use within a sentence: lower case, unless all in capitals."""
    return " ".join(w if w.isupper() and len(w) > 1 else w.lower() for w in field.title.split())


def capitalize(words: str) -> str:
    """Capitalize the first letter of a sentence."""
    return words[:1].upper() + words[1:]
