"""Answers in words: what has one reading is understood, and nothing else ever."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aitp_requests.messages import Kind, RequestDecision
from aitp_requests.rules import settle_options
from aitp_requests.text import tell_options, tell_request
from aitp_requests.word_replies import understand
from tests.support.plugins.decisions import COLOURS, SIZE, TENTS, read, request

SHIRT = request("Red", "Blue", "Green")
YES_NO = request("Yes, cancel it", "No, keep it", "Something else", type="confirmation")
JACKET = request("Ink, M", "Ink, XL", "Moss, M", "Moss, XL")
SIZES = request("41", "42", "43", "2")
CRISPS = request("Salt", "Vinegar", "Salt and vinegar", "Cheese", type="checkbox")
PRODUCTS = read(TENTS)


def heard(text: str, *requests: RequestDecision) -> str | None:
    decision = understand(text, requests)
    return None if decision is None else tell_options(decision.options)


def test_what_has_one_reading_is_understood(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, RequestDecision, str]] = [
        ("2", SHIRT, "Blue"),
        ("2.", SHIRT, "Blue"),
        ("no. 2", SHIRT, "Blue"),
        ("Two", SHIRT, "Blue"),
        ("the second one", SHIRT, "Blue"),
        ("3rd", SHIRT, "Green"),
        ("the last", SHIRT, "Green"),
        ("ink XL", JACKET, "Ink, XL"),
        ("Ink, XL", JACKET, "Ink, XL"),
        ("the moss M one, please", JACKET, "Moss, M"),
        ("BLUE!", SHIRT, "Blue"),
        ("The blue one, please", SHIRT, "Blue"),
        ("I’ll take the blue one.", SHIRT, "Blue"),
        ("I'd like 2", SHIRT, "Blue"),
        ("yes", YES_NO, "Yes, cancel it"),
        ("No thanks.", YES_NO, "No, keep it"),
        ("3", YES_NO, "Something else"),
        ("42", SIZES, "42"),
        ("1", SIZES, "41"),
        ("salt, cheese", CRISPS, "Salt, Cheese"),
        ("1 and 4", CRISPS, "Salt, Cheese"),
        ("Cheese & Vinegar", CRISPS, "Vinegar, Cheese"),
        ("all of them", CRISPS, "Salt, Vinegar, Salt and vinegar, Cheese"),
        ("the second one, two of them", PRODUCTS, "2 × Ridge – green"),
        ("two of the second", PRODUCTS, "2 × Ridge – green"),
        ("2 of number 4", PRODUCTS, "2 × Cove"),
        ("2x cove", PRODUCTS, "2 × Cove"),
        ("three coves", PRODUCTS, "3 × Cove"),
        ("Cove x 2 and the red one", PRODUCTS, "Ridge in red, 2 × Cove"),
        ("Ridge – green", PRODUCTS, "Ridge – green"),
        ("ridge green", PRODUCTS, "Ridge – green"),
        ("4 and 1", PRODUCTS, "Ridge, Cove"),
    ]
    for words, asked, means in cases:
        with subtests.test(words=words, asked=asked, means=means):
            assert heard(words, asked) == means


def test_what_has_none_or_several_is_for_the_agent(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, RequestDecision]] = [
        ("", SHIRT),
        ("4", SHIRT),
        ("2?", SHIRT),
        ("not 2", SHIRT),
        ("1 or 2", SHIRT),
        ("1 and 2", SHIRT),
        ("2, but only if it is cotton", SHIRT),
        ("is the blue one cotton", SHIRT),
        ("two blue", SHIRT),
        ("yes, but", YES_NO),
        ("yes and no", YES_NO),
        ("yes", request("Yes, today", "Yes, tomorrow", type="confirmation")),
        ("yes", request("Cancel it", "Keep it", type="confirmation")),
        ("2", SIZES),
        ("salt and vinegar", CRISPS),
        ("both", CRISPS),
        ("1 1", CRISPS),
        ("1, 1", CRISPS),
        ("2 x 1", PRODUCTS),
        ("two", PRODUCTS),
        ("1, 2", PRODUCTS),
        ("I'll take 2", PRODUCTS),
        ("1,000", PRODUCTS),
        ("0 of number 4", PRODUCTS),
        ("red and cove, two of them", PRODUCTS),
        ("a, " * 200, CRISPS),
        ("1 and " * 9 + "2", CRISPS),
    ]
    for words, asked in cases:
        with subtests.test(words=words, asked=asked):
            assert heard(words, asked) is None


def test_where_several_wait_only_a_name_of_one_of_them_is_understood() -> None:
    assert heard("2", SHIRT, CRISPS) is None
    assert heard("4", SHIRT, CRISPS) is None, "a number of the one is a slip with the other"
    assert heard("42", SHIRT, SIZES) is None
    assert heard("the second one", SHIRT, CRISPS) is None
    assert heard("yes", SHIRT, YES_NO) is None
    assert heard("cheese", SHIRT, CRISPS) == "Cheese"
    assert heard("red", SHIRT, read(COLOURS)) is None


def test_nothing_is_understood_where_nothing_waits() -> None:
    assert understand("2", ()) is None


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (
            PRODUCTS,
            (
                "Which tent?\nBoth fit two people."
                "\n1. Ridge (349.00 USD): Light.\n2. Ridge – green (359.50 USD)"
                "\n3. Ridge in red\n4. Cove (199.99 USD)"
                "\nReply with a number, or with a quantity: 2 of number 4."
            ),
        ),
        (read(SIZE), "Size?\n1. S\n2. m\nReply 1 or 2."),
        (SHIRT, "1. Red\n2. Blue\n3. Green\nReply 1, 2 or 3."),
        (read(COLOURS), "1. Red\n2. Blue\n3. g\nReply with one or more numbers: 1, 2."),
        (SIZES, "1. 41\n2. 42\n3. 43\n4. 2\nReply with a number from 1 to 4."),
        (request("Fine"), "1. Fine\nReply 1."),
        (request("A\n2. B"), "1. A 2. B\nReply 1."),
    ],
)
def test_a_request_reads_as_a_list_that_can_be_answered(asked: RequestDecision, told: str) -> None:
    assert tell_request(asked) == told


LETTERS = st.text("abcdefghij", min_size=3, max_size=8)
KINDS: st.SearchStrategy[Kind] = st.sampled_from(("products", "checkbox", "radio", "confirmation"))
ANY_NAMES = st.lists(
    st.one_of(
        LETTERS,
        st.sampled_from(("1", "2", "yes", "the", "one", "two", "a and b", "a", "b", "2 x a", "no")),
        st.text(max_size=12),
    ),
    min_size=1,
    max_size=6,
)
PIECES = st.sampled_from(
    "1 2 3 two of the them first second one x and , yes no a b please last 2x".split()
)
ANY_WORDS = st.one_of(st.lists(PIECES, max_size=9).map(" ".join), st.text(max_size=60))


@given(ANY_WORDS, st.lists(st.tuples(ANY_NAMES, KINDS), min_size=1, max_size=3))
def test_whatever_is_understood_answers_one_of_the_requests(
    words: str, shapes: list[tuple[list[str], Kind]]
) -> None:
    asked = {
        f"r{number}": request(*names, type=kind, id=f"r{number}")
        for number, (names, kind) in enumerate(shapes)
    }
    decision = understand(words, tuple(asked.values()))
    if decision is not None:
        answered = asked[decision.request_decision_id]
        assert settle_options(answered, decision.options) == decision.options


@given(st.lists(LETTERS, min_size=1, max_size=8, unique=True), KINDS, st.data())
def test_each_choice_is_understood_by_its_number_and_by_its_name(
    names: list[str], kind: Kind, data: st.DataObject
) -> None:
    number = data.draw(st.integers(1, len(names)))
    asked = request(*names, type=kind)
    name = names[number - 1]
    assert heard(str(number), asked) == name
    assert heard(f"The {name} one.", asked) == name
    assert heard(f"{name} zebra", asked) is None
    assert heard(str(number), asked, request("other", id="r2")) is None


@given(st.lists(LETTERS, min_size=2, max_size=6, unique=True), KINDS, st.data())
def test_a_name_that_two_choices_have_is_nobodys(
    names: list[str], kind: Kind, data: st.DataObject
) -> None:
    twice = data.draw(st.sampled_from(names))
    assume(kind != "products" or twice.removesuffix("s") == twice)
    assert heard(twice, request(*names, twice.upper(), type=kind)) is None


@given(LETTERS, LETTERS, st.integers(2, 999_999))
def test_quantities_are_understood_of_products_alone(one: str, other: str, count: int) -> None:
    assume(one != other)
    for words in (f"{count} of number 1", f"{count} x {one}", f"{one} x{count}"):
        assert heard(words, request(one, other, type="products")) == f"{count} × {one}"
        assert heard(words, request(one, other, type="radio")) is None
