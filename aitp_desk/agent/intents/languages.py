"""Tells German and French from English, and how their sentences are meant."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

import msgspec

from aitp_desk.agent.speech import speech_of
from aitp_desk.agent.speech.recognition import count_function_words, find_words

Language = Literal["en", "de", "fr"]
Manner = Literal["policy", "request", "favour", "leave", "question", "statement"]

_OTHERS: tuple[Language, ...] = ("de", "fr")
_FEWEST = 0.3
"""The share of a language's function words that identifies it. Requests are short, so that it takes
fewer of them than for the language of an answer.
"""


class _Manners(msgspec.Struct, frozen=True):
    """How sentences of a language begin."""

    policy: re.Pattern[str]
    request: re.Pattern[str]
    favour: re.Pattern[str]
    leave: re.Pattern[str]
    asks: re.Pattern[str]


_MANNERS: Mapping[Language, _Manners] = {
    "de": _Manners(
        re.compile(
            r"(?:wie (?!viele\b|weit\b|lange noch\b|voll\b|sieht\b|steht\b)|warum\b|wieso\b"
            r"|was (?:kostet|passiert|ist wenn|muss|soll|heisst|brauche)\b|wer\b"
            r"|wo (?!ist mein|bleibt|sind mein)|muss\b|mussen wir|kann man\b|darf\b|durfen\b"
            r"|ist es (?:erlaubt|moglich)\b|wann (?:offne|schliess|habt|haben|ist geoffnet))"
        ),
        re.compile(
            r"(?<!\S)(?:bitte|(?:ich|wir) (?:mochten?|brauchen?|will|wollen|hatten?|nehmen?|muss"
            r"|mussen)|(?:mochte|brauche|muss|mussen|hatte|wurde) (?:ich|wir))(?!\S)"
        ),
        re.compile(
            r"(?:konnen sie|konnten sie|konnt ihr|konntet ihr|kannst du|konntest du|wurden sie)\b"
        ),
        re.compile(r"(?:kann|konnen|konnte|konnten) (?:ich|wir|mein|unser)"),
        re.compile(
            r"(?:was|wann|wo|welche|ist|sind|war|habt|haben|hat|gibt|gibts|wie|wird|kommt|geht|steht)"
        ),
    ),
    "fr": _Manners(
        re.compile(
            r"(?:comment\b|pourquoi\b|qui\b|combien (?:coute|de temps|de fois|ca)"
            r"|que (?:faire|se passe)|qu'est-ce que\b|quel(?:le)?s? sont\b|faut-il\b|dois-je\b"
            r"|peut-on\b|est-ce qu'on|est-il possible|a quelle heure)"
        ),
        re.compile(
            r"(?<!\S)(?:s'il (?:vous|te) plait|svp|merci de|(?:je|nous) (?:voudrais|voudrions|veux"
            r"|voulons|prends|prendrai|prendrons|souhaite|souhaitons|desire)|j'aimerais|il me faut"
            r"|(?:reserv|annul|envoy|prolong|renouvel|modifi|deplac|chang)ez)(?!\S)"
        ),
        re.compile(r"(?:pouvez-vous|pourriez-vous|pourrais-tu|peux-tu|vous pouvez)"),
        re.compile(r"(?:puis-je|pouvons-nous|je peux|on peut|est-ce que je peux)"),
        re.compile(
            r"(?:quel|quelle|quels|quelles|quand|ou|combien|est-ce|avez-vous|y a-t-il|reste-t-il"
            r"|est)\b"
        ),
    ),
}


def read_language(plain: str) -> Language:
    """Return the language of a text by its function words.

    Parameters:
        plain: as :func:`to_plain_text` returns it.
    """
    words = find_words(plain)
    best: Language = "en"
    most: float = count_function_words(words, best)
    for language in _OTHERS:
        found = count_function_words(words, language)
        if found > most and found >= _FEWEST * len(words):
            best, most = language, found
    return best


def read_manner(language: Language, text: str, plain: str) -> Manner:
    """Return how a text that is not English is meant.

    Parameters:
        plain: as :func:`to_plain_text` returns it.
    """
    known = _MANNERS[language]
    if known.policy.match(plain):
        return "policy"
    if known.request.search(plain):
        return "request"
    if known.favour.match(plain):
        return "favour"
    if known.leave.match(plain):
        return "leave"
    asks = known.asks.match(plain) is not None or text.rstrip().endswith("?")
    return "question" if asks else "statement"


def list_function_words(language: Language) -> frozenset[str]:
    """Return the everyday words of a language that tell nothing of a subject."""
    return frozenset() if language == "en" else speech_of(language).small
