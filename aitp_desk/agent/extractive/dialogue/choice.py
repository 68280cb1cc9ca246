"""Reads a visitor's choice among offered options, in any wording."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

import msgspec

from aitp_desk.agent.extractive.dialogue.options import names_in
from aitp_desk.agent.extractive.question import is_question
from aitp_desk.agent.speech import Speech, all_speech
from aitp_desk.knowledge.search.spelling import Spelling
from aitp_desk.knowledge.search.tokenizer import fold_text

_TOKEN = re.compile(r"-?\w+|[^\w\s]")
_NUMBER = re.compile(r"-?[0-9]{1,2}")
_LETTER = re.compile(r"(?<!\w)([a-d])\W*$")
_SHORTEST = 4
"""The fewest letters of a word that abbreviates a longer one."""
_AROUND = " .!\"'“”„«»()"
_BREAKS = frozenset(",;.:!?–—")
"""Signs that end the scope of a ``not``."""


class Choice(msgspec.Struct, frozen=True):
    """A reply as a choice.

    Parameters:
        chosen: the chosen options: one, or several if it names several or wants all.
        left: the options that remain to choose from: all if the reply does not distinguish
            them (``yes``, a number that none has), the others if it only says what is not
            meant.
        declines: whether it rejects all of them.
        is_free: whether it says more than that, in the visitor's own words.
    """

    chosen: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    declines: bool = False
    is_free: bool = False

    @property
    def option(self) -> str | None:
        """The only chosen option, or None."""
        return self.chosen[0] if len(self.chosen) == 1 else None


def read_choice(
    reply: str,
    options: Sequence[str],
    speech: Speech,
    stem: Callable[[str], str] = str,
    *,
    noun: Collection[str] = (),
    is_known: Callable[[str], bool] = lambda _word: False,
) -> Choice:
    """Read a reply as a choice: an option's words, its number, ``the second one``, ``both``.

    Of the visitor's other words only exclusions are read here. A position in the list is read in
    every language that the desk speaks, and an option's words also if they are abbreviated or
    misspelt.

    Parameters:
        options: as they were offered, in their order.
        speech: the language of numbers.
        stem: of a folded word, by which words are compared.
        noun: folded words for the options, which may follow a position: ``the second trail``.
        is_known: whether a folded word is one of the content's, and so not misspelt.
    """
    if named := _named(reply, options):
        return Choice((named,))
    if not options:
        return Choice(is_free=True)
    choice = _Reply(reply, options, speech, stem, noun).choice()
    if not choice.is_free or choice.declines or "?" in reply:
        return choice
    near = _placed(reply, options, noun)
    near = near or _nearest(reply, options, speech.around | speech.stop, is_known)
    return choice if near is None else Choice((near,))


def read_choice_by_place(reply: str, options: Sequence[str]) -> str | None:
    """Return the option that a reply names in full or by position alone; else None."""
    return _named(reply, options) or _placed(reply, options, ())


def _named(reply: str, options: Sequence[str]) -> str | None:
    """Return the only option that a reply names, with or without its gist."""
    said = " ".join(reply.casefold().split()).strip(_AROUND)
    named = [option for option in options if said in map(str.casefold, names_in(option))]
    return named[0] if len(named) == 1 else None


def _placed(reply: str, options: Sequence[str], noun: Collection[str]) -> str | None:
    for speech in all_speech():
        choice = _Reply(reply, options, speech, str, noun, by_place=True).choice()
        if choice.option is not None and not choice.is_free:
            return choice.option
    return None


def _nearest(
    reply: str,
    options: Sequence[str],
    filler: Collection[str],
    is_known: Callable[[str], bool],
) -> str | None:
    """Return the only option whose words a reply abbreviates or misspells; None for none."""
    held: dict[str, set[str]] = {}
    for option in options:
        for word in re.findall(r"\w+", fold_text(option)):
            held.setdefault(word, set()).add(option)
    spelling = Spelling(dict.fromkeys(held, 1))
    left = set(options)
    for word in set(re.findall(r"\w+", fold_text(reply))).difference(filler):
        if word in held:
            left &= held[word]
        elif len(word) < _SHORTEST or is_known(word):
            return None
        else:
            begun = [its for one, its in held.items() if one.startswith(word)]
            left &= set().union(*begun) or held.get(spelling.correct(word) or "", set())
    return left.pop() if len(left) == 1 else None


class _Reply:
    """A reply, word by word. Positions in the list of options are counted from 1."""

    def __init__(
        self,
        reply: str,
        options: Sequence[str],
        speech: Speech,
        stem: Callable[[str], str],
        noun: Collection[str] = (),
        *,
        by_place: bool = False,
    ) -> None:
        self._options = tuple(options)
        self._speech = speech
        self._meant: set[int] = set()
        self._not_meant: set[int] = set()
        self._named: set[int] = set()
        self._all = self._no = self._free = False
        asks = "?" in reply or is_question(reply)
        filler = speech.around if asks else speech.around | speech.stop
        filler = filler.union(noun)
        is_unread = asks or by_place
        shared, told = (set[str](), {}) if is_unread else _own_words(self._options, filler, stem)
        denied = False
        letter = _LETTER.search(fold_text(reply))
        words = _TOKEN.findall(fold_text(reply))
        for found, after in zip(_TOKEN.finditer(fold_text(reply)), [*words[1:], ""], strict=False):
            word = found[0]
            self._no |= word in speech.no
            if word in _BREAKS:
                denied = False
            elif word in speech.without:
                denied = True
            elif letter is not None and found.start() == letter.start(1):
                self._meant.add("abcd".index(word) + 1)
            elif _NUMBER.fullmatch(word) and (after == "of" or stem(after) in shared):
                self._free = True  # a quantity: 2 of them, 2 boots
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
        """Return the resulting choice."""
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
        """Return the position in the list that a word names; None if it names none."""
        if _NUMBER.fullmatch(word):
            return int(word)
        last = len(self._options)
        return last if word in self._speech.last else self._speech.places.get(word)


def _among(kept: Sequence[str]) -> Choice:
    """Return an open choice among some of the options."""
    if len(kept) > 1:
        return Choice(left=tuple(kept))
    return Choice(tuple(kept)) if kept else Choice(declines=True)


def _own_words(
    options: Sequence[str], filler: Collection[str], stem: Callable[[str], str]
) -> tuple[set[str], dict[str, int]]:
    """Return the stems that all options share, and the stems of single options.

    Each stem has its position.

    Parameters:
        filler: words that identify no option, though one has them: ``the``.
    """
    of_each = [
        {stem(word) for word in re.findall(r"\w+", fold_text(option)) if word not in filler}
        for option in options
    ]
    held = [one for words in of_each for one in words]
    return set.intersection(*of_each), {
        one: place
        for place, words in enumerate(of_each, 1)
        for one in words
        if held.count(one) == 1
    }
