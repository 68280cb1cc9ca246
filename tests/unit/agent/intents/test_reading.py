"""How words are read: what they want done, and whether they ask for it or about it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.agent.intents.deeds import find_deeds, to_plain_text
from aitp_desk.agent.intents.languages import read_language
from aitp_desk.agent.intents.ranking import ActionRanking
from aitp_desk.agent.intents.speech_acts import read_act
from aitp_desk.model.calls.action import Action, Example

KIND = {"type": "string", "enum": ["tall lamp", "small lamp"]}
DAY = {"type": "string", "format": "date"}
LAMPS = Action(
    "lamps_free",
    "Says how many lamps are free on a day.",
    input_schema={
        "type": "object",
        "properties": {"kind": KIND, "day": DAY},
        "required": ["kind", "day"],
    },
    examples=(Example("How many tall lamps are free on 1 December?"),),
)
CANCEL = Action(
    "cancel_loan",
    "Cancels the loan of a lamp.",
    kind="action",
    input_schema={
        "type": "object",
        "properties": {"number": {"type": "string", "pattern": "^LA-[0-9]{4}$"}},
        "required": ["number"],
    },
    examples=(Example("Cancel LA-1234."),),
)
RANKING = ActionRanking((LAMPS, CANCEL), {})


class EveryWord:
    """Pages that have every word of everyday English, and nothing about lamps."""

    def knows(self, word: str) -> bool:
        return bool(word)

    def holds(self, word: str) -> bool:
        return not word


def find(words: str) -> str | None:
    said = RANKING.read(words)
    return None if said is None else RANKING.find(said, EveryWord(), None)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("Is a tall lamp available on 3 May?", "lamps_free"),
        ("any small lamp left tomorrow?", "lamps_free"),
        ("when's the next small lamp on 12 May?", "lamps_free"),
        ("would a tall lamp be possible on Monday?", "lamps_free"),
        ("please call off LA-1234", "cancel_loan"),
        ("I no longer need LA-1234", "cancel_loan"),
        ("cancle LA-1234", "cancel_loan"),
        ("LA-1234 bitte stornieren", "cancel_loan"),
        ("annulez LA-1234", "cancel_loan"),
        ("wie kann ich stornieren?", None),
        ("Can I cancel a loan?", None),
        ("how do I cancel LA?", None),
        ("What does a lamp weigh?", None),
        ("yes", None),
        ("", None),
    ],
)
def test_words_ask_for_an_action_or_about_it(words: str, name: str | None) -> None:
    assert find(words) == name


@pytest.mark.parametrize(
    ("words", "act"),
    [
        ("How do I pay?", "policy"),
        ("how long is the wait right now", "question"),
        ("when are you open?", "policy"),
        ("When is Ada free on Monday?", "question"),
        ("Please hold one for me", "request"),
        ("Hello, could you check it", "favour"),
        ("can I cancel it", "leave"),
        ("my chain came off", "statement"),
        ("we loved the lamp", "policy"),
        ("the lesson on Monday was really fun", "policy"),
        ("the ride was great but my chain came off", "statement"),
        ("can my friend use it?", "policy"),
        ("can my friend come on Monday?", "leave"),
    ],
)
def test_an_act_is_told_by_its_beginning(words: str, act: str) -> None:
    plain = to_plain_text(words)
    assert read_act(words, plain, read_language(plain)) == act


@pytest.mark.parametrize(
    ("words", "deeds"),
    [
        ("please take it off the list", {"cancel"}),
        ("put two of them aside", {"book"}),
        ("cancel my booking", {"cancel"}),
        ("reservations", set()),
        ("I like the book", set()),
        ("place a hold on it", {"book"}),
    ],
)
def test_a_phrase_may_have_words_between(words: str, deeds: set[str]) -> None:
    assert find_deeds(to_plain_text(words)) == deeds


@given(st.text(max_size=300))
def test_any_text_is_read_and_the_same_way_however_it_is_written(text: str) -> None:
    plain = to_plain_text(text)
    assert to_plain_text(plain) == plain
    assert find_deeds(plain) == find_deeds(to_plain_text(f"  {text} "))
    name = find(text)
    assert name in (None, "lamps_free", "cancel_loan")
    assert name == find(text)


@given(st.lists(st.sampled_from("please can i you cancel book the a la-1234 on 3 may ? '".split())))
def test_mixed_up_words_are_read_too(words: list[str]) -> None:
    find(" ".join(words))


@pytest.mark.parametrize(
    ("words", "deed"),
    [
        ("another two days please", "extend"),
        ("the motor had been dead for days", "fault"),
        ("the lights had gone out", "fault"),
        ("the lamp won't switch on", "fault"),
        ("how many of them do you have there", "stock"),
    ],
)
def test_a_deed_is_named_in_every_number_person_and_time(words: str, deed: str) -> None:
    assert deed in find_deeds(to_plain_text(words))


@pytest.mark.parametrize(
    ("words", "names_things"),
    [
        ("Two lamps for tomorrow", True),
        ("12 lamps, please", True),
        ("Is a lamp of 30 kilos too heavy?", False),
        ("Are the first 30 minutes free?", False),
        ("Two lamps for three days", True),
    ],
)
def test_a_measure_is_no_number_of_things(words: str, *, names_things: bool) -> None:
    said = RANKING.read(words)
    assert said is not None
    assert said.has_amount is names_things


@pytest.mark.parametrize("words", ["I need advice on tall lamps", "we'd like some information"])
def test_who_wants_to_be_told_something_asks_for_no_action(words: str) -> None:
    assert RANKING.read(words) is None


def test_whom_something_is_for_does_not_make_it_another_thing() -> None:
    assert find("Please cancel it for my brother") == "cancel_loan"
