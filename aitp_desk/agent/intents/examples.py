"""Knows the example requests that actions declare."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from aitp_desk.model.calls.action import Action

_END = " .!?;。؟।"
"""What ends a sentence; NFKC makes the Greek question mark a semicolon."""


class DeclaredExamples:
    """The example requests of a site's actions, except those of two actions."""

    def __init__(self, actions: Iterable[Action]) -> None:
        holders: dict[str, set[str]] = {}
        for action in actions:
            for example in action.examples:
                holders.setdefault(to_phrase(example.text), set()).add(action.name)
        self._names = {
            phrase: next(iter(names))
            for phrase, names in holders.items()
            if phrase and len(names) == 1
        }

    def find(self, text: str, titles: Iterable[str]) -> str | None:
        """Return the one action, by name, of which a text is an example.

        Parameters:
            titles: of the site's pages; a text that equals one may as well name the page.
        """
        phrase = to_phrase(text)
        name = self._names.get(phrase)
        if name is None or any(to_phrase(title) == phrase for title in titles):
            return None
        return name


def to_phrase(text: str) -> str:
    """Return a text without its case, extra white space and end punctuation."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(_END)
