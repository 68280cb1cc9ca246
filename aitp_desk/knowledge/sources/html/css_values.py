"""Parses values of CSS: numbers with their units, keywords, lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

PIXELS = {
    "px": 1.0, "em": 16.0, "rem": 16.0, "ex": 8.0, "ch": 8.0, "pt": 96 / 72, "pc": 16.0, "in": 96.0,
    "cm": 96 / 2.54, "mm": 96 / 25.4, "q": 96 / 101.6, "vw": 12.8, "vh": 8.0, "vmin": 8.0,
    "vmax": 12.8,
}  # fmt: skip
"""Units in pixels, on a screen of 1280 × 800."""

Tokens = Sequence[Any]
"""Component values of CSS, without white space and comments (tinycss2 has no types)."""

_MAX_NESTING = 12


def parse_number(tokens: Tokens) -> tuple[float, str] | None:
    """Return a numeric value and its unit: ``px``, ``%`` or none; evaluates calculations.

    Lengths are in pixels.
    """
    if len(tokens) != 1:
        return None
    (token,) = tokens
    if token.type == "number":
        return token.value, ""
    if token.type == "percentage":
        return token.value, "%"
    if token.type == "dimension":
        pixels = PIXELS.get(token.lower_unit)
        return (token.value, token.lower_unit) if pixels is None else (token.value * pixels, "px")
    if token.type == "() block":
        return _calculated(drop_space(token.content))
    if token.type != "function":
        return None
    if token.lower_name == "calc":
        return _calculated(drop_space(token.arguments))
    choose = {"min": min, "max": max, "clamp": max}.get(token.lower_name)
    if choose is None:
        return None
    found = [_calculated(part) for part in split_by_comma(token.arguments)]
    known = [one for one in found if one is not None]
    return choose(known) if known and len(known) == len(found) else None


def parse_keyword(tokens: Tokens) -> str:
    """Return a keyword in lower case, or the empty string."""
    return tokens[0].lower_value if len(tokens) == 1 and tokens[0].type == "ident" else ""


def drop_space(tokens: Tokens) -> Tokens:
    """Return tokens without white space and comments."""
    return [token for token in tokens if token.type not in {"whitespace", "comment"}]


def nests_deeply(tokens: Tokens) -> bool:
    """Return whether brackets nest deeper than recursion allows."""
    level = tokens
    for _ in range(_MAX_NESTING):
        level = [
            inner
            for token in level
            for inner in getattr(token, "content", None) or getattr(token, "arguments", None) or ()
        ]
        if not level:
            return False
    return True


def split_by_comma(tokens: Tokens) -> list[Tokens]:
    """Split at commas; a selector keeps its white space."""
    parts: list[list[Any]] = [[]]
    for token in tokens:
        if token.type == "literal" and token.value == ",":
            parts.append([])
        elif token.type != "comment" and (parts[-1] or token.type != "whitespace"):
            parts[-1].append(token)
    return [part for part in parts if part]


def _calculated(tokens: Tokens) -> tuple[float, str] | None:
    """Return a sum of products, as in ``calc()``; None if it mixes incompatible units."""
    total, unit = 0.0, ""
    term: tuple[float, str] | None = None
    sign, operator = 1.0, ""
    for token in [*drop_space(tokens), None]:
        said = token.value if token is not None and token.type == "literal" else ""
        if token is None or (said in {"+", "-"} and term is not None):
            if term is None or (unit and term[1] and unit != term[1]):
                return None
            total, unit = total + sign * term[0], unit or term[1]
            term, sign, operator = None, -1.0 if said == "-" else 1.0, ""
        elif said in {"*", "/"}:
            operator = said
        else:
            number = parse_number([token])
            if number is None or (operator == "/" and not number[0]):
                return None
            if term is None:
                term = number
            elif operator == "*":
                term = (term[0] * number[0], term[1] or number[1])
            elif operator == "/":
                term = (term[0] / number[0], term[1])
            else:
                return None
    return total, unit
