"""Tells a request from a question, and both from a question about the rules."""

from __future__ import annotations

import re
from typing import Literal

from aitp_desk.agent.intents.deeds import to_plain_text
from aitp_desk.agent.intents.languages import Language, read_language, read_manner

SpeechAct = Literal["policy", "request", "leave", "favour", "question", "statement"]
"""``policy`` asks how things are done or what they cost in general, or praises. ``leave`` asks
whether one may, ``favour`` whether another person would.
"""
_LEAD = (
    r"(?:(?:hi|hello|hey|please|pls|plz|and|so|but|ok|okay|well|excuse me|good morning|sorry|oh"
    r"|also|then|now|just) )*"
)
_RULES = re.compile(
    r"(?<!\S)(?:policy|policies|fees?|rules|terms|conditions|curl|command|warranty|guarantee"
    r"|opening (?:hours|times)|free of charge|for free)(?!\S)"
)
_PRAISE = re.compile(
    r"(?<!\S)(?:(?:i|we|they|everyone|everybody) (?:\S+ )?(?:loved?|enjoyed)"
    r"|(?:was|were|feel|feels|felt) (?:so |very |really |just |absolutely )?(?:great|good|fine|nice"
    r"|fantastic|wonderful|amazing|awesome|excellent|lovely|delicious|tasty|friendly|perfect|kind"
    r"|brilliant|superb|helpful|beautiful|fun))(?!\S)(?!.* but )"
)
"""Tells how something was; what was bad may be a fault that is reported."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_POLICY = re.compile(
    _LEAD + r"(?:how (?!many\b|much (?:would|will|for|longer|do (?:i|we) (?:still )?owe)\b"
    r"|long (?:until|till)\b|(?:do|does|is|are|busy|full)\b)|why\b|whose\b"
    r"|what (?:if|happens|should|do (?!you have)|must|can|else|kinds?|is your|are your|are the"
    r"|is the (?:difference|best|policy|warranty)|temperature)\b"
    r"|what's the (?:difference|best|policy|weather)\b"
    r"|(?:must|should|may|am|will) i\b|do (?:i|we)\b(?! have any\b| still\b| owe\b)"
    r"|(?:must|should|may) we\b|(?:for )?how many (?:minutes|days|hours|times|miles|weeks|months"
    r"|years|lit(?:er|re)s|pounds|grams|kilos|kilomet(?:er|re)s|degrees|watts|volts|pages|percent)\b"
    r"|how many people\b(?!.* (?:wait|queue|ahead))"
    r"|(?:i|we)(?: would|'d)? (?:need|want|like)(?: to have)?(?: some| an?| any)? (?:advice|tips?"
    r"|guidance|recommendations?|information|info)\b"
    r"|is it (?:allowed|ok)\b|explain\b|tell me (?:about|how (?!many\b)|why|more)\b)"
)
_GENERAL = re.compile(
    _LEAD + r"(?:who\b|what time\b|what does\b|how (?:do|does|is|are|busy|full)\b"
    r"|when (?:do|does|are|is|should|will|must|did)\b"
    r"|(?:can|could|may|must|should|is|are|do|does) (?:an?|all) (?:\S+ ){1,3}?(?:be|have to|need)\b"
    r"|do (?:the|your|all|these|those)\b(?!.* (?:have any|stock|carry|sell|still)\b)"
    r"|does (?:the|your)\b(?!.* (?:have|stock|carry|sell|still)\b)"
    r"|how (?:many|much)\b.* (?:can|may|must|should) (?:i|we)\b|until when\b|(?:if|suppose) \S"
    r"|(?:can|may|could|does|do) (?:(?:some|any)(?:one|body) else|(?:an?|my|our) (?:neighbou?r"
    r"|friend|wife|husband|partner|son|daughter|child|children|kids?|mother|father|parents"
    r"|colleague|dog))\b"
    r"|will you\b(?!.* please)"
    r"|where (?:can|do|does|is your|are your|is the|are you|should)\b|is it possible\b|can one\b)"
)
"""Asks in general, unless the words name a day."""
_LEAVE = re.compile(_LEAD + r"(?:can|could|may) (?:i|we|my|our)\b")
_FAVOUR = re.compile(
    _LEAD + r"(?:(?:can|could|would|will) (?:you|some(?:one|body)|an?|the)\b"
    r"|(?:can|could|may) (?:i|we) (?:have|get)\b)"
)
_FAVOUR_LATER = re.compile(r"(?<!\S)(?:can|could|would|will) you\b")
_ASKS = re.compile(
    _LEAD + r"(?:what|when|where|which|is|are|was|were|do|does|did|has|have|any|how|can|could|may"
    r"|might|must|should|will|would|what's|where's|anything|anyone)\b"
)
_PLEASE = re.compile(r"(?<!\S)(?:please|pls|plz)(?!\S)")
_WISH = re.compile(
    _LEAD + r"(?:(?:i|we|id|ill)(?: would| will|'d|'ll)? (?:want|like|need|take|have to|wish)\b"
    r"|(?:i am|i'm|we are|we're) looking\b|let me\b|(?:give|get|make|sell|mail|send) (?:me|us)\b)"
    r"|(?<!\S)(?:i|we) (?:want|need)(?!\S)"
)
_COMMAND = re.compile(
    _LEAD + r"(?:show|find|check|list|bring|put|take|drop|scrap|call|start|register|track|cancel"
    r"|book|reserve|hold|order|buy|ship|send|return|schedule|renew|repeat|report|extend|prolong"
    r"|stop|keep|make|give|get|rent|hire|deliver|change|move|add"
    r"|submit|close|end|swap|shift|save|place|note|arrange|fix|repair|update|sign|join|terminate)\b"
)
_MONTH = r"(?:jan|feb|mar|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[a-z]*"
DAY = re.compile(
    r"(?<!\S)(?:today|tonight|tomorrow|this (?:morning|afternoon|evening)|heute|morgen|demain"
    r"|aujourd'hui|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|(?:lun|mar|mercre|jeu|vendre)di"
    r"|samedi|dimanche|(?:mon|tues|wednes|thurs|fri|satur|sun)day|\d{4}-\d\d-\d\d"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?"
    r"|(?:in|of|by|until|from) (?:january|february|march|april|may|june|july|august|september"
    r"|october|november|december)|(?:this|next) (?:week|weekend|month))(?!\S)"
)
PRESENT = re.compile(
    r"(?<!\S)(?:right now|just now|now|at the moment|currently|current|this minute|gerade|jetzt"
    r"|maintenant)(?!\S)"
)
SOON = re.compile(r"(?<!\S)(?:today|tonight|tomorrow|still|yet|left|moment)(?!\S)")
TIME = re.compile(r"(?<!\S)(?:\d{1,2}(?:[: ]\d\d)? ?(?:am|pm|o'clock)|\d{1,2}:\d\d)(?!\S)")
REFERENCE = re.compile(
    r"\b(?=[a-z-]*\d)(?=\d*[a-z])[a-z]{1,4}-?\d{3,}\b|\b\d{5,}\b"
    r"|\b[a-z]{1,2}\d{1,2}[a-z]? \d[a-z]{2}\b",
    re.IGNORECASE,
)
"""A number of an order, a membership or a place, postcodes of letters and digits among them."""
CODE = re.compile(r"\b(?=[a-z\d-]*[a-z])[a-z]+-?\d[a-z\d-]*\b", re.IGNORECASE)
"""What may be a number of something, if an action takes such a one."""


def read_act(text: str, plain: str, language: Language) -> SpeechAct:
    """Return how a text is meant.

    Parameters:
        plain: as :func:`to_plain_text` returns it.
        language: as :func:`read_language` returns it.
    """
    if _RULES.search(plain):
        return "policy"
    if language != "en":
        return read_manner(language, text, plain)
    is_general = _GENERAL.match(plain) is not None and DAY.search(plain) is None
    is_particular = bool(PRESENT.search(plain) or REFERENCE.search(text))
    if (is_general or _POLICY.match(plain)) and not is_particular:
        return "policy"
    *before, last = _SENTENCE_END.split(text.strip())
    ends_asking = bool(before) and last.endswith("?") and not REFERENCE.search(text)
    if ends_asking:
        asked = to_plain_text(last)
        if read_act(last, asked, read_language(asked)) == "policy":
            return "policy"
    asks = _ASKS.match(plain) is not None
    if _PLEASE.search(plain) or (not asks and (_WISH.search(plain) or _COMMAND.match(plain))):
        return "request"
    if _FAVOUR.match(plain) or (not asks and _FAVOUR_LATER.search(plain)):
        return "favour"
    if _LEAVE.match(plain):
        return "leave"
    if asks or text.rstrip().endswith(("?", "？")):
        return "question"
    return "policy" if _PRAISE.search(plain) and not REFERENCE.search(text) else "statement"
