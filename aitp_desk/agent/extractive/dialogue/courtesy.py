"""Reads greetings, thanks, goodbyes and agreement without a search."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Literal

import msgspec

from aitp_desk.agent.speech import Speech, all_speech
from aitp_desk.agent.speech.recognition import find_speech
from aitp_desk.knowledge.search.tokenizer import to_plain_words

Kind = Literal["hello", "thanks", "bye", "program"]

MAX_WORDS = 80
"""Characters of the longest message that can be a courtesy."""
_ASKED = re.compile(r"[?？]")
_KINDS: tuple[Kind, ...] = ("program", "bye", "thanks", "hello")
"""Which courtesy is answered if there are several, the first of these."""
_plain_words = lru_cache(maxsize=256)(to_plain_words)
"""Of short messages only: each is looked at several times."""


class Courtesy(msgspec.Struct, frozen=True):
    """A message that is only a courtesy.

    Parameters:
        speech: its language.
    """

    kind: Kind
    speech: Speech

    def answer(self, site: str) -> str:
        """Return the reply in the visitor's language.

        Parameters:
            site: the site's name.
        """
        courtesies = self.speech.courtesies
        replies = {
            "hello": courtesies.greets,
            "thanks": courtesies.welcomes,
            "bye": courtesies.parts,
            "program": courtesies.is_program,
        }
        return replies[self.kind].format(site=site)


def find_courtesy(words: str, preferred: Speech) -> Courtesy | None:
    """Return the courtesy if the message is nothing else; else None.

    Parameters:
        preferred: the language to read it in if several have it: ``ciao``, ``hallo``.
    """
    if len(words) > MAX_WORDS:
        return None
    said = _plain_words(words)
    if not said:
        return None
    asks = _ASKED.search(words) is not None
    languages = (preferred, *all_speech())
    if asks:  # any question: not every language is tried
        languages = (preferred, find_speech(words, preferred.tag), all_speech()[0])
    for speech in languages:
        whole, kinds = _patterns(speech)
        if whole.fullmatch(said):
            kind = next((kind for kind in _KINDS if kinds[kind].search(said)), None)
            # "is anyone there?" greets; "thanks?" asks for something
            is_other = asks and kind not in {"hello", "program"}
            return None if kind is None or is_other else Courtesy(kind, speech)
    return None


def is_agreement(words: str, speech: Speech | None = None) -> bool:
    """Return whether a message agrees to the last question: ``sure``, ``yes please``.

    Parameters:
        speech: the language to read it in; by default each.
    """
    if len(words) > MAX_WORDS or _ASKED.search(words):
        return False
    said = _plain_words(words)
    return said in (_all_agreements() if speech is None else _agreements(speech))


def is_plain_yes(words: str) -> bool:
    """Return whether a message is the word for yes alone, in any language: ``ja``, ``oui``."""
    return len(words) <= MAX_WORDS and _plain_words(words) in _words_for_yes()


def says_pay(words: str) -> bool:
    """Return whether a message only says that its author pays, in any language: ``je paie``."""
    if len(words) > MAX_WORDS or _ASKED.search(words):
        return False
    return _plain_words(words) in _words_for_paying()


def asks_for_more(words: str, preferred: Speech) -> bool:
    """Return whether a message only asks to continue the last answer: ``go on``.

    Parameters:
        preferred: the language to read it in first.
    """
    if len(words) > MAX_WORDS:
        return False
    said = _plain_words(words)
    return any(_more(one).fullmatch(said) for one in (preferred, *all_speech()))


def is_refusal(words: str) -> bool:
    """Return whether a message only says no, in any language: ``nein danke``."""
    if len(words) > MAX_WORDS or _ASKED.search(words):
        return False
    said = _plain_words(words)
    return any(_refusals(one).fullmatch(said) for one in all_speech())


@cache
def _refusals(speech: Speech) -> re.Pattern[str]:
    no = "|".join(map(re.escape, sorted(speech.no, key=len, reverse=True)))
    thanks = " ".join(speech.courtesies.thanks.split())
    gap = " " if speech.is_spaced else " ?"
    return re.compile(rf"(?:{no})(?:{gap}(?:{thanks}|{no}))*")


@cache
def _more(speech: Speech) -> re.Pattern[str]:
    courtesies = speech.courtesies
    gap = " " if speech.is_spaced else " ?"
    around = " ".join(courtesies.around.split())
    return re.compile(rf"(?:(?:{around}){gap})*(?:{' '.join(courtesies.more.split())})")


@cache
def _agreements(speech: Speech) -> frozenset[str]:
    return frozenset(_list_agreements(speech))


@cache
def _all_agreements() -> frozenset[str]:
    return frozenset[str]().union(*map(_agreements, all_speech()))


@cache
def _words_for_yes() -> frozenset[str]:
    return frozenset(_list_agreements(speech)[0] for speech in all_speech())


@cache
def _words_for_paying() -> frozenset[str]:
    said = (phrase for one in all_speech() for phrase in one.courtesies.pays.split("|"))
    return frozenset(map(to_plain_words, said))


def _list_agreements(speech: Speech) -> list[str]:
    return " ".join(speech.courtesies.agrees.split("\n")).strip().split("|")


@cache
def _patterns(speech: Speech) -> tuple[re.Pattern[str], dict[Kind, re.Pattern[str]]]:
    """Return the patterns of a message of only courtesies, and of each courtesy."""
    courtesies = speech.courtesies
    phrases: dict[Kind, str] = {
        "hello": courtesies.hello,
        "thanks": courtesies.thanks,
        "bye": courtesies.bye,
        "program": courtesies.program,
    }
    any_of = "|".join(" ".join(each.split()) for each in (*phrases.values(), courtesies.around))
    end, edge = (r"(?: |\Z)", r"\b") if speech.is_spaced else (" ?", "")
    return (
        re.compile(rf"(?:(?:{any_of}){end})+"),
        {
            kind: re.compile(rf"{edge}(?:{' '.join(each.split())}){edge}")
            for kind, each in phrases.items()
        },
    )
