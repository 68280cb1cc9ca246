"""Texts of WhatsApp."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.transports.whatsapp import text
from aitp_desk.transports.wire.markup import count_units

TABLE = [
    ("**a** *b* ~~c~~ `d`", "*a* _b_ ~c~ `d`"),
    ("# Title\n\nx", "*Title*\n\nx"),
    ("**two\nlines**", "*two*\n*lines*"),
    ("- a\n- b", "- a\n- b"),
    ("1. a\n2. b", "1. a\n2. b"),
    ("> a\n>\n> b", "> a\n> \n> b"),
    ("```py\nx < 1\n```", "```\nx < 1\n```"),
    ("[a](https://b.example)", "a (https://b.example)"),
    ("<https://b.example>", "https://b.example"),
    ("2 < 3 & <b>", "2 < 3 & <b>"),
]


@pytest.mark.parametrize(("markdown", "shown"), TABLE)
def test_marks(markdown: str, shown: str) -> None:
    assert text.render_text(markdown) == shown


texts = st.text(alphabet="ab 😀\n", max_size=400)


@given(texts, st.integers(400, 4096))
def test_parts_are_short_enough_and_lose_nothing(words: str, most: int) -> None:
    parts = text.split_text(words, most)
    assert all(0 < count_units(part) <= most for part in parts)
    assert "".join("".join(parts).split()) == "".join(words.split())


@given(st.text(alphabet="ab 😀\n", max_size=3000))
def test_the_body_is_the_end_of_the_text(words: str) -> None:
    before, body = text.split_body(words)
    assert count_units(body) <= text.MOST_BODY_UNITS
    assert "".join("".join([*before, body]).split()) == "".join(words.split())
    assert bool(before) <= (count_units(words) > text.MOST_BODY_UNITS)


def test_a_code_block_is_whole_in_each_message() -> None:
    code = "\n".join(f"line {n} of the code" for n in range(300))
    before, body = text.split_body(f"Before it.\n\n```\n{code}\n```\n\nAfter it.")
    for part in (*before, body):
        assert part.count("```") % 2 == 0
    assert all(count_units(part) <= text.MOST_UNITS for part in before)
    assert len(before) < 4
    shown = "\n".join([*before, body]).split("\n")
    assert [line for line in shown if line.startswith("line ")] == code.split("\n")
    assert "After it." in body


@given(st.text(max_size=120), st.integers(4, 72))
def test_a_label_fits_on_a_line(label: str, most: int) -> None:
    short = text.shorten(label, most)
    assert count_units(short) <= most
    assert "\n" not in short


@given(st.text(max_size=300))
def test_a_variable_of_a_template_has_no_breaks(words: str) -> None:
    line = text.join_lines(words, 100)
    assert len(line) <= 100
    assert line == " ".join(line.split())
