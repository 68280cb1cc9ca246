"""Turns the numbers of passages in a model's text into citations. Pure.

A model without citations writes the number of a passage in brackets: ``It costs 2 EUR [1].`` The
text may come in pieces that divide such a mark. Numbers of no passage are dropped. What only looks
like a mark stays: links (``[1](https://…)``) and code between backticks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from aitp_desk.agent.generative.providers.base import Citation, Text

_NUMBERS = r"\^?\d{1,3}(?: ?[,;] ?\^?\d{1,3}){0,7}"
_MARK = re.compile(rf"[ \t]{{0,2}}[\[【]({_NUMBERS})[\]】]")
_PART = re.compile(r"[ \t]{0,2}(?:[\[【](?:\^?\d{1,3} ?[,;] ?){0,7}\^?\d{0,3} ?)?\Z")
"""The end of a text that may begin a mark."""
_NUMBER = re.compile(r"\d+")


class CitationMarks:
    """The marks of one text as it arrives.

    Parameters:
        passages: those that were sent, in the order of their numbers, from 1.
    """

    def __init__(self, passages: Sequence[Citation]) -> None:
        self._passages = passages
        self._held = ""
        self._ticks = 0

    def feed(self, text: str) -> list[Text | Citation]:
        """Return the text that is known to be no mark, and citations."""
        if not self._passages:
            return [Text(text)]
        self._held += text
        return self._take(is_end=False)

    def close(self) -> list[Text | Citation]:
        """Return the rest at the end of the text."""
        return self._take(is_end=True)

    def _take(self, *, is_end: bool) -> list[Text | Citation]:
        held, taken = self._held, 0
        pieces: list[Text | Citation] = []
        safe = len(held) if is_end else self._find_part(held)
        for found in _MARK.finditer(held):
            if found.end() > safe:
                break
            said = held[taken : found.start()]
            is_code = (self._ticks + said.count("`")) % 2 == 1
            if is_code or held.startswith("(", found.end()):
                continue
            pieces += self._say(said)
            pieces += self._cite(found[1])
            taken = found.end()
        pieces += self._say(held[taken:safe])
        self._held = held[max(taken, safe) :]
        return pieces

    def _find_part(self, held: str) -> int:
        """Return where a mark may begin that is not complete yet."""
        for found in _MARK.finditer(held, max(0, len(held) - 60)):
            if found.end() == len(held):
                return found.start()
        part = _PART.search(held)
        return len(held) if part is None else part.start()

    def _say(self, text: str) -> list[Text | Citation]:
        self._ticks += text.count("`")
        return [Text(text)] if text else []

    def _cite(self, numbers: str) -> list[Text | Citation]:
        named = [int(number) for number in _NUMBER.findall(numbers)]
        return [self._passages[n - 1] for n in named if 1 <= n <= len(self._passages)]
