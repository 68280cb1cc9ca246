"""What a visitor chooses who was asked back and given options, however that is written."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from aitp_desk.agent.speech import Speech
from aitp_desk.knowledge.words import fold

_WORD = re.compile(r"-?\w+")
_AROUND = " .!\"'“”„«»()"


class Choice(msgspec.Struct, frozen=True):
    """A reply as a choice.

    Parameters:
        option: what it chooses.
        is_void: whether it says nothing that would tell options apart: a number that none has,
            several at once, ``both``, ``yes``.
    """

    option: str | None = None
    is_void: bool = False


def choose(reply: str, options: Sequence[str], speech: Speech) -> Choice:
    """Read a reply as a choice: an option's own words, its number, ``the second one``.

    What is said in the visitor's own words is neither an option nor void.

    Parameters:
        options: as they were offered, in their order.
        speech: how numbers are said.
    """
    said = " ".join(reply.casefold().split()).strip(_AROUND)
    for option in options:
        if said == option.casefold():
            return Choice(option)
    places: set[int] = set()
    for word in _WORD.findall(fold(reply)):
        if word in speech.around:
            continue
        place = _place(word, len(options), speech)
        if place is None:
            return Choice()
        places.add(place)
    chosen = [options[place - 1] for place in places if 1 <= place <= len(options)]
    if len(places) == 1 and chosen:
        return Choice(chosen[0])
    return Choice(is_void=bool(options))


def _place(word: str, last: int, speech: Speech) -> int | None:
    """Which place in a list a word names, the first being 1; None where it names none."""
    if re.fullmatch(r"-?[0-9]{1,4}", word):
        return int(word)
    return last if word in speech.last else speech.places.get(word)
