"""Checks which patterns may be applied to a visitor's text."""

from __future__ import annotations

import re


def is_linear_time(pattern: str) -> bool:
    """Return whether a pattern surely runs in linear time: it nests no repetitions."""
    repeats: list[bool] = [False]
    place, in_class, closed = 0, False, False
    while place < len(pattern):
        sign = pattern[place]
        was_closed, closed = closed, False
        if sign == "\\":
            place += 2
            continue
        if in_class:
            in_class = sign != "]"
        elif sign == "[":
            in_class = True
            place += pattern[place + 1 : place + 2] in {"]", "^"}
        elif sign == "(":
            repeats.append(False)
        elif sign == ")" and len(repeats) > 1:
            closed = repeats.pop()
            repeats[-1] |= closed
        elif sign == "|":
            repeats[-1] |= len(repeats) > 1
        elif sign in "*+{":
            if was_closed and sign != "{":
                return False
            if was_closed and not re.match(r"\{\d{1,2}\}", pattern[place:]):
                return False
            repeats[-1] |= sign != "{" or "," in pattern[place : place + 6]
        place += 1
    return True
