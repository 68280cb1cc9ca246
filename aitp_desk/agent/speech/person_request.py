"""Wanting a person: what of a visitor's words asks for one, or agrees to it, in every language."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

import msgspec

from aitp_desk.agent.speech import ENGLISH, Speech, all_speech
from aitp_desk.agent.speech.person import Sentences

LONGEST_READ = 2_000
"""Of longer messages only the end is read, in characters."""


class PersonRequest(msgspec.Struct, frozen=True):
    """That a person of the site is to be asked.

    Parameters:
        why: a visitor has asked for one, or their question could not be answered.
        about: what for, in the visitor's words.
        note: what the person should know besides.
        language: tag of the language in which it is told.
    """

    why: Literal["request", "question"]
    about: str
    note: str = ""
    language: str = ENGLISH


def asks_for_person(words: str, *, in_full: bool = False) -> Speech | None:
    """The language in which words ask for a person of the site; None where they do not.

    Whole sentences are read, not words in them: who asks for ``human hair brushes`` wants brushes.

    Parameters:
        in_full: whether a word such as ``human`` does not ask for one.
    """
    said = Sentences.of(words[-LONGEST_READ:])
    at_all, in_sentences = _asking()
    is_alone = not in_full and len(said.whole) == 1
    tags: list[str | None] = []
    for sentence in (*said.whole, *said.parts):
        found = at_all.fullmatch(sentence)  # as nearly nothing does
        if found is not None and not (is_alone and sentence in said.whole):
            found = in_sentences.fullmatch(sentence)
        if found is not None:
            tags.append(found.lastgroup)
    return next(speech for speech in all_speech() if speech.tag in tags) if tags else None


@cache
def _asking() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What asks for a person alone or in a sentence, and there, in each language a group."""
    persons = [(speech.tag, speech.person) for speech in all_speech()]
    at_all = "|".join(f"(?P<{tag}>{person.at_all})" for tag, person in persons)
    in_sentences = "|".join(f"(?P<{tag}>{person.in_sentences})" for tag, person in persons)
    return re.compile(at_all), re.compile(in_sentences)


def read_languages() -> None:
    """Read what asks for a person in every language; else the first visitor's words wait for it."""
    words_of_nobody = "nothing"
    asks_for_person(words_of_nobody)
    agrees_to_person(words_of_nobody)


def agrees_to_person(words: str) -> Speech | None:
    """The language in which words say yes, and nothing else; None where they do not."""
    words = words[-LONGEST_READ:]
    return next((one for one in all_speech() if one.person.is_agreed_to(words)), None)
