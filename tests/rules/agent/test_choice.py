"""Which of several options a reply chooses, in the languages that the desk speaks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.agent.choice import Choice, choose
from aitp_desk.agent.speech import speech_of

OPTIONS = ("Ski boots", "Hiking boots", "Second-hand boots")
VOID = Choice(is_void=True)
OWN_WORDS = Choice()


@pytest.mark.parametrize(
    ("tag", "reply", "place"),
    [
        ("en", "hiking  BOOTS.", 1),
        ("en", "No. 2", 1),
        ("en", "two, please", 1),
        ("en", "I take the last one", 2),
        ("de", "Die zweite, bitte.", 1),
        ("de", "Nummer 3", 2),
        ("es", "la primera", 0),
        ("es", "el último, por favor", 2),
        ("fr", "le deuxième", 1),
        ("fr", "la dernière, s’il vous plaît", 2),
        ("it", "il terzo", 2),
        ("nl", "de tweede graag", 1),
        ("pt", "a última", 2),
        ("pt", "opção 1", 0),
        ("sv", "2", 1),
    ],
)
def test_an_option_is_chosen_by_its_words_its_number_or_its_place(
    tag: str, reply: str, place: int
) -> None:
    assert choose(reply, OPTIONS, speech_of(tag)) == Choice(OPTIONS[place])


@pytest.mark.parametrize(
    ("tag", "reply"),
    [
        ("en", "both"),
        ("en", "neither one"),
        ("en", "4"),
        ("en", "the fourth"),
        ("en", "1 or 2"),
        ("en", "?!"),
        ("en", "9999"),
        ("de", "Keins von beiden"),
        ("de", "ja"),
        ("es", "ninguno"),
        ("fr", "les deux"),
        ("it", "entrambi"),
        ("nl", "allebei"),
        ("pt", "nenhum"),
    ],
)
def test_what_tells_no_option_from_the_others_is_void(tag: str, reply: str) -> None:
    assert choose(reply, OPTIONS, speech_of(tag)) == VOID


@pytest.mark.parametrize(
    "reply",
    ["the ones for skiing", "second-hand", "2 pairs of them", "12345", "first aid", "boots"],
)
def test_what_is_said_in_the_visitor_s_own_words_is_left_to_be_read(reply: str) -> None:
    assert choose(reply, OPTIONS, speech_of("en")) == OWN_WORDS


@given(reply=st.text(max_size=40))
def test_where_there_are_no_options_nothing_is_chosen_and_nothing_void(reply: str) -> None:
    assert choose(reply, (), speech_of("en")) == OWN_WORDS
