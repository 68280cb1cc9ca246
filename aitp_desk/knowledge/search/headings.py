"""Finds pages and sections by the beginnings of words.

Only titles and headings are searched: it is for visitors who know what they look for. Questions
are answered by :mod:`aitp_desk.knowledge.search.ranking`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

import msgspec

from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.search.ngrams import IN_RUN
from aitp_desk.knowledge.search.tokenizer import to_plain_words

MAX_QUERY = 100
"""Longer queries are cut, in characters."""
_MOST_WORDS = 8
_MOST_JUDGED = 2000
"""How many entries are compared; with one letter a large site has more."""
_MOST_STARTS = 24
"""At how many characters of a run without spaces a search may begin."""
_LAST = chr(0x10FFFF)


class HeadingEntry(msgspec.Struct, frozen=True, gc=False):
    """A page, or a section of one.

    Parameters:
        title: of the page.
        heading: of the section; empty for the page itself.
        url: begins with ``/``; of an external page an absolute URL.
    """

    title: str
    heading: str
    url: str


class HeadingIndex:
    """The titles and headings of a library, by their words.

    Making one reads every passage: not on the event loop.
    """

    def __init__(self, library: Library) -> None:
        self._entries = tuple(_list_entries(library))
        self._own: list[str] = []
        holders: dict[str, list[int]] = {}
        for number, entry in enumerate(self._entries):
            own = to_plain_words(entry.heading or entry.title)
            self._own.append(own)
            words = own if not entry.heading else f"{own} {to_plain_words(entry.title)}"
            for start in dict.fromkeys(_list_starts(words)):
                holders.setdefault(start, []).append(number)
        self._words = sorted(holders)
        self._holders = [tuple(holders[word]) for word in self._words]

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, query: str, most: int) -> list[HeadingEntry]:
        """Return the entries that match every word of the query, best first.

        A word matches where it begins a word of the entry. A section counts only if its own
        heading has one of them.
        """
        sought = to_plain_words(query[:MAX_QUERY])
        words = sought.split()[:_MOST_WORDS]
        if not words:
            return []
        found = self._find_all(words[0])
        for word in words[1:]:
            found &= self._find_all(word)
        judged = sorted(found)[:_MOST_JUDGED]
        ranked = sorted(rank for one in judged if (rank := self._rank(one, sought, words)))
        return [self._entries[rank[-1]] for rank in ranked[:most]]

    def _find_all(self, start: str) -> set[int]:
        """Return the entries that have a word with this beginning."""
        first = bisect_left(self._words, start)
        end = bisect_left(self._words, start + _LAST)
        return {number for holders in self._holders[first:end] for number in holders}

    def _rank(self, number: int, sought: str, words: list[str]) -> tuple[int, ...]:
        """Return what entries are sorted by, smallest first; empty for no match."""
        own = self._own[number]
        starts = list(_list_starts(own))
        matched = sum(any(start.startswith(word) for start in starts) for word in words)
        if not matched:
            return ()
        is_section = bool(self._entries[number].heading)
        begins = own.startswith(sought)
        return (own != sought, not begins, len(words) - matched, is_section, len(own), number)


def _list_entries(library: Library) -> Iterator[HeadingEntry]:
    """Yield every page, and after it its sections."""
    for document in library.documents:
        yield HeadingEntry(document.title, "", document.url)
        known: set[str] = set()
        for number in library.numbers(document.path):
            passage = library.passages[number]
            is_named = passage.heading and passage.heading != document.title
            if is_named and passage.anchor and passage.anchor not in known:
                known.add(passage.anchor)
                yield HeadingEntry(document.title, passage.heading, passage.url)


def _list_starts(words: str) -> Iterator[str]:
    """Yield where a search may begin: at words, and within runs of scripts without spaces."""
    for word in words.split():
        yield word
        if not word.isascii() and IN_RUN.search(word):
            yield from (word[at:] for at in range(1, min(len(word), _MOST_STARTS)))
