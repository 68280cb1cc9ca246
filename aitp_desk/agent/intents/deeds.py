"""Reads what a text wants done: to book, to cancel, to send back."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files

from aitp_desk.knowledge.search.tokenizer import fold_text

_Phrases = dict[str, list[tuple[str, str, tuple[str, ...]]]]

_BETWEEN, _ANY_ENDING = "~", "*"
_TOLD_APART = 4
"""How many letters the shortest word with any ending has at least."""
_OUTDOES = {
    "cancel": {"book", "buy", "ship", "extend", "move"},
    "extend": {"book", "return", "renew"},
    "pause": {"book", "cancel", "fault"},
}
"""Deeds whose phrases have those of others inside: to cancel a booking is not to book."""
_LANGUAGES = ("", "_de", "_fr")
"""Phrases of all languages are sought: hardly one means another thing in another language."""
_DETERMINERS = frozenset(
    "a an the my our your his her their this that these those any some which many no of"
    " new good".split()
)
_LIGHT_VERBS = frozenset(
    "make place put do start begin request register file open arrange want need like get".split()
)
"""They turn a noun into a deed: to place a hold is to hold."""
_ALSO_NOUNS = frozenset(
    "book books hold rent hire schedule block return exchange drop stop release renew move change"
    " swap order".split()
)
_THINGS = frozenset(("book", "books", "order"))
_NO_MORE = frozenset(("no", "any"))
"""What is no longer so is not to last longer."""
_SUBJECTS = frozenset("i we you he she it they".split())
"""Who stops; to stop an order is to cancel it."""
PRESENCE, STOCK = "presence", "stock"
"""Whether there is something: asked of an action's things, but of much else, too."""
WANT, WANTED = "want", frozenset(("book", "buy"))
"""What is wanted, with no word for how: it is booked or bought."""
_FORMS = {
    form: forms[0]
    for forms in (
        ("is", "are", "am", "was", "were", "be", "been", "being"),
        ("isn't", "aren't", "wasn't", "weren't"),
        ("has", "have", "had"),
        ("hasn't", "haven't", "hadn't"),
        ("do", "does", "did"),
        ("don't", "doesn't", "didn't"),
        ("can't", "cannot", "couldn't"),
    )
    for form in forms
}
"""A phrase is meant in every person and time."""
_NUMBER = r"(?:(?:\d+|two|three|four|five|six|seven|eight|nine|ten) )?"
"""May stand within a phrase: another two days are another day."""
_NO_WORD = re.compile(r"[^\w'@+-]+")


def to_plain_text(text: str) -> str:
    """Return folded words with one space between two; apostrophes and hyphens stay."""
    return " ".join(_NO_WORD.sub(" ", fold_text(text).replace("’", "'")).split())


def find_deeds(plain: str) -> frozenset[str]:
    """Return the deeds that a text names.

    Parameters:
        plain: as :func:`to_plain_text` returns it.
    """
    whole, beginnings = _by_first_word()
    found: set[str] = set()
    place = 0
    words = [_FORMS.get(word, word) for word in plain.split(" ")]
    plain = " ".join(words)
    for number, word in enumerate(words):
        before = words[number - 1] if number else ""
        is_ended = word == "longer" and before in _NO_MORE
        is_halt = word == "stop" and (before in _SUBJECTS or number + 1 == len(words))
        if is_ended or is_halt or (word in _ALSO_NOUNS and _is_noun(words, number)):
            place += len(word) + 1
            continue
        for deed, phrase, others in (
            *whole.get(word, ()),
            *beginnings.get(word[:_TOLD_APART], ()),
        ):
            if deed in found or not all(other in plain for other in others):
                continue
            if _pattern(phrase).match(plain, place):
                found.add(deed)
        place += len(word) + 1
    for stronger, weaker in _OUTDOES.items():
        if stronger in found:
            found -= weaker
    if len(found) > 1:
        found.discard(WANT)
    return frozenset(found)


def _is_noun(words: list[str], number: int) -> bool:
    before = words[max(0, number - 2) : number]
    is_deed = before[:1] and before[0] in _LIGHT_VERBS and words[number] not in _THINGS
    return bool(before) and before[-1] in _DETERMINERS and not is_deed


@cache
def list_deed_words() -> frozenset[str]:
    """Return the folded words of all phrases."""
    said = " ".join(phrase for phrases in _read().values() for phrase in phrases)
    return frozenset(re.findall(r"\w+", said))


@cache
def _read() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for language in _LANGUAGES:
        text = files(__package__).joinpath(f"deeds{language}.toml").read_text("utf-8")
        for deed, phrases in tomllib.loads(text).items():
            found.setdefault(deed, []).extend(phrases)
    return found


@cache
def _by_first_word() -> tuple[_Phrases, _Phrases]:
    """Return the phrases by first word, or its first letters if any ending fits.

    With each are its other words, without endings: a text that lacks one needs no pattern.
    """
    whole: _Phrases = {}
    beginnings: _Phrases = {}
    for deed, phrases in _read().items():
        for phrase in phrases:
            first, *rest = _words(phrase)
            others = tuple(word.removesuffix(_ANY_ENDING) for word in rest if word != _BETWEEN)
            is_whole = not first.endswith(_ANY_ENDING)
            table, key = (whole, first) if is_whole else (beginnings, first[:_TOLD_APART])
            table.setdefault(key, []).append((deed, phrase, others))
    return whole, beginnings


def _words(phrase: str) -> list[str]:
    return [_FORMS.get(word, word) for word in phrase.split()]


@cache
def _pattern(phrase: str) -> re.Pattern[str]:
    """Return the pattern of a phrase; few of them are ever needed."""
    parts: list[str] = []
    for word in _words(phrase):
        bare = re.escape(word.removesuffix(_ANY_ENDING))
        if word == _BETWEEN:
            parts.append(r"(?:\S+ ){0,3}?")
        elif word.endswith(_ANY_ENDING):
            parts.append(rf"{bare}\S* ")
        else:
            parts.append(f"{_NUMBER}{bare}s? " if parts else f"{bare} ")
    return re.compile(rf"{''.join(parts).removesuffix(' ')}(?!\S)")
