"""Markdown in the marks of platforms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.transports.wire.markup import MOST_CHARACTERS, render_markdown, write_plainly
from tests.support.transports.marks import Brackets

TABLE = [
    ("plain", "plain"),
    ("a\nb", "a\nb"),
    ("a\n\nb", "a\n\nb"),
    ("# Title\n\ntext", "[strong Title]\n\ntext"),
    ("# A **b** c", "[strong A b c]"),
    ("**a** _b_ ~~c~~ `d`", "[strong a] [em b] [del c] [code d]"),
    ("**a **b** c**", "[strong a b c]"),
    ("***a***", "[em [strong a]]"),
    ("[x](https://a.example)", "[link x https://a.example]"),
    ("[](https://a.example)", "[link https://a.example https://a.example]"),
    ("<https://a.example/?a=b>", "[link https://a.example/?a=b https://a.example/?a=b]"),
    ("![p](https://a.example/p.png)", "[link p https://a.example/p.png]"),
    ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
    ("[x](/a)", "x"),
    ("[write](mailto:a@b.example)", "write (a@b.example)"),
    ("<a@b.example>", "a@b.example"),
    ("- a\n- b\n\n  c", "• a\n• b\nc"),
    ("2. a\n3. b", "2. a\n3. b"),
    ("- a\n  - b\n  - c\n- d", "• a\n  • b\n  • c\n• d"),
    ("> a\n> > b", "[quote a\n\nb]"),
    ("```py\na < b\n```", "[block py a < b]"),
    ("| a | b |\n|---|---|\n| **1** | |", "[block  a | b\n1 | ]"),
    ("---", "———"),
    ("<b>x</b>", "<b>x</b>"),
    ("", ""),
]


@pytest.mark.parametrize(("markdown", "shown"), TABLE)
def test_what_is_shown(markdown: str, shown: str) -> None:
    assert render_markdown(markdown, Brackets()) == shown


def test_plainly_there_are_no_marks() -> None:
    text = "# A\n\n**b** `c` [d](https://e.example)\n\n> f\n\n```\ng\n```"
    assert write_plainly(text) == "A\n\nb c d (https://e.example)\n\n> f\n\ng"


@given(st.text(alphabet="ab*_~`[]()!<>#|-\n \\&123.", max_size=300))
def test_the_words_are_all_there(markdown: str) -> None:
    letters = [one for one in markdown if one in "ab"]
    assert [one for one in write_plainly(f"x {markdown}") if one in "ab"] == letters


@pytest.mark.parametrize(
    "part", ["[", "*a", "**a ", "> ", "- ", "![a](", "a|", "_*", "~~", "`", "<"]
)
def test_deep_and_long_texts_are_rendered(part: str) -> None:
    text = part * (2 * MOST_CHARACTERS // len(part))
    assert len(write_plainly(text)) <= 4 * MOST_CHARACTERS
