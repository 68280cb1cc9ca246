"""Decides whether a question is about a partner's topics."""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.knowledge.search.tokenizer import fold_text, split_words

SHORTEST = 4
"""A word of so many letters may differ in its ending."""
MAX_ENDING = 2


def is_about(question: str, topics: Sequence[str]) -> bool:
    """Return whether a question names one of the topics; without topics, any question does."""
    if not topics:
        return True
    words = _read(question)
    return any(
        all(any(_is_same(word, wanted) for word in words) for wanted in topic_words)
        for topic in topics
        if (topic_words := _read(topic))
    )


def _read(text: str) -> list[str]:
    return [fold_text(word) for word in split_words(text)]


def _is_same(one: str, other: str) -> bool:
    """Return whether two words are the same, but for a short ending."""
    short, long = sorted((one, other), key=len)
    is_long = len(short) >= SHORTEST and len(long) - len(short) <= MAX_ENDING
    return short == long or (is_long and long.startswith(short))
