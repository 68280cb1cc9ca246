"""Defines how visitors ask for a person in a language, and the desk's replies.

A table has patterns of folded words, one space between two. If a pattern is broken over lines, the
break counts as a space, except next to a bracket or a bar with an explicit space. ``{who}``,
``{talk}`` and the like refer to other entries of the table.
"""

from __future__ import annotations

import re
from functools import cached_property

import msgspec

from aitp_desk.knowledge.search.tokenizer import to_plain_words

_BREAK = re.compile(r"\s*\n\s*")
_NO_SPACE = re.compile(r"(?<=[|(])\s*\n\s*|(?<=[?*+])\s*\n\s*(?=\()|\s*\n\s*(?=\( |\))")
_GROUP = re.compile(r"\((?!\?)")
_LONGEST = 300
"""Only the beginning of longer sentences is read, in characters."""
_ENDS = re.compile(r"[.!?…;:\n¿¡。！？]+")
_PARTS = re.compile(rf"{_ENDS.pattern}|[,–—、，]|\s-\s")
_PAUSES = re.compile(r"[,–—、，-]")
"""Without one of these a sentence has no parts."""


class Sentences(msgspec.Struct, frozen=True):
    """A message, prepared for patterns; read once for all languages.

    Parameters:
        whole: its sentences.
        parts: what is between commas and dashes, unless it is a whole sentence.
    """

    whole: tuple[str, ...]
    parts: tuple[str, ...]

    @classmethod
    def of(cls, words: str) -> Sentences:
        """Return the sentences of a text."""
        whole = tuple([read for said in _ENDS.split(words) if (read := _plain(said))])
        if _PAUSES.search(words) is None:
            return cls(whole, ())
        parts = filter(None, map(_plain, _PARTS.split(words)))
        return cls(whole, tuple(part for part in parts if part not in whole))


class PersonSpeech(msgspec.Struct, frozen=True, dict=True, forbid_unknown_fields=True):
    """A language's patterns and texts for requesting a person.

    Parameters:
        before, after: additions without meaning before and after such a request.
        who: whom the visitor wants to talk to, in full.
        person: words that only mean a person of the site: alone they are a request.
        talk: what the visitor wants to do with them.
        filler: what may be between words.
        asks: a request, in a sentence or a part of one.
        alone: a request if it is the whole message.
        yes: agreement.
        offer: asks whether to ask a person.
        asked, waits: a person was asked now, or before; and where the answer will be.
        full: no one can be asked, because too many requests wait.
        held: an operator, ``{operator}``, has the conversation, and reads its messages.
    """

    before: str
    after: str
    person: str
    who: str
    asks: tuple[str, ...]
    alone: tuple[str, ...]
    yes: str
    talk: str
    offer: str
    asked: str
    waits: str
    full: str
    held: str
    filler: str = "(?!)"

    def is_agreed_to(self, words: str) -> bool:
        """Return whether a text says yes and nothing else, in this language."""
        return self._yes.fullmatch(_plain(words)) is not None

    @property
    def in_sentences(self) -> str:
        """The pattern of sentences, and of parts of them, that ask for a person."""
        return self._any(self.asks)

    @property
    def at_all(self) -> str:
        """The same pattern, including requests that are the whole message."""
        return self._any((*self.asks, *self.alone))

    @cached_property
    def _yes(self) -> re.Pattern[str]:
        return re.compile(_whole(self.yes))

    def _any(self, patterns: tuple[str, ...]) -> str:
        parts = {
            name: f"(?:{_whole(getattr(self, name))})" for name in ("talk", "filler", "person")
        }
        parts["who"] = f"(?:{_whole(self.who)})"
        asked = "|".join(_filled(_whole(pattern), parts) for pattern in patterns)
        before, after = _whole(self.before), _whole(self.after)
        return rf"(?:(?:{before}) )*(?:{asked})(?: (?:{after}))*"


def _plain(words: str) -> str:
    """Return a text in the form of patterns."""
    return to_plain_words(words[:_LONGEST])


def _whole(pattern: str) -> str:
    """Return a pattern in one line, with non-capturing groups: captures are expensive."""
    return _GROUP.sub("(?:", _BREAK.sub(" ", _NO_SPACE.sub("", pattern.strip())))


def _filled(pattern: str, parts: dict[str, str]) -> str:
    """Replace the names in a pattern."""
    return re.sub(r"\{([a-z]+)\}", lambda found: parts[found[1]], pattern)
