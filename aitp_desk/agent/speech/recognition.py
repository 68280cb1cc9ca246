"""Detects the language of a question by its script, else by its function words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from aitp_desk.agent.speech import Speech, all_speech, speech_of
from aitp_desk.knowledge.search.tokenizer import fold_text

_SCRIPTS = re.compile(
    "(?P<ja>[\u3041-\u3096\u30a1-\u30fa])|(?P<ko>[\uac00-\ud7a3])|(?P<th>[\u0e01-\u0e4e])"
)
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_WORD = re.compile(r"[^\W\d_]+")
_LEAST = 2
"""How many more function words of another language than of the content's identify it."""
_LONGEST = 500
"""How many characters are examined."""


def detect_question_language(text: str, own: str) -> str:
    """Return the tag of a question's language; the content's if that is unclear.

    Parameters:
        own: tag of the language that the content is in.
    """
    return _detect_language(text[:_LONGEST], own)


@lru_cache(maxsize=512)
def _detect_language(text: str, own: str) -> str:
    primary = own.partition("-")[0]
    if not text.isascii():
        if found := _SCRIPTS.search(text):
            return own if found.lastgroup == primary else found.lastgroup or own
        if _HAN.search(text):  # Japanese, too, may be asked in Han alone
            return own if primary in {"ja", "zh"} else "zh"
    speech = speech_of(own)
    if speech.tag != primary:  # its function words are not known
        return own
    words = find_words(text)
    mine = count_function_words(words, own) if speech.is_spaced else 0
    if 2 * mine >= len(words) or len(words) < mine + _LEAST:
        return own
    best, tag = max(
        (count_function_words(words, other.tag), other.tag)
        for other in all_speech()
        if other.is_spaced
    )
    return tag if best >= mine + _LEAST else own


def find_words(text: str) -> list[str]:
    """Return the words of a text, folded."""
    return _WORD.findall(fold_text(text))


def count_function_words(words: Iterable[str], tag: str) -> int:
    """Return how many words are function words of a language."""
    return sum(map(speech_of(tag).small.__contains__, words))


def find_speech(text: str, own: str) -> Speech:
    """Return how a question is to be read, by its language.

    Parameters:
        own: tag of the language that the content is in.
    """
    return speech_of(_detect_language(text[:_LONGEST], own))
