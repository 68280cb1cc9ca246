"""Reads whether words wish for something, or ask about it or the rules.

Only English is read so. Words of other languages are a question or a statement, by their sign.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from aitp_desk.agent.intents.deeds import find_deeds, list_deed_words
from aitp_desk.knowledge.search.tokenizer import STOP_WORDS, Stemmer

SpeechAct = Literal["policy", "request", "leave", "favour", "question", "statement"]
"""``policy`` asks how things are done or what they cost in general, ``leave`` whether one may,
``favour`` whether another person would.
"""

_LEAD = (
    r"(?:(?:hi|hello|hey|please|and|so|but|ok|okay|well|excuse me|good morning|sorry|oh|also|then"
    r"|now|just) )*"
)
_RULES = re.compile(r"(?<!\S)(?:policy|policies|fees?|rules|terms|conditions|curl|command)(?!\S)")
_POLICY = re.compile(
    _LEAD
    + r"(?:how (?!many\b|much (?:would|will|for)\b|(?:do|does|is|are|busy|full)\b)|why\b|whose\b"
    r"|what (?:if|happens|should|do (?!you have)|must|can|else|kinds?|is your|are your|are the"
    r"|is the (?:difference|best|policy|warranty)|temperature)\b"
    r"|what's the (?:difference|best|policy|weather)\b|(?:do|must|should|may|am|will) i\b"
    r"|(?:do|must|should|may) we\b|how many (?:minutes|days|hours|times|miles|weeks|months|years)\b"
    r"|how many people\b(?!.* (?:wait|queue|ahead))"
    r"|is it (?:allowed|ok)\b|explain\b|tell me (?:about|how (?!many\b)|why|more)\b)"
)
_GENERAL = re.compile(
    _LEAD + r"(?:who\b|what time\b|what does\b|how (?:do|does|is|are|busy|full)\b"
    r"|when (?:do|does|are|is|should|will|must|did)\b"
    r"|where (?:can|do|does|is your|are your|is the|are you|should)\b|is it possible\b|can one\b)"
)
"""Asks in general, unless the words name a day."""
_DAY = re.compile(
    r"(?<!\S)(?:today|tonight|tomorrow|(?:mon|tues|wednes|thurs|fri|satur|sun)day|\d{4}-\d\d-\d\d"
    r"|\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d{1,2}(?:st|nd|rd|th)?"
    r"|(?:this|next) (?:week|weekend))(?!\S)"
)
_PRESENT = re.compile(r"(?<!\S)(?:right now|now|at the moment|currently|current|this minute)(?!\S)")
_SOON = re.compile(r"(?<!\S)(?:today|tonight|tomorrow|still|yet|left|moment)(?!\S)")
_TIME = re.compile(r"(?<!\S)(?:\d{1,2}(?:[: ]\d\d)? ?(?:am|pm|o'clock)|\d{1,2}:\d\d)(?!\S)")
_LEAVE = re.compile(_LEAD + r"(?:can|could|may) (?:i|we|my|our)\b")
_FAVOUR = re.compile(
    _LEAD + r"(?:(?:can|could|would|will) (?:you|some(?:one|body)|the)\b"
    r"|(?:can|could|may) (?:i|we) (?:have|get)\b)"
)
_FAVOUR_LATER = re.compile(r"(?<!\S)(?:can|could|would|will) you\b")
_ASKS = re.compile(
    _LEAD + r"(?:what|when|where|which|is|are|was|were|do|does|did|has|have|any|how|can|could|may"
    r"|might|must|should|will|would|what's|where's|anything|anyone)\b"
)
_PLEASE = re.compile(r"(?<!\S)please(?!\S)")
_WISH = re.compile(
    _LEAD + r"(?:(?:i|we)(?: would| will|'d|'ll)? (?:want|like|need|take|have to|wish)\b"
    r"|(?:i am|i'm|we are|we're) looking\b|let me\b|(?:give|get|make|sell|mail|send) (?:me|us)\b)"
    r"|(?<!\S)(?:i|we) (?:want|need)(?!\S)"
)
_COMMAND = re.compile(
    _LEAD + r"(?:show|find|check|list|bring|put|take|drop|scrap|call|start|register|track|cancel"
    r"|book|reserve|hold|order|buy|ship|send|return|schedule|renew|repeat|report|extend|prolong"
    r"|stop|keep|make|give|get|rent|hire|deliver|change|move)\b"
)
_SHOW = re.compile(
    r"(?<!\S)(?:show|find|list|check|tell me|looking for|look up|track|whether|where|status|see if"
    r"|let me know|what's|any)(?!\S)"
)
_REFERENCE = re.compile(
    r"\b(?=[a-z-]*\d)(?=\d*[a-z])[a-z]{1,4}-?\d{3,}\b|\b\d{5,}\b", re.IGNORECASE
)
_AMOUNT = re.compile(
    r"(?<!\S)(?:\d{1,3}|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty"
    r"|thirty|fifty|a hundred|hundred|dozen)(?!\S)"
)
_CALENDAR = (
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
    " just also again yet right anything something".split()
)
_WORD = re.compile(r"[^\W_]+")


class Utterance(msgspec.Struct, frozen=True):
    """A visitor's words as they were read.

    Parameters:
        words: the telling ones, folded, by their stems.
        objects: the stems of those that are in no phrase for a deed.
        deeds: what the words want done, as of :func:`find_deeds`.
        has_reference: whether a number such as ``FB-20417`` is in them.
        is_present: whether they ask about this moment, or about what is left.
        asks_to_show: whether something is to be shown or looked up.
        has_amount: whether they name a number of things.
        has_day: whether they name a day or a time.
    """

    text: str
    act: SpeechAct
    words: dict[str, str]
    objects: frozenset[str]
    deeds: frozenset[str]
    has_reference: bool
    is_present: bool
    asks_to_show: bool
    has_amount: bool
    has_day: bool

    @property
    def may_be_particular(self) -> bool:
        """Whether the words may speak of one day, thing or person."""
        return self.has_reference or self.has_day or self.has_amount or "@" in self.text

    @property
    def is_wish(self) -> bool:
        """Whether they want something done, or are about one thing."""
        return self.act in ("request", "favour") or self.has_reference


def read_act(text: str, plain: str) -> SpeechAct:
    """Return how a text is meant.

    Parameters:
        plain: as :func:`to_plain_text` returns it.
    """
    if _RULES.search(plain):
        return "policy"
    is_general = _GENERAL.match(plain) is not None and _DAY.search(plain) is None
    is_particular = bool(_PRESENT.search(plain) or _REFERENCE.search(text))
    if (is_general or _POLICY.match(plain)) and not is_particular:
        return "policy"
    asks = _ASKS.match(plain) is not None
    if _PLEASE.search(plain) or (not asks and (_WISH.search(plain) or _COMMAND.match(plain))):
        return "request"
    if _FAVOUR.match(plain) or (not asks and _FAVOUR_LATER.search(plain)):
        return "favour"
    if _LEAVE.match(plain):
        return "leave"
    return "question" if asks or text.rstrip().endswith(("?", "？")) else "statement"


def read_utterance(text: str, plain: str, act: SpeechAct, stemmer: Stemmer) -> Utterance:
    """Return a text as it was read.

    Parameters:
        plain: as :func:`to_plain_text` returns it.
        act: as :func:`read_act` returns it.
    """
    words = list_telling_words(plain, stemmer)
    deed_words = list_deed_words()
    return Utterance(
        text,
        act,
        words,
        frozenset(stem for stem, word in words.items() if word not in deed_words),
        find_deeds(plain),
        has_reference=_REFERENCE.search(text) is not None,
        is_present=bool(_PRESENT.search(plain) or _SOON.search(plain)),
        asks_to_show=_SHOW.search(plain) is not None,
        has_amount=_AMOUNT.search(plain) is not None,
        has_day=_DAY.search(plain) is not None or _TIME.search(plain) is not None,
    )


def list_telling_words(plain: str, stemmer: Stemmer) -> dict[str, str]:
    """Return the words that tell what a text is about, by stem.

    Numbers, days and mail addresses are arguments; they tell nothing.
    """
    said = " ".join(one for one in plain.split() if "@" not in one and not _REFERENCE.search(one))
    told: dict[str, str] = {}
    for word in _WORD.findall(said.replace("'s", "").replace("e-", "e")):
        if len(word) > 1 and not word[0].isdigit() and word not in _SKIPPED:
            told.setdefault(stemmer.stem(word), word)
    return told


_SKIPPED = (_IDLE | STOP_WORDS | frozenset(_CALENDAR)) - (
    list_deed_words() & frozenset(["free", "left", "stock"])
)
