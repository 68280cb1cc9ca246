"""Reads what a visitor's words are about, and what they want done."""

from __future__ import annotations

import re
from collections.abc import Container

import msgspec

from aitp_desk.agent.intents.deeds import find_deeds, list_deed_words
from aitp_desk.agent.intents.languages import Language, list_function_words
from aitp_desk.agent.intents.speech_acts import CODE, DAY, PRESENT, REFERENCE, SOON, TIME, SpeechAct
from aitp_desk.knowledge.search.tokenizer import STOP_WORDS, Stemmer

_SHOW = re.compile(
    r"(?<!\S)(?:show|find|list|check|tell me|looking for|look up|track|whether|where|status|see if"
    r"|let me know|what's|any)(?!\S)"
)
_AMOUNT = re.compile(
    r"(?<!\S)(?:\d{1,3}|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty"
    r"|thirty|fifty|a hundred|hundred|dozen)(?!\S)(?! (?:minutes?|hours?|days?|weeks?|months?"
    r"|years?|kg|kilos?|kilograms?|grams?|tons?|pounds?|miles?|km|kilomet(?:er|re)s?|feet|inches"
    r"|met(?:er|re)s?|lit(?:er|re)s?|degrees?|percent|euros?|dollars?|francs?|pence)(?!\S))"
)
"""A number of things, and not the measure of one: a time, a weight, a length, a price."""
_OWN = re.compile(
    r"(?<!\S)(?:i|i'm|i've|we|we're|we've|my|our|mine|ours|ich|wir|mein\w*|unser\w*|je|nous|mon|ma|mes"
    r"|notre|nos)(?!\S)"
)
CALENDAR = (
    "january february march april may june july august september october november december monday"
    " tuesday wednesday thursday friday saturday sunday jan feb mar apr jun jul aug sep sept oct"
    " nov dec mon tue wed thu fri sat sun today tomorrow tonight morning afternoon evening noon"
    " day week weekend month next one two three four five six seven eight nine ten eleven twelve"
    " fifteen twenty thirty fifty hundred dozen"
).split()
_IDLE = frozenset(
    "i we you me us my our your a an the to of on in at for from by with is are be do does have has"
    " had can could would will please it its this that there any some so want need like not no now"
    " get got if when which what how much many still mine him her they them hi hello thanks thank"
    " just also again yet right anything something pls plz sorry kindly".split()
)
_WORD = re.compile(r"[^\W_]+")
_WHOM = re.compile(r"(?<!\S)for (?:my|our) (\w+)")
"""Whom or which occasion something is for: it tells nothing about what is wanted."""


class Utterance(msgspec.Struct, frozen=True):
    """A visitor's words as they were read.

    Parameters:
        words: the telling ones, folded, by their stems.
        objects: the stems of those that are in no phrase for a deed.
        deeds: what the words want done, as of :func:`find_deeds`.
        has_reference: whether a number such as ``FB-20417`` is in them.
        has_code: whether there may be another, of a form that only the site knows.
        is_present: whether they ask about this moment, or about what is left.
        asks_to_show: whether something is to be shown or looked up.
        has_amount: whether they name a number of things.
        has_day: whether they name a day or a time.
        is_own: whether they speak of the visitor.
    """

    text: str
    act: SpeechAct
    words: dict[str, str]
    objects: frozenset[str]
    deeds: frozenset[str]
    has_reference: bool
    has_code: bool
    is_present: bool
    asks_to_show: bool
    has_amount: bool
    has_day: bool
    is_own: bool

    @property
    def may_be_particular(self) -> bool:
        """Whether the words may speak of one day, thing or person."""
        return (
            self.has_reference
            or self.has_code
            or self.has_day
            or self.has_amount
            or "@" in self.text
        )

    @property
    def is_wish(self) -> bool:
        """Whether they want something done, or are about one thing."""
        return self.act in ("request", "favour") or self.has_reference


def read_utterance(
    text: str,
    plain: str,
    language: Language,
    act: SpeechAct,
    stemmer: Stemmer,
    site_words: Container[str],
) -> Utterance:
    """Return a text as it was read.

    Parameters:
        plain: as :func:`to_plain_text` returns it.
        language: as :func:`read_language` returns it.
        act: as :func:`read_act` returns it.
        site_words: stems of the actions' words; of a text in another language nothing else tells.
    """
    words = list_telling_words(plain, stemmer)
    if language != "en":
        idle = list_function_words(language)
        words = {s: word for s, word in words.items() if s in site_words and word not in idle}
    no_objects = list_deed_words() | frozenset(_WHOM.findall(plain))
    return Utterance(
        text,
        act,
        words,
        frozenset(stem for stem, word in words.items() if word not in no_objects),
        find_deeds(plain),
        has_reference=REFERENCE.search(text) is not None,
        has_code=CODE.search(text) is not None,
        is_present=bool(PRESENT.search(plain) or SOON.search(plain)),
        asks_to_show=_SHOW.search(plain) is not None,
        has_amount=_AMOUNT.search(plain) is not None,
        has_day=DAY.search(plain) is not None or TIME.search(plain) is not None,
        is_own=_OWN.search(plain) is not None,
    )


def list_telling_words(plain: str, stemmer: Stemmer) -> dict[str, str]:
    """Return the words that tell what a text is about, by stem.

    Numbers, days and mail addresses are arguments; they tell nothing.
    """
    said = " ".join(one for one in plain.split() if "@" not in one and not REFERENCE.search(one))
    told: dict[str, str] = {}
    for word in _WORD.findall(said.replace("'s", "").replace("e-", "e")):
        if len(word) > 1 and not word[0].isdigit() and word not in _SKIPPED:
            told.setdefault(stemmer.stem(word), word)
    return told


_SKIPPED = (_IDLE | STOP_WORDS | frozenset(CALENDAR)) - (
    list_deed_words() & frozenset(["free", "left", "stock"])
)
