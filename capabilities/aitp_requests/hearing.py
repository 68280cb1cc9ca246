"""Answers in words: ``2``, ``the second one, two of them``, ``blue and red``, ``yes``.

Words are an answer where they have one reading, whole. They are cut at commas and ``and`` in every
way; what is between is a choice by its name, its number or its place, with a quantity where
products are asked for. Two readings that differ, or a word that is left over, and it is none: the
agent hears it instead. Names and numbers are understood in every language, the rest in English.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import product

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from aitp_desk.capability import InvalidRequest
from aitp_requests.choices import Choice, choices_of
from aitp_requests.messages import Decision, RequestDecision, SelectedOption
from aitp_requests.rules import settle_options

Pick = tuple[str, int | None]
"""The id of a choice, and how many where that was said."""

MOST_PIECES = 8
"""What is cut into more than this is no answer."""
MOST_MEANINGS = 64
"""So many readings of one cut are looked at; where there are more it is ambiguous anyway."""

_NUMBERS = "one two three four five six seven eight nine ten eleven twelve".split()
_PLACES = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_WORDS = {word: number for number, word in enumerate(_NUMBERS, 1)}
_ORDINALS = {word: number for number, word in enumerate(_PLACES, 1)}
_COUNT = rf"(?P<count>[1-9][0-9]{{0,5}}|{'|'.join(_NUMBERS)})"

_PAIR = re.compile(r"[0-9]\s*[,;+\n]\s*[0-9]")
_CUT = re.compile(r"(\s*(?:[,;&+\n]|\band\b)\s*)")
_POLITE = re.compile(r"[,\s]+(?:please|thanks|thank you)\Z")
_WANTED = re.compile(
    r"(?:please |i would like |i'd like |i'll take |i will take |i'll have |i take |i choose "
    r"|i want |give me )"
)
_BY_NUMBER = re.compile(r"(?P<said>option |number |no\. ?|nr\. ?|#)?(?P<number>[0-9]{1,3})[.)]?")
_BY_WORD = re.compile(rf"(?P<said>option |number )?(?P<word>{'|'.join(_NUMBERS)})")
_BY_PLACE = re.compile(
    rf"(?:the )?(?:(?P<word>{'|'.join(_PLACES)}|last)|(?P<digits>[1-9][0-9]?)(?:st|nd|rd|th))"
    r"(?: one| option)?"
)
_COUNT_OF = re.compile(rf"{_COUNT} of (?P<what>.+)")
_COUNT_BEFORE = re.compile(rf"{_COUNT}(?: ?[x×])? (?P<what>.+)")
_COUNT_AFTER = re.compile(rf"(?P<what>.+?) ?[x×] ?{_COUNT}")
_COUNT_ALONE = re.compile(
    rf"{_COUNT} (?:of (?:them|those|these|it)|pieces)|[x×] ?(?P<again>[1-9]\d?)"
)

_YES = frozenset("yes|y|yep|yeah|ok|okay|sure|confirm|confirmed|go ahead".split("|"))
_NO = frozenset("no|n|nope|no thanks|no thank you".split("|"))
_YES_NAMES = frozenset({"yes", "confirm"})
_ALL = frozenset({"all", "all of them", "all of these", "everything"})


class Waiting(msgspec.Struct, frozen=True):
    """A request that waits, and how it may be meant.

    Parameters:
        by_name_only: whether others wait too.
        is_wished: whether a wish was said before: of products *I'll take 2* may be how many.
    """

    request: RequestDecision
    by_name_only: bool = False
    is_wished: bool = False

    @property
    def is_counted(self) -> bool:
        """Whether quantities are asked for."""
        return self.request.type == "products"


def understand(text: str, requests: Sequence[RequestDecision]) -> Decision | None:
    """The one answer that words can be to one of the requests that wait; None for none or several.

    Where several wait, choices are meant by their names alone: *2* could answer each of them.
    """
    heard = []
    for request in requests:
        picks = _read(text, Waiting(request, by_name_only=len(requests) > 1))
        if picks is not None:
            heard.append((request, picks))
    if len(heard) != 1:
        return None
    ((request, picks),) = heard
    return Decision(settle_options(request, _selected(picks)), request.id)


def _read(text: str, waiting: Waiting) -> tuple[Pick, ...] | None:
    """The one reading of words as an answer to a request; None where there is none, or several."""
    said = _plain(text)
    readings: set[tuple[Pick, ...]] = set()
    polite = _POLITE.sub("", said)
    wished = _WANTED.sub("", polite, count=1)
    forms = {said, polite} if wished == polite else {said, wished}
    for form in forms:
        one = replace(waiting, is_wished=form != said and wished != polite)
        for reading in _readings(form, one):
            if _fits(one.request, reading):
                readings.add(reading)
            if len(readings) > 1:
                return None
    return readings.pop() if readings else None


def _readings(said: str, waiting: Waiting) -> Iterator[tuple[Pick, ...]]:
    choices = choices_of(waiting.request)
    takes_all = waiting.request.type == "checkbox" and not waiting.by_name_only
    if takes_all and (said in _ALL or (said == "both" and len(choices) == 2)):
        yield tuple((choice.id, None) for choice in choices)
    pieces = _CUT.split(said)
    # of products "1, 2" may be two of them, or two pieces of the first
    is_pair = waiting.is_counted and _PAIR.search(said)
    if is_pair or len(pieces) // 2 >= MOST_PIECES:
        pieces = [said]
    for items in _groupings(pieces):
        yield from _meanings(items, waiting, choices)


def _groupings(pieces: Sequence[str]) -> Iterator[list[str]]:
    """Every way to join what was cut: a name may hold a comma, or the word *and*."""
    cuts = len(pieces) // 2
    for joined in product((False, True), repeat=cuts):
        items = [pieces[0]]
        for number, joins in enumerate(joined):
            glue, piece = pieces[2 * number + 1], pieces[2 * number + 2]
            if joins:
                items[-1] += glue + piece
            else:
                items.append(piece)
        yield items


def _meanings(
    items: Sequence[str], waiting: Waiting, choices: Sequence[Choice]
) -> Iterator[tuple[Pick, ...]]:
    """What items mean together, each choice once."""
    *before, last = items
    alone = _COUNT_ALONE.fullmatch(last) if waiting.is_counted and len(before) == 1 else None
    if alone is not None:
        count = _count(alone["count"] or alone["again"])
        for id, counted in _picks(before[0], waiting, choices):
            if counted is None:
                yield ((id, count),)
        return
    order = {choice.id: number for number, choice in enumerate(choices)}
    meant = [_picks(item, waiting, choices) for item in items]
    if all(meant):
        for number, picks in enumerate(product(*meant)):
            if number == MOST_MEANINGS:
                return
            yield tuple(sorted(picks, key=lambda pick: order[pick[0]]))


def _picks(item: str, waiting: Waiting, choices: Sequence[Choice]) -> frozenset[Pick]:
    """All that one item can mean."""
    found: set[Pick] = {(id, None) for id in _numbered(item, waiting, choices)}
    if not (waiting.by_name_only and _is_number(item)):
        found |= {(id, None) for id in _named(item, choices)}
    if waiting.is_counted:
        found |= _counted(item, waiting, choices)
    return frozenset(found)


def _named(item: str, choices: Sequence[Choice]) -> set[str]:
    bare = re.sub(r"\Athe | (?:one|option)\Z", "", item)
    said = {item, bare, bare.removesuffix(" one")} - {""}
    return {
        choice.id
        for choice in choices
        if any(_plain(name) in said for name in (choice.name, *choice.names))
    }


def _is_number(item: str) -> bool:
    return any(form.fullmatch(item) for form in (_BY_NUMBER, _BY_WORD, _BY_PLACE))


def _numbered(item: str, waiting: Waiting, choices: Sequence[Choice]) -> set[str]:
    """By its number or its place, and the yes and no of a confirmation."""
    if waiting.by_name_only:
        return set()
    if by_number := _BY_NUMBER.fullmatch(item):
        is_count = waiting.is_counted and waiting.is_wished and not by_number["said"]
        return set() if is_count else _at(int(by_number["number"]), choices)
    by_word = _BY_WORD.fullmatch(item)
    # "two" of products may be how many
    if by_word and (by_word["said"] or not waiting.is_counted):
        return _at(_WORDS[by_word["word"]], choices)
    if by_place := _BY_PLACE.fullmatch(item):
        return _at(_place(by_place, len(choices)), choices)
    if waiting.request.type == "confirmation":
        return _confirmed(item, choices)
    return set()


def _confirmed(item: str, choices: Sequence[Choice]) -> set[str]:
    """Yes and no, where one choice alone begins so."""
    for words, names in ((_YES, _YES_NAMES), (_NO, frozenset({"no"}))):
        if item in words:
            begun = {c.id for c in choices if re.split(r"\W", _plain(c.name))[0] in names}
            return begun if len(begun) == 1 else set()
    return set()


def _counted(item: str, waiting: Waiting, choices: Sequence[Choice]) -> set[Pick]:
    """A choice and how many. ``2 x 1`` could be both ways: numbers are counted with *of*."""
    found: set[Pick] = set()
    for form in (_COUNT_OF, _COUNT_BEFORE, _COUNT_AFTER):
        said = form.fullmatch(item)
        if said is None:
            continue
        what = said["what"].removeprefix("the ") if form is _COUNT_OF else said["what"]
        ids = set() if _is_number(what) else _named(what, choices)
        if not ids:
            ids = _named(what.removesuffix("s"), choices)
        if form is _COUNT_OF or _BY_PLACE.fullmatch(what):
            ids |= _numbered(what, replace(waiting, is_wished=False), choices)
        found |= {(id, _count(said["count"])) for id in ids}
    return found


def _at(number: int, choices: Sequence[Choice]) -> set[str]:
    return {choices[number - 1].id} if 1 <= number <= len(choices) else set()


def _place(said: re.Match[str], count: int) -> int:
    if said["digits"]:
        return int(said["digits"])
    return count if said["word"] == "last" else _ORDINALS[said["word"]]


def _count(said: str) -> int:
    return _WORDS.get(said) or int(said)


def _fits(request: RequestDecision, picks: Sequence[Pick]) -> bool:
    try:
        settle_options(request, _selected(picks))
    except InvalidRequest:
        return False
    return True


def _selected(picks: Sequence[Pick]) -> tuple[SelectedOption, ...]:
    return tuple(
        SelectedOption(id, quantity=UNSET if count is None else count) for id, count in picks
    )


def _plain(text: str) -> str:
    """Text as it is compared: no matter how it is written, and without what ends a sentence."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    lines = [" ".join(line.split()) for line in folded.strip().splitlines()]
    return "\n".join(filter(None, lines)).strip(" \"'“”„«».!")
