"""Tests whether a question names exactly a section: ``What does VACUUM FULL do?``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from aitp_desk.knowledge.documents.base import Passage
from aitp_desk.knowledge.search.tokenizer import NAME_SIGN, STOP_WORDS, split_words

_SORTS = frozenset(
    "option options flag switch function method class module type command statement clause "
    "parameter argument setting variable directive keyword attribute field operator error code "
    "exception line meaning mean means work works default value".split()
)
"""Words for the sort of the thing that is asked for, which do not identify it."""
_OPTION = re.compile(r"(?<![\w-])--?[^\W\d_][\w-]*")


class ExactTitle:
    """A question, prepared for comparison with the names of sections.

    Parameters:
        words: its words, without carried ones.
        text: the question itself.

    Attributes:
        must: the words that the section's or page's name must have.
    """

    def __init__(self, words: Sequence[str], text: str) -> None:
        self._asked = frozenset(words)
        self.must = self._asked - _SORTS
        joined = [word for word in words if word[0] == NAME_SIGN]
        if joined:
            self.must -= {*joined}
            self._asked = self._asked.union(*(word.split(NAME_SIGN) for word in joined))
        self._has_dash, self._has_angle = "-" in text, "<" in text

    def matches(self, passage: Passage) -> bool:
        """Return whether the question has the section's whole name, and nothing else.

        It may also have words of the page's title.
        """
        # "what is a submodule" does not ask for an option of that name
        if passage.heading.startswith("<") and not self._has_angle:
            return False
        is_option = passage.heading.startswith("-") and not self._has_dash
        for called, with_title in _names(passage.heading, passage.title):
            if called <= self._asked and self.must <= with_title:
                return not (is_option and self.must <= called)
        return False


@lru_cache(maxsize=4096)
def _names(heading: str, title: str) -> list[tuple[frozenset[str], frozenset[str]]]:
    """Return the names in a heading, alone and with the title of its page.

    ``Interpreter lock (GIL)`` holds two more names, ``-d, --delete=<name>`` one for each option,
    and ``peerDependencies`` its parts.
    """
    first, opened, rest = heading.partition(" (")
    names = [heading, first, rest.removesuffix(")")] if opened else [heading]
    if heading.startswith("-"):
        names += _OPTION.findall(heading)
    above = _told(title)
    found = [called for called in map(_told, names) if called]
    found += [called - joined for called in found if (joined := _joined(heading) & called)]
    return [(called, called | above) for called in found]


def _joined(heading: str) -> set[str]:
    """Return the words of a heading that are followed by their own parts."""
    words = split_words(heading)
    return {
        word
        for at, word in enumerate(words)
        if any(word == "".join(words[at + 1 : end]) for end in range(at + 3, len(words) + 1))
    }


def _told(heading: str) -> frozenset[str]:
    """Return the identifying words of a heading; names of several parts by all of these."""
    told: set[str] = set()
    for word in split_words(heading):
        if NAME_SIGN in word[1:-1]:
            told.update(word[1:].split(NAME_SIGN))
        elif not (word.isdigit() or word in STOP_WORDS or word in _SORTS):
            told.add(word)
    return frozenset(told)
