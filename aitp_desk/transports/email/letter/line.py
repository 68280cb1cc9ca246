"""Texts of people and pages on one line, safe to stand in a header."""

from __future__ import annotations

import unicodedata

_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_JOINER = "\u200d"
"""Part of some emoji, and of words in Indic scripts."""


def one_line(text: str, most: int) -> str:
    """Return a text without breaks, control and invisible characters, cut to a length."""
    plain = "".join(
        sign if sign == _JOINER or unicodedata.category(sign) not in _INVISIBLE else " "
        for sign in text[: most * 4]
    )
    line = " ".join(plain.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def plain_text(text: str) -> str:
    """Return a text without control characters other than breaks and tabs."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(
        sign for sign in unified if sign in "\n\t" or unicodedata.category(sign) not in {"Cc", "Cs"}
    )
