r"""Patterns that whole texts fit, held against them in one pass: none takes long. Pure.

They are written as regular expressions are, but are a row of single characters: each a letter as it
stands, ``.``, ``\d``, ``\w``, ``\s``, a set in brackets, and each with ``?``, ``*``, ``+`` or
``{m,n}`` after it or none. Groups, alternatives and references are none of it: two rules stand for
two ways.

All places of a pattern that a text may have come to are held at once, as the bits of one number
(Navarro and Raffinot, *Flexible Pattern Matching in Strings*, 4.2): there is no going back.
"""

from __future__ import annotations

import re
from functools import lru_cache

LONGEST_TEXT = 4000
"""How many characters a text that fits a pattern has at most: what can be asked to be signed."""
MOST_PLACES = LONGEST_TEXT
"""How many characters a pattern stands for at most, each repetition counted."""
LONGEST_PATTERN = 1000
"""How many characters a pattern is written with at most."""
_ITEM = re.compile(
    r"(?P<one>\\[dDwWsSnt]|\\[^0-9A-Za-z]|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\\[\](){}?*+|^$])"
    r"(?:(?P<sign>[?*+])|\{(?P<least>[0-9]{1,4})(?P<span>,(?P<most>[0-9]{1,4})?)?\})?",
    re.DOTALL,
)


class Pattern:
    """A pattern as it is held against texts.

    Parameters:
        written: as the owner of the site has it.

    Raises:
        ValueError: it is none; says what is wrong, and what would be right.
    """

    def __init__(self, written: str) -> None:
        if len(written) > LONGEST_PATTERN:
            raise ValueError(f"it has more than {LONGEST_PATTERN} characters")
        self._ones: list[tuple[re.Pattern[str], int, int]] = []
        self._optional = 0
        self._places = 0
        at = 0
        while at < len(written):
            item = _ITEM.match(written, at)
            if item is None:
                raise ValueError(
                    f"it cannot be read from {written[at : at + 20]!r} on: a pattern is a row of"
                    " characters, each with ?, *, + or {m,n} after it, and fits the whole text;"
                    " for two ways write two rules, and a sign as itself with a backslash"
                )
            self._append(item)
            at = item.end()
        self._of_letter: dict[str, tuple[int, int]] = {}

    def fits(self, text: str) -> bool:
        """Whether the whole of a text is as the pattern has it."""
        if len(text) > LONGEST_TEXT:
            return False
        reached = self._skip(1)
        for letter in text:
            on, again = self._taken(letter)
            reached = self._skip((reached & on) << 1 | reached & again)
            if not reached:
                return False
        return bool(reached >> self._places & 1)

    def _append(self, item: re.Match[str]) -> None:
        try:
            one = re.compile(item["one"], re.ASCII)
        except re.error as error:
            raise ValueError(f"{item['one']!r} is no set of characters: {error}") from None
        least, most = _span(item)
        if most is not None and most < least:
            raise ValueError(f"{item[0]!r} repeats from {least} to {most}")
        row = max(least, 1) if most is None else most
        begin, self._places = self._places, self._places + row
        if self._places > MOST_PLACES:
            raise ValueError(f"it stands for more than {MOST_PLACES} characters")
        on = (1 << self._places) - (1 << begin)
        # what is without end goes on at the place behind its last
        again = 1 << self._places if most is None else 0
        self._optional |= on & ~((1 << begin + least) - 1)
        self._ones.append((one, on, again))

    def _skip(self, reached: int) -> int:
        """The places as well to which one comes by leaving out what may be."""
        optional = self._optional
        return reached | ((optional + (reached & optional)) ^ optional)

    def _taken(self, letter: str) -> tuple[int, int]:
        """At which places a letter leads on, and behind which it may stand again."""
        known = self._of_letter.get(letter)
        if known is None:
            fitting = [masks for one, *masks in self._ones if one.fullmatch(letter)]
            on, again = 0, 0
            for leads_on, repeats in fitting:
                on |= leads_on
                again |= repeats
            self._of_letter[letter] = known = on, again
        return known


@lru_cache(maxsize=100)
def pattern_of(written: str) -> Pattern:
    """A pattern, read once.

    Raises:
        ValueError: as of :class:`Pattern`.
    """
    return Pattern(written)


def _span(item: re.Match[str]) -> tuple[int, int | None]:
    """How often a character stands there: at least, and at most; None for without end."""
    if item["least"] is not None:
        least = int(item["least"])
        if item["span"] is None:
            return least, least
        return least, None if item["most"] is None else int(item["most"])
    match item["sign"]:
        case "?":
            return 0, 1
        case "*":
            return 0, None
        case "+":
            return 1, None
        case _:
            return 1, 1
