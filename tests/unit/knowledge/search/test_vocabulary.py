"""How a visitor's words are read as the content's."""

from __future__ import annotations

import pytest

from aitp_desk.knowledge.search.vocabulary import OWN, Vocabulary


def vocabulary(words: str, language: str) -> Vocabulary:
    """The vocabulary of a content with some words, each its own stem."""
    used = dict.fromkeys(sorted(words.split()), 2)
    return Vocabulary(used, used, {word: word for word in used}, 20, {}, language=language)


@pytest.mark.parametrize(("typed", "read"), [("sauna", "sauna"), ("sasion", "saison")])
def test_a_word_that_only_sounds_alike_is_no_slip(typed: str, read: str) -> None:
    assert vocabulary("saison wasser", "de").words(typed) == [read]


@pytest.mark.parametrize(
    ("said", "written"),
    [("kids", "children"), ("loo", "toilet"), ("outside", "outdoor"), ("telephone", "phone")],
)
def test_words_that_mean_the_same_find_each_other(said: str, written: str) -> None:
    (term,) = vocabulary(f"{written} tent", "en").terms([said])
    assert term.stems[written] >= OWN


def test_to_eat_is_not_at() -> None:
    (term,) = vocabulary("at tent", "en").terms(["eat"])
    assert not term.known
