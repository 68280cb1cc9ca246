"""What operators are called, and how much they say."""

from __future__ import annotations

import pytest

from aitp_desk.desk.tickets.operators import check_length, check_name, check_words
from aitp_desk.model.conversation.ticket import LONGEST_ANSWER, get_operator
from aitp_desk.model.errors import InvalidRequest


def test_the_name_of_an_operator_stands_at_the_end_of_their_actor() -> None:
    for actor, name in (
        ("https://site.example/agent/operators/anna", "anna"),
        ("https://site.example/operators/operators/ben.2", "ben.2"),
        ("https://site.example/agent", None),
        ("visitor", None),
        ("/operators/anna", None),
        ("", None),
    ):
        assert get_operator(actor) == name, actor


def test_a_name_that_would_say_something_else_in_an_address_is_refused() -> None:
    for name in ("anna", "a", "anna.b-c_2", "x" * 63):
        check_name(name)
    for name in ("", "Anna", "a/b", ".anna", "a b", "x" * 64, "anna\n", "ann\u00e1"):
        with pytest.raises(InvalidRequest, match="is not a valid operator name"):
            check_name(name)


def test_nothing_is_not_said_and_too_much_is_not_either() -> None:
    check_words("Yes.")
    check_length("")
    check_length("x" * LONGEST_ANSWER)
    for words in ("", " \n", "x" * (LONGEST_ANSWER + 1)):
        with pytest.raises(InvalidRequest) as refused:
            check_words(words)
        assert refused.value.param == "words"
