"""How a person is asked for in a language, and what the desk says of that.

A table has patterns of folded words, one space between two. Where a pattern is broken over lines,
the break stands for a space, but for nothing beside a bracket or a bar that a space stands behind
anyway. ``{who}``, ``{talk}`` and the like stand for others of the table.
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
"""Of longer sentences only the beginning is read, in characters."""
_ENDS = re.compile(r"[.!?…;:\n¿¡。！？]+")
_PARTS = re.compile(rf"{_ENDS.pattern}|[,–—、，]|\s-\s")
_PAUSES = re.compile(r"[,–—、，-]")
"""Without one of these nothing has parts but its sentences."""


class Sentences(msgspec.Struct, frozen=True):
    """What was said, as patterns have it; read once for all languages.

    Parameters:
        whole: its sentences.
        parts: what stands between commas and dashes, each thing that is no sentence itself.
    """

    whole: tuple[str, ...]
    parts: tuple[str, ...]

    @classmethod
    def of(cls, words: str) -> Sentences:
        """The sentences of these words."""
        whole = tuple([read for said in _ENDS.split(words) if (read := _plain(said))])
        if _PAUSES.search(words) is None:
            return cls(whole, ())
        parts = filter(None, map(_plain, _PARTS.split(words)))
        return cls(whole, tuple(part for part in parts if part not in whole))


class PersonSpeech(msgspec.Struct, frozen=True, dict=True, forbid_unknown_fields=True):
    """A language's table of that.

    Parameters:
        before, after: what may stand before and after such words, and says nothing else.
        who: whom one asks to talk to, in full.
        person: what nobody says who does not mean a person of the site: alone it asks for one.
        talk: what one would like to do with them.
        filler: what may stand between words.
        asks: how that is asked, in a sentence or a part of one.
        alone: the same, where it is all of what is said.
        yes: how it is agreed to.
        offer: asks whether a person shall be asked.
        asked, waits: that one was asked now, or before; and where the answer will stand.
        full: that nobody can be asked, for too many are waited for.
        held: that a person, ``{operator}``, has the conversation, and reads what is said there.
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
        """Whether words say yes and nothing else, in this language."""
        return self._yes.fullmatch(_plain(words)) is not None

    @property
    def in_sentences(self) -> str:
        """The pattern of sentences, and of parts of them, that ask for a person."""
        return self._any(self.asks)

    @property
    def at_all(self) -> str:
        """The pattern of the same, and of what asks for one where it is all of what is said."""
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
    """Words as patterns have them."""
    return to_plain_words(words[:_LONGEST])


def _whole(pattern: str) -> str:
    """A pattern in one line, whose groups keep nothing: what they would keep costs most."""
    return _GROUP.sub("(?:", _BREAK.sub(" ", _NO_SPACE.sub("", pattern.strip())))


def _filled(pattern: str, parts: dict[str, str]) -> str:
    """A pattern with what its names stand for."""
    return re.sub(r"\{([a-z]+)\}", lambda found: parts[found[1]], pattern)
