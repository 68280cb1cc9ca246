"""What operators are called by visitors."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.desk.tickets.operators import check_name
from aitp_desk.model.access.operator import OPERATOR_NAME, operator_name


@pytest.mark.parametrize(
    ("key_name", "name"),
    [
        ("anna", "anna"),
        ("Anna Müller", "anna-muller"),
        ("  ben@shop.example  ", "ben-shop.example"),
        ("night_shift-2", "night_shift-2"),
        ("Zoë/Ops", "zoe-ops"),
        ("Straße", "strasse"),
        ("安娜", "operator"),
        ("--", "operator"),
        ("a" * 80, "a" * 63),
    ],
)
def test_an_operator_is_called_as_their_key_is(key_name: str, name: str) -> None:
    assert operator_name(key_name) == name


@given(st.text(max_size=100))
def test_whatever_a_key_is_called_its_operator_has_a_name(key_name: str) -> None:
    name = operator_name(key_name)
    assert re.fullmatch(OPERATOR_NAME, name)
    check_name(name)
