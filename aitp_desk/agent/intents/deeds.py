"""Reads what a text wants done: to book, to cancel, to send back."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files

from aitp_desk.knowledge.search.tokenizer import fold_text

_BETWEEN, _ANY_ENDING = "~", "*"
_OUTDOES = {"cancel": {"book", "buy"}, "extend": {"book", "return"}}
"""Deeds whose phrases have those of others inside: to cancel a booking is not to book."""
_NO_WORD = re.compile(r"[^\w'@+-]+")


def to_plain_text(text: str) -> str:
    """Return folded words with one space between two; apostrophes and hyphens stay."""
    return " ".join(_NO_WORD.sub(" ", fold_text(text).replace("’", "'")).split())


def find_deeds(plain: str) -> frozenset[str]:
    """Return the deeds that a text names.

    Parameters:
        plain: as :func:`to_plain_text` returns it.
    """
    if _any_deed().search(plain) is None:
        return frozenset()
    found = {deed for deed, pattern in _patterns().items() if pattern.search(plain)}
    for stronger, weaker in _OUTDOES.items():
        if stronger in found:
            found -= weaker
    return frozenset(found)


@cache
def list_deed_words() -> frozenset[str]:
    """Return the folded words of all phrases."""
    said = " ".join(phrase for phrases in _read().values() for phrase in phrases)
    return frozenset(re.findall(r"\w+", said))


@cache
def _read() -> dict[str, list[str]]:
    found: dict[str, list[str]] = tomllib.loads(
        files(__package__).joinpath("deeds.toml").read_text("utf-8")
    )
    return found


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    return {deed: _any_of(phrases) for deed, phrases in _read().items()}


@cache
def _any_deed() -> re.Pattern[str]:
    return _any_of([phrase for phrases in _read().values() for phrase in phrases])


def _any_of(phrases: list[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\S)(?:{'|'.join(map(_pattern, phrases))})(?!\S)")


def _pattern(phrase: str) -> str:
    parts: list[str] = []
    for word in phrase.split():
        if word == _BETWEEN:
            parts.append(r"(?:\S+ ){0,3}?")
        elif word.endswith(_ANY_ENDING):
            parts.append(rf"{re.escape(word[:-1])}\S* ")
        else:
            parts.append(f"{re.escape(word)} ")
    return "".join(parts).removesuffix(" ")
