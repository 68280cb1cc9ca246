"""What a visitor chooses who was asked back and given options, however that is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

import msgspec

from aitp_desk.agent.question import is_question
from aitp_desk.agent.speech import Speech
from aitp_desk.knowledge.words import fold

_TOKEN = re.compile(r"-?\w+|[^\w\s]")
_NUMBER = re.compile(r"-?[0-9]{1,2}")
_LETTER = re.compile(r"(?<!\w)([a-d])\W*$")
_AROUND = " .!\"'“”„«»()"
_BREAKS = frozenset(",;.:!?–—")
"""What ends the reach of a ``not``."""


class Choice(msgspec.Struct, frozen=True):
    """A reply as a choice.

    Parameters:
        chosen: what it chooses: one option, or several where it names several or wants all.
        left: of which it still has to be chosen: all options where it says nothing that would tell
            them apart (``yes``, a number that none has), the others where it only says what is not
            meant.
        declines: whether it says that none of them is meant.
        is_free: whether it says more than that, in the visitor's own words.
    """

    chosen: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    declines: bool = False
    is_free: bool = False

    @property
    def option(self) -> str | None:
        """The one option that it chooses, or None."""
        return self.chosen[0] if len(self.chosen) == 1 else None


def choose(
    reply: str, options: Sequence[str], speech: Speech, stem: Callable[[str], str] = str
) -> Choice:
    """Read a reply as a choice: an option's own words, its number, ``the second one``, ``both``.

    Of the visitor's other words only those are read here that say what is *not* meant.

    Parameters:
        options: as they were offered, in their order.
        speech: how numbers are said.
        stem: of a folded word, by which words are compared.
    """
    said = " ".join(reply.casefold().split()).strip(_AROUND)
    for option in options:
        if said == option.casefold():
            return Choice((option,))
    return _Reply(reply, options, speech, stem).choice() if options else Choice(is_free=True)


class _Reply:
    """A reply, word by word. Places in the list of options are counted from 1."""

    def __init__(
        self, reply: str, options: Sequence[str], speech: Speech, stem: Callable[[str], str]
    ) -> None:
        self._options = tuple(options)
        self._speech = speech
        self._meant: set[int] = set()
        self._not_meant: set[int] = set()
        self._named: set[int] = set()
        self._all = self._no = self._free = False
        asks = "?" in reply or is_question(reply)
        filler = speech.around if asks else speech.around | speech.stop
        shared, told = (set[str](), {}) if asks else _own_words(self._options, filler, stem)
        denied = False
        letter = _LETTER.search(fold(reply))
        for found in _TOKEN.finditer(fold(reply)):
            word = found[0]
            self._no |= word in speech.no
            if word in _BREAKS:
                denied = False
            elif word in speech.without:
                denied = True
            elif letter is not None and found.start() == letter.start(1):
                self._meant.add("abcd".index(word) + 1)
            elif (place := self._place(word)) is not None:
                (self._not_meant if denied else self._meant).add(place)
            elif word in speech.every:
                self._all |= not denied
            elif word in speech.no:
                continue
            elif (own := told.get(stem(word))) is not None:
                (self._not_meant if denied else self._named).add(own)
            elif word not in filler and stem(word) not in shared and word.strip("-").isalnum():
                self._free = True

    def choice(self) -> Choice:
        """What it comes to."""
        turned_down = self._at(self._not_meant)
        if turned_down:
            kept = [one for one in self._options if one not in turned_down]
            named = [one for one in self._at(self._named or self._meant) if one in kept]
            return _among(named or kept)
        if self._free or (self._named and self._meant - self._named):
            return Choice(declines=self._no, is_free=True)
        if meant := self._named | self._meant:
            chosen = self._at(meant)
            is_there = len(chosen) == len(meant)
            return Choice(chosen) if is_there else Choice(left=self._options)
        if self._no:
            return Choice(declines=True)
        return Choice(self._options) if self._all else Choice(left=self._options)

    def _at(self, places: set[int]) -> tuple[str, ...]:
        return tuple(one for place, one in enumerate(self._options, 1) if place in places)

    def _place(self, word: str) -> int | None:
        """Which place in the list a word names; None where it names none."""
        if _NUMBER.fullmatch(word):
            return int(word)
        last = len(self._options)
        return last if word in self._speech.last else self._speech.places.get(word)


def _among(kept: Sequence[str]) -> Choice:
    """The choice of which no more is said than that it is one of these."""
    if len(kept) > 1:
        return Choice(left=tuple(kept))
    return Choice(tuple(kept)) if kept else Choice(declines=True)


def _own_words(
    options: Sequence[str], filler: Collection[str], stem: Callable[[str], str]
) -> tuple[set[str], dict[str, int]]:
    """The stems that all of the options have, and those that only one has, each with its place.

    Parameters:
        filler: words that name no option, though one has them: ``the``.
    """
    of_each = [
        {stem(word) for word in re.findall(r"\w+", fold(option)) if word not in filler}
        for option in options
    ]
    held = [one for words in of_each for one in words]
    return set.intersection(*of_each), {
        one: place
        for place, words in enumerate(of_each, 1)
        for one in words
        if held.count(one) == 1
    }
