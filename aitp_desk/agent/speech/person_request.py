"""Detects a request for a person, or agreement to one, in every language."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

import msgspec

from aitp_desk.agent.speech import ENGLISH, Speech, all_speech
from aitp_desk.agent.speech.person import Sentences

LONGEST_READ = 2_000
"""Only the end of longer messages is read, in characters."""


class PersonRequest(msgspec.Struct, frozen=True):
    """A request for a person of the site.

    Parameters:
        why: the visitor asked for one, or their question could not be answered.
        about: the subject, in the visitor's words.
        note: what the person should know besides.
        language: tag of the language of the reply.
    """

    why: Literal["request", "question"]
    about: str
    note: str = ""
    language: str = ENGLISH


def asks_for_person(words: str, *, in_full: bool = False) -> Speech | None:
    """Return the language in which a message asks for a person; None if it does not.

    Whole sentences are matched, not words: ``human hair brushes`` are brushes.

    Parameters:
        in_full: whether a word such as ``human`` alone is no request.
    """
    said = Sentences.of(words[-LONGEST_READ:])
    at_all, in_sentences = _asking()
    is_alone = not in_full and len(said.whole) == 1
    tags: list[str | None] = []
    for sentence in (*said.whole, *said.parts):
        found = at_all.fullmatch(sentence)  # as hardly any message does
        if found is not None and not (is_alone and sentence in said.whole):
            found = in_sentences.fullmatch(sentence)
        if found is not None:
            tags.append(found.lastgroup)
    return next(speech for speech in all_speech() if speech.tag in tags) if tags else None


@cache
def _asking() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of requests for a person.

    They match alone or in a sentence, and have a group for each language.
    """
    persons = [(speech.tag, speech.person) for speech in all_speech()]
    at_all = "|".join(f"(?P<{tag}>{person.at_all})" for tag, person in persons)
    in_sentences = "|".join(f"(?P<{tag}>{person.in_sentences})" for tag, person in persons)
    return re.compile(at_all), re.compile(in_sentences)


def read_languages() -> None:
    """Compile the patterns of every language; otherwise the first message waits for it."""
    words_of_nobody = "nothing"
    asks_for_person(words_of_nobody)
    agrees_to_person(words_of_nobody)


def agrees_to_person(words: str) -> Speech | None:
    """Return the language in which a text says yes, and nothing else; None if it does not."""
    words = words[-LONGEST_READ:]
    return next((one for one in all_speech() if one.person.is_agreed_to(words)), None)
