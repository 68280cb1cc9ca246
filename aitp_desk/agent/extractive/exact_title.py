"""Whether a question asks for exactly what a section is called: ``What does VACUUM FULL do?``."""

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
"""What says of which sort the thing is that is asked for, and not which thing."""
_OPTION = re.compile(r"(?<![\w-])--?[^\W\d_][\w-]*")


class ExactTitle:
    """A question, ready to be held against what sections are called.

    Parameters:
        words: those that it asks with, of what was said before none.
        text: the question itself.
    """

    def __init__(self, words: Sequence[str], text: str) -> None:
        self._asked = frozenset(words)
        self._must = self._asked - _SORTS
        joined = [word for word in words if word[0] == NAME_SIGN]
        if joined:
            self._must -= {*joined}
            self._asked = self._asked.union(*(word.split(NAME_SIGN) for word in joined))
        self._has_dash, self._has_angle = "-" in text, "<" in text

    def needs(self, word: str) -> bool:
        """Whether a word of the question must stand in what the section or its page is called."""
        return word in self._must

    def matches(self, passage: Passage) -> bool:
        """Whether the question says all that the section is called, and nothing else.

        What the title of its page says may be said too.
        """
        # "what is a submodule" asks for no option that is called so
        if passage.heading.startswith("<") and not self._has_angle:
            return False
        is_option = passage.heading.startswith("-") and not self._has_dash
        for called, with_title in _names(passage.heading, passage.title):
            if called <= self._asked and self._must <= with_title:
                return not (is_option and self._must <= called)
        return False


@lru_cache(maxsize=4096)
def _names(heading: str, title: str) -> list[tuple[frozenset[str], frozenset[str]]]:
    """What a heading tells, alone and with the title of its page.

    ``Interpreter lock (GIL)`` holds two names more, ``-d, --delete=<name>`` one for each option.
    """
    first, opened, rest = heading.partition(" (")
    names = [heading, first, rest.removesuffix(")")] if opened else [heading]
    if heading.startswith("-"):
        names += _OPTION.findall(heading)
    above = _told(title)
    return [(called, called | above) for called in map(_told, names) if called]


def _told(heading: str) -> frozenset[str]:
    """The words of a heading that say which thing it is; names of several parts by all of these."""
    told: set[str] = set()
    for word in split_words(heading):
        if NAME_SIGN in word[1:-1]:
            told.update(word[1:].split(NAME_SIGN))
        elif not (word.isdigit() or word in STOP_WORDS or word in _SORTS):
            told.add(word)
    return frozenset(told)
