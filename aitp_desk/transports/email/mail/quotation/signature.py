"""Finds what stands below a person's words: signatures, and what programs and companies add.

Source: RFC 3676, section 4.3 (the line ``-- ``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from aitp_desk.transports.email.mail.message import TrimmedKind
from aitp_desk.transports.email.mail.quotation.phrases import (
    DEVICE,
    DISCLAIMER_BEGINS,
    DISCLAIMER_WORDS,
    LIST_FOOTER,
    PROGRAM_LINE,
    PRONOUN,
    SENT_FROM,
)

_DELIMITERS = frozenset({"--", "—-", "-- --"})
_POSTSCRIPT = re.compile(r"\s*(?:p\.?\s?[sd]\b|n\.?b\b|追伸|又及)", re.IGNORECASE)
_RULE = re.compile(r"[-_*=~\s]{5,}")
_MOST_SIGNATURE_LINES = 15
_MOST_FOOTER_LINES = 40
_LONGEST_FOOTER = 4000
_LONGEST_PROGRAM_LINE = 160
_LONGEST_SENT_FROM = 80
_MOST_WORDS_TO_DEVICE = 4
_SHORTEST_DISCLAIMER = 120
_GREEN = re.compile(r"environment|umwelt|before you print|ausdruck|imprimer", re.IGNORECASE)
_LEAST_WORDS = 3
_MOST_ROUNDS = 6


def find_tail(lines: Sequence[str], begin: int, end: int) -> list[tuple[int, int, TrimmedKind]]:
    """Return the pieces at the end that are no words of the person.

    Returns:
        ``(begin, end, kind)`` of each, the last one first; they adjoin.
    """
    found: list[tuple[int, int, TrimmedKind]] = []
    for _ in range(_MOST_ROUNDS):
        last = end
        while last > begin and not lines[last - 1].strip():
            last -= 1
        if last == begin:
            break
        piece = (
            _find_sent_from(lines, begin, last)
            or _find_delimiter(lines, begin, last)
            or _find_footer(lines, begin, last)
        )
        if piece is None:
            break
        found.append((piece[0], end, piece[1]))
        end = piece[0]
    return found


def is_delimiter(line: str) -> bool:
    """Return whether a line stands above a signature."""
    return line.strip() in _DELIMITERS and not line.startswith(" ")


def _find_sent_from(lines: Sequence[str], begin: int, last: int) -> tuple[int, TrimmedKind] | None:
    for at in (last - 1, last - 2):
        if at < begin:
            break
        line = lines[at].strip(" \t\xa0*_<>[]()")
        is_first = at == begin or at == last - 1 or not lines[at - 1].strip()
        if is_first and len(line) <= _LONGEST_PROGRAM_LINE and _is_of_program(line):
            return at, TrimmedKind.FOOTER
    return None


def _is_of_program(line: str) -> bool:
    if PROGRAM_LINE.fullmatch(line):
        return True
    begins = SENT_FROM.match(line)
    if begins is None or len(line) > _LONGEST_SENT_FROM or line.endswith(("?", "？")):
        return False
    if PRONOUN.search(line[begins.end() :]):
        return False
    words = line[begins.end() :].split()[:_MOST_WORDS_TO_DEVICE]
    return DEVICE.search(" ".join(words)) is not None


def _find_delimiter(lines: Sequence[str], begin: int, last: int) -> tuple[int, TrimmedKind] | None:
    for at in range(last - 1, max(begin, last - _MOST_SIGNATURE_LINES - 1) - 1, -1):
        if _POSTSCRIPT.match(lines[at]):
            return None
        if is_delimiter(lines[at]):
            return at, TrimmedKind.SIGNATURE
    return None


def _find_footer(lines: Sequence[str], begin: int, last: int) -> tuple[int, TrimmedKind] | None:
    """Find a disclaimer or the footer of a list: whole paragraphs at the end."""
    lowest = max(begin, last - _MOST_FOOTER_LINES)
    at = last - 1
    while at > lowest and lines[at - 1].strip() and not _RULE.fullmatch(lines[at].strip()):
        at -= 1
    if sum(map(len, lines[at:last])) > _LONGEST_FOOTER:
        return None
    text = " ".join(line.strip() for line in lines[at:last])
    is_below_rule = bool(_RULE.fullmatch(lines[at].strip()))
    if is_below_rule and LIST_FOOTER.search(text):
        return at, TrimmedKind.FOOTER
    if not is_below_rule and at > begin:
        above = at - 1
        while above > lowest and not lines[above].strip():
            above -= 1
        if _RULE.fullmatch(lines[above].strip()):
            if LIST_FOOTER.search(text):
                return above, TrimmedKind.FOOTER
            is_below_rule = True
    begins = DISCLAIMER_BEGINS.match(text.lstrip("-_*=~ "))
    words = {found.lower() for found in DISCLAIMER_WORDS.findall(text)}
    is_green = begins is not None and _GREEN.search(text) is not None
    least = 1 if is_green else _LEAST_WORDS
    is_long = is_green or len(text) >= _SHORTEST_DISCLAIMER
    if begins and at > begin and is_long and len(words) >= least:
        return at, TrimmedKind.FOOTER
    return None
