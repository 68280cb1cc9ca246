"""Sanitises text of other programs that callers may see."""

from __future__ import annotations

import re

LONGEST_SAID = 300
"""Maximum length in characters."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_MARKUP = re.compile(r"<[a-zA-Z!/?]")


def plain_words(text: str) -> str:
    """Return text on one line, truncated; empty if it is markup."""
    text = _CONTROL.sub(" ", text).strip()
    if _MARKUP.search(text):
        return ""
    return text if len(text) <= LONGEST_SAID else f"{text[: LONGEST_SAID - 1]}…"
