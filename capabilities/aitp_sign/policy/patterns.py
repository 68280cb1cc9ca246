r"""Patterns that match whole texts in linear time. Pure.

They are written like regular expressions, but are a sequence of single characters: each a literal
letter, ``.``, ``\d``, ``\w``, ``\s`` or a set in brackets, optionally followed by ``?``, ``*``,
``+`` or ``{m,n}``. Groups, alternatives and references are not supported: write two rules for two
alternatives.

All reachable positions of a pattern are tracked at once, as the bits of one number (Navarro and
Raffinot, *Flexible Pattern Matching in Strings*, 4.2): there is no backtracking.
"""

from __future__ import annotations

import re
from functools import lru_cache

LONGEST_TEXT = 4000
"""Maximum length of a matching text: that of a text that can be signed."""
MOST_PLACES = LONGEST_TEXT
"""Maximum number of characters that a pattern matches, with repetitions."""
LONGEST_PATTERN = 1000
"""Maximum length of a pattern's source."""
_ITEM = re.compile(
    r"(?P<one>\\[dDwWsSnt]|\\[^0-9A-Za-z]|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\\[\](){}?*+|^$])"
    r"(?:(?P<sign>[?*+])|\{(?P<least>[0-9]{1,4})(?P<span>,(?P<most>[0-9]{1,4})?)?\})?",
    re.DOTALL,
)


class Pattern:
    """A compiled pattern.

    Parameters:
        written: its source.

    Raises:
        ValueError: it is malformed; says what is wrong and what is allowed.
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
                    f"it cannot be parsed from {written[at : at + 20]!r} on: a pattern is a"
                    " sequence of characters, each optionally followed by ?, *, + or {m,n},"
                    " and matches the whole text. Write two rules for two alternatives, and"
                    " escape special characters with a backslash"
                )
            self._append(item)
            at = item.end()
        self._of_letter: dict[str, tuple[int, int]] = {}

    def fits(self, text: str) -> bool:
        """Return whether the whole text matches."""
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
            raise ValueError(f"{item['one']!r} is not a set of characters: {error}") from None
        least, most = _span(item)
        if most is not None and most < least:
            raise ValueError(
                f"{item[0]!r} has a minimum of {least} repetitions and a maximum of {most}"
            )
        row = max(least, 1) if most is None else most
        begin, self._places = self._places, self._places + row
        if self._places > MOST_PLACES:
            raise ValueError(f"it matches more than {MOST_PLACES} characters, with repetitions")
        on = (1 << self._places) - (1 << begin)
        # an unbounded item repeats at the position after its last
        again = 1 << self._places if most is None else 0
        self._optional |= on & ~((1 << begin + least) - 1)
        self._ones.append((one, on, again))

    def _skip(self, reached: int) -> int:
        """Add the positions that optional items make reachable."""
        optional = self._optional
        return reached | ((optional + (reached & optional)) ^ optional)

    def _taken(self, letter: str) -> tuple[int, int]:
        """Return where a letter advances, and after which positions it may repeat."""
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
    """Compile a pattern once.

    Raises:
        ValueError: as for :class:`Pattern`.
    """
    return Pattern(written)


def _span(item: re.Match[str]) -> tuple[int, int | None]:
    """Return the minimum and maximum repetitions of an item; None for no maximum."""
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
