"""Splits scripts without spaces into n-grams, for search only.

Chinese, Japanese, Korean and Thai are searched by overlapping n-grams, as search engines do without
a dictionary: two characters of Han and Hangul, three of Thai, Lao, Khmer and Burmese. Katakana
separates words by itself, so each run is one word; short runs of hiragana are endings and particles
and are not searched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HIRAGANA = "\u3041-\u3096\u309d\u309e"
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30fe\u31f0-\u31ff"
_HANGUL = "\u1100-\u11ff\uac00-\ud7a3"
_CLUSTERS = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0edf\u1000-\u103f\u1780-\u17d3"
_WITH_MARKS = "\u0900-\u0963\u0966-\u0dff"
"""Scripts of India: they have spaces, but their vowel signs are no letters to `re`."""

MARKS = _CLUSTERS + _WITH_MARKS
"""Ranges of characters that belong to words though `re` may take them for signs."""

RUN = re.compile(
    f"(?P<han>[{_HAN}]+)|(?P<hiragana>[{_HIRAGANA}]+)|(?P<katakana>[{_KATAKANA}]+)"
    f"|(?P<hangul>[{_HANGUL}]+)|(?P<clusters>[{_CLUSTERS}]+)|(?P<marked>[{_WITH_MARKS}]+)"
)
"""A run of one of these scripts in a folded text."""

IN_RUN = re.compile(f"[{_HAN}{_HIRAGANA}{_KATAKANA}{_HANGUL}{_CLUSTERS}{_WITH_MARKS}]")
"""Any character of them: a cheap test for texts without any."""

FIRST = "\u0900"
"""The first character of these scripts: words that begin before it are of an alphabet."""

_SIZES = {"han": 2, "hiragana": 2, "hangul": 2, "clusters": 3}
_ENDING = 3
"""Fewer hiragana in a row are an ending or a particle."""
_LONG_SIGN = "ー"
_SPELT_ALIKE = re.compile("ヴ[ァィェォ]?|(?<=[ウフ])[アイエオ]")
_AS_SPELT = {"ヴァ": "バ", "ヴィ": "ビ", "ヴ": "ブ", "ヴェ": "ベ", "ヴォ": "ボ"}
_AS_SPELT |= {"ア": "ァ", "イ": "ィ", "エ": "ェ", "オ": "ォ"}
"""Foreign sounds that are written in two ways: ``ウエア`` and ``ウェア``, ``ヴァ`` and ``バ``."""
_LONG_WORD = 4
"""From so many letters on the long vowel at the end of a katakana word is optional."""


def ngrams_of(run: re.Match[str]) -> list[str]:
    """Return the words to search for in a match of :data:`RUN`."""
    text, script = run[0], run.lastgroup or ""
    if script == "katakana":
        word = text.rstrip(_LONG_SIGN) if len(text) >= _LONG_WORD else text.lstrip(_LONG_SIGN)
        word = _SPELT_ALIKE.sub(lambda sign: _AS_SPELT[sign[0]], word)
        return [word] if word else []
    if script == "hiragana" and len(text) < _ENDING:
        return []
    size = _SIZES.get(script, len(text))
    return [text[at : at + size] for at in range(max(len(text) - size, 0) + 1)]


def is_ngram(word: str) -> bool:
    """Return whether a word may be a part of a word or span two."""
    run = RUN.match(word) if word >= FIRST else None
    return run is not None and run.lastgroup in _SIZES


def is_hiragana(word: str) -> bool:
    """Return whether a word is a run of hiragana, which mostly is grammar."""
    return "\u3041" <= word[:1] <= "\u309e"


def overlap(left: str, right: str) -> bool:
    """Return whether two n-grams may be adjacent in one run."""
    return left[1:] == right[:-1] != ""


def join_ngrams(words: Iterable[str]) -> list[str]:
    """Join adjacent n-grams of one run, for people to read."""
    joined: list[str] = []
    for word in words:
        if joined and is_ngram(word) and joined[-1][1 - len(word) :] == word[:-1] != "":
            joined[-1] += word[-1]
        else:
            joined.append(word)
    return joined


def is_han(word: str) -> bool:
    """Return whether a word is in Han script. A single Han character may be a word."""
    return "\u3400" <= word[:1] <= "\u9fff"


def is_katakana(word: str) -> bool:
    """Return whether a word is of katakana, which may be a compound."""
    return "\u30a1" <= word[:1] <= "\u30fe"
