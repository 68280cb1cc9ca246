"""Splits a visitor's message into tokens, and tracks which are understood."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import TypeVar

import msgspec

T = TypeVar("T")

MAX_READ = 4096
"""How many characters are read. A longer text is not read at all, for its end might revoke its
beginning.
"""

MAX_TOKENS = 1200
"""How many words, numbers and signs are read; a usual text of the maximal length has 800."""

MAX_GUESSES = 2000
"""How many pieces of a text are tried in other spellings, for all fields together: a list of 300
ids that match no field takes 1,800.
"""

_LONGEST_PHRASE = 8
_TOKEN = re.compile(
    r"https?://[^\s<>\"“”]++"
    r"|[\w.+-]++@[\w-]++(?:\.[\w-]++)++"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]++(?:Z|[+-][0-9]{2}:[0-9]{2})?"
    r"|(?>[0-9]+(?:[.,][0-9]+)*)(?![\w/–-]\w|\w|:[0-9])"
    r"|(?>[0-9]+(?:[.,][0-9]+)*)(?=[x×](?:\s|$|[A-Z]))"
    r"|x(?=[0-9]+(?:\W|$))"
    r"|(?>[0-9]+(?:[.,][0-9]+)?)(?=(?:EUR|USD|GBP|CHF|kg|cm|mm|ml|km)(?:\W|$))"
    r"|x(?=[A-Z]{2})"
    r"|\w(?:\w|[-–.'’](?=\w)|(?<=[0-9])[/:](?=[0-9]))*+"
    r"|\n|[^\s\w]"
)
_WORDS = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[^\w\s]")
_HAS_DIGIT = re.compile(r"[0-9]")
_QUOTED = re.compile(
    r'"([^"\n]{1,2000})"|“([^”\n]{1,2000})”|«([^»\n]{1,2000})»|„([^“”\n]{1,2000})[“”]'
    r"|(?<!\w)'([^'\n]{1,500})'(?!\w)"
)
_POSSESSIVE = re.compile(r"['’]s?$")
_NOT_OF_A_WORD = re.compile(r"[\W_]+")
_NAME_WORDS = re.compile(r"[^\W_]+(?:['’]s?(?![^\W_]))?")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Token(msgspec.Struct, frozen=True):
    """A word, a number, a sign or the end of a line.

    Parameters:
        fold: its form for comparison; empty for a sign.
        start: where it begins in the text, in characters.
        quote: number of its quoted passage, from 1 on; 0 outside.
    """

    text: str
    fold: str
    start: int
    end: int
    quote: int = 0


class TooMuchToRead(Exception):
    """A text has so many possible meanings that nothing of it is read."""


class Quote(msgspec.Struct, frozen=True):
    """A quoted passage: its words, and the positions of its tokens without the marks."""

    text: str
    start: int
    end: int


def fold_word(word: str) -> str:
    """Return a word without case, accents, signs and the plural ending."""
    word = unicodedata.normalize("NFKD", _POSSESSIVE.sub("", word).casefold())
    word = _NOT_OF_A_WORD.sub("", "".join(c for c in word if not unicodedata.combining(c)))
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def split_words(text: str) -> list[str]:
    """Split a name or title: ``giftWrap``, ``gift_wrap`` and ``Gift wrap`` give the same words."""
    return [
        folded for word in _NAME_WORDS.findall(_HUMP.sub(" ", text)) if (folded := fold_word(word))
    ]


def make_key(text: str) -> str:
    """Return the lookup key of a phrase, however its words are joined."""
    return "".join(split_words(text))


class TokenText:
    """A visitor's message. A text that is too long is not read at all.

    Attributes:
        source: the text.
        tokens: in order.
        quotes: the passages in quotation marks.
    """

    def __init__(self, source: str) -> None:
        self.source = source if len(source) <= MAX_READ else ""
        spans = [found.span() for found in _QUOTED.finditer(self.source)]
        self.tokens = list(_tokens(self.source, spans))
        if len(self.tokens) > MAX_TOKENS:
            self.source, self.tokens, spans = "", [], []
        self.quotes = _quotes(self, len(spans))
        self._taken = bytearray(len(self.tokens))
        self._guesses = 0

    def __len__(self) -> int:
        return len(self.tokens)

    def fold(self, place: int) -> str:
        """Return the folded token at a position; empty outside of the text."""
        return self.tokens[place].fold if 0 <= place < len(self.tokens) else ""

    def word(self, place: int) -> str:
        """Return the token at a position as it is written; empty outside of the text."""
        return self.tokens[place].text if 0 <= place < len(self.tokens) else ""

    def mark_read(self, start: int, end: int) -> None:
        """Mark tokens as understood: no other reader takes them."""
        for place in range(max(start, 0), min(end, len(self._taken))):
            self._taken[place] = 1

    def is_free(self, start: int, end: int | None = None) -> bool:
        """Return whether the tokens at a position exist and are all unused."""
        stop = start + 1 if end is None else end
        return 0 <= start < stop <= len(self._taken) and not any(self._taken[start:stop])

    def is_taken(self, place: int) -> bool:
        """Return whether the token at a position is understood."""
        return 0 <= place < len(self._taken) and bool(self._taken[place])

    def guess(self) -> None:
        """Count that a piece is tried in other spellings.

        Raises:
            TooMuchToRead: the limit is reached.
        """
        self._guesses += 1
        if self._guesses > MAX_GUESSES:
            raise TooMuchToRead

    def is_whole(self, start: int, end: int) -> bool:
        """Return whether tokens are outside of quotation marks, or are a whole quotation."""
        inside = {token.quote for token in self.tokens[start:end]}
        if inside == {0}:
            return True
        if len(inside) > 1:
            return False
        quote = self.quotes[inside.pop() - 1]
        return (quote.start, quote.end) == (start, end)

    def touches(self, place: int) -> bool:
        """Return whether nothing is between a token and the one before it."""
        return 0 < place < len(self.tokens) and (
            self.tokens[place - 1].end == self.tokens[place].start
        )

    def between(self, start: int, end: int) -> str:
        """Return the text of some tokens."""
        if start >= end:
            return ""
        return self.source[self.tokens[start].start : self.tokens[end - 1].end]

    def phrase_at(self, start: int, phrases: Mapping[str, T]) -> tuple[int, T] | None:
        """Return the longest phrase that begins at a token, however its words are joined.

        Parameters:
            phrases: by their :func:`make_key`.

        Returns:
            The position after it, and its value; None if none begins there.
        """
        if not self.fold(start):
            return None
        said, found = "", None
        for place in range(start, min(start + _LONGEST_PHRASE, len(self.tokens))):
            token = self.tokens[place]
            if not token.fold:
                if token.text in "-–_/" and self.touches(place) and self.touches(place + 1):
                    continue
                break
            said += token.fold
            if said in phrases:
                found = place + 1, phrases[said]
        return found


def _quotes(text: TokenText, count: int) -> list[Quote]:
    """Return the quoted passages, by their numbers; without empty ones."""
    places: list[list[int]] = [[] for _ in range(count)]
    for place, token in enumerate(text.tokens):
        if token.quote:
            places[token.quote - 1].append(place)
    bounds = [(found[0], found[-1] + 1) if found else (0, 0) for found in places]
    return [Quote(text.between(start, end), start, end) for start, end in bounds]


def _tokens(source: str, quoted: list[tuple[int, int]]) -> Iterator[Token]:
    number = 0
    for start, text in _pieces(source):
        while number < len(quoted) and quoted[number][1] <= start + 1:
            number += 1
        inside = number < len(quoted) and quoted[number][0] < start < quoted[number][1] - 1
        yield Token(text, fold_word(text), start, start + len(text), number + 1 if inside else 0)


def _pieces(source: str) -> Iterator[tuple[int, str]]:
    """Yield the tokens with their positions; a word without a digit is split at its hyphens."""
    for found in _TOKEN.finditer(source):
        text = found[0]
        if text.startswith(("http://", "https://")):
            yield found.start(), text.rstrip(".,;:!?)'’")
        elif "@" in text and len(text) > 1:
            yield found.start(), text.rstrip(".-")
        elif _HAS_DIGIT.search(text) or not text[0].isalnum():
            yield found.start(), text
        else:
            for word in _WORDS.finditer(text):
                yield found.start() + word.start(), word[0]
