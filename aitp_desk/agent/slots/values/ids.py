"""Reads ids by their pattern, also in lower case or with spaces: ``ord 000123``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from aitp_desk.agent.slots.base import Match
from aitp_desk.agent.slots.tokens import TokenText
from aitp_desk.agent.slots.values.numbers import UNITS

MAX_LENGTH = 48
"""The most characters of a text that a pattern is tried on at once."""
_MOST_TOKENS = 6
_DASHES = re.compile(r"[‐-―−]")
_PARTS = re.compile(r"[A-Za-z0-9]+", re.ASCII)
_RUNS = re.compile(r"[A-Za-z]+|[0-9]+", re.ASCII)
_LETTER = re.compile(r"[A-Za-z]", re.ASCII)
_DIGIT = re.compile(r"[0-9]", re.ASCII)
_JOINED = re.compile(r"[\w\s.#/–-]+")
_SEPARATORS = "-", "", "_", ".", "/", " "
_FEWEST_BARE_DIGITS = 5
_FEWEST_JOINED_DIGITS = 8


def read_id(text: TokenText, start: int, pattern: re.Pattern[str]) -> Match | None:
    """Read the id that begins at a token: as it is written, or else as the pattern requires.

    Returns:
        A match with two values if a shorter and a longer piece of the text match the pattern;
        None if none does.

    Raises:
        TooMuchToRead: too much of the text was tried already.
    """
    if not text.fold(start) or _is_inside(text, start):
        return None
    found: dict[str, int] = {}
    for end in range(start + 1, min(start + _MOST_TOKENS, len(text)) + 1):
        said = text.between(start, end)
        if len(said) > MAX_LENGTH or not _JOINED.fullmatch(said) or "\n" in said:
            break
        if not text.fold(end - 1) or _is_inside(text, end):
            continue
        if end > start + 1 and not text.touches(end - 1) and not _DIGIT.search(text.word(end - 1)):
            break
        value = _fitting(text, said, pattern, alone=end == start + 1)
        if value is None or (end > start + 1 and _counts_units(text, end)):
            continue
        found.setdefault(value, end)
        if end == start + 1 or _is_one_word(text, start, end):
            break
    return Match(start, max(found.values()), tuple(found)) if found else None


def is_bare_number(value: str) -> bool:
    """Return whether an id could as well be a number."""
    return not _LETTER.search(value) and len(value) < MAX_LENGTH and value.isdigit()


def is_long_number(value: str) -> bool:
    """Return whether a number is too long to be a quantity or a year."""
    return len(value) >= _FEWEST_BARE_DIGITS


def _fitting(text: TokenText, said: str, pattern: re.Pattern[str], *, alone: bool) -> str | None:
    said = _DASHES.sub("-", said)
    if pattern.fullmatch(said):
        # consecutive words match a pattern only by chance
        return said if alone or " " not in said or _DIGIT.search(said) else None
    digits = len(_DIGIT.findall(said))
    if digits == 0 or (not _LETTER.search(said) and digits < _FEWEST_JOINED_DIGITS):
        return None
    text.guess()
    return next((one for one in _rewritten(said) if pattern.fullmatch(one)), None)


def _rewritten(said: str) -> Iterable[str]:
    """Yield other spellings of a possible id, the likeliest first."""
    written = _PARTS.findall(said)
    divided = dict.fromkeys(
        map(tuple, (written, _RUNS.findall(said), _RUNS.findall("".join(written))))
    )
    joined = (separator.join(parts) for parts in divided for separator in _SEPARATORS)
    ways = dict.fromkeys((said, *joined))
    return dict.fromkeys(case for way in ways for case in (way.upper(), way.lower(), way))


def _is_inside(text: TokenText, place: int) -> bool:
    """Return whether a position is within something that is written as one word."""
    if not text.touches(place):
        return False
    before, after = text.word(place - 1), text.word(place)
    if before in {"-", "–", "_", "/"}:
        return text.touches(place - 1) and bool(text.fold(place - 2))
    return after in {"-", "–", "_", "/"} and text.touches(place + 1) and bool(text.fold(place + 1))


def _is_one_word(text: TokenText, start: int, end: int) -> bool:
    return all(text.touches(place) for place in range(start + 1, end))


def _counts_units(text: TokenText, end: int) -> bool:
    """Return whether the number at the end of a piece counts what comes next."""
    return text.fold(end) in UNITS
