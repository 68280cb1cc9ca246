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


def test_every_form_of_a_word_has_its_synonyms() -> None:
    sent, send = (vocabulary("ship tent", "en").terms([said])[0] for said in ("sent", "send"))
    assert sent.stems == send.stems != {}


@pytest.mark.parametrize(("everyday", "name"), [("faster", "docker"), ("sister", "zyxwer")])
def test_an_everyday_word_that_the_content_lacks_counts_less_than_a_name(
    everyday: str, name: str
) -> None:
    ours, theirs = (vocabulary("tent", "en").terms([said])[0] for said in (everyday, name))
    assert not ours.known
    assert ours.weight < theirs.weight


def test_a_relative_whom_the_content_does_not_mention_hardly_counts() -> None:
    mum, sofa = vocabulary("tent", "en").terms(["mum", "sofa"])
    assert mum.weight < sofa.weight / 2


def test_the_internet_is_found_as_wi_fi() -> None:
    (internet,) = vocabulary("fi tent wi", "en").terms(["internet"])
    assert set(internet.stems) == {"wi"}


def test_to_eat_is_not_at() -> None:
    (term,) = vocabulary("at tent", "en").terms(["eat"])
    assert not term.known
