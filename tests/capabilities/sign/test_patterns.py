"""Patterns of what the desk signs by itself: they fit what regular expressions do, at once."""

from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_sign import Sign
from aitp_sign.policy.patterns import LONGEST_TEXT, Pattern

ONES = ("a", "b", ".", r"\d", r"\w", r"\S", "[ab]", "[^a]", "[]a]", r"[\]1-9]", r"\.", "ß", "\n")
SIGNS = ("", "?", "*", "+", "{2}", "{0}", "{0,2}", "{1,3}", "{2,}", "{0,}")
WRITTEN = st.lists(st.tuples(st.sampled_from(ONES), st.sampled_from(SIGNS)), max_size=7).map(
    lambda row: "".join(one + sign for one, sign in row)
)


@given(WRITTEN, st.text("ab1. ]ß\n", max_size=9))
def test_a_pattern_fits_what_the_regular_expression_does(written: str, text: str) -> None:
    assert Pattern(written).fits(text) is bool(re.fullmatch(written, text, re.ASCII))


@given(st.data(), WRITTEN)
def test_what_is_made_by_a_pattern_fits_it(data: st.DataObject, written: str) -> None:
    text = data.draw(st.from_regex(re.compile(written, re.ASCII), fullmatch=True))
    assert Pattern(written).fits(text)


def test_no_text_takes_long() -> None:
    """A matcher that goes back would look at this until the sun is cold."""
    text = "x" * (LONGEST_TEXT - 1)
    assert not Pattern(r"\w*" * 300 + "!").fits(text + "?")
    assert Pattern(r"\w*" * 300 + "!").fits(text + "!")


def test_a_text_that_nobody_can_ask_to_be_signed_fits_nothing() -> None:
    assert Pattern(".*").fits("x" * LONGEST_TEXT)
    assert not Pattern(".*").fits("x" * (LONGEST_TEXT + 1))


@pytest.mark.parametrize(
    ("written", "why"),
    [
        (r"(\w+ ?)+", "Write two rules for two alternatives"),
        ("yes|no", "Write two rules for two alternatives"),
        ("^Order$", "matches the whole text"),
        (r"Order \1", "cannot be parsed from"),
        (r"(?i)ok", "cannot be parsed from"),
        ("a++", "cannot be parsed from"),
        ("a{3,2}", "has a minimum of 3 repetitions and a maximum of 2"),
        ("[z-a]", "is not a set of characters"),
        ("[a", "cannot be parsed from"),
        ("a{4000}a", "more than 4000 characters"),
        ("a" * 1001, "more than 1000 characters"),
    ],
)
def test_what_is_no_pattern_is_reported_when_the_desk_starts(written: str, why: str) -> None:
    policy = [{"callers": ["*"], "text": written}]
    with pytest.raises(ValueError, match=r"policy\[0\]\.text is not a valid pattern: ") as refused:
        Sign(msgspec.convert({"policy": policy}, Sign.settings))
    assert why in str(refused.value)
