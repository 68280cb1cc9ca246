"""Tells German and French from English, and how their sentences are meant."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

import msgspec

Language = Literal["en", "de", "fr"]
Manner = Literal["policy", "request", "favour", "leave", "question", "statement"]

_WORDS: Mapping[Language, frozenset[str]] = {
    "de": frozenset(
        "ich wir ihr sie du er es mir mich uns euch ihnen der die das den dem des ein eine einen"
        " einem einer mein meine meinen meiner unser unsere unseren euer eure und oder aber nicht"
        " kein keine keinen noch nur auch schon ist sind war bin seid haben habt habe hat hatte"
        " kann kannst konnen konnt konnte mochte mochten will wollen muss mussen darf durfen soll"
        " wird werden wurde wie was wann wo warum wer welche welcher welches wieviel fur mit von"
        " vom zum zur im am um bei auf aus nach uber bis seit ab bitte danke ja nein leider"
        " heute morgen gerade jetzt gibt geht hier da dort mal einmal uhr doch man sich gerne"
        " gern".split()
    ),
    "fr": frozenset(
        "je j'ai j'aimerais nous vous tu il elle on le la les un une des du de au aux mon ma mes"
        " notre nos votre vos et ou mais ne pas plus encore est sont suis avez ai avons peux peut"
        " pouvez pouvons puis-je voudrais voudrions veux faut dois comment combien quand pourquoi"
        " quel quelle quels quelles qui que qu'est-ce est-ce pour avec sans chez sur dans par a"
        " s'il plait merci oui non demain aujourd'hui c'est d'un d'une l'ai maintenant"
        " avez-vous".split()
    ),
}
_ENGLISH = frozenset(
    "a i you we me us my our your the is are was it to of on in at for from with by be do does did"
    " have has can could would will and or not no any some this that what when where which"
    " how".split()
)
_FEWEST = 0.3


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
    """Return the language of a text by its everyday words.

    Parameters:
        plain: as :func:`to_plain_text` returns it.
    """
    words = plain.split()
    english = sum(map(_ENGLISH.__contains__, words))
    best: Language = "en"
    most = max(english, _FEWEST * len(words) - 1e-9)
    for language, known in _WORDS.items():
        found = sum(map(known.__contains__, words))
        if found > most or (found and not english and found >= _FEWEST * len(words)):
            best, most = language, float(found)
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
    return _WORDS.get(language, frozenset())
