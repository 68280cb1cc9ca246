"""Words of somebody else's program, as far as callers are told them."""

from __future__ import annotations

import re

LONGEST_SAID = 300
"""How much is told, in characters."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_MARKUP = re.compile(r"<[a-zA-Z!/?]")


def plain_words(text: str) -> str:
    """A text on one line, bounded; empty where it is markup."""
    text = _CONTROL.sub(" ", text).strip()
    if _MARKUP.search(text):
        return ""
    return text if len(text) <= LONGEST_SAID else f"{text[: LONGEST_SAID - 1]}…"
