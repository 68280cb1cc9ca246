"""Which of several options a reply chooses, in the languages that the desk speaks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.agent.extractive.dialogue.choice import Choice, read_choice
from aitp_desk.agent.speech import speech_of
from aitp_desk.knowledge.search.tokenizer import Stemmer

OPTIONS = ("Ski boots", "Hiking boots", "Second-hand boots")
VOID = Choice(left=OPTIONS)
OWN_WORDS = Choice(is_free=True)
STEM = Stemmer().stem


def chosen(reply: str, tag: str = "en") -> Choice:
    return read_choice(reply, OPTIONS, speech_of(tag), STEM)


def test_an_option_is_chosen_by_its_words_its_number_or_its_place(
    subtests: pytest.Subtests,
) -> None:
    cases: list[tuple[str, str, int]] = [
        ("en", "hiking  BOOTS.", 1),
        ("en", "No. 2", 1),
        ("en", "two, please", 1),
        ("en", "I take the last one", 2),
        ("en", "I'd like the first one", 0),
        ("en", "sure, the second", 1),
        ("en", "I meant the latter", 2),
        ("en", "my answer is 2", 1),
        ("en", "no, the second", 1),
        ("en", "the one you mentioned first", 0),
        ("en", "B", 1),
        ("en", "Option c.", 2),
        ("de", "Die zweite, bitte.", 1),
        ("de", "Nummer 3", 2),
        ("de", "Nein, die erste", 0),
        ("es", "la primera", 0),
        ("es", "el último, por favor", 2),
        ("fr", "le deuxième", 1),
        ("fr", "la dernière, s’il vous plaît", 2),
        ("it", "il terzo", 2),
        ("nl", "de tweede graag", 1),
        ("pl", "tę drugą poproszę", 1),
        ("pl", "ostatnia", 2),
        ("pt", "a última", 2),
        ("pt", "opção 1", 0),
        ("sv", "2", 1),
    ]
    for tag, reply, place in cases:
        with subtests.test(tag=tag, reply=reply, place=place):
            assert chosen(reply, tag) == Choice((OPTIONS[place],))


@pytest.mark.parametrize(
    ("tag", "reply", "places"),
    [
        ("en", "both", [0, 1, 2]),
        ("en", "any of them", [0, 1, 2]),
        ("en", "1 or 2", [0, 1]),
        ("en", "the first and the last", [0, 2]),
        ("de", "alle beide", [0, 1, 2]),
        ("es", "todas", [0, 1, 2]),
        ("fr", "les deux", [0, 1, 2]),
        ("it", "entrambi", [0, 1, 2]),
        ("nl", "allebei", [0, 1, 2]),
        ("pl", "wszystkie", [0, 1, 2]),
        ("pt", "ambos", [0, 1, 2]),
    ],
)
def test_several_options_are_chosen_together(tag: str, reply: str, places: list[int]) -> None:
    assert chosen(reply, tag) == Choice(tuple(OPTIONS[place] for place in places))


def test_what_is_not_meant_leaves_the_others(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str, list[int]]] = [
        ("en", "not the first", [1, 2]),
        ("en", "I don't want the 2nd one", [0, 2]),
        ("en", "not the hiking ones", [0, 2]),
        ("en", "not for skiing", [1, 2]),
        ("en", "neither the first nor the last", [1]),
        ("en", "the hiking ones, not the ski boots", [1]),
        ("en", "the second, not the first", [1]),
        ("en", "not 1, not 2, not 3", []),
        ("de", "nicht die erste", [1, 2]),
        ("es", "no la primera", [1, 2]),
        ("fr", "pas le premier", [1, 2]),
        ("it", "non il primo", [1, 2]),
        ("nl", "niet de eerste", [1, 2]),
        ("pl", "nie pierwsza", [1, 2]),
        ("pt", "não a primeira", [1, 2]),
    ]
    for tag, reply, places in cases:
        with subtests.test(tag=tag, reply=reply, places=places):
            left = tuple(OPTIONS[place] for place in places)
            expected = Choice(left=left) if len(left) > 1 else Choice(left, declines=not left)
            assert chosen(reply, tag) == expected


@pytest.mark.parametrize(
    ("tag", "reply"),
    [
        ("en", "neither one"),
        ("en", "None of them."),
        ("en", "no"),
        ("en", "something else"),
        ("de", "Keins von beiden"),
        ("es", "ninguno"),
        ("fr", "ni l’un ni l’autre"),
        ("it", "nessuno dei due"),
        ("nl", "geen van beide"),
        ("pl", "żadna z nich"),
        ("pt", "nenhum"),
    ],
)
def test_who_means_none_of_them_is_heard(tag: str, reply: str) -> None:
    assert chosen(reply, tag) == Choice(declines=True)


@pytest.mark.parametrize(
    ("tag", "reply"),
    [
        ("en", "4"),
        ("en", "1 and 4"),
        ("en", "the fourth"),
        ("en", "?!"),
        ("en", "yes"),
        ("en", "hmm"),
        ("en", "I don't know"),
        ("en", "not all"),
        ("en", "the other one"),
        ("de", "ja"),
    ],
)
def test_what_tells_no_option_from_the_others_leaves_them_all(tag: str, reply: str) -> None:
    assert chosen(reply, tag) == VOID


def test_what_is_said_in_the_visitor_s_own_words_is_left_to_be_read(
    subtests: pytest.Subtests,
) -> None:
    cases: list[str] = [
        "the hiking ones in size 42",
        "2, for skiing",
        "2 pairs of them",
        "I need 2 of them",
        "2 of these please",
        "3 tents please",
        "3 boots",
        "two weeks",
        "size 2",
        "in 3 days",
        "2 or 3 days",
        "I have 2 children",
        "it is due",
        "160",
        "first aid",
        "cheap boots",
        "How much is the first?",
        "Is it not for skiing?",
    ]
    for reply in cases:
        with subtests.test(reply=reply):
            assert chosen(reply) == OWN_WORDS


@pytest.mark.parametrize(
    ("reply", "places"),
    [
        ("the ones for skiing", [0]),
        ("hiking", [1]),
        ("second-hand", [2]),
        ("the first, for skiing", [0]),
        ("hiking and skiing", [0, 1]),
        ("Ski boots and hiking boots, please", [0, 1]),
        ("no, the hiking boots", [1]),
    ],
)
def test_words_that_one_option_alone_has_choose_it(reply: str, places: list[int]) -> None:
    assert chosen(reply) == Choice(tuple(OPTIONS[place] for place in places))


@pytest.mark.parametrize(
    ("reply", "place"),
    [("the second", 1), ("not the first", 1), ("not for hiking", 1), ("the one for hiking", 0)],
)
def test_small_words_of_an_option_do_not_name_it(reply: str, place: int) -> None:
    options = ("Hiking boots", "Boots for the mountains")
    assert read_choice(reply, options, speech_of("en"), STEM) == Choice((options[place],))


PAGES = ("Installation", "Configuration", "Access tokens", "Access rights", "Updates and backups")


def test_an_option_is_chosen_in_any_language_and_by_part_of_its_words(
    subtests: pytest.Subtests,
) -> None:
    cases: list[tuple[str, int]] = [
        ("5", 5),
        ("5.", 5),
        ("5)", 5),
        ("(5)", 5),
        ("#5", 5),
        ("no. 5", 5),
        ("number 5 please", 5),
        ("the fifth", 5),
        ("5th", 5),
        ("the last one", 5),
        ("the last one, thanks", 5),
        ("Installation", 1),
        ("INSTALLATION!", 1),
        ("“installation”", 1),
        ("installation please", 1),
        ("the installation one", 1),
        ("Install", 1),
        ("Instal", 1),
        ("instalation", 1),
        ("installtion", 1),
        ("config", 2),
        ("configuraton", 2),
        ("tokens", 3),
        ("access tokens", 3),
        ("acces tokens", 3),
        ("rights", 4),
        ("backups", 5),
        ("backup", 5),
        ("Updates", 5),
        ("die dritte", 3),
        ("den dritten bitte", 3),
        ("Nummer 3", 3),
        ("die letzte", 5),
        ("la segunda", 2),
        ("el segundo", 2),
        ("el último", 5),
        ("le deuxième", 2),
        ("la 2e", 2),
        ("le dernier s'il vous plaît", 5),
        ("la terza", 3),
        ("il secondo", 2),
        ("l'ultimo", 5),
        ("de tweede", 2),
        ("de laatste graag", 5),
        ("a segunda", 2),
        ("o último", 5),
        ("quero a terceira", 3),
    ]
    for reply, place in cases:
        with subtests.test(reply=reply, place=place):
            assert read_choice(reply, PAGES, speech_of("en"), STEM) == Choice((PAGES[place - 1],))


@pytest.mark.parametrize(
    "reply",
    [
        "access",
        "acce",
        "inst",
        "insulation",
        "5 tokens of 7",
        "tokens and rights or so",
        "rim",
    ],
)
def test_what_could_be_several_or_another_word_is_no_option_s_part(reply: str) -> None:
    known = {"insulation", "inst"}
    said = read_choice(reply, PAGES, speech_of("en"), STEM, is_known=known.__contains__)
    assert said.option is None


def test_what_is_chosen_may_be_named_after_its_place() -> None:
    trails = ("Larkspur Loop", "Tarn Traverse", "Cinder Rim")
    for reply, place in (("the second trail", 1), ("cindr rim", 2), ("Cinder", 2), ("trail 3", 2)):
        chosen_one = read_choice(reply, trails, speech_of("en"), noun={"trail"})
        assert chosen_one == Choice((trails[place],))
    assert read_choice("the second hand", trails, speech_of("en"), noun={"trail"}).is_free


def test_what_all_options_are_called_tells_none_from_the_others() -> None:
    assert chosen("the boots") == VOID


def test_who_means_none_of_them_and_says_more_is_heard_and_read() -> None:
    assert chosen("Neither, I mean sandals.") == Choice(declines=True, is_free=True)


@given(reply=st.text(max_size=40))
def test_where_there_are_no_options_nothing_is_chosen(reply: str) -> None:
    assert read_choice(reply, (), speech_of("en"), STEM) == OWN_WORDS


@given(reply=st.text(max_size=40))
def test_a_reply_is_one_of_a_choice_a_remainder_a_refusal_or_own_words(reply: str) -> None:
    said = chosen(reply)
    assert bool(said.chosen) + bool(said.left) + (said.declines or said.is_free) == 1
    assert {*said.chosen, *said.left} <= set(OPTIONS)
