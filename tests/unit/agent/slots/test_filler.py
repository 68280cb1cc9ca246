"""Arguments are read out of a visitor's words by the schema; what is not sure is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

import msgspec
import pytest

from aitp_desk.actions.declaration.action_builder import build_action
from aitp_desk.agent.slots.base import FilledArguments, MissingArgument
from aitp_desk.agent.slots.filler import change_arguments, fill_arguments
from aitp_desk.model.calls.action import Action
from tests.unit.agent.slots.rows.development import SEEN
from tests.unit.agent.slots.rows.distractors import TRAPS
from tests.unit.agent.slots.rows.holdout import UNSEEN
from tests.unit.agent.slots.rows.late_holdout import FRESH
from tests.unit.agent.slots.rows.library import DECLARED, SAID
from tests.unit.agent.slots.rows.shop import ACTIONS

NOW = datetime(2026, 11, 25, 10, 0, tzinfo=timezone(timedelta(hours=1)))
"""A Wednesday."""


def missing_of(filled: FilledArguments) -> str:
    """What is missing, as the tables write it."""
    return " ".join(
        missing.path + ("=" if missing.options else "") + "|".join(map(str, missing.options))
        for missing in filled.missing
    )


def taking(**properties: dict[str, Any]) -> Action:
    """An action that needs all these arguments."""
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return Action(name="look_up", summary="Look it up.", input_schema=schema)


@pytest.mark.parametrize(
    "table", [SEEN, UNSEEN, TRAPS, FRESH], ids=["seen", "unseen", "traps", "fresh"]
)
def test_words_say_what_they_say_and_nothing_else(
    table: list[tuple[str, str, dict[str, Any], str]],
) -> None:
    wrong = []
    for name, words, arguments, missing in table:
        filled = fill_arguments(ACTIONS[name], words, now=NOW)
        if (filled.arguments, missing_of(filled)) != (arguments, missing):
            wrong.append((words, filled.arguments, missing_of(filled)))
    assert wrong == []


def test_what_an_optional_object_needs_is_missing_once_a_part_of_it_is_said() -> None:
    contact = {
        "type": "object",
        "properties": {"email": {"type": "string", "format": "email"}, "name": {"type": "string"}},
        "required": ["email", "name"],
    }
    schema = {"type": "object", "properties": {"contact": contact}}
    action = Action(name="call_back", summary="Call back.", input_schema=schema)
    filled = fill_arguments(action, "Call me back, my email is x@example.org", now=NOW)
    assert filled.arguments == {"contact": {"email": "x@example.org"}}
    assert missing_of(filled) == "contact.name"
    assert missing_of(fill_arguments(action, "Call me back", now=NOW)) == ""


def test_an_argument_with_the_name_of_an_email_takes_one_without_a_format() -> None:
    action = taking(order={"type": "string"}, customer_email={"type": "string"})
    filled = fill_arguments(action, "Where is it? my email is x@example.org", now=NOW)
    assert filled.arguments == {"customer_email": "x@example.org"}
    assert missing_of(filled) == "order"


@pytest.mark.parametrize(
    ("described", "words", "value"),
    [
        ("When it begins, such as 09:15.", "On Friday at 9:15 am", "09:15"),
        ("When it begins, such as 09:15.", "at half past nine", None),
        ("The first day, such as 2027-03-05.", "from 5 march 2027", "2027-03-05"),
        ("A note, open until 18:00.", "at 9:15 am", None),
    ],
)
def test_a_string_described_by_a_time_or_a_day_takes_one(
    described: str, words: str, value: str | None
) -> None:
    action = taking(begins={"type": "string", "description": described})
    assert fill_arguments(action, words, now=NOW).arguments.get("begins") == value


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("close it on 31 march", "2027-03-31"),
        ("the last day is march 31", "2027-03-31"),
        ("it is moved to 4 may", "2027-05-04"),
        ("of the 3 may I have one?", None),
    ],
)
def test_months_are_read_in_lower_case(words: str, value: str | None) -> None:
    action = taking(day={"type": "string", "format": "date"})
    assert fill_arguments(action, words, now=NOW).arguments.get("day") == value


@pytest.mark.parametrize(
    "words", ["Is a table for 3 left?", "a table for three please", "Could you seat 3 of us?"]
)
def test_a_number_of_people_needs_no_noun(words: str) -> None:
    action = taking(people={"type": "integer", "description": "How many come."})
    assert fill_arguments(action, words, now=NOW).arguments == {"people": 3}


def test_a_choice_is_named_in_the_plural_with_its_apostrophe() -> None:
    action = taking(kind={"type": "string", "enum": ["city bike", "children's bike"]})
    filled = fill_arguments(action, "Do you have two children's bikes?", now=NOW)
    assert filled.arguments == {"kind": "children's bike"}


def test_declared_actions_take_what_is_read_for_them() -> None:
    told: list[str] = []
    made = [build_action(declared, told.append) for declared in DECLARED]
    offered = {one.action.name: one for one in made if one is not None}
    assert (told, len(offered)) == ([], len(DECLARED))
    wrong = []
    for name, words, arguments, missing in SAID:
        filled = fill_arguments(offered[name].action, words, now=NOW)
        if (filled.arguments, missing_of(filled)) != (arguments, missing):
            wrong.append((words, filled.arguments, missing_of(filled)))
        if not filled.missing:
            assert offered[name].read(filled.arguments) is not None
    assert wrong == []


TALKS: list[tuple[str, list[tuple[str, str]], dict[str, Any]]] = [
    (
        "mug",
        [
            ("a red mug", "Which size: S, M or L?"),
            ("m", ""),
        ],
        {"colour": "red", "size": "M"},
    ),
    (
        "mug",
        [
            (
                "a mug",
                "Which size (S, M or L), and which colour (blue, navy blue, red or green)?",
            ),
            ("red, and M, with gift wrap", ""),
        ],
        {"colour": "red", "size": "M", "gift_wrap": True},
    ),
    (
        "mug",
        [
            ("red, M, quantity 12", "The quantity must be at most 10. How many?"),
            ("make it 3", ""),
        ],
        {"colour": "red", "size": "M", "quantity": 3},
    ),
    (
        "mug",
        [
            ("M or L, red", "Which size: M or L?"),
            ("hm", "Which size: S, M or L?"),
            ("size: L", ""),
        ],
        {"colour": "red", "size": "L"},
    ),
    (
        "mug",
        [
            ("a red mug", "Which size: S, M or L?"),
            ("M, and colour: blue", ""),
        ],
        {"colour": "blue", "size": "M"},
    ),
    (
        "mug",
        [
            ("a red mug", "Which size: S, M or L?"),
            ("M, blue", "Which colour: red or blue?"),
            ("the latter", ""),
        ],
        {"colour": "blue", "size": "M"},
    ),
    (
        "cancel",
        [
            ("cancel ORD-000001 or ORD-000002", "Which order number: ORD-000001 or ORD-000002?"),
            ("the second one", ""),
        ],
        {"order_id": "ORD-000002"},
    ),
    (
        "visit",
        [
            (
                "a visit",
                (
                    "Which store (portland, bend or boise), which date, and what is the time? "
                    "I also need the e-mail address."
                ),
            ),
            (
                "Bend, next Friday",
                (
                    "Which date (27 November 2026 or 4 December 2026), what is the time, "
                    "and what is the e-mail address?"
                ),
            ),
            ("the 4th of December, 10:00, ada@b.example", ""),
        ],
        {"store": "bend", "date": "2026-12-04", "time": "10:00:00", "email": "ada@b.example"},
    ),
    (
        "quote",
        [
            (
                "TS-001 and MUG-02",
                "How many of TS-001? I also need the quantity of MUG-02.",
            ),
            ("2", "How many of MUG-02?"),
            ("three please", ""),
        ],
        {"items": [{"sku": "TS-001", "quantity": 2}, {"sku": "MUG-02", "quantity": 3}]},
    ),
    (
        "quote",
        [
            ("TS-001 and MUG-02", "How many of TS-001? I also need the quantity of MUG-02."),
            ("2 TS-001 and 5 MUG-02", ""),
        ],
        {"items": [{"sku": "TS-001", "quantity": 2}, {"sku": "MUG-02", "quantity": 5}]},
    ),
    (
        "quote",
        [
            ("TS-001", "How many of TS-001?"),
            ("2, and 5 MUG-02", "Which items, and how many of each?"),
            ("2 TS-001, 5 MUG-02", ""),
        ],
        {"items": [{"sku": "TS-001", "quantity": 2}, {"sku": "MUG-02", "quantity": 5}]},
    ),
    (
        "quote",
        [
            ("TS-001 and MUG-02", "How many of TS-001? I also need the quantity of MUG-02."),
            ("5 MUG-02", "How many of TS-001?"),
            ("2 of them", ""),
        ],
        {"items": [{"sku": "TS-001", "quantity": 2}, {"sku": "MUG-02", "quantity": 5}]},
    ),
    (
        "quote",
        [
            ("TS-001 and 5 MUG-02", "How many of TS-001?"),
            (
                "0 MUG-02, 3 TS-001",
                "The quantity must be at least 1. How many of MUG-02?",
            ),
            ("1", ""),
        ],
        {"items": [{"sku": "TS-001", "quantity": 3}, {"sku": "MUG-02", "quantity": 1}]},
    ),
    (
        "quote",
        [
            ("1.5 MUG-02", "The quantity must be a whole number. How many of MUG-02?"),
            ("2", ""),
        ],
        {"items": [{"sku": "MUG-02", "quantity": 2}]},
    ),
    (
        "contact",
        [
            ("my name is Ada", "What is the e-mail address? I also need the message."),
            ("ada@b.example", "What is the message?"),
            ("“I like the boots.”", ""),
        ],
        {"name": "Ada", "email": "ada@b.example", "message": "I like the boots."},
    ),
    (
        "call",
        [
            ("tomorrow", "At what time on 26 November 2026?"),
            ("at 4 pm", ""),
        ],
        {"starts_at": "2026-11-26T16:00:00+01:00"},
    ),
    (
        "move",
        [
            (
                "3x TS-014 Boise Portland",
                "Which from store: boise or portland? I also need the to store.",
            ),
            ("from Boise to Portland", ""),
        ],
        {"sku": "TS-014", "quantity": 3, "from_store": "boise", "to_store": "portland"},
    ),
    (
        "refund",
        [
            ("ORD-000123", "What is the amount, and which currency (EUR, GBP or USD)?"),
            ("€ 12,50", ""),
        ],
        {"order_id": "ORD-000123", "amount": 12.5, "currency": "EUR"},
    ),
    (
        "trip",
        [
            ("for a while", "How many guests? I also need the nights."),
            ("2 nights", "How many guests?"),
            ("just one", ""),
        ],
        {"guests": 1, "nights": 2},
    ),
    (
        "buy",
        [
            ("something", "Which items, and how many of each?"),
            ("blue mug", ""),
        ],
        {"items": [{"product": "blue mug"}]},
    ),
    (
        "pack",
        [("packs", "Which count: 6, 12 or 24?"), ("twelve", "")],
        {"count": 12},
    ),
]


def test_a_reply_is_read_against_what_was_asked_and_keeps_the_rest(
    subtests: pytest.Subtests,
) -> None:
    for name, turns, arguments in TALKS:
        with subtests.test(name=name, turns=turns, arguments=arguments):
            filled, memory = FilledArguments({}), None
            for words, question in turns:
                filled = fill_arguments(ACTIONS[name], words, now=NOW, before=memory)
                assert filled.question == question
                # what is remembered is kept as JSON
                memory = msgspec.json.decode(msgspec.json.encode(filled.memory))
            assert filled.arguments == arguments
            assert filled.memory is None


def test_a_question_for_one_thing_offers_its_answers() -> None:
    asked = fill_arguments(ACTIONS["mug"], "red", now=NOW)
    assert asked.options == ("S", "M", "L")
    for option in asked.options:
        filled = fill_arguments(ACTIONS["mug"], option, now=NOW, before=asked.memory)
        assert filled.arguments == {"colour": "red", "size": option}
    wrap = taking(gift_wrap={"type": "boolean", "title": "Gift wrap"})
    asked = fill_arguments(wrap, "hello", now=NOW)
    assert (asked.question, asked.options) == ("Gift wrap: yes or no?", ("yes", "no"))
    said = [
        fill_arguments(wrap, word, now=NOW, before=asked.memory).arguments for word in asked.options
    ]
    assert said == [{"gift_wrap": True}, {"gift_wrap": False}]


def test_a_request_that_is_withdrawn_is_not_asked_again() -> None:
    asked = fill_arguments(ACTIONS["mug"], "red", now=NOW)
    for words in ("never mind", "Forget it!", "no, thanks", "stop"):
        dropped = fill_arguments(ACTIONS["mug"], words, now=NOW, before=asked.memory)
        assert dropped.is_dropped
        assert not dropped.question
    assert not fill_arguments(ACTIONS["mug"], "stop", now=NOW).is_dropped


def test_a_value_that_breaks_a_rule_is_reported_and_not_taken() -> None:
    action = taking(
        rating={"type": "integer", "minimum": 1, "maximum": 5},
        code={"type": "string", "maxLength": 4},
    )
    filled = fill_arguments(action, "rating: 7, code: ABCDE", now=NOW)
    assert filled.arguments == {}
    assert filled.missing == (
        MissingArgument("rating", problem="The rating must be at most 5."),
        MissingArgument("code", problem="The code may have at most 4 characters."),
    )


def test_the_reading_of_the_action_itself_goes_first() -> None:
    def own(text: str) -> Mapping[str, Any] | None:
        return {"order_id": "ORD-000777"} if "the usual" in text else None

    usual = fill_arguments(ACTIONS["cancel"], "the usual, ORD-000001", now=NOW, from_text=own)
    assert usual.arguments == {"order_id": "ORD-000777"}
    other = fill_arguments(ACTIONS["cancel"], "ORD-000001", now=NOW, from_text=own)
    assert other.arguments == {"order_id": "ORD-000001"}


def test_what_the_reading_of_the_action_leaves_out_is_asked_for() -> None:
    filled = fill_arguments(ACTIONS["mug"], "L", now=NOW, from_text=lambda _: {"colour": "red"})
    assert filled.question == "Which size: S, M or L?"
    assert fill_arguments(ACTIONS["mug"], "L", now=NOW, before=filled.memory).arguments == {
        "colour": "red",
        "size": "L",
    }


def test_a_date_without_a_year_is_past_where_its_field_is() -> None:
    born = taking(birthday={"type": "string", "format": "date"})
    comes = taking(arrival={"type": "string", "format": "date"})
    assert fill_arguments(born, "3 March", now=NOW).arguments == {"birthday": "2026-03-03"}
    assert fill_arguments(comes, "3 March", now=NOW).arguments == {"arrival": "2027-03-03"}
    assert fill_arguments(comes, "29 February", now=NOW).arguments == {"arrival": "2028-02-29"}


def test_a_pattern_that_ordinary_words_keep_takes_only_what_is_named() -> None:
    action = taking(slug={"type": "string", "pattern": "^[a-z-]+$"})
    assert fill_arguments(action, "show me the blue mug", now=NOW).arguments == {}
    assert fill_arguments(action, "slug: blue-mug", now=NOW).arguments == {"slug": "blue-mug"}


def test_a_pattern_that_could_take_for_ever_is_never_tried() -> None:
    action = taking(code={"type": "string", "pattern": "^(a+)+$"})
    filled = fill_arguments(action, "a" * 60 + "!", now=NOW)
    assert filled.question == "What is the code?"


def test_of_a_text_that_is_too_long_nothing_is_read() -> None:
    text = "cancel ORD-000123 " + "x" * 4096
    assert fill_arguments(ACTIONS["cancel"], text, now=NOW).arguments == {}
    assert fill_arguments(ACTIONS["cancel"], "ORD-000123 " + "! " * 1200, now=NOW).arguments == {}


def test_of_a_text_with_too_much_that_may_be_an_id_nothing_is_read() -> None:
    junk = " ".join(f"{number % 10}a" for number in range(1100))
    assert fill_arguments(ACTIONS["cancel"], f"ORD-000123 {junk}", now=NOW).arguments == {}
    known = {"order_id": "ORD-000123"}
    assert change_arguments(ACTIONS["cancel"], junk, now=NOW, arguments=known) is None


def test_an_id_is_found_behind_hundreds_of_others() -> None:
    others = ", ".join(f"art {number}" for number in range(1000, 1300))
    filled = fill_arguments(ACTIONS["cancel"], f"{others}, ord 000123", now=NOW)
    assert filled.arguments == {"order_id": "ORD-000123"}


def test_a_dollar_is_only_of_a_country_where_no_other_is_taken() -> None:
    amount = {"type": "string", "format": "decimal"}
    one = taking(amount=amount, currency={"enum": ["EUR", "USD"]})
    several = taking(amount=amount, currency={"enum": ["USD", "CAD"]})
    assert fill_arguments(one, "$20", now=NOW).arguments == {"amount": "20", "currency": "USD"}
    assert fill_arguments(several, "$20.50", now=NOW).arguments == {"amount": "20.50"}


def test_a_code_is_not_read_from_a_word_that_is_said_for_other_reasons(
    subtests: pytest.Subtests,
) -> None:
    cases: list[tuple[str, str | None]] = [
        ("I'd like 2 of TO-2201", None),
        ("I’d like 2 of TO-2201", None),
        ("i'd take two, we'll pay", None),
        ("Hi, two of them", None),
        ("Hi two of them", None),
        ("oh, and the blue one or the sage one", None),
        ("ok, my pa wants them", None),
        ("to ID", "ID"),
        ("send it to HI", "HI"),
        ("to tx", "TX"),
        ("12 Elm Street, Boise ID 83702", "ID"),
        ("I'd have it sent to OR", "OR"),
        ("state: hi", "HI"),
        ("the state is id", "ID"),
    ]
    for words, read in cases:
        with subtests.test(words=words, read=read):
            codes = ["ID", "HI", "OH", "OK", "OR", "PA", "TX"]
            filled = fill_arguments(
                taking(state={"enum": codes}, note={"type": "string"}), words, now=NOW
            )
            assert filled.arguments.get("state") == read


def test_a_word_of_agreement_or_greeting_in_a_reply_is_no_code_among_several_things(
    subtests: pytest.Subtests,
) -> None:
    state = {"enum": ["HI", "OK", "OR"]}
    several = taking(size={"enum": ["small", "large"]}, state=state)
    alone = taking(state=state)
    cases: list[tuple[Action, str, str | None]] = [
        (several, "ok", None),
        (several, "Ok!", None),
        (several, "hi there", None),
        (several, "OK", "OK"),
        (several, "large, state or", "OR"),
        (alone, "or", "OR"),
    ]
    for action, words, read in cases:
        with subtests.test(words=words, read=read):
            asked = fill_arguments(action, "Look it up", now=NOW)
            filled = fill_arguments(action, words, now=NOW, before=asked.memory)
            assert filled.arguments.get("state") == read
