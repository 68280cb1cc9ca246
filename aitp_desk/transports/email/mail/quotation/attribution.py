"""Finds attributions of quotations, and headers of quoted mails.

A person may write such a line too. Below it must stand quoted lines, or it must have an address and
a date as only programs write them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from aitp_desk.transports.email.mail.quotation.phrases import (
    BEGINS,
    FIRST_PERSON,
    LABELS,
    LONGEST_LABEL,
    WROTE,
)

_MOST_LINES = 5
_MOST_CHARACTERS = 500
_LONGEST_BARE = 80
_DIRECTIONS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""Marks of the reading order, which programs write around names in Hebrew and Arabic."""
_NO_DIRECTIONS = dict.fromkeys(map(ord, _DIRECTIONS))
_COLONS = (":", "：", "︰")
_YEAR = re.compile(
    r"(?<!\d)(?:19|20|25)\d\d(?!\d)|(?<!\d)\d{1,2}[./-]\s?\d{1,2}[./-]\s?(?:\d\d)?(?!\d)"
)
_TIME = re.compile(
    r"(?<!\d)\d{1,2}\s?[:h時时시]\s?\d\d(?!\d)|(?<![\d.])\d{1,2}\.\d\d(?![\d.])"
    r"|\d点|\d\s?(?:am|pm)\b",
    re.IGNORECASE,
)
_SENTENCE_END = (".", "!", "?", "。", "！", "？")

_MOST_FIELD_LINES = 16
_MOST_CONTINUED = 3


def has_address(text: str) -> bool:
    """Return whether a short text has an address."""
    at = text.find("@")
    return 0 < at < len(text) - 1 and not text[at - 1].isspace() and text[at + 1].isalnum()


def may_end_attribution(line: str) -> bool:
    """Return whether a line is worth the search: cheap, for every line of a mail."""
    return line.rstrip(_DIRECTIONS).endswith(_COLONS) or (
        line.startswith("---") and line.endswith("---")
    )


def find_attribution(
    lines: Sequence[str], end: int, first: int, *, is_quoted_below: bool
) -> int | None:
    """Return the line where the attribution begins whose last line is `end`; None: it is none.

    Parameters:
        first: the first line that it may begin with.
        is_quoted_below: whether the next line with text is marked as quoted.
    """
    text = ""
    begin: int | None = None
    for at in range(end, max(first, end - _MOST_LINES + 1) - 1, -1):
        line = lines[at].translate(_NO_DIRECTIONS).strip()
        if not line or (at < end and line.endswith((*_COLONS, *_SENTENCE_END[1:]))):
            break
        text = f"{line} {text}" if text else line
        if len(text) > _MOST_CHARACTERS:
            break
        if _is_attribution(text, is_quoted_below=is_quoted_below):
            begin = at
            break
    if begin is None:
        return None
    return _extend(lines, begin, first, text)


def _is_attribution(text: str, *, is_quoted_below: bool) -> bool:
    if FIRST_PERSON.search(text):
        return False  # no program calls its user "I"
    wrote = WROTE.search(text) is not None
    address, year, time = has_address(text), _YEAR.search(text), _TIME.search(text)
    if text.startswith("---"):
        return wrote and (address or year is not None)
    if not is_quoted_below:
        is_bracketed = address and "<" in text
        return wrote and is_bracketed and year is not None and time is not None
    if text.startswith("<"):
        return False  # an address, the name of which stands on the line above
    if wrote and (address or year or time):
        return True
    if address and (year or time):
        return True
    found = WROTE.search(text)
    is_last = found is not None and found.start() > 0 and not text[found.end() :].strip(" :：")
    return is_last and len(text) <= _LONGEST_BARE


def _extend(lines: Sequence[str], begin: int, first: int, text: str) -> int:
    """Return the attribution's first line if a program has broken it."""
    if BEGINS.match(text):
        return begin
    has_date = _YEAR.search(text) is not None
    for at in range(begin - 1, max(first, begin - _MOST_LINES + 1) - 1, -1):
        line = lines[at].strip()
        if not line or line.endswith((*_COLONS, *_SENTENCE_END)):
            break
        if BEGINS.match(line) and any(c.isdigit() for c in line):
            is_date = _YEAR.search(line) is not None
            return at if is_date or not has_date else begin
    return begin


def find_role(line: str) -> str:
    """Return the role of a header line, such as ``from``; empty: it is none."""
    line = line.lstrip(" \t*_\xa0")
    label, colon, _ = line[: LONGEST_LABEL + 8].replace("：", ":").partition(":")
    return LABELS.get(label.strip(" \t*_\xa0").lower(), "") if colon else ""


def has_header(lines: Sequence[str], roles: Sequence[str], begin: int) -> bool:
    """Return whether the header of a quoted mail begins at a line.

    Parameters:
        roles: of each line, as :func:`find_role` returns it.
    """
    if not roles[begin]:
        return False
    seen: set[str] = set()
    addresses = has_time = False
    other = 0
    for at in range(begin, min(len(lines), begin + _MOST_FIELD_LINES)):
        role = roles[at]
        if role:
            if role in seen:
                break
            seen.add(role)
            other = 0
            has_time = has_time or (role == "date" and _TIME.search(lines[at][:200]) is not None)
            addresses = addresses or (role in {"from", "to"} and has_address(lines[at]))
            continue
        other += 1
        if other > _MOST_CONTINUED or (not lines[at].strip() and len(seen) > 3):
            break
    if "from" not in seen:
        return False
    return (has_time and "subject" in seen) or (addresses and bool(seen & {"date", "subject"}))
